use dfrs_journal::JournalReader;

use super::*;

const JOURNAL: &str = r#"{"t":0,"event":"platform","version":1,"policy":"P","nodes":[{"name":"alpha","cpu":2,"mem":10},{"name":"beta","cpu":2,"mem":10}]}
{"t":1,"event":"submit","job":"17","tasks":1,"cpu":1,"mem":1}
{"t":2,"event":"submit","job":"18","tasks":3,"cpu":1,"mem":1}
{"t":3,"event":"submit","job":"9","tasks":2,"cpu":1,"mem":1}
{"t":4,"event":"start","job":"18","nodes":[0,0,0]}
{"t":4,"event":"yield","job":"18","value":0.5}
{"t":5,"event":"start","job":"9","nodes":[1,1]}
{"t":5,"event":"yield","job":"9","value":0.25}
{"t":6,"event":"submit","job":"20","tasks":2,"cpu":1,"mem":1}
{"t":6,"event":"finish","job":"20","outcome":"failed"}
"#;

const NOW: Time = Time::from_seconds(10);

fn model() -> TopModel {
    let mut model = TopModel::default();
    for event in JournalReader::new(JOURNAL.as_bytes()) {
        model.follow(&event.expect("an event").1);
    }
    model
}

fn press(screen: &mut Screen, model: &TopModel, codes: &[KeyCode]) -> ScreenAction {
    let mut action = ScreenAction::None;
    for code in codes {
        action = screen.key(KeyEvent::from(*code), model, NOW);
    }
    action
}

fn type_text(screen: &mut Screen, model: &TopModel, text: &str) {
    for letter in text.chars() {
        press(screen, model, &[KeyCode::Char(letter)]);
    }
}

fn ids(screen: &Screen, model: &TopModel) -> Vec<String> {
    let rows = screen.rows(model, NOW);
    rows.iter().map(|job| job.id.clone()).collect()
}

#[test]
fn jobs_are_sorted_by_column_with_ended_ones_last() {
    let model = model();
    let mut screen = Screen::new(false);
    assert_eq!(ids(&screen, &model), ["18", "9", "17", "20"]);
    for (column, expected) in [
        (JobColumn::Job, ["9", "17", "18", "20"]),
        (JobColumn::Tasks, ["18", "9", "17", "20"]),
        (JobColumn::Yield, ["9", "18", "17", "20"]),
        (JobColumn::Stretch, ["9", "18", "17", "20"]),
        (JobColumn::Virtual, ["18", "9", "17", "20"]),
        (JobColumn::Flow, ["17", "18", "9", "20"]),
        (JobColumn::Last, ["18", "9", "17", "20"]),
        (JobColumn::Since, ["9", "18", "17", "20"]),
    ] {
        screen.sort = column;
        assert_eq!(ids(&screen, &model), expected, "{column:?}");
    }
    screen.sort = JobColumn::Job;
    press(&mut screen, &model, &[KeyCode::Char('I')]);
    assert_eq!(ids(&screen, &model), ["18", "17", "9", "20"]);
}

#[test]
fn sort_keys_cycle_through_columns() {
    let model = model();
    let mut screen = Screen::new(false);
    press(&mut screen, &model, &[KeyCode::Char('<')]);
    assert_eq!(screen.sort, JobColumn::Job);
    press(&mut screen, &model, &[KeyCode::Char('<')]);
    assert_eq!(screen.sort, JobColumn::Why);
    press(&mut screen, &model, &[KeyCode::F(6), KeyCode::Char('>')]);
    assert_eq!(screen.sort, JobColumn::Phase);
}

#[test]
fn filter_matches_jobs_and_nodes() {
    let model = model();
    let mut screen = Screen::new(false);
    let names = |screen: &Screen| -> Vec<String> {
        let nodes = screen.nodes(&model);
        nodes.iter().map(|node| node.name.clone()).collect()
    };
    assert_eq!(names(&screen), ["alpha", "beta"]);
    press(&mut screen, &model, &[KeyCode::F(4)]);
    type_text(&mut screen, &model, "BETq");
    press(&mut screen, &model, &[KeyCode::Backspace, KeyCode::Enter]);
    assert_eq!(
        (ids(&screen, &model), names(&screen)),
        (vec!["9".into()], vec!["beta".into()])
    );
    press(&mut screen, &model, &[KeyCode::Esc, KeyCode::F(4)]);
    type_text(&mut screen, &model, "18");
    assert_eq!(
        (ids(&screen, &model), names(&screen)),
        (vec!["18".into()], vec!["alpha".into()])
    );
    press(&mut screen, &model, &[KeyCode::Esc]);
    assert_eq!((ids(&screen, &model).len(), screen.prompt), (4, None));
}

#[test]
fn search_selects_next_match_or_reports_none() {
    let model = model();
    let mut screen = Screen::new(false);
    screen.jobs.fit(4, 2);
    press(&mut screen, &model, &[KeyCode::Char('/')]);
    type_text(&mut screen, &model, "1");
    assert_eq!(screen.jobs.selected, 0);
    press(&mut screen, &model, &[KeyCode::F(3)]);
    assert_eq!(screen.jobs.selected, 2);
    press(&mut screen, &model, &[KeyCode::Enter, KeyCode::Char('n')]);
    assert_eq!(screen.jobs.selected, 0);
    press(&mut screen, &model, &[KeyCode::Char('/')]);
    type_text(&mut screen, &model, "x");
    assert!(
        screen
            .note
            .as_deref()
            .is_some_and(|note| note.contains("'x'"))
    );
    press(
        &mut screen,
        &model,
        &[KeyCode::Esc, KeyCode::Tab, KeyCode::Char('/')],
    );
    type_text(&mut screen, &model, "bet");
    assert_eq!(screen.nodes.selected, 1);
}

#[test]
fn selected_line_stays_visible() {
    let model = model();
    let mut screen = Screen::new(false);
    screen.jobs.fit(100, 10);
    let mut after = |codes: &[KeyCode]| {
        press(&mut screen, &model, codes);
        screen.jobs.fit(100, 10);
        (screen.jobs.selected, screen.jobs.top)
    };
    assert_eq!(after(&[KeyCode::Up]), (0, 0));
    assert_eq!(after(&[KeyCode::Down; 12]), (12, 3));
    assert_eq!(after(&[KeyCode::PageDown]), (22, 13));
    assert_eq!(after(&[KeyCode::Up]), (21, 13));
    assert_eq!(after(&[KeyCode::End]), (99, 90));
    assert_eq!(after(&[KeyCode::PageUp]), (89, 89));
    assert_eq!(after(&[KeyCode::Home]), (0, 0));
    screen.jobs.fit(0, 0);
    press(&mut screen, &model, &[KeyCode::Down, KeyCode::End]);
    assert_eq!(screen.jobs.selected, 0);
}

#[test]
fn replay_keys_work_only_in_replay() {
    let model = model();
    for (code, action) in [
        (KeyCode::Char(' '), ScreenAction::Pause),
        (KeyCode::Char('+'), ScreenAction::Faster),
        (KeyCode::Char('-'), ScreenAction::Slower),
    ] {
        assert_eq!(press(&mut Screen::new(true), &model, &[code]), action);
        assert_eq!(
            press(&mut Screen::new(false), &model, &[code]),
            ScreenAction::None
        );
    }
}

#[test]
fn quit_keys_are_q_f10_and_ctrl_c_except_while_typing() {
    let model = model();
    let mut screen = Screen::new(false);
    assert_eq!(
        press(&mut screen, &model, &[KeyCode::Char('q')]),
        ScreenAction::Quit
    );
    assert_eq!(
        press(&mut screen, &model, &[KeyCode::F(10)]),
        ScreenAction::Quit
    );
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(screen.key(control, &model, NOW), ScreenAction::Quit);
    press(&mut screen, &model, &[KeyCode::F(1)]);
    assert!(screen.help);
    assert_eq!(
        press(&mut screen, &model, &[KeyCode::Char('x')]),
        ScreenAction::None
    );
    assert!(!screen.help);
    press(&mut screen, &model, &[KeyCode::F(4)]);
    assert_eq!(
        press(&mut screen, &model, &[KeyCode::Char('q')]),
        ScreenAction::None
    );
    assert_eq!(screen.filter, "q");
    assert_eq!(screen.key(control, &model, NOW), ScreenAction::Quit);
}

#[test]
fn user_key_reports_that_users_are_unknown() {
    let model = model();
    let mut screen = Screen::new(false);
    press(&mut screen, &model, &[KeyCode::Char('u')]);
    assert!(
        screen
            .note
            .as_deref()
            .is_some_and(|note| note.contains("no users"))
    );
    press(&mut screen, &model, &[KeyCode::Down]);
    assert_eq!(screen.note, None);
}
