//! How long things take live, as the command line says.

use std::str::FromStr;

use dfrs_core::Span;
use dfrs_testbed::model::ModelSettings;

use super::named_values;
use crate::options::seconds;

const NAMES: &str = "launch, call, message, orders, probe, kill, requeue";

/// Latencies of the model that are not as usual.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<(&'static str, Span)>);

/// The latency of this name, and the name.
fn named<'a>(settings: &'a mut ModelSettings, name: &str) -> Option<(&'static str, &'a mut Span)> {
    Some(match name {
        "launch" => ("launch", &mut settings.launch),
        "call" => ("call", &mut settings.call),
        "message" => ("message", &mut settings.message),
        "orders" => ("orders", &mut settings.orders),
        "probe" => ("probe", &mut settings.probe),
        "kill" => ("kill", &mut settings.kill),
        "requeue" => ("requeue", &mut settings.requeue_delay),
        _ => return None,
    })
}

impl Latencies {
    /// The model's, with these.
    pub fn settings(&self) -> ModelSettings {
        let mut settings = ModelSettings::default();
        for (name, span) in &self.0 {
            if let Some((_, latency)) = named(&mut settings, name) {
                *latency = *span;
            }
        }
        settings
    }
}

impl FromStr for Latencies {
    type Err = String;

    /// Reads e.g. `launch=2,kill=1`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut latencies = Self::default();
        for (name, value) in named_values(text) {
            let mut settings = ModelSettings::default();
            let Some((name, _)) = named(&mut settings, name) else {
                return Err(format!(
                    "{name:?} is no latency; allowed: {NAMES}, for example launch=2"
                ));
            };
            let span = seconds(value).map_err(|allowed| format!("{name}: {allowed}"))?;
            if latencies.0.iter().any(|(other, _)| *other == name) {
                return Err(format!("{name} is there twice; give each latency once"));
            }
            latencies.0.push((name, span));
        }
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_read() {
        let settings = "launch=2, kill=0.5".parse::<Latencies>();
        let settings = settings.expect("latencies").settings();
        assert_eq!(settings.launch, Span::from_seconds(2));
        assert_eq!(settings.kill, Span(500_000));
        assert_eq!(settings.orders, ModelSettings::default().orders);
    }

    #[test]
    fn malformed_latency_is_one_line() {
        for (text, words) in [
            ("prolog=1", "allowed: launch, call"),
            ("launch", "allowed: seconds"),
            ("launch=-1", "allowed: seconds"),
            ("launch=1,launch=2", "launch is there twice"),
        ] {
            let error = text.parse::<Latencies>().expect_err(text);
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
    }
}
