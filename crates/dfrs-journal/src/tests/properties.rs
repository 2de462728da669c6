//! Random journals.

use dfrs_core::{NodeIndex, Span, Time};
use dfrs_proto::devices::DevicesByKind;
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent, JournalWriter, PlatformNode};
use proptest::prelude::*;

use super::super::{JournalReader, Tolerance, validate};

fn job() -> impl Strategy<Value = String> {
    (0..4_u8).prop_map(|id| id.to_string())
}

fn nodes() -> impl Strategy<Value = Vec<NodeIndex>> {
    prop::collection::vec((0..4_u32).prop_map(NodeIndex), 0..4)
}

fn span() -> impl Strategy<Value = Option<Span>> {
    prop::option::of((0..10_000_000_000_i64).prop_map(Span))
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), -2.0..2.0, 0.0..1e12]
}

fn outcome() -> impl Strategy<Value = JobOutcome> {
    prop_oneof![
        Just(JobOutcome::Completed),
        Just(JobOutcome::Cancelled),
        Just(JobOutcome::Failed),
        Just(JobOutcome::Other)
    ]
}

fn devices() -> impl Strategy<Value = DevicesByKind> {
    prop::collection::btree_map("[a-z:]{1,3}", 0..9_u64, 0..3)
}

fn platform() -> impl Strategy<Value = EventKind> {
    let node =
        ("[a-z]{1,3}", number(), number(), devices()).prop_map(|(name, cpu, mem, devices)| {
            PlatformNode {
                name,
                cpu,
                mem,
                devices,
            }
        });
    (prop::collection::vec(node, 0..4), span(), any::<String>()).prop_map(
        |(nodes, period, policy)| EventKind::Platform {
            version: 1,
            policy,
            period,
            nodes,
        },
    )
}

fn kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        1 => platform(),
        3 => (job(), 0..4_u32, prop::option::of(0..6_u32), (number(), number(), number()), devices(), span()).prop_map(
            |(job, tasks, most_tasks, (cpu, mem, mem_per_node), devices, runtime)| EventKind::Submit {
                job, tasks, most_tasks, cpu, mem, mem_per_node, devices, runtime
            }
        ),
        3 => (job(), nodes()).prop_map(|(job, nodes)| EventKind::Start { job, nodes }),
        1 => (job(), nodes()).prop_map(|(job, nodes)| EventKind::Refused { job, nodes }),
        1 => (job(), any::<bool>(), span())
            .prop_map(|(job, value, waited)| EventKind::Eligible { job, value, waited }),
        3 => (job(), number()).prop_map(|(job, value)| EventKind::Yield { job, value }),
        2 => (job(), any::<bool>()).prop_map(|(job, lost)| EventKind::Pause { job, lost }),
        2 => (job(), nodes(), span())
            .prop_map(|(job, nodes, stall)| EventKind::Resume { job, nodes, stall }),
        2 => (job(), nodes(), span())
            .prop_map(|(job, nodes, stall)| EventKind::Migrate { job, nodes, stall }),
        2 => (job(), outcome()).prop_map(|(job, outcome)| EventKind::Finish { job, outcome }),
    ]
}

/// Events in any order of kinds, in time order.
fn journal() -> impl Strategy<Value = Vec<JournalEvent>> {
    let step = (
        prop_oneof![Just(0_i64), 0..10_000_000_i64],
        kind(),
        prop::option::of("[ -~]{0,9}"),
    );
    (
        0..4_200_000_000_000_000_i64,
        platform(),
        prop::collection::vec(step, 0..60),
    )
        .prop_map(|(start, platform, steps)| {
            let mut t = start;
            let mut events = vec![JournalEvent::new(Time(t), platform)];
            for (step, kind, reason) in steps {
                t += step;
                events.push(JournalEvent {
                    t: Time(t),
                    kind,
                    reason,
                });
            }
            events
        })
}

fn text_of(events: &[JournalEvent]) -> String {
    let mut writer = JournalWriter::new(Vec::new());
    for event in events {
        writer.write(event).expect("in order and finite");
    }
    String::from_utf8(writer.into_inner()).expect("UTF-8")
}

proptest! {
    #[test]
    fn journal_round_trips(events in journal()) {
        let text = text_of(&events);
        prop_assert_eq!(text.lines().count(), events.len());
        let read: Result<Vec<_>, _> = JournalReader::new(text.as_bytes()).collect();
        let expected: Vec<_> = events.into_iter().enumerate().map(|(at, event)| (at + 1, event)).collect();
        prop_assert_eq!(read.expect("readable"), expected);
    }

    /// Random events are nearly always wrong somewhere; the check says so and never panics.
    #[test]
    fn random_events_never_panic(events in journal()) {
        let count = events.len();
        let found = validate(events.into_iter().enumerate(), Tolerance::default());
        prop_assert!(found.iter().all(|violation| violation.line < count));
        prop_assert!(found.iter().all(|violation| !violation.to_string().contains('\n')));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for result in JournalReader::new(&bytes[..]) {
            if let Err(error) = result {
                prop_assert!(error.line() >= 1);
            }
        }
    }

    /// Jobs that run one after the other in pieces of any length complete rightly; a second more or
    /// less is noticed.
    #[test]
    fn progress_adds_up_over_any_pieces(
        pieces in prop::collection::vec((1..1000_i64, 0.01..1.0_f64, 0..100_i64, any::<bool>()), 1..20),
        slip in prop_oneof![Just(0_i64), Just(2), Just(-2)],
    ) {
        const SECOND: i64 = 1_000_000;
        let node = || vec![NodeIndex(0)];
        let job = || "1".to_owned();
        let platform = vec![PlatformNode { name: "n0".into(), cpu: 1.0, mem: 1.0, devices: DevicesByKind::new() }];
        let mut t = 0;
        let mut done = 0.0;
        let mut body = Vec::new();
        for (at, (length, value, stall, pause)) in pieces.iter().copied().enumerate() {
            let stall = Some(Span(stall * SECOND));
            if pause && at > 0 {
                body.push(JournalEvent::new(Time(t), EventKind::Pause { job: job(), lost: false }));
                t += 7 * SECOND;
                body.push(JournalEvent::new(Time(t), EventKind::Resume { job: job(), nodes: node(), stall }));
            } else if at > 0 {
                body.push(JournalEvent::new(Time(t), EventKind::Migrate { job: job(), nodes: node(), stall }));
            } else {
                body.push(JournalEvent::new(Time(t), EventKind::Start { job: job(), nodes: node() }));
            }
            body.push(JournalEvent::new(Time(t), EventKind::Yield { job: job(), value }));
            let stalled = if at > 0 { stall.map_or(0, |span| span.0) } else { 0 };
            t += stalled + length * SECOND;
            // Precise enough: below 1000.
            let length = length as f64;
            done += value * length;
        }
        body.push(JournalEvent::new(Time(t), EventKind::Finish { job: job(), outcome: JobOutcome::Completed }));
        #[allow(clippy::cast_possible_truncation)] // below 20,000 s
        let runtime = Some(Span((done * 1e6).round() as i64 + slip * SECOND));
        let submit = EventKind::Submit { job: job(), tasks: 1, most_tasks: None, cpu: 1.0, mem: 1.0, mem_per_node: 0.0, devices: DevicesByKind::new(), runtime };
        let mut events = vec![
            JournalEvent::new(Time(0), EventKind::Platform { version: 1, policy: "x".into(), period: None, nodes: platform }),
            JournalEvent::new(Time(0), submit),
        ];
        events.extend(body);
        let found = validate(events.into_iter().enumerate(), Tolerance::default());
        prop_assert_eq!(found.len(), usize::from(slip != 0), "{:?}", found);
    }
}
