//! The plugins that come with us, as they would lie in a new home.

use chibi::hooks::Event;
use chibi::plugins::shipped::{EXAMPLE, RECURSE, SHIPPED};
use serde_json::json;

use super::bench::{Bench, done, fire};

#[test]
fn a_new_home_has_recurse_and_an_example_that_sleeps() {
    let bench = Bench::new();
    for shipped in SHIPPED {
        bench.program(shipped.name, shipped.text);
    }
    assert_eq!(
        bench.report(),
        "recurse: loaded, tools recurse\nword_count.py.disabled: skipped: disabled by its name\n"
    );
    assert_eq!(bench.load().warnings(), []);
}

#[test]
fn recurse_takes_a_note_and_needs_nothing_but_bash() {
    let mut bench = Bench::new();
    bench.program(RECURSE.name, RECURSE.text);
    let bin = bench.home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["bash", "cat"] {
        let path = kit::process::find(program, &bench.ground.env).unwrap();
        std::os::unix::fs::symlink(path, bin.join(program)).unwrap();
    }
    bench.ground.env = kit::invocation::Environment::of([("PATH", bin)]);
    let plugins = bench.load();
    assert_eq!(plugins.specs()[0].schema["required"], json!(["note"]));
    assert_eq!(done(&plugins, "recurse", json!({"note": "go on"})), "Another round follows your answer.\n");
}

#[test]
fn the_example_counts_words_of_any_number_and_tells_the_date() {
    let bench = Bench::new();
    let (first, rest) = EXAMPLE.text.split_once('\n').unwrap();
    assert_eq!(first, "#!/usr/bin/env -S uv run --quiet --script");
    bench.program("word_count.py", format!("#!/usr/bin/env python3\n{rest}"));
    let plugins = bench.load();
    assert_eq!(done(&plugins, "word_count", json!({"text": "one two\nthree"})), "3 words\n");
    assert_eq!(done(&plugins, "word_count", json!({"text": "a ".repeat(100_000)})), "100000 words\n");
    let event = Event::PostSystemPrompt { context_name: "c", summary: "", todos: "", goals: "" };
    assert!(fire(&plugins, event).inject().unwrap().starts_with("Today is 20"));
}
