//! What is dangerous, as a table: a program, what it must have been given, and why.

use super::Command;

pub(super) struct Rule {
    programs: &'static [&'static str],
    when: fn(&Command<'_>) -> bool,
    pub(super) why: &'static str,
}

impl Rule {
    pub(super) fn applies(&self, command: &Command<'_>) -> bool {
        let named = |name: &&str| match name.strip_suffix('*') {
            Some(stem) => command.program.starts_with(stem),
            None => command.program == *name,
        };
        self.programs.iter().any(named) && (self.when)(command)
    }
}

const fn rule(programs: &'static [&'static str], why: &'static str, when: fn(&Command<'_>) -> bool) -> Rule {
    Rule { programs, when, why }
}

pub(super) static RULES: [Rule; 27] = [
    rule(&["rm", "grm"], "deletes a tree of files", |command| {
        command.flag('r', &["recursive"]) || command.flag('R', &[])
    }),
    rule(&["git"], "overwrites the history of a remote", |command| {
        let plus = |argument: &&str| argument.starts_with('+') && argument.len() > 1;
        command.starts(&["push"])
            && (command.flag('f', &["force", "mirror"]) || command.arguments.iter().any(plus))
            && !command.flag('n', &["dry-run"])
    }),
    rule(&["git"], "throws away changes that are not committed", |command| {
        command.starts(&["reset"]) && command.has("--hard")
    }),
    rule(&["git"], "deletes files that git does not know", |command| {
        command.starts(&["clean"]) && command.flag('f', &["force"]) && !command.flag('n', &["dry-run"])
    }),
    rule(&["dd"], "overwrites a disk", |command| {
        let output = |argument: &&str| {
            argument.strip_prefix("of=").is_some_and(|file| is_disk(file) || file == "<path>")
        };
        command.arguments.iter().any(output)
    }),
    rule(&["mkfs*", "mke2fs", "mkswap"], "formats a disk", |command| {
        command.arguments.iter().any(|word| !word.starts_with('-'))
    }),
    rule(&["wipefs", "blkdiscard", "sgdisk"], "erases a disk", |command| {
        command.program != "wipefs" && !command.flag('p', &[]) || command.flag('a', &["all"])
    }),
    rule(&["shred", "tee", "cp", "cat"], "overwrites a disk", |command| {
        matches!(command.program, "shred" | "tee") && command.arguments.iter().any(|word| is_disk(word))
            || command.program == "cp" && command.arguments.last().is_some_and(|word| is_disk(word))
    }),
    rule(&["chmod"], "opens files to everyone", |command| {
        let all = |argument: &&str| {
            matches!(*argument, "777" | "0777" | "a+rwx" | "ugo+rwx" | "a=rwx" | "+rwx" | "<num>")
        };
        command.flag('R', &["recursive"]) && command.arguments.iter().any(all)
    }),
    rule(&["chown", "chgrp"], "changes the owner of the system", |command| {
        command.flag('R', &["recursive"]) && command.arguments.iter().any(|word| is_root(word))
    }),
    rule(&["mv"], "moves files to where nothing comes back from", |command| {
        command.arguments.last() == Some(&"/dev/null")
    }),
    rule(&["find"], "deletes every file that it finds", |command| command.has("-delete")),
    rule(&["kubectl", "oc"], "deletes from a cluster", |command| {
        command.starts(&["delete"])
            && !command
                .arguments
                .iter()
                .any(|word| word.starts_with("--dry-run") && *word != "--dry-run=none")
    }),
    rule(&["helm"], "deletes from a cluster", |command| {
        command.starts_with_any(&["uninstall", "delete"]) && !command.has("--dry-run")
    }),
    rule(&["terraform", "tofu", "terragrunt"], "destroys infrastructure", |command| {
        command.starts(&["destroy"])
            || command.starts(&["apply"]) && (command.has("-destroy") || command.has("--destroy"))
    }),
    rule(&["pulumi", "cdk", "vagrant"], "destroys infrastructure", |command| command.starts(&["destroy"])),
    rule(&["aws"], "deletes stored objects", |command| {
        command.starts(&["s3", "rm"]) && command.has("--recursive")
            || command.starts(&["s3", "rb"]) && command.has("--force")
    }),
    rule(&["gcloud", "az"], "deletes from the cloud", |command| {
        command.arguments.iter().take_while(|word| !word.starts_with('-')).any(|word| *word == "delete")
    }),
    rule(&["docker", "podman"], "deletes images, containers or volumes", |command| {
        command.starts(&["system", "prune"])
            || command.starts(&["volume", "prune"])
            || command.starts(&["volume", "rm"])
    }),
    rule(&["dropdb", "dropuser"], "drops a database", |_| true),
    rule(&["redis-cli"], "empties a database", |command| {
        command
            .arguments
            .iter()
            .any(|word| matches!(word.to_ascii_lowercase().as_str(), "flushall" | "flushdb"))
    }),
    rule(&["shutdown"], "turns the machine off", |command| !command.has("-c") && !command.has("--help")),
    rule(&["reboot", "halt", "poweroff"], "turns the machine off", |command| !command.has("--help")),
    rule(&["init", "telinit"], "turns the machine off", |command| command.starts_with_any(&["0", "6"])),
    rule(&["systemctl"], "turns the machine off", |command| {
        command.starts_with_any(&["poweroff", "reboot", "halt", "kexec"])
    }),
    rule(&["kill", "killall5"], "ends every process", |command| {
        command.program == "killall5" || command.arguments.iter().skip(1).any(|word| *word == "-1")
    }),
    rule(&["crontab"], "deletes every job", |command| command.flag('r', &[])),
];

/// What a client of a database is told.
pub(super) fn sql(text: &str) -> Option<&'static str> {
    // A dump that someone pasted is not read to its end.
    let words: Vec<String> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .take(4096)
        .map(str::to_ascii_uppercase)
        .collect();
    let follows = |first: &str, second: &[&str]| {
        words.windows(2).any(|pair| pair[0] == first && second.contains(&pair[1].as_str()))
    };
    if follows("DROP", &["TABLE", "DATABASE", "SCHEMA"]) {
        Some("drops a table or database")
    } else if follows("TRUNCATE", &["TABLE"])
        || follows("DELETE", &["FROM"]) && !words.iter().any(|word| word == "WHERE")
    {
        Some("empties a table")
    } else {
        None
    }
}

pub(super) fn is_sql_client(program: &str) -> bool {
    matches!(
        program,
        "psql"
            | "mysql"
            | "mariadb"
            | "sqlite3"
            | "sqlcmd"
            | "clickhouse-client"
            | "duckdb"
            | "cqlsh"
            | "pgcli"
            | "mycli"
            | "bq"
    )
}

/// A device that holds files.
pub(super) fn is_disk(path: &str) -> bool {
    let kinds = ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "loop"];
    path.strip_prefix("/dev/").is_some_and(|name| kinds.iter().any(|kind| name.starts_with(kind)))
}

fn is_root(path: &str) -> bool {
    matches!(path, "/" | "/*" | "/etc" | "/usr" | "/var" | "~" | "/home")
}
