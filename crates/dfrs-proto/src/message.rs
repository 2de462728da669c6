//! Messages from the plugin to the node daemons, as JSON.
//!
//! There are three messages. [`Message::State`] is the full desired state of the nodes that it
//! names (the same bytes go to every node of a fan-out):
//!
//! ```json
//! {"v":1,"generation":1700000000000,"time_to_live":60,
//!  "nodes":{"n1":{"cpus":4,"jobs":[{"id":17,"share":0.25,"frozen":false}]}}}
//! ```
//!
//! [`Message::Probe`] (`{"v":1,"probe":true}`) has no answer: delivery is the answer, because facts
//! about a node are published as socket names (see `docs/dfrsd.md`). [`Message::Status`]
//! (`{"v":1,"status":true}`) is answered on the same connection with one frame that holds a
//! `NodeStatus` (`dfrs_node_proto::report`).
//!
//! # Versions
//!
//! `v` is [`VERSION`]. A reader ignores fields that it does not know, so a field may be added
//! without a new version if old daemons may safely overlook it. Everything else (a field removed,
//! given another meaning, or one that must not be overlooked) takes a new `v`, and a reader refuses
//! every `v` but its own: a daemon that cannot understand its orders must fail open, not guess.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Need;
use serde::{Deserialize, Serialize};

use crate::text::shortened;

/// The version that this crate writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// The longest message that is read or written, in bytes: about 100,000 jobs.
pub const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// The longest time, in seconds, for which a node may be ordered to enforce a state unconfirmed.
pub const MAX_TIME_TO_LIVE: u32 = 86_400;

/// All of a node's swap ([`NodeOrder::swap`]): it is counted in eighths.
pub const EIGHTHS: u8 = 8;

/// One message to a node daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the named nodes shall enforce.
    State(DesiredState),
    /// Nothing to do: the sender only checks whether the address exists.
    Probe,
    /// Requests a `NodeStatus` (`dfrs_node_proto::report`) on the same connection.
    Status,
}

/// The full desired state of one or many nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesiredState {
    /// Grows with every message of one cluster; a daemon ignores what is older than the newest it
    /// has seen. The plugin starts it from UNIX time in milliseconds.
    pub generation: u64,
    /// Seconds, 1 to [`MAX_TIME_TO_LIVE`]: a daemon that receives nothing for longer lifts all
    /// caps.
    pub time_to_live: u32,
    /// By Slurm's node name. A node that is not named here learns nothing from the message; one
    /// that is named leaves every job that is not listed uncapped and thawed.
    pub nodes: BTreeMap<String, NodeOrder>,
}

/// What one node shall enforce.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeOrder {
    /// CPUs that Slurm counts on the node; the daemon reports it but enforces shares of what the
    /// node really has.
    pub cpus: u32,
    /// One entry a job, in no particular order, no job twice.
    pub jobs: Vec<JobOrder>,
    /// Bytes of memory that Slurm has for jobs on the node (`RealMemory` less `MemSpecLimit`); none
    /// from a controller that does not say it. What the node has beyond that holds what parked jobs
    /// keep in RAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Bytes of swap that the controller counts for parked jobs here (`SwapPerNode`); none: it does
    /// not need to know how much of that there is. A daemon that knows this field reports in
    /// eighths of it how much parked jobs can have now (see `docs/dfrsd.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<u64>,
}

/// What one job may use on one node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobOrder {
    /// Slurm's job id (of an array task: its own, not the array's).
    pub id: u32,
    /// Fraction of the node's CPU capacity that all the job's tasks there may use together.
    pub share: Share,
    /// Stop the job and push its memory to swap.
    #[serde(default)]
    pub frozen: bool,
    /// The job was ordered to end, and its id is to be used again: the daemon reports, as for a
    /// parked job, when nothing of it is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// The job has tasks on other nodes, too, which may wait for those here: its cap is to hold it
    /// up as shortly as can be. A daemon that does not know this field caps the job as any other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spans_nodes: bool,
    /// Fraction of the node's CPU capacity that all the job's tasks there requested together; none:
    /// what the job needs of that is not to be measured. A daemon that does not know this field
    /// measures nothing of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Share>,
    /// What it counts with in decisions: so many eighths of its request, 1 to 8. What is not said
    /// is all.
    #[serde(default = "whole", skip_serializing_if = "is_whole", with = "eighths")]
    pub need: Need,
    /// The job may be carried: the daemon looks whether it can be, and says so. A daemon that does
    /// not know this field says that of no job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carry: bool,
    /// With `frozen`: the job is stopped and its processes are written to an image, in place of
    /// having its memory pushed to swap; it is `parked` when the image is complete. Only for jobs
    /// of which the daemon said that they can be carried, so that it knows this field. With `ended`:
    /// the job goes on from its image elsewhere, and what is left of it here is not to run again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub image: bool,
    /// With `ended`: an image of the job, if there is one, is of before and is removed; the daemon
    /// reports the end when there is none. Only where the daemon knows `image`, and says so itself
    /// when it makes images.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub void: bool,
}

impl JobOrder {
    /// A job that runs with this share, and of which nothing else is wanted.
    pub const fn new(id: u32, share: Share) -> JobOrder {
        JobOrder {
            id,
            share,
            frozen: false,
            ended: false,
            spans_nodes: false,
            request: None,
            need: Need::WHOLE,
            carry: false,
            image: false,
            void: false,
        }
    }
}

const fn whole() -> Need {
    Need::WHOLE
}

fn is_whole(need: &Need) -> bool {
    !need.is_less()
}

/// A need as its eighths; what is no number of them is brought into range.
mod eighths {
    use dfrs_core::Need;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(need: &Need, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(need.eighths())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Need, D::Error> {
        u8::deserialize(deserializer).map(Need::from_eighths)
    }
}

/// A fraction of a node's CPU capacity, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

impl Share {
    /// The whole node.
    pub const ONE: Share = Share(1.0);

    /// The share nearest to `fraction`, which may have left 0..=1 by rounding; not-a-number is 0.
    pub fn clamped(fraction: f64) -> Share {
        if fraction.is_nan() {
            return Share(0.0);
        }
        Share(fraction.clamp(0.0, 1.0))
    }

    /// The fraction, 0 to 1.
    pub fn fraction(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(fraction: f64) -> Result<Share, String> {
        if (0.0..=1.0).contains(&fraction) {
            Ok(Share(fraction))
        } else {
            Err(format!("share {fraction} is not between 0 and 1"))
        }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        share.0
    }
}

/// Why bytes are not a message, or a message cannot be sent; always one line.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// Longer than [`MAX_MESSAGE_BYTES`].
    #[error("message of {bytes} bytes: at most {MAX_MESSAGE_BYTES} are allowed")]
    TooLong {
        /// The message's length.
        bytes: usize,
    },
    /// Not JSON, or not of the documented shape.
    #[error("message not understood: {}", shortened(&.0.to_string()))]
    Syntax(#[from] serde_json::Error),
    /// Written by another version of slurm-dfrs.
    #[error(
        "message of version {found}, this is version {VERSION}: install the same slurm-dfrs on controller and nodes"
    )]
    Version {
        /// The message's `v`.
        found: u64,
    },
    /// Right shape, impossible content.
    #[error("invalid message: {}", shortened(.0))]
    Content(String),
}

/// The fields by which messages are distinguished.
#[derive(Deserialize)]
struct Header {
    v: u64,
    #[serde(default)]
    probe: bool,
    #[serde(default)]
    status: bool,
}

/// A state as it is sent.
#[derive(Serialize)]
struct Versioned<'a> {
    v: u32,
    #[serde(flatten)]
    state: &'a DesiredState,
}

impl Message {
    /// The message as bytes, the same for the same message. O(length).
    ///
    /// # Errors
    ///
    /// If the content is impossible (see [`DesiredState::validate`]) or too long.
    pub fn encode(&self) -> Result<Vec<u8>, MessageError> {
        let bytes = match self {
            Message::State(state) => {
                state.validate()?;
                serde_json::to_vec(&Versioned { v: VERSION, state })?
            }
            Message::Probe => format!(r#"{{"v":{VERSION},"probe":true}}"#).into_bytes(),
            Message::Status => format!(r#"{{"v":{VERSION},"status":true}}"#).into_bytes(),
        };
        check_length(bytes.len())?;
        Ok(bytes)
    }

    /// The message in `bytes`. O(length).
    ///
    /// # Errors
    ///
    /// If the bytes are too long, no JSON, of another version, or not of the documented shape.
    pub fn decode(bytes: &[u8]) -> Result<Message, MessageError> {
        check_length(bytes.len())?;
        // The version first: a newer message may have another shape, and the version says why.
        let header: Header = serde_json::from_slice(bytes)?;
        if header.v != u64::from(VERSION) {
            return Err(MessageError::Version { found: header.v });
        }
        if header.probe {
            return Ok(Message::Probe);
        }
        if header.status {
            return Ok(Message::Status);
        }
        let state: DesiredState = serde_json::from_slice(bytes)?;
        state.validate()?;
        Ok(Message::State(state))
    }
}

impl DesiredState {
    /// Checks what the types do not: `time_to_live` in range, node names not empty, no job twice on
    /// a node, no job 0. O(jobs · log jobs).
    ///
    /// # Errors
    ///
    /// [`MessageError::Content`] with the first thing found.
    pub fn validate(&self) -> Result<(), MessageError> {
        if self.time_to_live == 0 || self.time_to_live > MAX_TIME_TO_LIVE {
            return Err(MessageError::Content(format!(
                "time_to_live of {} s is not between 1 and {MAX_TIME_TO_LIVE}",
                self.time_to_live
            )));
        }
        self.nodes
            .iter()
            .try_for_each(|(name, node)| node.validate(name))
    }
}

impl NodeOrder {
    fn validate(&self, name: &str) -> Result<(), MessageError> {
        if name.is_empty() {
            return Err(MessageError::Content("a node without a name".to_string()));
        }
        let mut seen = BTreeSet::new();
        for job in &self.jobs {
            if job.id == 0 {
                return Err(MessageError::Content(format!("job 0 on node {name:?}")));
            }
            if !seen.insert(job.id) {
                return Err(MessageError::Content(format!(
                    "job {} twice on node {name:?}",
                    job.id
                )));
            }
        }
        Ok(())
    }
}

fn check_length(bytes: usize) -> Result<(), MessageError> {
    if bytes > MAX_MESSAGE_BYTES {
        return Err(MessageError::TooLong { bytes });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOLDEN: &str = concat!(
        r#"{"v":1,"generation":1700000000000,"time_to_live":60,"nodes":{"#,
        r#""n1":{"cpus":4,"jobs":[{"id":17,"share":0.25,"frozen":false},{"id":18,"share":0.0,"frozen":true}]},"#,
        r#""n2":{"cpus":8,"jobs":[]}}}"#
    );

    fn golden() -> Message {
        let job = |id, share, frozen| JobOrder {
            frozen,
            ..JobOrder::new(id, Share::clamped(share))
        };
        let nodes = [
            (
                "n1".to_string(),
                NodeOrder {
                    cpus: 4,
                    jobs: vec![job(17, 0.25, false), job(18, 0.0, true)],
                    ..NodeOrder::default()
                },
            ),
            (
                "n2".to_string(),
                NodeOrder {
                    cpus: 8,
                    ..NodeOrder::default()
                },
            ),
        ];
        Message::State(DesiredState {
            generation: 1_700_000_000_000,
            time_to_live: 60,
            nodes: nodes.into(),
        })
    }

    fn error_of(text: &str) -> String {
        let error = Message::decode(text.as_bytes())
            .expect_err(text)
            .to_string();
        assert!(!error.contains('\n'), "more than one line: {error}");
        error
    }

    #[test]
    fn optional_job_fields_are_left_out_when_default() {
        let job = JobOrder::new(17, Share::ONE);
        let request = Some(Share::clamped(0.5));
        let need = Need::from_eighths(3);
        for (job, more) in [
            (JobOrder { ended: true, ..job }, r#","ended":true"#),
            (
                JobOrder {
                    ended: true,
                    void: true,
                    ..job
                },
                r#","ended":true,"void":true"#,
            ),
            (
                JobOrder {
                    spans_nodes: true,
                    ..job
                },
                r#","spans_nodes":true"#,
            ),
            (JobOrder { request, ..job }, r#","request":0.5"#),
            (
                JobOrder {
                    request,
                    need,
                    ..job
                },
                r#","request":0.5,"need":3"#,
            ),
        ] {
            let text = format!(r#"{{"id":17,"share":1.0,"frozen":false{more}}}"#);
            assert_eq!(serde_json::to_string(&job).unwrap(), text);
            assert_eq!(serde_json::from_str::<JobOrder>(&text).unwrap(), job);
        }
    }

    #[test]
    fn swap_field_is_left_out_when_not_requested() {
        for (swap, text) in [
            (None, r#"{"cpus":4,"jobs":[]}"#),
            (Some(1 << 30), r#"{"cpus":4,"jobs":[],"swap":1073741824}"#),
        ] {
            let node = NodeOrder {
                cpus: 4,
                swap,
                ..NodeOrder::default()
            };
            assert_eq!(serde_json::to_string(&node).unwrap(), text);
            assert_eq!(serde_json::from_str::<NodeOrder>(text).unwrap(), node);
        }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(
            String::from_utf8(golden().encode().unwrap()).unwrap(),
            GOLDEN
        );
        assert_eq!(Message::decode(GOLDEN.as_bytes()).unwrap(), golden());
        assert_eq!(Message::Probe.encode().unwrap(), br#"{"v":1,"probe":true}"#);
        assert_eq!(
            Message::decode(br#"{"v":1,"probe":true}"#).unwrap(),
            Message::Probe
        );
        assert_eq!(
            Message::Status.encode().unwrap(),
            br#"{"v":1,"status":true}"#
        );
        assert_eq!(
            Message::decode(br#"{"v":1,"status":true}"#).unwrap(),
            Message::Status
        );
    }

    #[test]
    fn unknown_fields_are_ignored_and_frozen_may_be_missing() {
        let text = r#"{"v":1,"color":"red","generation":5,"time_to_live":9,
            "nodes":{"a":{"cpus":1,"mem":3,"jobs":[{"id":1,"share":1,"weight":7}]}}}"#;
        let Message::State(state) = Message::decode(text.as_bytes()).unwrap() else {
            panic!("no state")
        };
        assert_eq!(state.nodes["a"].jobs, [JobOrder::new(1, Share::ONE)]);
    }

    #[test]
    fn other_versions_are_refused_whatever_their_fields() {
        assert!(error_of(r#"{"v":2,"generation":"new shape"}"#).contains("version 2"));
        assert!(error_of(r#"{"v":0,"probe":true}"#).contains("version 0"));
        assert!(error_of(r#"{"generation":1}"#).contains("missing field `v`"));
    }

    #[test]
    fn malformed_input_error_names_the_cause() {
        let with_job = |job: &str| {
            error_of(&format!(
                r#"{{"v":1,"generation":1,"time_to_live":9,"nodes":{{"a":{{"cpus":1,"jobs":[{job}]}}}}}}"#
            ))
        };
        assert!(error_of("").contains("EOF"));
        assert!(error_of("[1,2").contains("invalid type"));
        assert!(error_of(r#"{"v":1}"#).contains("missing field `generation`"));
        assert!(with_job(r#"{"id":1,"share":1.5}"#).contains("share 1.5 is not between 0 and 1"));
        assert!(with_job(r#"{"id":1,"share":-0.1}"#).contains("-0.1"));
        assert!(with_job(r#"{"id":1,"share":1e999}"#).contains("number out of range"));
        assert!(with_job(r#"{"id":-1,"share":1}"#).contains("-1"));
        assert!(with_job(r#"{"id":0,"share":1}"#).contains("job 0"));
        assert!(with_job(r#"{"id":1,"share":1},{"id":1,"share":0}"#).contains("job 1 twice"));
        assert!(
            error_of(r#"{"v":1,"generation":1,"time_to_live":0,"nodes":{}}"#)
                .contains("time_to_live")
        );
        assert!(
            error_of(
                r#"{"v":1,"generation":1,"time_to_live":9,"nodes":{"":{"cpus":1,"jobs":[]}}}"#
            )
            .contains("name")
        );
    }

    #[test]
    fn long_messages_are_refused_unread() {
        let long = vec![b' '; MAX_MESSAGE_BYTES + 1];
        assert!(matches!(
            Message::decode(&long),
            Err(MessageError::TooLong { .. })
        ));
    }

    #[test]
    fn impossible_states_are_not_written() {
        let Message::State(mut state) = golden() else {
            unreachable!()
        };
        state.time_to_live = 0;
        assert!(matches!(
            Message::State(state).encode(),
            Err(MessageError::Content(_))
        ));
    }

    #[test]
    fn shares_are_clamped_or_refused() {
        assert_eq!(Share::clamped(1.0 + 1e-12), Share::ONE);
        assert_eq!(Share::clamped(-0.0).fraction(), 0.0);
        assert_eq!(Share::clamped(f64::NAN).fraction(), 0.0);
        assert!(Share::try_from(f64::NAN).is_err());
        assert!(Share::try_from(f64::INFINITY).is_err());
    }

    fn node_order() -> impl Strategy<Value = NodeOrder> {
        let request = proptest::option::of(0.0f64..=1.0);
        let one = (0.0f64..=1.0, any::<[bool; 3]>(), request, 1u8..=8);
        let jobs = proptest::collection::btree_map(1u32.., one, 0..20);
        let node = any::<(u32, Option<u64>, Option<u64>)>();
        (node, jobs).prop_map(|((cpus, memory, swap), jobs)| NodeOrder {
            cpus,
            memory,
            swap,
            jobs: jobs
                .into_iter()
                .map(|(id, (share, flags, request, need))| {
                    let [frozen, ended, spans_nodes] = flags;
                    JobOrder {
                        frozen,
                        ended,
                        spans_nodes,
                        request: request.map(Share::clamped),
                        need: Need::from_eighths(need),
                        ..JobOrder::new(id, Share::clamped(share))
                    }
                })
                .collect(),
        })
    }

    proptest! {
        #[test]
        fn message_round_trips(
            generation: u64,
            time_to_live in 1..=MAX_TIME_TO_LIVE,
            nodes in proptest::collection::btree_map("[a-z0-9\"\\-]{1,12}", node_order(), 0..6),
        ) {
            let message = Message::State(DesiredState { generation, time_to_live, nodes });
            let bytes = message.encode().unwrap();
            let again = Message::decode(&bytes).unwrap();
            prop_assert_eq!(&again, &message);
            prop_assert_eq!(again.encode().unwrap(), bytes);
        }

        #[test]
        fn no_bytes_panic_and_errors_are_one_line(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Err(error) = Message::decode(&bytes) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
