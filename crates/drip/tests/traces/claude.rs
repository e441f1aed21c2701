//! Claude Code with our hooks, as it was measured: it shows numbered lines without line ends, one line more behind a last
//! line end, plain line ends only, and cuts what is too long; it tells its hooks what it showed and did; and it shows its
//! model what a hook put in place of that. The model's mind is judged after every answer.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};
use testkit::{Home, Random};

use crate::plain::{drip, proven};
use crate::world::{World, edited};

/// The client cuts what is longer, so that small files do.
const CAP: usize = 90;

/// What the model of one pair of eyes has in mind of a file: lines without their ends, as they are shown.
type Mind = Vec<Option<String>>;

struct Client<'a> {
    home: &'a Home,
    world: World,
    session: String,
    sessions: usize,
    seed: usize,
    now_ms: i64,
    policy: &'static str,
    minds: HashMap<(String, String), Mind>,
    /// Whether it tells where rounds of calls end.
    rounds: bool,
    calls: usize,
}

pub(crate) fn trace(home: &Home, seed: usize, random: &mut Random) {
    let world = World::new(home.path().join(format!("c{seed}")), random);
    let mut client = Client {
        home,
        world,
        session: format!("claude-{seed}-0"),
        sessions: 1,
        seed,
        now_ms: 1_700_000_000_000,
        policy: random.pick::<&'static str>(&["gated", "cheapest"]),
        minds: HashMap::new(),
        rounds: random.below(3) > 0,
        calls: 0,
    };
    for _ in 0..4 + random.below(22) {
        client.now_ms += random.below(300) as i64 * 1000;
        client.step(random);
    }
    for number in 0..client.sessions {
        proven(home, client.now_ms, &format!("claude-{seed}-{number}"));
    }
    fs::remove_dir_all(&client.world.folder).unwrap();
}

impl Client<'_> {
    fn step(&mut self, random: &mut Random) {
        let index = random.below(self.world.names.len());
        let name = self.world.names[index].clone();
        match random.below(16) {
            0..3 => drop(self.world.happen(index, random)),
            3 => self.start(random),
            4 | 5 => self.edit(&name, random),
            6 => self.write(&name, random),
            // A read that the person did not allow: no hook hears of it.
            7 => {}
            _ => {
                // One round: often of one call, sometimes of several about the same file.
                for _ in 0..1 + random.below(5) / 3 {
                    let agent = *random.pick(&["", "", "", "sub-1"]);
                    match random.below(5) {
                        0 => self.cat(&name, agent),
                        _ => self.read(&name, agent, random),
                    }
                }
                if self.rounds {
                    assert_eq!(
                        self.hook("claude-post-batch", "", json!({"hook_event_name": "PostToolBatch"})),
                        None
                    );
                }
            }
        }
    }

    /// The window begins anew; or, after an hour's pause, everything is forgotten without a word.
    fn start(&mut self, random: &mut Random) {
        let source = *random.pick(&["compact", "clear", "resume", "expired", "startup"]);
        if source == "expired" {
            self.now_ms += 3 * 3_600_000;
            return;
        }
        if source == "compact" {
            assert_eq!(self.hook("claude-compact", "", json!({"hook_event_name": "PreCompact"})), None);
        }
        if source == "clear" {
            self.session = format!("claude-{}-{}", self.seed, self.sessions);
            self.sessions += 1;
        }
        self.hook("claude-session-start", "", json!({"hook_event_name": "SessionStart", "source": source}));
        if source != "resume" {
            self.minds.clear();
        }
    }

    fn read(&mut self, name: &str, agent: &str, random: &mut Random) {
        let path = self.world.path(name);
        let Some(shown) = self.shown(name) else { return };
        let window = (random.below(3) == 0).then(|| (1 + random.below(70), 1 + random.below(40)));
        let (first, count) = window.unwrap_or((1, usize::MAX));
        if first > shown.len() || shown == [""] {
            return;
        }
        let mut page: Vec<String> = shown.iter().skip(first - 1).take(count).cloned().collect();
        let cut = window.is_none() && page.len() > CAP;
        page.truncate(CAP);
        let mut file = json!({
            "filePath": path, "content": page.join("\n"), "numLines": page.len(), "startLine": first,
            "totalLines": shown.len(),
        });
        if cut {
            file["truncatedByTokenCap"] = json!(true);
        }
        let mut input = json!({"file_path": path});
        if let Some((offset, limit)) = window {
            input["offset"] = json!(offset);
            input["limit"] = json!(limit);
        }
        let said = self.hook(
            "claude-post-read",
            agent,
            json!({
                "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": input,
                "tool_response": {"type": "text", "file": file},
            }),
        );
        let asked = (first, first - 1 + page.len());
        match said {
            None => {
                self.take(agent, name, first, &page);
                // Whoever asked for more than there is has seen the end.
                if !cut && count > page.len() {
                    self.mind(agent, name).truncate(shown.len());
                }
            }
            Some(said) => {
                let file = &said["hookSpecificOutput"]["updatedToolOutput"]["file"];
                assert_eq!(said["hookSpecificOutput"]["updatedToolOutput"]["type"], "text");
                assert!(!cut, "a page that was cut is left to the client");
                let number = usize::try_from(file["startLine"].as_u64().unwrap()).unwrap();
                let content = file["content"].as_str().unwrap();
                assert!(content.len() < page.join("\n").len() + 6 * page.len(), "never longer");
                self.believe((agent, name), &shown, asked, number, content, window.is_some());
            }
        }
    }

    /// `cat` through the shell: its output is replaced as text, and shows no numbers.
    fn cat(&mut self, name: &str, agent: &str) {
        let path = self.world.path(name);
        let Some(disk) = self.world.text(name) else { return };
        let said = self.hook(
            "claude-post-bash",
            agent,
            json!({
                "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": {"command": format!("cat {}", path.display())},
                "tool_response": {"stdout": disk, "stderr": "", "interrupted": false, "isImage": false},
            }),
        );
        let shown = self.shown(name).unwrap();
        let Some(said) = said else {
            // What a terminal shows of line ends, nobody can see: only whole plain texts count.
            self.take(agent, name, 1, &shown);
            return;
        };
        let text = said["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap().to_owned();
        assert!(text.len() < disk.len(), "never longer");
        let all = (1, shown.len());
        self.believe((agent, name), &shown, all, 0, text.trim_end_matches('\n'), false);
    }

    /// The agent replaces a line that the file has once.
    fn edit(&mut self, name: &str, random: &mut Random) {
        let (Some(disk), Some(shown)) = (self.world.text(name), self.shown(name)) else { return };
        let mind = self.minds.entry((String::new(), name.to_owned())).or_default();
        let known: Vec<String> = mind.iter().flatten().cloned().collect();
        let once = |line: &&String| line.len() > 2 && disk.matches(line.as_str()).count() == 1;
        let candidates: Vec<&String> = known.iter().filter(once).collect();
        if candidates.is_empty() || disk.contains('\r') {
            return;
        }
        let old = (*random.pick(&candidates)).clone();
        let new = random.pick(&["changed", "two\nlines", "", "a\nb\nc"]).to_string() + &old[old.len() - 1..];
        if let Some(at) = mind.iter().position(|line| line.as_deref() == Some(&old)) {
            mind.splice(at..=at, new.split('\n').map(|line| Some(line.to_owned())));
        }
        fs::write(self.world.path(name), disk.replacen(&old, &new, 1)).unwrap();
        let path = self.world.path(name);
        let _ = shown;
        self.hook(
            "claude-post-edit",
            "",
            json!({
                "hook_event_name": "PostToolUse", "tool_name": "Edit",
                "tool_input": {"file_path": path, "old_string": old, "new_string": new},
                "tool_response": {
                    "filePath": path, "oldString": old, "newString": new, "originalFile": disk,
                    "structuredPatch": [], "userModified": false, "replaceAll": false,
                },
            }),
        );
    }

    /// The agent writes a file anew: it knows every line of it.
    fn write(&mut self, name: &str, random: &mut Random) {
        let disk = self.world.text(name);
        let content = edited(disk.as_deref().unwrap_or("new\nfile\n"), random).replace('\r', "");
        fs::write(self.world.path(name), &content).unwrap();
        let path = self.world.path(name);
        self.minds.insert((String::new(), name.to_owned()), split(&content));
        self.hook(
            "claude-post-edit",
            "",
            json!({
                "hook_event_name": "PostToolUse", "tool_name": "Write",
                "tool_input": {"file_path": path, "content": content},
                "tool_response": {
                    "type": if disk.is_some() { "update" } else { "create" }, "filePath": path, "content": content,
                    "structuredPatch": [], "originalFile": disk,
                },
            }),
        );
    }

    /// Calls a hook; nothing if it said nothing.
    fn hook(&mut self, name: &str, agent: &str, mut event: Value) -> Option<Value> {
        self.calls += 1;
        event["session_id"] = json!(self.session);
        event["transcript_path"] = json!("/t.jsonl");
        event["cwd"] = json!(self.world.folder);
        event["tool_use_id"] = json!(format!("toolu_{}", self.calls));
        if !agent.is_empty() {
            event["agent_id"] = json!(agent);
            event["agent_type"] = json!("general");
        }
        let env = [("DRIP_DIFF_POLICY", self.policy)];
        let (exit, said, error) =
            drip(self.home, self.now_ms, &self.world.folder, &env, &["hook", name], &event.to_string());
        assert_eq!(exit, 0, "{error}");
        assert!(!said.contains("permissionDecision"), "what the person is asked stays as it was: {said}");
        let said = said.trim();
        let said =
            (!said.is_empty() && said != "{}").then(|| serde_json::from_str::<Value>(said).unwrap())?;
        (name != "claude-session-start").then_some(said)
    }

    /// The file as the client shows it.
    fn shown(&self, name: &str) -> Option<Vec<String>> {
        let text = self.world.text(name)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
        Some(text.split('\n').map(str::to_owned).collect())
    }

    fn mind(&mut self, agent: &str, name: &str) -> &mut Mind {
        self.minds.entry((agent.to_owned(), name.to_owned())).or_default()
    }

    /// The client's own lines.
    fn take(&mut self, agent: &str, name: &str, first: usize, page: &[String]) {
        let total = self.shown(name).unwrap().len();
        let whole = first == 1 && page.len() == total;
        let mind = self.mind(agent, name);
        if mind.len() < first - 1 + page.len() {
            mind.resize(first - 1 + page.len(), None);
        }
        for (held, line) in mind[first - 1..].iter_mut().zip(page) {
            *held = Some(line.clone());
        }
        if whole {
            mind.truncate(total);
        }
    }

    /// What a hook put in place of the client's lines.
    fn believe(
        &mut self,
        (agent, name): (&str, &str),
        shown: &[String],
        (first, last): (usize, usize),
        number: usize,
        content: &str,
        is_window: bool,
    ) {
        let (heading, body) =
            content.split_once('\n').map_or((content, ""), |(heading, body)| (heading, body));
        let says = |words: &str| heading.starts_with(&format!("[DRIP: {words}"));
        if says("renamed from ") {
            let old = heading.strip_prefix("[DRIP: renamed from ").unwrap().split_once(" | ").unwrap().0;
            let old = old.rsplit('/').next().unwrap().to_owned();
            let known = self.mind(agent, &old).clone();
            *self.mind(agent, name) = known;
        } else if says("delta only") {
            apply(self.mind(agent, name), heading, number, body);
        } else {
            assert!(says("unchanged") || says("edit verified"), "{content}");
        }
        let whole = !is_window && !says("unchanged (lines") && !says("delta only (lines");
        let mind = self.mind(agent, name);
        if whole {
            let held: Vec<Option<&String>> = mind.iter().map(Option::as_ref).collect();
            let there: Vec<Option<&String>> = shown.iter().map(Some).collect();
            assert_eq!(held, there, "{content}");
        }
        for line in first..=last {
            // The line behind the last line end is the client's own way to count.
            let is_sign = line == shown.len() && shown[line - 1].is_empty();
            let held = mind.get(line - 1).and_then(Option::as_ref);
            assert!(is_sign || held == Some(&shown[line - 1]), "line {line}: {held:?}, {content}");
        }
    }
}

fn split(text: &str) -> Mind {
    text.split('\n').map(|line| Some(line.to_owned())).collect()
}

/// One hunk stands in the heading and its lines have their own numbers; several stand in the body.
fn apply(mind: &mut Mind, heading: &str, number: usize, body: &str) {
    let mut rest: Vec<&str> = if body.is_empty() { Vec::new() } else { body.split('\n').collect() };
    if rest.first().is_some_and(|line| line.starts_with("--- ")) {
        return unified(mind, &rest[2..]);
    }
    if let Some((_, place)) = heading.split_once(" | @@ -") {
        let (old, new) = place_of(place);
        assert!(new.1 == 0 || number + 1 == new.0, "the heading has the number before the first line");
        assert_eq!(rest.len(), new.1, "{heading}");
        let lines: Vec<String> = rest.iter().map(|line| (*line).to_owned()).collect();
        replace(mind, old, 0, lines);
        return;
    }
    let mut moved = 0;
    while let Some(head) = rest.first() {
        let (old, new) = place_of(head.strip_prefix("@@ -").unwrap_or_else(|| panic!("{head:?} is no head")));
        let numbered = &rest[1..=new.1];
        let lines: Vec<String> = numbered
            .iter()
            .enumerate()
            .map(|(index, line)| {
                let (number, text) = line.split_once('\t').expect("a numbered line");
                assert_eq!(number.parse::<usize>().unwrap(), new.0 + index);
                text.to_owned()
            })
            .collect();
        replace(mind, old, moved, lines);
        moved += new.1 as isize - old.1 as isize;
        rest = rest[1 + new.1..].to_vec();
    }
}

/// A diff as text, for what is shown without numbers. Signs of a missing line end change no line here.
fn unified(mind: &mut Mind, body: &[&str]) {
    let mut moved = 0;
    let mut at = 0;
    while at < body.len() {
        let (old, new) = place_of(body[at].strip_prefix("@@ -").expect("a head"));
        at += 1;
        let (mut told, mut lines) = (0, Vec::new());
        while at < body.len() && (told < old.1 || lines.len() < new.1 || body[at].starts_with('\\')) {
            match body[at].as_bytes()[0] {
                b' ' => {
                    told += 1;
                    lines.push(body[at][1..].to_owned());
                }
                b'-' => told += 1,
                b'+' => lines.push(body[at][1..].to_owned()),
                _ => {}
            }
            at += 1;
        }
        let grown = lines.len() as isize - told as isize;
        replace(mind, old, moved, lines);
        moved += grown;
    }
}

fn replace(mind: &mut Mind, (start, count): (usize, usize), moved: isize, lines: Vec<String>) {
    let start = if count == 0 { start } else { start - 1 };
    let start = start.checked_add_signed(moved).unwrap();
    if mind.len() < start + count {
        mind.resize(start + count, None);
    }
    mind.splice(start..start + count, lines.into_iter().map(Some));
}

/// `3,4 +3,5 @@ …`
fn place_of(text: &str) -> ((usize, usize), (usize, usize)) {
    let (sides, _) = text.split_once(" @@").expect("a head ends");
    let (old, new) = sides.split_once(" +").expect("two sides");
    let side = |text: &str| {
        let (start, count) = text.split_once(',').expect("start and count");
        (start.parse().unwrap(), count.parse().unwrap())
    };
    (side(old), side(new))
}
