//! Learns from the node daemons what they publish as socket names: which nodes have swap, and which
//! of the jobs that are being parked are parked. The question is a message to that name; whether it
//! can be delivered is the answer.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use dfrs_proto::message::Message;

use crate::node_link::NodeLink;
use crate::pusher::{Shared, lock};

/// Exists while the node has swap for parked jobs.
const SWAP: &str = "/run/dfrs/%n/swap.sock";
/// How often nodes are asked whether they have swap.
const SWAP_INTERVAL: Duration = Duration::from_secs(30);
/// How often they are asked about jobs that are being parked, which takes them seconds: each
/// question is a process that slurmd has to start.
const PARKED_INTERVAL: Duration = Duration::from_millis(500);
/// Jobs asked about at the same time.
const AT_ONCE: usize = 8;

/// Asks until it is told to stop.
pub(crate) fn run(link: &dyn NodeLink, shared: &(Mutex<Shared>, Condvar)) {
    let mut swap_asked: Option<Instant> = None;
    while !stopped(shared) {
        if swap_asked.is_none_or(|asked| asked.elapsed() >= SWAP_INTERVAL)
            && ask_for_swap(link, shared)
        {
            swap_asked = Some(Instant::now());
        }
        ask_for_parked(link, shared);
    }
}

/// Waits for the next round; true: there is none.
fn stopped(shared: &(Mutex<Shared>, Condvar)) -> bool {
    let end = Instant::now() + PARKED_INTERVAL;
    let mut guard = lock(&shared.0);
    while !guard.stop {
        let Some(left) = end
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
        else {
            return false;
        };
        guard = shared
            .1
            .wait_timeout(guard, left)
            .map_or_else(|error| error.into_inner().0, |(guard, _)| guard);
    }
    true
}

/// Asks all nodes that answer whether they have swap. False if there are no nodes yet.
fn ask_for_swap(link: &dyn NodeLink, shared: &(Mutex<Shared>, Condvar)) -> bool {
    let nodes: Vec<String> = {
        let guard = lock(&shared.0);
        guard
            .orders
            .keys()
            .filter(|name| !guard.facts.silent.contains(*name))
            .cloned()
            .collect()
    };
    if nodes.is_empty() {
        return false;
    }
    let failed: BTreeSet<String> = probe(link, &nodes, SWAP).into_iter().collect();
    lock(&shared.0).facts.can_park = nodes
        .into_iter()
        .filter(|name| !failed.contains(name))
        .collect();
    true
}

/// Asks the nodes of each job that is being parked whether they have done it, several at a time: a
/// slow node holds up only its own jobs.
fn ask_for_parked(link: &dyn NodeLink, shared: &(Mutex<Shared>, Condvar)) {
    let open: Vec<(u32, Vec<String>)> = {
        let guard = lock(&shared.0);
        let unknown = guard
            .parking
            .iter()
            .filter(|(job, _)| !guard.facts.parked.contains(job));
        unknown.map(|(job, nodes)| (*job, nodes.clone())).collect()
    };
    for batch in open.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            for (job, nodes) in batch {
                scope.spawn(move || {
                    let address = format!("/run/dfrs/%n/parked.{job}.sock");
                    if probe(link, nodes, &address).is_empty() {
                        let mut guard = lock(&shared.0);
                        if guard.parking.contains_key(job) {
                            guard.facts.parked.insert(*job);
                        }
                    }
                });
            }
        });
    }
}

/// The nodes on which nothing of this name takes messages.
fn probe(link: &dyn NodeLink, nodes: &[String], address: &str) -> Vec<String> {
    match Message::Probe.encode() {
        Ok(bytes) => link.push(nodes, address, &bytes),
        Err(_) => nodes.to_vec(),
    }
}
