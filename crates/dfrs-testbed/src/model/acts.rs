//! What users and operators do, and what goes wrong.

use std::sync::Arc;

use dfrs_core::Span;

use super::calls::codes;
use super::cluster::{ClusterModel, SECOND};
use super::events::ModelEvent;
use super::program::{CHECKPOINT, JobSubmission, ProgramOutcome};
use dfrs_agent::publish::state::{State, StateChanges};
use dfrs_agent::slurm::records::ObservedState;

/// One act of a user or an operator, or one fault. Jobs are named by their labels, nodes by their
/// positions in the node table.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `sbatch`.
    Submit(Box<JobSubmission>),
    /// `scontrol hold`.
    Hold(u32),
    /// `scontrol release`.
    Release(u32),
    /// `scontrol suspend`.
    Suspend(u32),
    /// `scontrol resume`.
    Resume(u32),
    /// `scontrol requeue`.
    Requeue(u32),
    /// `scancel`.
    Cancel(u32),
    /// `scontrol update job comment=`.
    Comment(u32, String),
    /// `scontrol update node state=drain`.
    Drain(u32),
    /// `scontrol update node state=resume`.
    Undrain(u32),
    /// `scontrol update node state=down`.
    Down(u32),
    /// The node is reserved for others, in so many seconds and for so many.
    Reserve(u32, i64, i64),
    /// The node is taken out of its partition.
    Leave(u32),
    /// The node is put into its partition again.
    Join(u32),
    /// `scontrol reconfigure`.
    Reconfigure,
    /// dfrs.conf is changed, and slurmctld reconfigured.
    Configure(String),
    /// The machine loses its power.
    PowerOff(u32),
    /// It is booted.
    PowerOn(u32),
    /// slurmd and dfrsd do not answer; what runs there runs on.
    Hang(u32),
    /// They answer again.
    Unhang(u32),
    /// slurmd and dfrsd take so many times as long for everything; once: as usual.
    Slow(u32, u32),
    /// dfrsd ends; what it froze stays so.
    StopDfrsd(u32),
    /// dfrsd is started again.
    StartDfrsd(u32),
    /// slurmctld is killed, and starts again after so many seconds.
    Kill(i64),
    /// slurmctld is restarted in order, and is away for so many seconds.
    Restart(i64),
    /// DFRS's state file is lost while slurmctld is away for so many seconds.
    LoseState(i64),
    /// The disk of the state file is full, or no longer.
    DiskFull(bool),
    /// slurmctld's clock is moved by so many seconds.
    MoveClock(i64),
    /// A job of a partition that DFRS does not schedule starts on the node, with so many devices.
    StartOther(u32, u32),
    /// It ends.
    EndOther(u32),
    /// The next so many messages to nodes are lost.
    LoseMessages(u32),
    /// The next so many calls of DFRS's into Slurm are refused, with EAGAIN or for good.
    Refuse(u32, bool),
}

impl ClusterModel {
    /// Does it. Acts about DFRS itself ([`Act::Reconfigure`], [`Act::Configure`], and the start of
    /// a slurmctld that was away) are left to the driver.
    pub fn act(&mut self, act: &Act) {
        match act {
            Act::Submit(submission) => self.submit(submission),
            Act::Drain(node) => self.node(*node, |node| node.drained = true),
            Act::Undrain(node) => self.undrain(*node),
            Act::Down(node) => {
                self.node(*node, |node| node.set_down = true);
                self.set_down(*node);
            }
            Act::Reserve(node, starts_in, duration) => self.reserve(*node, *starts_in, *duration),
            Act::Leave(node) => self.change_partition(*node, true),
            Act::Join(node) => self.change_partition(*node, false),
            Act::PowerOff(node) => self.power_off(*node),
            Act::PowerOn(node) => self.after(Span(SECOND), ModelEvent::Booted(*node)),
            Act::Hang(node) => self.machine(*node, |machine| machine.answers = false),
            Act::Unhang(node) => self.machine(*node, |machine| machine.answers = true),
            Act::Slow(node, times) => self.machine(*node, |machine| machine.slowness = *times),
            Act::StopDfrsd(node) => {
                self.machine(*node, |machine| machine.has_dfrsd = false);
                // What it measured is gone with it.
                self.rate(&[*node]);
            }
            Act::StartDfrsd(node) => self.machine(*node, |machine| {
                machine.has_dfrsd = true;
                machine.generation = 0;
            }),
            Act::DiskFull(full) => {
                self.lost_state = true;
                self.disk_full = *full;
                self.try_persist();
            }
            Act::MoveClock(seconds) => {
                self.clock = Span(self.clock.0 + seconds * SECOND);
                self.updated();
            }
            Act::StartOther(node, count) => self.start_other(*node, *count),
            Act::EndOther(node) => self.end_other(*node),
            Act::LoseMessages(count) => self.lose += count,
            Act::Refuse(count, again) => {
                let code = if *again {
                    codes::AGAIN
                } else {
                    codes::NODES_BUSY
                };
                self.refuse = (*count, code);
            }
            Act::Reconfigure | Act::Configure(_) => self.updated(),
            Act::Kill(_) | Act::Restart(_) | Act::LoseState(_) => self.stop_slurmctld(act),
            Act::Hold(_)
            | Act::Release(_)
            | Act::Suspend(_)
            | Act::Resume(_)
            | Act::Requeue(_)
            | Act::Cancel(_)
            | Act::Comment(..) => self.operate(act),
        }
    }

    /// An operator's command about a job; slurmctld has to be there for it, as the job has.
    fn operate(&mut self, act: &Act) {
        let (Act::Hold(label)
        | Act::Release(label)
        | Act::Suspend(label)
        | Act::Resume(label)
        | Act::Requeue(label)
        | Act::Cancel(label)
        | Act::Comment(label, _)) = act
        else {
            return;
        };
        let jobs = self.slurmctld.jobs.values();
        let found = jobs.filter(|job| job.outcome.is_none() && job.label == *label);
        let Some(id) = found.map(|job| job.seen.id).next().filter(|_| self.serves) else {
            return;
        };
        let done = match act {
            Act::Suspend(_) => self.suspend(id, true),
            Act::Resume(_) => self.resume(id),
            Act::Requeue(_) => self.requeue(id),
            Act::Cancel(_) => self.cancel(id),
            _ => {
                self.update(id, act);
                Ok(())
            }
        };
        if done.is_ok() {
            let text = format!("operator: {act:?} ({id})");
            self.note(text);
        }
    }

    fn update(&mut self, id: u32, act: &Act) {
        let Some(job) = self.slurmctld.jobs.get_mut(&id) else {
            return;
        };
        match act {
            Act::Hold(_) => {
                (job.seen.held, job.seen.priority) = (true, 0);
                (job.seen.on_hold, job.seen.admin_hold) = (true, true);
            }
            Act::Release(_) => {
                (job.seen.held, job.seen.priority) = (false, job.usual_priority);
                (job.seen.on_hold, job.seen.admin_hold) = (false, false);
            }
            Act::Comment(label, comment) => {
                job.seen.comment.clone_from(comment);
                let labels = job.more_tasks.iter().chain([label]).copied();
                let labels: Vec<u32> = labels.collect();
                // A user who sets this comment has written such a program.
                if comment.contains(CHECKPOINT) {
                    for label in labels {
                        if let Some(program) = self.programs.get_mut(&label) {
                            program.submission.job.comment.clone_from(comment);
                        }
                    }
                }
            }
            _ => {}
        }
        self.updated();
    }

    fn node(&mut self, node: u32, change: impl FnOnce(&mut super::NodeEntry)) {
        if let Some(entry) = self.slurmctld.nodes.get_mut(node as usize) {
            change(entry);
            self.updated();
        }
    }

    /// The node leaves its partition or is put into it again, which its jobs may use then.
    fn change_partition(&mut self, node: u32, left: bool) {
        let Some(entry) = self.slurmctld.nodes.get(node as usize) else {
            return;
        };
        let partition = entry.partition.clone();
        self.node(node, |entry| entry.left = left);
        let eligible = self.nodes_of_partition(&partition).map(Arc::<[u32]>::from);
        let jobs = self.slurmctld.jobs.values();
        let jobs = jobs.filter(|job| {
            job.seen.partition == partition && job.seen.state == ObservedState::Pending
        });
        let ids: Vec<u32> = jobs.map(|job| job.seen.id).collect();
        for id in ids {
            if let Some(job) = self.slurmctld.jobs.get_mut(&id) {
                job.seen.request.eligible.clone_from(&eligible);
            }
        }
    }

    fn undrain(&mut self, node: u32) {
        let answers = self
            .machines
            .get(node as usize)
            .is_some_and(|m| m.is_reachable());
        self.node(node, |entry| {
            (entry.drained, entry.set_down) = (false, false);
            // Slurm takes its reason away.
            entry.reported_parked = 0;
            entry.down &= !answers;
        });
    }

    fn machine(&mut self, node: u32, change: impl FnOnce(&mut super::machine::ModelNode)) {
        if let Some(machine) = self.machines.get_mut(node as usize) {
            change(machine);
            self.check_contact(node);
        }
    }

    fn power_off(&mut self, node: u32) {
        let Some(machine) = self.machines.get(node as usize) else {
            return;
        };
        let runs: Vec<u64> = machine.runs.iter().copied().collect();
        for run in &runs {
            self.leave_image(*run, node);
        }
        let machine = &mut self.machines[node as usize];
        machine.switch_off();
        self.check_contact(node);
        let mut touched = vec![node];
        for id in runs {
            let Some(run) = self.runs.get_mut(&id) else {
                continue;
            };
            run.alive.remove(&node);
            touched.extend(run.alive.iter().copied());
            if run.alive.is_empty() {
                self.remove_run(id);
            }
        }
        self.rate(&touched);
    }

    pub(super) fn boot(&mut self, node: u32) {
        self.machine(node, |machine| {
            machine.on = true;
            machine.boots = true;
            machine.answers = true;
            machine.generation = 0;
        });
    }

    /// slurmctld ends. What it knew is what it saved, unless it ended in order.
    fn stop_slurmctld(&mut self, act: &Act) {
        if !self.serves {
            return;
        }
        self.serves = false;
        if matches!(act, Act::Kill(_)) {
            self.note("slurmctld is killed".into());
            self.slurmctld = self.saved.clone();
            self.mark_forgotten();
        } else {
            self.slurmctld.save_to(&mut self.saved);
        }
        if matches!(act, Act::LoseState(_)) {
            self.lost_state = true;
            self.kept = State::default();
        }
        // Where it was in memory only.
        self.unkept = StateChanges::default();
        self.forget_orders();
    }

    /// Marks what was forgotten: submissions that slurmctld does not know any more, and ends.
    fn mark_forgotten(&mut self) {
        let mut lost = Vec::new();
        for (label, program) in &mut self.programs {
            let is_known = self.slurmctld.knows(*label);
            program.forgotten |= is_known;
            if program.outcome == ProgramOutcome::Open && !is_known {
                lost.push(*label);
            }
        }
        for label in lost {
            self.after(Span(SECOND), ModelEvent::SubmitAgain(label));
        }
    }

    /// slurmctld starts.
    pub fn start_slurmctld(&mut self) {
        self.serves = true;
        self.serves_since = self.now;
        let running = self.slurmctld.jobs.values();
        let running = running.filter(|job| job.seen.state == ObservedState::Running);
        let running: Vec<u32> = running.map(|job| job.seen.id).collect();
        for id in running {
            if let Some(job) = self.slurmctld.jobs.get_mut(&id) {
                // The node reports again when the prolog is over.
                job.seen.configuring &= self.runs.get(&job.run).is_some_and(|run| !run.began);
            }
        }
        self.updated();
        self.look_at_nodes(true);
    }
}
