//! `Partition`: the name of a partition that DFRS schedules.

use crate::conf::Partition;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::quoted;

pub(super) const KEY: Key<Partition> = Key {
    name: "Partition",
    purpose: KeyPurpose::Operation,
    values: "a partition of slurm.conf",
    preset: Preset::Left(""),
    meaning: "One line for each partition that DFRS schedules.",
    sample: Some(KeySample {
        comment: "The partitions that take part, and what may be done with their jobs unless the job \
            says otherwise (--comment=dfrs:park|checkpoint|restart|never). \
            AllowMobility=park,restart on the line lets users choose among these only; \
            InteractiveMobility=never leaves salloc and srun where they are.",
        line: "Partition=shared Mobility=park",
    }),
    read: |partition, given| {
        partition.name = name(given.text)?;
        Ok(())
    },
    show: |partition| Some(quoted(&partition.name)),
};

fn name(text: &str) -> Result<String, String> {
    if text.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control()) {
        return Err(format!(
            "Partition={text} is wrong; write one Partition= line for each partition"
        ));
    }
    if text.eq_ignore_ascii_case("DEFAULT") {
        return Err(format!(
            "Partition={text} is not supported; repeat the keys on each Partition= line"
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn partition_is_one_name() {
        assert_eq!(printed("Partition=b", "Partition"), "b");
        assert_eq!(
            mistake("Partition=b,c"),
            "Partition=b,c is wrong; write one Partition= line for each partition"
        );
        assert_eq!(
            mistake("Partition=default"),
            "Partition=default is not supported; repeat the keys on each Partition= line"
        );
    }
}
