use super::*;

/// The arrays that a raw snapshot points to.
#[derive(Default)]
struct Backing {
    jobs: Vec<bindings::dfrs_job_t>,
    gone: Vec<u32>,
    nodes: Vec<bindings::dfrs_node_t>,
    places: Vec<bindings::dfrs_place_t>,
    devices: Vec<bindings::dfrs_device_t>,
    sets: Vec<bindings::dfrs_node_set_t>,
    indexes: Vec<u32>,
    strings: Vec<u8>,
}

impl Backing {
    fn new() -> Self {
        Self {
            strings: b"\0dfrs\0n1\0n2\0".to_vec(),
            ..Self::default()
        }
    }

    fn node(mut self, index: u32, allocated_memory: u64) -> Self {
        self.nodes.push(bindings::dfrs_node_t {
            index,
            name: 6 + 3 * index,
            memory: 1000,
            allocated_memory,
            ..Default::default()
        });
        self
    }

    fn job(mut self, job_id: u32, memory: u64, eligible: &[u32]) -> Self {
        self.sets.push(bindings::dfrs_node_set_t {
            digest: 1 + eligible.iter().map(|&index| u64::from(index)).sum::<u64>(),
            offset: u32::try_from(self.indexes.len()).unwrap(),
            count: u32::try_from(eligible.len()).unwrap(),
        });
        self.indexes.extend(eligible);
        self.places.push(bindings::dfrs_place_t {
            node: 0,
            tasks: 1,
            cpus: 1,
            memory,
        });
        self.jobs.push(bindings::dfrs_job_t {
            job_id,
            state: bindings::DFRS_JOB_RUNNING,
            partition: 1,
            place_offset: u32::try_from(self.places.len() - 1).unwrap(),
            place_count: 1,
            eligible: u32::try_from(self.sets.len()).unwrap(),
            ..Default::default()
        });
        self
    }

    fn apply(
        &mut self,
        complete: bool,
        sets: &mut SharedNodeSets,
        seen: &mut Observation,
    ) -> SnapshotDelta {
        let length = |length: usize| u32::try_from(length).unwrap();
        let raw = bindings::dfrs_snapshot_t {
            complete,
            all_nodes: complete,
            job_count: length(self.jobs.len()),
            gone_count: length(self.gone.len()),
            node_count: length(self.nodes.len()),
            place_count: length(self.places.len()),
            device_count: length(self.devices.len()),
            set_count: length(self.sets.len()),
            index_count: length(self.indexes.len()),
            string_bytes: length(self.strings.len()),
            jobs: self.jobs.as_mut_ptr(),
            gone: self.gone.as_mut_ptr(),
            nodes: self.nodes.as_mut_ptr(),
            places: self.places.as_mut_ptr(),
            devices: self.devices.as_mut_ptr(),
            sets: self.sets.as_mut_ptr(),
            indexes: self.indexes.as_mut_ptr(),
            strings: self.strings.as_mut_ptr().cast(),
            ..Default::default()
        };
        // SAFETY: every count is its array's, and these live as long as `self`.
        unsafe { apply(&raw, sets, seen) }
    }
}

#[test]
fn devices_of_nodes_and_jobs_are_decoded() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut raw = Backing::new().node(0, 0).node(1, 0).job(7, 100, &[0]);
    raw.strings = b"\0dfrs\0n1\0n2\0gpu\0".to_vec();
    let devices = |count, allocated| bindings::dfrs_device_t {
        kind: 12,
        count,
        allocated,
    };
    raw.devices = vec![devices(4, 2), devices(1, 0)];
    (raw.nodes[0].device_offset, raw.nodes[0].device_count) = (0, 1);
    (raw.jobs[0].device_offset, raw.jobs[0].device_count) = (1, 1);
    raw.apply(true, &mut sets, &mut seen);
    let node = &seen.node("n1").unwrap().devices[0];
    assert_eq!((&*node.kind, node.count, node.allocated), ("gpu", 4, 2));
    let job = &seen.job(7).unwrap().request.devices[0];
    assert_eq!((&*job.kind, job.count), ("gpu", 1));
    assert!(seen.node("n2").unwrap().devices.is_empty());
}

#[test]
fn later_snapshot_has_only_changes() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut first = Backing::new().node(0, 300).node(1, 0);
    first = first.job(7, 100, &[0]).job(8, 200, &[0, 1]);
    let different = first.apply(true, &mut sets, &mut seen);
    assert_eq!(different.jobs, [7, 8].into());
    assert!(different.nodes);
    assert_eq!(seen.job(8).unwrap().partition, "dfrs");
    assert_eq!(seen.node("n2").unwrap().index, 1);

    let mut second = Backing::new().node(0, 50).job(7, 50, &[0, 1]);
    second.gone.push(8);
    let different = second.apply(false, &mut sets, &mut seen);
    assert_eq!(different.jobs, [7, 8].into());
    assert!(different.nodes);
    assert!(seen.job(8).is_none());
    assert_eq!(seen.job(7).unwrap().places[0].memory_mib, 50);
    assert_eq!(seen.nodes()[0].allocated_memory_mib, 50);

    let different = Backing::new().apply(false, &mut sets, &mut seen);
    assert_eq!(different, SnapshotDelta::default());
}

#[test]
fn complete_snapshot_removes_jobs_that_it_does_not_contain() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut both = Backing::new().node(0, 0).job(7, 1, &[0]).job(8, 1, &[0]);
    both.apply(true, &mut sets, &mut seen);
    let mut one = Backing::new().node(0, 0).job(7, 1, &[0]);
    let different = one.apply(true, &mut sets, &mut seen);
    assert_eq!(different.jobs, [8].into());
    assert!(!different.nodes);
}

#[test]
fn equal_eligible_nodes_share_one_set_across_snapshots() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut first = Backing::new().node(0, 0).job(7, 1, &[0, 1]);
    first.apply(true, &mut sets, &mut seen);
    let mut second = Backing::new().job(8, 1, &[0, 1]);
    second.apply(false, &mut sets, &mut seen);
    let eligible = |id| seen.job(id).unwrap().request.eligible.clone().unwrap();
    assert!(Arc::ptr_eq(&eligible(7), &eligible(8)));
}

#[test]
fn sets_with_the_same_digest_are_not_mixed_up() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut first = Backing::new().job(7, 1, &[0, 3]).job(8, 1, &[1, 2]);
    assert_eq!(first.sets[0].digest, first.sets[1].digest);
    first.apply(true, &mut sets, &mut seen);
    assert_eq!(
        *seen.job(7).unwrap().request.eligible.clone().unwrap(),
        [0, 3]
    );
    assert_eq!(
        *seen.job(8).unwrap().request.eligible.clone().unwrap(),
        [1, 2]
    );
}

#[test]
fn unsupported_request_has_the_text_of_the_shim() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut both = Backing::new().job(7, 1, &[0]).job(8, 1, &[0]);
    let text = u32::try_from(both.strings.len()).unwrap();
    both.strings.extend(b"a burst buffer (--bb)\0");
    (both.jobs[0].unsupported, both.jobs[0].unsupported_text) = (4, text);
    both.apply(true, &mut sets, &mut seen);
    let unsupported = |id| seen.job(id).unwrap().request.unsupported.clone();
    assert_eq!(unsupported(7).as_deref(), Some("a burst buffer (--bb)"));
    assert_eq!(unsupported(8), None);
}

#[test]
fn whole_nodes_determine_tasks_when_job_size_is_open() {
    let (mut sets, mut seen) = (SharedNodeSets::default(), Observation::default());
    let mut first = Backing::new().node(0, 0).job(7, 1, &[0]).job(8, 1, &[0]);
    for job in &mut first.jobs {
        (job.tasks, job.tasks_per_node) = (2, 2);
        job.flags = bindings::DFRS_JOB_EXCLUSIVE;
    }
    first.jobs[0].flags |= bindings::DFRS_JOB_SIZED_BY_NODES;
    // CPUs of the node over those of a task.
    first.places.iter_mut().for_each(|place| place.tasks = 4);
    first.jobs[1].tasks = 3;
    first.apply(true, &mut sets, &mut seen);
    let tasks = |id| seen.job(id).unwrap().places[0].tasks;
    assert_eq!((tasks(7), tasks(8)), (2, 3));
}
