//! Files that change in every way that files change, and the words to make them of.

use std::fs;
use std::path::PathBuf;

use testkit::Random;

/// A file and its names; contents are on the disk only.
pub(crate) struct World {
    pub(crate) folder: PathBuf,
    pub(crate) names: Vec<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happened {
    Edited,
    Renamed,
    Deleted,
}

const WORDS: &[&str] = &[
    "let x = 1;",
    "}",
    "",
    "    return y",
    "if a {",
    "é ü ∑",
    "// note",
    "@@ -1,1 +1,1 @@",
    "+plus",
    "-minus",
    "\\ No newline",
];

impl World {
    pub(crate) fn new(folder: PathBuf, random: &mut Random) -> World {
        fs::create_dir_all(&folder).unwrap();
        let names = ["a.txt", "b.rs", "c.py", "d.md"].map(str::to_owned).to_vec();
        let world = World { folder, names };
        for name in &world.names {
            world.create(name, random);
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn create(&self, name: &str, random: &mut Random) {
        let count = *random.pick(&[0, 1, 3, 12, 40, 120]);
        let mut text = String::new();
        for number in 0..count {
            text += &sentence(random, number);
        }
        if name.ends_with(".rs") {
            text += &functions(random);
        }
        if random.below(5) == 0 {
            text = text.trim_end_matches('\n').to_owned();
        }
        fs::write(self.path(name), text).unwrap();
    }

    /// Somebody else changes a file.
    pub(crate) fn happen(&mut self, index: usize, random: &mut Random) -> Happened {
        let name = self.names[index].clone();
        let Some(text) = self.text(&name) else {
            self.create(&name, random);
            return Happened::Edited;
        };
        match random.below(14) {
            0 => {
                fs::remove_file(self.path(&name)).unwrap();
                return Happened::Deleted;
            }
            1 => {
                let new = format!("r{}-{name}", random.below(1000));
                fs::rename(self.path(&name), self.path(&new)).unwrap();
                self.names[index] = new;
                return Happened::Renamed;
            }
            2 => self.create(&name, random),
            _ => fs::write(self.path(&name), edited(&text, random)).unwrap(),
        }
        Happened::Edited
    }
}

/// A few changes of lines, or one of those that touch them all.
pub(crate) fn edited(text: &str, random: &mut Random) -> String {
    match random.below(20) {
        0 => return text.replace('\n', "\r\n"),
        1 => return text.replace("\r\n", "\n"),
        2 => return text.trim_end_matches('\n').to_owned(),
        3 => return format!("{text}\n"),
        4 => return text.lines().map(|line| format!("  {line}\n")).collect(),
        5 => return String::new(),
        _ => {}
    }
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=random.below(4) {
        let at = random.below(lines.len() + 1);
        match random.below(4) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = sentence(random, at),
            2 => drop(lines.splice(
                at..at,
                (0..random.below(6)).map(|number| sentence(random, number)).collect::<Vec<_>>(),
            )),
            _ if lines.len() > 4 => {
                let until = (at + random.below(8)).min(lines.len());
                lines.drain(at.min(until)..until);
            }
            _ => lines.push(sentence(random, at)),
        }
    }
    lines.concat()
}

fn sentence(random: &mut Random, number: usize) -> String {
    format!("{} {}\n", random.pick(WORDS), if random.below(3) == 0 { number } else { random.below(5) })
}

/// Bodies that are long enough to be left out.
fn functions(random: &mut Random) -> String {
    let mut text = String::new();
    for name in ["first", "second", "third"] {
        text += &format!("fn {name}() {{\n");
        for number in 0..random.below(40) {
            text += &format!("    call({number}, {});\n", random.below(9));
        }
        text += "}\n\n";
    }
    text
}
