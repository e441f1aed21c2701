//! Which names stand beside a secret: of flags, variables, headers, fields. And which values are none although
//! they stand there. Knows words only, no lines.

use super::Kind;

pub(super) const PASSWORD: Kind = Kind("password");
pub(super) const TOKEN: Kind = Kind("token");
pub(super) const KEY: Kind = Kind("key");
pub(super) const HEADER: Kind = Kind("header");
pub(super) const URL: Kind = Kind("url");

/// Whether the value of this flag is a secret in any command: `--password`, `-storepass`, `--api-key`. Never true for
/// a single letter: what `-p` means, the command decides.
pub fn is_secret_flag(flag: &str) -> bool {
    let name = flag.trim_start_matches('-');
    name.len() < flag.len() && name.len() > 1 && is_secret_name(name)
}

/// `GITHUB_TOKEN`, `db.password`, `clientSecret`; not `MAX_TOKENS`, `PWD`, `TOKEN_FILE`.
pub(super) fn is_secret_name(name: &str) -> bool {
    // No name that a person gives is longer, and a long word must not be copied.
    if name.len() > 100 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        return false;
    }
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or(name);
    let has_more = last.len() < name.len();
    if ["pass", "pat", "psk"].iter().any(|word| last.eq_ignore_ascii_case(word))
        || has_more && last.eq_ignore_ascii_case("pwd")
    {
        return !name.eq_ignore_ascii_case("pat");
    }
    // The last letters of all endings: most words need no copy.
    let end = name.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    if !end.ends_with(['d', 'e', 'n', 'r', 's', 't', 'y', 'D', 'E', 'N', 'R', 'S', 'T', 'Y']) {
        return false;
    }
    let joined: String =
        end.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    SECRET_ENDINGS.iter().any(|ending| {
        joined.strip_suffix(ending).is_some_and(|before| !(*ending == "token" && is_no_secret_token(before)))
    })
}

/// `Authorization`, `X-Api-Key`, `PRIVATE-TOKEN`, `Cookie`.
pub(super) fn is_secret_header(name: &str) -> bool {
    let name = name.trim();
    let known = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-auth", "x-functions-key"];
    known.iter().any(|header| name.eq_ignore_ascii_case(header)) || is_secret_name(name)
}

/// A name beside which a long random value is a secret, although short ones are not.
pub(super) fn may_name_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let speaks =
        ["key", "auth", "cred", "session", "cookie", "jwt", "access", "bearer", "otp", "seed", "sig"];
    let public =
        ["keyid", "key-id", "key_id", "keyserver", "recv", "fingerprint", "public", "pubkey", "author"];
    speaks.iter().any(|word| name.contains(word)) && !public.iter().any(|word| name.contains(word))
}

/// The kind by the name that it stood beside.
pub(super) fn kind_of(name: &str) -> Kind {
    let name = name.to_ascii_lowercase();
    let has = |word: &str| name.contains(word);
    match () {
        () if has("aws") => Kind("aws"),
        () if has("azure") => Kind("azure"),
        () if has("google") || has("gcp") => Kind("google"),
        () if has("token") || has("bearer") || has("jwt") => TOKEN,
        () if has("pass") || has("pwd") => PASSWORD,
        () => KEY,
    }
}

/// Kinds that say less than the name of a provider.
pub(super) fn is_general(kind: Kind) -> bool {
    [PASSWORD, TOKEN, KEY, HEADER, URL].contains(&kind)
}

/// Whether a value beside a secret's name can be one. `raw` is how it was typed: within single quotes a `$` is
/// just a letter.
pub(super) fn is_value(raw: &str, text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "-",
        "true",
        "false",
        "yes",
        "no",
        "none",
        "null",
        "nil",
        "undefined",
        "prompt",
        "ask",
        "stdin",
        "required",
        "auto",
    ];
    let filled = !text.is_empty() && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let masked = text.bytes().all(|byte| b"*.x_".contains(&byte));
    let elsewhere = ["file:", "env:", "fd:", "file://"].iter().any(|prefix| text.starts_with(prefix));
    filled && !masked && !elsewhere && !is_expansion(raw, text)
}

/// `$X`, `"${X}"`, `$(pass show x)`, `{{ x }}`, `%X%`: something that stands for a value.
pub(super) fn is_expansion(raw: &str, text: &str) -> bool {
    let literal = raw.starts_with('\'') || raw.contains("='");
    let named = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_({".contains(c));
    !literal && (text.strip_prefix('$').is_some_and(named) || text.starts_with('`'))
        || text.starts_with("{{")
        || text.starts_with("${")
        || text.starts_with('<') && text.ends_with('>')
}

/// A file is named, not its content.
pub(super) fn is_file(text: &str) -> bool {
    let endings = [".pem", ".key", ".json", ".pub", ".crt", ".txt", ".p12", ".pfx", ".asc", ".gpg"];
    text.starts_with(['/', '~', '.']) || endings.iter().any(|ending| text.ends_with(ending))
}

/// Long, of letters and digits in no order: nothing that a person thinks of or types.
pub(super) fn is_random(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(&byte);
    if text.len() < 32 || !text.bytes().all(fits) || is_file(text) {
        return false;
    }
    let mut counts = [0u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = text.len() as f64;
    let share = |count: &u32| f64::from(*count) / length;
    let bits: f64 =
        counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum();
    let has = |test: fn(&u8) -> bool| text.bytes().any(|byte| test(&byte));
    // Random hexadecimal digits come to 3.4 bits and more at this length; words of a language stay without digits.
    bits > 3.2 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

fn is_no_secret_token(before: &str) -> bool {
    const WORDS: [&str; 16] = [
        "pad",
        "eos",
        "bos",
        "mask",
        "cls",
        "unk",
        "sep",
        "stop",
        "special",
        "per",
        "max",
        "next",
        "starting",
        "page",
        "continuation",
        "min",
    ];
    WORDS.iter().any(|word| before.ends_with(word))
}

const SECRET_ENDINGS: [&str; 30] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "userpass",
    "dbpass",
    "storepass",
    "keypass",
    "sshpass",
    "passin",
    "passout",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "accountkey",
    "storagekey",
    "sharedkey",
    "serviceaccountkey",
    "subscriptionkey",
    "licensekey",
    "credentials",
    "secretkeybase",
    "oauth2bearer",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_a_name_by_itself_in_any_spelling() {
        for ending in SECRET_ENDINGS {
            for name in
                [ending.to_owned(), ending.to_uppercase(), format!("MY_{ending}"), format!("my-{ending}2")]
            {
                assert!(is_secret_name(&name), "{name}");
            }
        }
    }

    #[test]
    fn only_what_nobody_types_is_random() {
        assert!(is_random("0f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"));
        for no in [
            "short1",
            "the-quick-brown-fox-jumps-over-the-lazy-dog",
            "/usr/lib/0f8a7b6c5d4e3f2a1b0c9d8e",
            "1111111111111111111111111111111a",
        ] {
            assert!(!is_random(no), "{no}");
        }
    }
}
