//! Secrets known by where they stand: behind `--password`, in `mysql -pX`, in a header, piped into `sudo -S`.
//! Works on words, never on patterns of text; what the secret looks like does not matter here.

use super::names::{self, HEADER, PASSWORD, TOKEN};
use super::{Kind, Secret};
use crate::words::{Role, Segment, Word, assignment};

pub(super) fn find(segments: &[Segment<'_>]) -> Vec<Secret> {
    let mut found = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        let plain: Vec<&Word<'_>> = segment.words.iter().filter(|word| word.role == Role::Plain).collect();
        let Some((program, at)) = segment.program_name() else {
            plain.iter().for_each(|word| assigned(word, &mut found));
            continue;
        };
        let program_start = segment.words[at].start;
        let begin = plain.iter().position(|word| word.start == program_start).unwrap_or(0);
        let look = Look { program, words: &plain, begin };
        for at in 0..plain.len() {
            look.named(at, &mut found);
            look.headed(at, &mut found);
            look.by_rule(at, &mut found);
        }
        look.by_place(&mut found);
        if reads_a_secret(segment, program) {
            let before = index.checked_sub(1).map(|before| &segments[before]);
            fed(before, segment, &mut found);
        }
    }
    found
}

struct Look<'s, 'a> {
    program: &'s str,
    /// Redirections left out.
    words: &'s [&'s Word<'a>],
    /// Where the program stands in them.
    begin: usize,
}

impl Look<'_, '_> {
    fn text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_ref())
    }

    fn is(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program)
    }

    /// Subcommands stand near the program; a line of thousands of words must not be read again for each.
    fn has(&self, wanted: &str) -> bool {
        self.words[self.begin..].iter().take(12).any(|word| word.text == wanted)
    }

    /// `--password X`, `--password=X`, `PGPASSWORD=X`, `set -gx API_TOKEN X`.
    fn named(&self, at: usize, found: &mut Vec<Secret>) {
        let (word, text) = (self.words[at], self.text(at));
        if !text.starts_with('-') {
            assigned(word, found);
            let assigns = || self.is(&["set", "setenv", "nmcli"]) || self.has("set") || self.has("config");
            if at > self.begin && names::is_secret_name(text) && assigns() {
                self.next(at, names::kind_of(text), found);
            }
            return;
        }
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        // Containers mount a secret by its name.
        let mounts = name == "--secret" && self.is(&["docker", "podman", "buildah", "nerdctl"]);
        let is_secret = names::is_secret_flag(name) && !mounts;
        let value = text.get(name.len() + 1..);
        let may_be = names::is_random(value.unwrap_or_else(|| self.text(at + 1)))
            && names::may_name_a_secret(name)
            && !self.is(&["gpg", "gpg2", "apt-key", "git"]);
        match value {
            _ if !is_secret && !may_be => {}
            Some(_) => take(word, name.len() + 1, names::kind_of(name), found),
            None => self.next(at, names::kind_of(name), found),
        }
    }

    fn next(&self, at: usize, kind: Kind, found: &mut Vec<Secret>) {
        let Some(word) = self.words.get(at + 1).filter(|word| !word.text.starts_with("--")) else { return };
        let offset = if word.text.starts_with("pass:") { "pass:".len() } else { 0 };
        take(word, offset, kind, found);
    }

    /// `-H "Authorization: X"`; `http … X-Api-Key:X`.
    fn headed(&self, at: usize, found: &mut Vec<Secret>) {
        let text = self.text(at);
        if !text.contains(':') {
            return;
        }
        let before = if at == 0 { "" } else { self.text(at - 1) };
        let glued =
            ["-H", "--header="].into_iter().find(|flag| text.starts_with(flag) && text.len() > flag.len());
        let announced =
            matches!(before, "-H" | "--header" | "--add-header" | "http.extraheader" | "--headers");
        let bare =
            self.is(&["http", "https", "xh", "xhs"]) && !text.starts_with('-') && !text.contains("://");
        let lower = text.to_ascii_lowercase();
        let spoken = lower.contains("authorization: bearer ") || lower.contains("authorization: basic ");
        let start = match glued {
            Some(flag) => flag.len(),
            None if announced || bare || spoken => 0,
            None => return,
        };
        let Some(colon) = text[start..].find(':').filter(|colon| {
            names::is_secret_header(
                text[start..start + colon].rsplit(['"', '\'', ' ', '.', '=']).next().unwrap_or(""),
            )
        }) else {
            return;
        };
        let value = text[start + colon + 1..].trim_start();
        // A scheme before a variable is no secret either: `Bearer $TOKEN`.
        let credentials = value.split_once(' ').map_or(value, |(_, credentials)| credentials);
        if names::is_value(self.words[at].raw, credentials) {
            take(self.words[at], text.len() - value.len(), HEADER, found);
        }
    }

    /// The table of flags that are a secret in some programs only.
    fn by_rule(&self, at: usize, found: &mut Vec<Secret>) {
        let text = self.text(at);
        if !text.starts_with(['-', '/']) || at <= self.begin {
            return;
        }
        for rule in RULES.iter().filter(|rule| rule.programs.contains(&self.program)) {
            if !rule.with.is_empty() && !self.has(rule.with) {
                continue;
            }
            let Some(offset) = rule.flags.iter().find_map(|flag| rule.value_offset(flag, text)) else {
                continue;
            };
            let (word, offset) = match self.words.get(at + 1) {
                _ if offset < text.len() => (self.words[at], offset),
                Some(next) => (*next, 0),
                None => return,
            };
            // Behind a name, or the whole of it.
            let part = &word.text[offset..];
            let Some(skip) = rule.after.map_or(Some(0), |mark| part.find(mark).map(|at| at + 1)) else {
                return;
            };
            return take(word, offset + skip, rule.kind, found);
        }
    }

    /// Arguments that are a secret by their number.
    fn by_place(&self, found: &mut Vec<Secret>) {
        let arguments: Vec<&Word<'_>> =
            self.words[self.begin + 1..].iter().copied().filter(|word| !word.text.starts_with('-')).collect();
        let first = arguments.first().map_or("", |word| word.text.as_ref());
        let secret = match (self.program, first) {
            ("htpasswd", _)
                if self.words.iter().any(|word| word.text.starts_with('-') && word.text.contains('b')) =>
            {
                2
            }
            ("rabbitmqctl", "add_user" | "change_password") | ("composer", "config") => {
                2 + usize::from(first == "config")
            }
            ("vault", "login") | ("wpa_passphrase", _) => 1,
            _ => return,
        };
        if let Some(word) = arguments.get(secret) {
            take(word, 0, if first == "login" { TOKEN } else { PASSWORD }, found);
        }
    }
}

/// `NAME=X`, also behind `export`, `env`, `-e`.
fn assigned(word: &Word<'_>, found: &mut Vec<Secret>) {
    if let Some(value) = assignment(&word.text) {
        let name = word.text[..value].trim_end_matches(['=', '+']);
        if names::is_secret_name(name) {
            take(word, value, names::kind_of(name), found);
        }
    }
}

fn take(word: &Word<'_>, offset: usize, kind: Kind, found: &mut Vec<Secret>) {
    let value = &word.text[offset..];
    let raw =
        word.raw.get(offset..).filter(|_| word.raw.starts_with(&word.text[..offset])).unwrap_or(word.raw);
    let names_a_file = kind == names::KEY && names::is_file(value);
    if names::is_value(raw, value) && !names_a_file {
        found.push(Secret { span: word.span_from(offset), kind });
    }
}

/// Whether what is piped into this command is a secret.
fn reads_a_secret(segment: &Segment<'_>, program: &str) -> bool {
    let is = |word: &Word<'_>, flags: &[&str]| flags.contains(&word.text.as_ref());
    let sudo_reads = segment.wrappers().any(|at| segment.words[at].text.ends_with("sudo"))
        && segment.words.iter().any(|word| is(word, &["-S", "--stdin", "-kS", "-Sk"]));
    let reading = ["--password-stdin", "--with-token", "--stdin", "--passphrase-fd", "--token-stdin"];
    sudo_reads
        || program == "chpasswd"
        || matches!(
            program,
            "docker" | "podman" | "gh" | "glab" | "passwd" | "gpg" | "helm" | "npm" | "cryptsetup" | "sudo"
        ) && segment.words.iter().any(|word| is(word, &reading) || program == "sudo" && is(word, &["-S"]))
}

/// What `echo` and `printf` send through a pipe, or a here-string.
fn fed(before: Option<&Segment<'_>>, segment: &Segment<'_>, found: &mut Vec<Secret>) {
    let piped = segment.operator_before.is_some_and(crate::words::Operator::is_pipe);
    if let Some((before, (_, at))) = before
        .filter(|_| piped)
        .and_then(|before| Some((before, before.program_name()?)))
        .filter(|(_, (name, _))| matches!(*name, "echo" | "printf"))
    {
        for word in before.words[at + 1..].iter().filter(|word| !word.text.starts_with(['-', '%'])) {
            take(word, 0, PASSWORD, found);
        }
    }
    for pair in segment.words.windows(2).filter(|pair| pair[0].text == "<<<") {
        take(&pair[1], 0, PASSWORD, found);
    }
}

struct Rule {
    programs: &'static [&'static str],
    /// A word that has to be there too.
    with: &'static str,
    flags: &'static [&'static str],
    form: Form,
    /// The secret begins behind this character: `user:password`.
    after: Option<char>,
    kind: Kind,
}

impl Rule {
    /// Where the value begins if `text` is this flag: at its end if it is the next word.
    fn value_offset(&self, flag: &str, text: &str) -> Option<usize> {
        if flag.starts_with("--") {
            let rest = text.strip_prefix(flag)?;
            return (rest.is_empty() || rest.starts_with('=')).then_some(text.len().min(flag.len() + 1));
        }
        // `-sSu name:password`: one letter behind others. Only where a value has a sign of its own.
        let letter = flag.strip_prefix('-').filter(|_| self.after.is_some());
        let clustered = |letter: &str| {
            let letters = text.strip_prefix('-').and_then(|text| text.strip_suffix(letter));
            letters.is_some_and(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
        };
        match self.form {
            Form::Next | Form::Both if text == flag || letter.is_some_and(clustered) => Some(text.len()),
            Form::Glued | Form::Both if text.len() > flag.len() && text.starts_with(flag) => Some(flag.len()),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Form {
    /// `-p X`
    Next,
    /// `-pX`
    Glued,
    Both,
}

const fn rule(programs: &'static [&'static str], flags: &'static [&'static str], form: Form) -> Rule {
    Rule { programs, with: "", flags, form, after: None, kind: PASSWORD }
}

static RULES: [Rule; 21] = [
    rule(
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mycli",
        ],
        &["-p"],
        Form::Glued,
    ),
    rule(&["sshpass"], &["-p"], Form::Both),
    Rule {
        with: "login",
        ..rule(
            &[
                "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oc", "az", "cf", "ibmcloud",
                "atuin",
            ],
            &["-p"],
            Form::Both,
        )
    },
    Rule { with: "login", kind: names::KEY, ..rule(&["atuin"], &["-k"], Form::Both) },
    Rule { after: Some(':'), ..rule(&["curl"], &["-u", "--user", "-U", "--proxy-user"], Form::Both) },
    Rule { after: Some(':'), ..rule(&["http", "https", "xh", "xhs"], &["-a", "--auth"], Form::Both) },
    Rule { after: Some('='), kind: HEADER, ..rule(&["curl"], &["-b", "--cookie"], Form::Both) },
    Rule { after: Some('%'), ..rule(&["smbclient", "rpcclient", "smbmap"], &["-U", "--user"], Form::Both) },
    Rule { after: Some(','), ..rule(&["lftp"], &["-u", "--user"], Form::Both) },
    rule(
        &["twine", "rdesktop", "useradd", "usermod", "hydra", "netexec", "crackmapexec", "evil-winrm"],
        &["-p"],
        Form::Next,
    ),
    rule(
        &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"],
        &["-w"],
        Form::Both,
    ),
    rule(&["redis-cli"], &["-a"], Form::Next),
    rule(
        &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        &["-p"],
        Form::Both,
    ),
    rule(&["sqlcmd", "bcp", "osql"], &["-P"], Form::Both),
    rule(&["zip", "unzip"], &["-P"], Form::Both),
    rule(&["7z", "7za", "7zz"], &["-p"], Form::Glued),
    rule(&["rar", "unrar"], &["-hp", "-p"], Form::Glued),
    rule(&["xfreerdp", "xfreerdp3", "wlfreerdp"], &["/p:"], Form::Glued),
    rule(&["ipmitool"], &["-P"], Form::Next),
    rule(&["snmpwalk", "snmpget", "snmpset"], &["-A", "-X"], Form::Next),
    rule(&["openssl"], &["-k"], Form::Next),
];
