#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A task that ends leaves a process behind by its epilog. Slurm starts that process beside
# slurmstepd, where it is neither frozen nor, on cgroup v1, capped. KIND: burn uses all CPU, lock
# pins nearly all memory that the job requested.
cat >"$WORK/epilog.$SLURM_JOB_ID" <<END
#!/bin/bash
setsid bash -c '$(case $KIND in
burn) echo 'while :; do :; done' ;;
lock) echo "python3 $HOSTILE/memory.py lock $((MEMORY - 60))" ;;
esac)' >"$WORK/epilog.$SLURM_JOB_ID.out" 2>&1 &
END
chmod +x "$WORK/epilog.$SLURM_JOB_ID"
python3 "$HOSTILE/memory.py" hold 40 &
# shellcheck disable=SC2016 # expanded by each task
exec srun --overlap --overcommit --ntasks=2 --mem=0 --task-epilog="$WORK/epilog.$SLURM_JOB_ID" bash -c '[ "$SLURM_PROCID" = 0 ] || sleep 1000'
