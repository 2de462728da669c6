use dfrs_journal::JournalReader;

use super::*;

const JOURNAL: &str = r#"{"t":100,"event":"platform","version":1,"policy":"P","nodes":[{"name":"n0","cpu":2,"mem":10}]}
{"t":500,"event":"submit","job":"1","tasks":1,"cpu":1,"mem":1}
{"t":510,"event":"start","job":"1","nodes":[0]}
{"t":510,"event":"yield","job":"1","value":1}
{"t":600,"event":"finish","job":"1"}
{"t":9000,"event":"submit","job":"2","tasks":1,"cpu":1,"mem":1}
{"t":9001,"event":"finish","job":"2","outcome":"cancelled"}
"#;

fn player(text: &'static str, model: &mut TopModel) -> Player<JournalReader<&'static [u8]>> {
    Player::new(JournalReader::new(text.as_bytes()), 10.0, model)
}

#[test]
fn events_are_played_at_their_time() {
    let mut model = TopModel::default();
    let mut player = player(JOURNAL, &mut model);
    assert_eq!(
        (player.now(), model.nodes.len()),
        (Time::from_seconds(500), 1)
    );
    player.advance(Duration::from_millis(900), &mut model, || true);
    assert_eq!(
        (model.totals.waiting, player.now()),
        (1, Time::from_seconds(509))
    );
    player.is_paused = true;
    player.advance(Duration::from_secs(9), &mut model, || true);
    assert_eq!(model.totals.waiting, 1);
    player.is_paused = false;
    player.faster();
    player.advance(Duration::from_millis(500), &mut model, || true);
    assert_eq!(
        (model.totals.running, player.now()),
        (1, Time::from_seconds(519))
    );
}

#[test]
fn idle_times_are_skipped_up_to_the_end() {
    let mut model = TopModel::default();
    let mut player = player(JOURNAL, &mut model);
    player.advance(Duration::from_secs(11), &mut model, || true);
    assert_eq!(
        (model.totals.ended, player.now()),
        (1, Time::from_seconds(9000))
    );
    player.advance(Duration::from_secs(1), &mut model, || true);
    assert!(player.is_over());
    player.advance(Duration::from_secs(100), &mut model, || true);
    assert_eq!(
        (model.totals.ended, player.now()),
        (2, Time::from_seconds(9001))
    );
}

#[test]
fn replay_stops_at_the_last_event_read_when_out_of_time() {
    let mut model = TopModel::default();
    let mut player = player(JOURNAL, &mut model);
    player.advance(Duration::from_secs(900), &mut model, || false);
    assert_eq!(
        (model.totals.waiting, player.now()),
        (1, Time::from_seconds(500))
    );
    player.advance(Duration::from_secs(900), &mut model, || false);
    let share = model.jobs().next().map(|job| job.share);
    assert_eq!((share, player.now()), (Some(1.0), Time::from_seconds(510)));
}

#[test]
fn seek_goes_to_a_time_after_the_first_event() {
    let mut model = TopModel::default();
    let mut player = player(JOURNAL, &mut model);
    player.seek(Some(Span::from_seconds(450)), &mut model);
    assert_eq!(
        (model.totals.running, player.now()),
        (1, Time::from_seconds(550))
    );
    player.seek(None, &mut model);
    assert_eq!(
        (model.totals.ended, player.now()),
        (2, Time::from_seconds(9001))
    );
}

#[test]
fn speeds_have_their_limits() {
    let mut model = TopModel::default();
    let mut player = player(JOURNAL, &mut model);
    for _ in 0..99 {
        player.faster();
    }
    assert_eq!(player.speed, MAX_SPEED);
    player.advance(Duration::MAX, &mut model, || true);
    for _ in 0..99 {
        player.slower();
    }
    assert_eq!(player.speed, MIN_SPEED);
}

#[test]
fn malformed_line_ends_the_replay_with_an_error() {
    let mut model = TopModel::default();
    let text =
        "{\"t\":1,\"event\":\"submit\",\"job\":\"1\",\"tasks\":1,\"cpu\":1,\"mem\":1}\nno event\n";
    let mut player = player(text, &mut model);
    player.seek(None, &mut model);
    let problem = player.problem.expect("is reported");
    assert!(problem.starts_with("line 2: "), "{problem}");
}
