//! What people do next anywhere, for when the history is silent: a small table of habits that need no learning, and
//! the few that carry an argument over (`mkdir x`, then `cd x`). General knowledge of shells only; nothing here is
//! taken from anybody's history.

/// Where a default comes from; the nearer to the last command, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The last command with its argument carried over.
    Carried,
    /// Often follows the last command.
    After,
    /// At any time.
    Always,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Habit {
    pub(super) command: String,
    pub(super) kind: Kind,
    /// Its place among those of its kind, from 0.
    pub(super) rank: usize,
}

/// The first words of a line, and what often follows it.
const AFTER: &[(&str, &[&str])] = &[
    ("apt update", &["apt upgrade"]),
    ("apt-get update", &["apt-get upgrade"]),
    ("cargo build", &["cargo run", "cargo test"]),
    ("cargo fmt", &["cargo clippy", "git status"]),
    ("cargo test", &["git status", "git diff"]),
    ("cd", &["ls", "ls -la", "git status"]),
    ("cp", &["ls"]),
    ("docker build", &["docker images", "docker ps"]),
    ("docker compose up", &["docker compose ps", "docker compose logs"]),
    ("docker run", &["docker ps"]),
    ("git add", &["git status", "git commit"]),
    ("git checkout", &["git status", "git pull"]),
    ("git clone", &["ls"]),
    ("git commit", &["git push", "git status", "git log"]),
    ("git diff", &["git add .", "git commit", "git status"]),
    ("git fetch", &["git status", "git pull"]),
    ("git merge", &["git status", "git push"]),
    ("git pull", &["git status", "git log"]),
    ("git push", &["git status"]),
    ("git rebase", &["git status", "git log"]),
    ("git stash", &["git pull", "git stash pop"]),
    ("git status", &["git diff", "git add .", "git commit"]),
    ("ls", &["cd ..", "ls -la", "pwd"]),
    ("mkdir", &["ls"]),
    ("mv", &["ls"]),
    ("npm install", &["npm start", "npm test"]),
    ("pwd", &["ls"]),
    ("rm", &["ls"]),
    ("ssh", &["ls", "exit"]),
    ("su", &["ls", "exit"]),
    ("sudo apt update", &["sudo apt upgrade"]),
    ("tar", &["ls"]),
    ("touch", &["ls"]),
    ("unzip", &["ls"]),
    ("wget", &["ls"]),
];

/// At any time, most wanted first.
const ALWAYS: &[&str] = &[
    "ls",
    "cd ..",
    "exit",
    "clear",
    "ls -la",
    "pwd",
    "git status",
    "cd",
    "history",
    "ls -l",
    "ls -a",
    "ll",
    "help",
    "whoami",
    "ifconfig",
    "ip a",
    "git diff",
    "git log",
    "git pull",
    "git push",
    "cd -",
    "cd ~",
    "ls -al",
    "id",
    "sudo su",
    "top",
    "htop",
    "ps aux",
    "df -h",
    "free -h",
    "make",
    "make test",
    "docker ps",
    "uname -a",
    "vim",
    "man",
    "jobs",
    "fg",
    "date",
    "env",
];

/// Candidates after `last`, or at the start of everything.
pub(super) fn after(last: Option<&str>) -> Vec<Habit> {
    let mut out = Vec::new();
    let mut add = |kind, commands: &mut dyn Iterator<Item = String>| {
        out.extend(commands.enumerate().map(|(rank, command)| Habit { command, kind, rank }));
    };
    if let Some(last) = last {
        add(Kind::Carried, &mut carried(last).into_iter());
        let known = AFTER.iter().filter(|(start, _)| begins(last, start)).flat_map(|(_, next)| *next);
        add(Kind::After, &mut known.map(ToString::to_string));
    }
    add(Kind::Always, &mut ALWAYS.iter().map(ToString::to_string));
    out
}

/// What the words of the last command lead to.
fn carried(last: &str) -> Vec<String> {
    let words: Vec<&str> = last.split_whitespace().collect();
    let plain = |word: &&str| {
        !word.starts_with('-') && word.chars().all(|c| c.is_alphanumeric() || "._-/~+:@".contains(c))
    };
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let Some(argument) = arguments.iter().rev().find(|word| plain(word)) else {
        let known = plain(program) && arguments.is_empty() && program.len() > 2 && !program.contains('/');
        return if known { vec![format!("{program} --help"), format!("man {program}")] } else { Vec::new() };
    };
    match *program {
        "mkdir" => vec![format!("cd {argument}")],
        "man" | "which" | "type" => vec![(*argument).to_owned(), format!("{argument} --help")],
        "git" if arguments.first() == Some(&"clone") => {
            let name = argument.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(argument);
            vec![format!("cd {}", name.trim_end_matches(".git"))]
        }
        "ls" | "ll" => vec![format!("cd {argument}")],
        "chmod" if arguments.first() == Some(&"+x") => {
            vec![if argument.contains('/') { (*argument).to_owned() } else { format!("./{argument}") }]
        }
        "touch" => vec![format!("vim {argument}"), format!("nano {argument}")],
        "nano" | "vi" | "vim" | "nvim" | "emacs" => vec![format!("cat {argument}")],
        "cat" | "less" => vec![format!("nano {argument}"), format!("vim {argument}")],
        "python" => vec![format!("python3 {}", arguments.join(" "))],
        "wget" | "curl" => {
            let name = argument.rsplit('/').next().unwrap_or(argument);
            if name.ends_with(".zip") {
                vec![format!("unzip {name}")]
            } else {
                vec![format!("tar xf {name}")]
            }
        }
        _ => vec![format!("{program} --help"), format!("man {program}")],
    }
}

/// Whole words: `lsof` does not begin with `ls`.
fn begins(line: &str, words: &str) -> bool {
    line.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_carried_over() {
        let cases = [
            ("mkdir -p a/b", "cd a/b"),
            ("git clone git@h:me/tool.git", "cd tool"),
            ("chmod +x run.sh", "./run.sh"),
            ("man tar", "tar"),
            ("wget https://h/x.zip", "unzip x.zip"),
            ("nmap", "nmap --help"),
        ];
        for (last, next) in cases {
            let first = after(Some(last)).into_iter().next().map(|habit| (habit.command, habit.kind));
            assert_eq!(first, Some((next.to_owned(), Kind::Carried)), "{last}");
        }
    }

    #[test]
    fn only_plain_words_are_carried_over() {
        for last in ["mkdir $(date)", "mkdir 'a b'", "chmod 600 key", "", "   ", "./x"] {
            assert!(
                after(Some(last))
                    .iter()
                    .all(|habit| habit.kind != Kind::Carried || !habit.command.contains('$'))
            );
            assert!(
                !after(Some(last))
                    .iter()
                    .any(|habit| habit.command.starts_with("cd 'a") || habit.command == "./key")
            );
        }
    }

    #[test]
    fn a_program_is_a_whole_word() {
        assert!(after(Some("git add x")).iter().any(|habit| habit.command == "git commit"));
        assert!(after(Some("git address")).iter().all(|habit| habit.command != "git commit"));
        assert!(after(None).iter().all(|habit| habit.kind == Kind::Always));
    }
}
