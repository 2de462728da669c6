//! The node itself: its CPUs, and its swap.

use dfrs_node_proto::swap::swap_eighths;

use super::*;

/// Why nothing is parked where there is swap that the kernel does not use.
const IGNORED_SWAP: &str = "vm.swappiness is 0, and this kernel cannot be made to swap parked jobs all the same \
    (Linux 6.11 can): no job is parked here; sysctl vm.swappiness=10";

impl Reconciler {
    /// CPUs may go on- and offline and a container's limits may change while we run.
    pub(super) fn check_node(&mut self, now: Now) {
        let fresh = |seen: Duration| now.monotonic.saturating_sub(seen) < NODE_INTERVAL;
        if self.node_checked_at.is_some_and(fresh) {
            return;
        }
        self.node_checked_at = Some(now.monotonic);
        self.find_leftovers();
        self.find_capacity();
        self.find_spare_memory();
        self.swap_bytes = self.swap_for_parking();
        self.warnings
            .check("swap.sock", self.facts.set_swap(self.swap_bytes > 0));
        self.report_swap_eighths();
    }

    /// What shares are parts of; stays as it is where a limit cannot be read.
    pub(super) fn find_capacity(&mut self) {
        let limit = self.cgroups.capacity_limit();
        let Some(limit) = self.warnings.check("capacity", limit) else {
            return;
        };
        let processors = self.processors();
        let options = self.settings.capacity;
        let max_capacity = options.capacity(processors.threads, limit);
        let capacity = options.within(max_capacity, &processors, self.slurm_cpus);
        self.compare_processors(&processors, limit);
        if capacity != self.capacity_cores {
            log::line(format_args!(
                "node {} has {capacity} cores for jobs",
                self.settings.node
            ));
            self.capacity_cores = capacity;
        }
    }

    /// Looked up again only if there are others: each is a file.
    pub(super) fn processors(&mut self) -> Processors {
        let of_root = self.cgroups.processors();
        let known = self.processors.as_ref();
        if let Some((_, known)) = known.filter(|(list, _)| *list == of_root) {
            return *known;
        }
        let processors = Processors::detect(of_root.as_deref(), &self.settings.processors);
        self.processors = Some((of_root, processors));
        processors
    }

    /// Logs once if Slurm counts other CPUs than there are and no option sets that.
    pub(super) fn compare_processors(&mut self, processors: &Processors, limit: Option<f64>) {
        let cpus = self.slurm_cpus.unwrap_or(0);
        let is_meant = limit.is_some() || !self.settings.capacity.are_default();
        if is_meant || !processors.are_fewer_than(cpus) {
            self.warnings.clear("CPUs");
            return;
        }
        let text = format!(
            "Slurm counts {cpus} of this node, and jobs may run on {}: correct CPUs= in slurm.conf (slurmd -C), or give --cpu-capacity",
            processors.threads
        );
        self.warnings.note("CPUs", text);
    }

    /// What the node has beyond what Slurm gives to jobs: half of it may hold what parked jobs keep in RAM, the other
    /// half is the system's. Stays as it is where it cannot be read.
    fn find_spare_memory(&mut self) {
        let Some(slurm) = self.slurm_memory_bytes else {
            self.spare_memory_bytes = self.settings.max_resident_bytes;
            return;
        };
        let installed = swap::installed_memory(&self.settings.meminfo);
        let installed = self.warnings.check("memory", installed);
        let limit = self
            .warnings
            .check("memory", self.cgroups.memory_capacity());
        if let (Some(installed), Some(limit)) = (installed, limit) {
            let own = installed.min(limit.unwrap_or(u64::MAX));
            self.spare_memory_bytes = dfrs_node_proto::spare::for_parked_jobs(own, slurm);
        }
    }

    /// Bytes of swap to park jobs in; 0 where none can be parked.
    fn swap_for_parking(&mut self) -> u64 {
        let swap = swap::read(&self.settings.swaps);
        self.free_swap_bytes = swap.free_bytes;
        let ignored = swap.outside_ram_bytes > 0 && self.cgroups.ignores_swap();
        let cached = swap.outside_ram_bytes > 0 && self.is_cached_in_ram();
        let trouble = match (ignored, cached) {
            (true, _) => Some(IGNORED_SWAP),
            (_, true) => Some(dfrs_node_proto::swap::KEPT_BY_ZSWAP),
            _ => swap.warning(),
        };
        match trouble {
            Some(trouble) => self.warnings.note("swap", trouble),
            None => self.warnings.clear("swap"),
        }
        let limit = self.warnings.check("swap limit", self.cgroups.swap_limit());
        let can_see = self.can_see_all_jobs();
        let has_spare = self.has_spare_memory();
        match limit {
            Some(limit)
                if can_see && has_spare && self.cgroups.can_reclaim() && !ignored && !cached =>
            {
                swap.usable(limit)
            }
            _ => 0,
        }
    }

    /// Of the swap that orders request, what there is: a job that came back may keep what it does
    /// not touch there.
    fn report_swap_eighths(&mut self) {
        let counted = self.requested_swap_bytes.filter(|_| self.swap_bytes > 0);
        let eighths = counted.map(|counted| {
            let jobs = self.jobs.values().filter(|job| job.frozen);
            let used = jobs.filter_map(|job| {
                self.cgroups
                    .memory_use(job.directory.as_ref()?)
                    .swapped_bytes
            });
            let parked = used.fold(0, u64::saturating_add);
            swap_eighths(counted, parked, self.free_swap_bytes)
        });
        if eighths == self.reported_eighths {
            return;
        }
        let result = self.facts.set_swap_eighths(self.reported_eighths, eighths);
        if self.warnings.check("swap.sock", result).is_some() {
            self.reported_eighths = eighths;
        }
    }

    /// Whether there is room for what one more parked job may keep.
    fn has_spare_memory(&mut self) -> bool {
        let kept = self.kept_memory(0);
        let needed = kept.saturating_add(parking::MIN_TOLERATED_BYTES);
        let is_enough = needed <= self.spare_memory_bytes;
        if is_enough {
            self.warnings.clear("memory for parked jobs");
        } else {
            let mebibytes = |bytes: u64| bytes >> 20;
            let text = format!(
                "half of what the node has beyond what Slurm gives to jobs is {} MiB, and parked jobs keep {} MiB of it: \
                 no more is parked here; lower RealMemory, or raise MemSpecLimit, in slurm.conf",
                mebibytes(self.spare_memory_bytes),
                mebibytes(kept)
            );
            self.warnings.note("memory for parked jobs", text);
        }
        is_enough
    }

    /// zswap keeps what is swapped out in RAM for a while. v2 counts that for the job, v1 for none.
    fn is_cached_in_ram(&self) -> bool {
        let enabled = crate::cgroup::files::read(&self.settings.zswap);
        self.cgroups.version() == "v1" && enabled.is_ok_and(|text| text == "Y")
    }

    /// Jobs that are not seen would count as parked. A directory that is being made may look odd once.
    fn can_see_all_jobs(&mut self) -> bool {
        let trouble = match self.cgroups.unseen_processes() {
            Ok(trouble) => trouble,
            Err(error) => Some(error.to_string()),
        };
        match trouble {
            Some(text) => {
                self.warnings.note("parking", text);
                self.unseen_checks = self.unseen_checks.saturating_add(1);
            }
            None => {
                self.warnings.clear("parking");
                self.unseen_checks = 0;
            }
        }
        self.unseen_checks < 2
    }
}
