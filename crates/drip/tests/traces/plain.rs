//! A reader of `drip read`, in one process so that thousands of traces take seconds.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use drip::database::{Database, Options};
use drip::settings::Settings;
use drip::verify::verify;
use kit::Invocation;
use kit::invocation::{Clock, Environment, Program, Terminal};
use testkit::{Home, Random};

use crate::mind::{Mind, lines};
use crate::world::{Happened, World};

/// Where a call's output goes.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Runs `drip` here, as a process would.
pub(crate) fn drip(
    home: &Home,
    now_ms: i64,
    cwd: &std::path::Path,
    env: &[(&str, &str)],
    args: &[&str],
    stdin: &str,
) -> (u8, String, String) {
    let (out, err) = (Paper::default(), Paper::default());
    let variables = home
        .environment()
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .chain(env.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    let invocation = Invocation {
        program: Program::new("drip", None),
        args: args.iter().map(Into::into).collect(),
        env: Environment::of::<std::ffi::OsString, std::ffi::OsString>(variables),
        cwd: cwd.to_owned(),
        stdin: Box::new(io::Cursor::new(stdin.to_owned())),
        stdout: Box::new(out.clone()),
        stderr: Box::new(err.clone()),
        terminal: Terminal { stdin: false, stdout: false, stderr: false },
        clock: Clock::from_fn(move || now_ms),
    };
    let exit = drip::run(invocation);
    (exit.code(), out.text(), err.text())
}

/// One history: two readers, four files, and somebody who changes them.
pub(crate) fn trace(home: &Home, seed: usize, random: &mut Random) {
    let mut world = World::new(home.path().join(format!("p{seed}")), random);
    let mut minds: HashMap<(usize, String), Mind> = HashMap::new();
    let policy = *random.pick(&["gated", "cheapest"]);
    let sessions = [format!("plain-{seed}-0"), format!("plain-{seed}-1")];
    let mut now_ms = 1_700_000_000_000;
    for _ in 0..5 + random.below(25) {
        now_ms += random.below(400) as i64 * 1000;
        let reader = random.below(2);
        let index = random.below(world.names.len());
        let name = world.names[index].clone();
        let env = [
            ("DRIP_SESSION_ID", sessions[reader].as_str()),
            ("DRIP_DIFF_POLICY", policy),
            ("DRIP_COMPRESS_MIN_BYTES", "200"),
        ];
        let call = |args: &[&str]| drip(home, now_ms, &world.folder, &env, args, "");
        match random.below(12) {
            0..3 => {
                if world.happen(index, random) != Happened::Edited {
                    // What is in mind of the old name stays in mind.
                    continue;
                }
            }
            3 => assert_eq!(call(&["refresh", &name]).0, 0),
            4 if random.below(4) == 0 => {
                assert_eq!(call(&["reset"]).0, 0);
                minds.retain(|(whose, _), _| *whose != reader);
            }
            4 if random.below(4) == 0 => {
                now_ms += 3 * 3_600_000;
                minds.clear();
            }
            kind => {
                let first = 1 + random.below(60);
                let last = first + random.below(30);
                let window = format!("{first}-{last}");
                let args: &[&str] = match kind {
                    4..7 => &["read", &name, "--lines", &window],
                    7 => &["read", &name, "--full"],
                    _ => &["read", &name],
                };
                let asked = (args.len() == 4).then_some((first, last));
                let said = call(args);
                judge(&mut minds, (reader, &name), world.text(&name).as_deref(), asked, &said);
            }
        }
    }
    for session in &sessions {
        proven(home, now_ms, session);
    }
    std::fs::remove_dir_all(&world.folder).unwrap();
}

/// What the store wrote down about a session proves what it was sent. The log is kept small on the way.
pub(crate) fn proven(home: &Home, now_ms: i64, session: &str) {
    let options = Options::from(&Settings::read(&Environment::of::<&str, &str>([])));
    let database = Database::open(&home.data().join("drip"), options, now_ms).unwrap();
    let verdict = verify(&database, Some(session)).unwrap();
    assert_eq!(verdict.wrong, [], "what the store wrote down proves it");
    assert_eq!(verdict.unprovable, 0, "nothing was pruned");
    if database.wants_fold() {
        database.fold_log().unwrap();
    }
}

/// Takes an answer in, and looks whether what is in mind then is in the file.
fn judge(
    minds: &mut HashMap<(usize, String), Mind>,
    (reader, name): (usize, &str),
    disk: Option<&str>,
    asked: Option<(usize, usize)>,
    (exit, said, error): &(u8, String, String),
) {
    let key = (reader, name.to_owned());
    let Some(disk) = disk else {
        assert!(said.starts_with("[DRIP: file deleted") || *exit == 1, "{said}{error}");
        minds.remove(&key);
        return;
    };
    assert_eq!(*exit, 0, "{error}");
    let (head, body) = match said.split_once('\n') {
        Some((head, body)) if head.starts_with("[DRIP: ") => (head, body),
        _ => ("", said.as_str()),
    };
    let says = |words: &str| head.starts_with(&format!("[DRIP: {words}"));
    let count = lines(disk).len();
    if says("renamed from ") {
        let old = head.strip_prefix("[DRIP: renamed from ").unwrap().split_once(" | ").unwrap().0;
        let old = old.rsplit('/').next().unwrap().to_owned();
        let known = minds.get(&(reader, old)).cloned().expect("the old name is known");
        known.must_hold(disk, 1, count, "renamed");
        minds.insert(key, known);
        return;
    }
    let mind = minds.entry(key).or_default();
    if says("unchanged since last read") || says("unchanged (empty file)") {
        mind.must_hold(disk, 1, count, "unchanged");
        mind.must_agree(disk, "unchanged");
    } else if says("unchanged (lines ") {
        let (first, last) = asked.unwrap();
        mind.must_hold(disk, first, last, "unchanged lines");
    } else if says("delta only (lines ") {
        let (first, last) = asked.unwrap();
        mind.delta(body);
        mind.must_hold(disk, first, last, "a delta of lines");
    } else if says("delta only") {
        mind.delta(body);
        mind.must_agree(disk, "a delta");
    } else if says("full read (semantic-compressed)") {
        // What is printed ends with a line end, whatever the file does.
        let body = body.split("\n\n── Changes since").next().unwrap();
        mind.elided(if disk.ends_with('\n') { body } else { body.trim_end_matches('\n') });
        mind.must_agree(disk, "an elided read");
    } else if says("lines ") {
        let (first, last) = asked.unwrap();
        let wanted: String = lines(disk)[first - 1..last.min(count)].concat();
        assert_eq!(body.trim_end_matches('\n'), wanted.trim_end_matches('\n'), "the lines asked for");
        mind.part(first, &lines(&wanted));
        // `lines 4-7 of 7` says where the file ends.
        mind.lines.truncate(count);
    } else if says("no line ") {
        assert!(asked.unwrap().0 > count);
    } else {
        let body = if says("empty file") { "" } else { body };
        let text = body.split("\n\n── Changes since").next().unwrap();
        assert!(
            text == disk || text.strip_suffix('\n') == Some(disk) || text == disk.trim_end_matches('\n'),
            "{head}: all of it"
        );
        mind.whole(disk);
    }
}
