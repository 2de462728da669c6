//! What the controller wants of this node, and whether that still holds. Pure: no I/O, no clock.

use std::time::Duration;

use dfrs_proto::message::{DesiredState, NodeOrder};

/// The newest orders received, and when.
#[derive(Debug)]
pub struct Orders {
    started: Duration,
    timeout: Duration,
    held: Option<ReceivedOrders>,
}

#[derive(Debug)]
struct ReceivedOrders {
    generation: u64,
    time_to_live: u32,
    received: Duration,
    node: NodeOrder,
}

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum OrdersVerdict {
    /// These orders hold from now on.
    Accepted,
    /// These orders repeat what holds, and confirm it.
    Confirmed,
    /// These orders are older than what holds, and were ignored.
    Stale {
        /// The generation that holds.
        newest: u64,
    },
    /// These orders do not name this node.
    NotNamed,
}

/// What to do about the jobs of this node at some moment.
#[derive(Debug, PartialEq)]
pub enum Desired<'a> {
    /// No orders yet: change nothing. Caps may be there from a predecessor, and lifting them at
    /// every restart would let all jobs run at full speed for a while.
    Wait,
    /// No orders for too long: no job is capped. What is frozen stays frozen, because Slurm counts
    /// it suspended and its memory as others': it may not wake without Slurm's knowledge.
    Uncap,
    /// Exactly this.
    Enforce(&'a NodeOrder),
}

impl Orders {
    /// No orders yet, at time `now`; without any for `timeout`, caps are lifted.
    pub fn new(now: Duration, timeout: Duration) -> Orders {
        Orders {
            started: now,
            timeout,
            held: None,
        }
    }

    /// Takes note of a message at time `now`. A message of an older generation is ignored, unless
    /// what holds has expired: then the controller's clock went back, and it must be obeyed again.
    pub fn receive(&mut self, state: &DesiredState, node: &str, now: Duration) -> OrdersVerdict {
        let Some(wanted) = state.nodes.get(node) else {
            return OrdersVerdict::NotNamed;
        };
        let current = self.held.as_ref().filter(|held| !held.expired(now));
        if let Some(held) = current.filter(|held| state.generation < held.generation) {
            return OrdersVerdict::Stale {
                newest: held.generation,
            };
        }
        let repeated =
            current.is_some_and(|held| held.generation == state.generation && held.node == *wanted);
        self.held = Some(ReceivedOrders {
            generation: state.generation,
            time_to_live: state.time_to_live,
            received: now,
            node: wanted.clone(),
        });
        if repeated {
            OrdersVerdict::Confirmed
        } else {
            OrdersVerdict::Accepted
        }
    }

    /// What to do at time `now`.
    pub fn desired(&self, now: Duration) -> Desired<'_> {
        match &self.held {
            Some(held) if held.expired(now) => Desired::Uncap,
            Some(held) => Desired::Enforce(&held.node),
            None if now.saturating_sub(self.started) > self.timeout => Desired::Uncap,
            None => Desired::Wait,
        }
    }

    /// Generation of the newest orders.
    pub fn generation(&self) -> Option<u64> {
        self.held.as_ref().map(|held| held.generation)
    }

    /// Seconds for which the newest orders hold.
    pub fn time_to_live(&self) -> Option<u32> {
        self.held.as_ref().map(|held| held.time_to_live)
    }

    /// CPUs of the node as Slurm counts them.
    pub fn slurm_cpus(&self) -> Option<u32> {
        self.held.as_ref().map(|held| held.node.cpus)
    }

    /// Time since the newest orders were received.
    pub fn age(&self, now: Duration) -> Option<Duration> {
        self.held
            .as_ref()
            .map(|held| now.saturating_sub(held.received))
    }

    /// Time without orders: since the newest were received, or since the start.
    pub fn silence(&self, now: Duration) -> Duration {
        self.age(now)
            .unwrap_or_else(|| now.saturating_sub(self.started))
    }
}

impl ReceivedOrders {
    fn expired(&self, now: Duration) -> bool {
        now.saturating_sub(self.received) > Duration::from_secs(self.time_to_live.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_proto::message::{JobOrder, Share};
    use proptest::prelude::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn state(generation: u64, share: f64) -> DesiredState {
        let jobs = vec![JobOrder::new(17, Share::clamped(share))];
        let state = NodeOrder {
            cpus: 4,
            jobs,
            ..NodeOrder::default()
        };
        let nodes = [("n1".to_string(), state)].into();
        DesiredState {
            generation,
            time_to_live: 60,
            nodes,
        }
    }

    fn share_of(desired: &Desired) -> f64 {
        let Desired::Enforce(node) = desired else {
            panic!("{desired:?}")
        };
        node.jobs[0].share.fraction()
    }

    #[test]
    fn older_orders_are_ignored_after_newer_ones() {
        let mut orders = Orders::new(at(0), at(60));
        assert_eq!(
            orders.receive(&state(5, 0.5), "n1", at(1)),
            OrdersVerdict::Accepted
        );
        assert_eq!(
            orders.receive(&state(4, 0.4), "n1", at(2)),
            OrdersVerdict::Stale { newest: 5 }
        );
        assert_eq!(
            orders.receive(&state(5, 0.5), "n1", at(2)),
            OrdersVerdict::Confirmed
        );
        assert_eq!(share_of(&orders.desired(at(2))), 0.5);
        assert_eq!(
            orders.receive(&state(6, 0.6), "n1", at(3)),
            OrdersVerdict::Accepted
        );
        assert_eq!(share_of(&orders.desired(at(3))), 0.6);
    }

    #[test]
    fn caps_are_lifted_when_no_first_message_arrives_in_time() {
        let orders = Orders::new(at(100), at(60));
        assert_eq!(orders.desired(at(160)), Desired::Wait);
        assert_eq!(orders.desired(at(161)), Desired::Uncap);
        assert_eq!(orders.silence(at(161)), at(61));
    }

    #[test]
    fn caps_are_lifted_after_expiry_until_a_message_arrives() {
        let mut orders = Orders::new(at(0), at(60));
        orders.receive(&state(5, 0.5), "n1", at(10));
        assert_eq!(share_of(&orders.desired(at(70))), 0.5);
        assert_eq!(orders.desired(at(71)), Desired::Uncap);
        assert_eq!(orders.silence(at(71)), at(61));
        orders.receive(&state(5, 0.5), "n1", at(80));
        assert_eq!(share_of(&orders.desired(at(80))), 0.5);
    }

    #[test]
    fn stale_or_foreign_messages_do_not_confirm_orders() {
        let mut orders = Orders::new(at(0), at(60));
        orders.receive(&state(5, 0.5), "n1", at(0));
        orders.receive(&state(4, 0.5), "n1", at(50));
        assert_eq!(
            orders.receive(&state(6, 0.5), "n2", at(50)),
            OrdersVerdict::NotNamed
        );
        assert_eq!(orders.desired(at(61)), Desired::Uncap);
    }

    #[test]
    fn older_generation_is_accepted_after_expiry() {
        let mut orders = Orders::new(at(0), at(60));
        orders.receive(&state(5, 0.5), "n1", at(0));
        assert_eq!(
            orders.receive(&state(1, 0.1), "n1", at(61)),
            OrdersVerdict::Accepted
        );
        assert_eq!(share_of(&orders.desired(at(61))), 0.1);
    }

    proptest! {
        /// In any order and with any repetition, what holds is the newest generation received.
        #[test]
        fn newest_generation_holds_in_any_order_of_messages(generations in proptest::collection::vec(0u64..20, 1..40)) {
            let mut orders = Orders::new(at(0), at(60));
            for &generation in &generations {
                orders.receive(&state(generation, generation as f64 / 20.0), "n1", at(1));
            }
            let newest = *generations.iter().max().unwrap();
            prop_assert_eq!(orders.generation(), Some(newest));
            prop_assert_eq!(share_of(&orders.desired(at(1))), newest as f64 / 20.0);
        }
    }
}
