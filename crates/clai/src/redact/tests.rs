//! Lines with and without secrets, as data and by the thousand.

use proptest::prelude::*;

use super::*;
use crate::normalise::normalise;

fn kept(line: &str) -> String {
    redact(line, Policy::Redact).line.unwrap()
}

#[test]
fn a_secret_is_replaced_by_its_kind() {
    let github = format!("ghp_{}", "aB3".repeat(12));
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";
    for (line, expected) in [
        (
            format!("git clone https://me:{github}@github.com/a/b"),
            "git clone https://me:<secret:github>@github.com/a/b",
        ),
        (format!("gh auth login --token {github}"), "gh auth login --token <secret:github>"),
        (
            format!("curl -H 'Authorization: Bearer {jwt}' http://x/y"),
            "curl -H 'Authorization: <secret:jwt>' http://x/y",
        ),
        (
            format!("echo {github} | gh auth login --with-token"),
            "echo <secret:github> | gh auth login --with-token",
        ),
    ] {
        assert_eq!(kept(&line), expected);
    }
}

#[test]
fn a_secret_is_known_by_where_it_stands() {
    for (line, expected) in [
        ("mysql -u root -phunter2 shop", "mysql -u root -p<secret:password> shop"),
        ("sudo mysqldump -p'hunter 2' shop", "sudo mysqldump -p<secret:password> shop"),
        ("curl -u me:hunter2 http://x/y", "curl -u me:<secret:password> http://x/y"),
        ("curl -sSu 'me:hunter 2' http://x/y", "curl -sSu 'me:<secret:password>' http://x/y"),
        ("curl --user=me:hunter2 http://x/y", "curl --user=me:<secret:password> http://x/y"),
        ("curl -b 'sid=abc123' http://x/y", "curl -b 'sid=<secret:header>' http://x/y"),
        ("sshpass -p hunter2 ssh me@host", "sshpass -p <secret:password> ssh me@host"),
        ("docker login -u me -p hunter2 reg.io", "docker login -u me -p <secret:password> reg.io"),
        ("gpg --batch --passphrase hunter2 -d f.gpg", "gpg --batch --passphrase <secret:password> -d f.gpg"),
        (
            "openssl rsa -passin pass:hunter2 -in k.pem",
            "openssl rsa -passin pass:<secret:password> -in k.pem",
        ),
        ("keytool -storepass changeit -list", "keytool -storepass <secret:password> -list"),
        ("tool --password=hunter2", "tool --password=<secret:password>"),
        ("tool --password 'hunter 2' x", "tool --password <secret:password> x"),
        ("tool \"--password=hunter 2\" x", "tool \"--password=<secret:password>\" x"),
        ("export FOO_TOKEN=abc", "export FOO_TOKEN=<secret:token>"),
        ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=<secret:password> psql -h db"),
        ("X_API_KEY=\"a b\"", "X_API_KEY=<secret:key>"),
        (
            "docker run -e MYSQL_ROOT_PASSWORD=x1 mysql:8",
            "docker run -e MYSQL_ROOT_PASSWORD=<secret:password> mysql:8",
        ),
        ("set -gx OPENAI_API_KEY abc", "set -gx OPENAI_API_KEY <secret:key>"),
        (
            "aws configure set aws_secret_access_key abc/d",
            "aws configure set aws_secret_access_key <secret:aws>",
        ),
        ("AWS_SESSION_TOKEN=abc aws s3 ls", "AWS_SESSION_TOKEN=<secret:aws> aws s3 ls"),
        ("export AZURE_STORAGE_KEY=abc", "export AZURE_STORAGE_KEY=<secret:azure>"),
        ("psql postgres://me:hunter2@db/shop", "psql postgres://me:<secret:url>@db/shop"),
        ("redis-cli -u redis://:p@ss@h:1/0", "redis-cli -u redis://:<secret:url>@h:1/0"),
        ("http POST :8000/login X-Api-Key:abc", "http POST :8000/login X-Api-Key:<secret:header>"),
        ("curl -H \"X-Auth-Token: abc\" http://x", "curl -H \"X-Auth-Token: <secret:header>\" http://x"),
        ("curl 'http://x/y?access_token=abc&z=1'", "curl 'http://x/y?access_token=<secret:token>&z=1'"),
        ("curl -d '{\"password\": \"hunter2\"}' x", "curl -d '{\"password\": \"<secret:password>\"}' x"),
        ("psql \"host=db password=hunter2 user=me\"", "psql \"host=db password=<secret:password> user=me\""),
        ("java -Ddb.password=hunter2 -jar a.jar", "java -Ddb.password=<secret:password> -jar a.jar"),
        ("echo hunter2 | sudo -S ls", "echo <secret:password> | sudo -S ls"),
        ("sudo -S ls <<< hunter2", "sudo -S ls <<< <secret:password>"),
        ("echo me:hunter2 | sudo chpasswd", "echo <secret:password> | sudo chpasswd"),
        ("htpasswd -cb f me hunter2", "htpasswd -cb f me <secret:password>"),
        ("vault login abcd", "vault login <secret:token>"),
        (
            "zip -P hunter2 a.zip b; unzip -Phunter2 a.zip",
            "zip -P <secret:password> a.zip b; unzip -P<secret:password> a.zip",
        ),
        ("7z x -phunter2 a.7z", "7z x -p<secret:password> a.7z"),
        ("ldapsearch -x -w hunter2", "ldapsearch -x -w <secret:password>"),
        ("smbclient -U me%hunter2 //h/s", "smbclient -U me%<secret:password> //h/s"),
        ("tool --auth-code 0f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c", "tool --auth-code <secret:key>"),
        ("npm config set //r.io/:_authToken=abc", "npm config set //r.io/:_authToken=<secret:token>"),
        ("git -c http.extraheader='AUTHORIZATION: basic eDp5' pull", "git -c <secret:header> pull"),
        ("tool --password it's", "tool --password <secret:password>"),
    ] {
        assert_eq!(kept(line), expected);
        assert_eq!(kept(expected), expected, "a second time");
    }
}

#[test]
fn what_only_stands_for_a_secret_stays() {
    for line in [
        "tool --password \"$PW\"",
        "curl -u \"$USER:$PASS\" http://x",
        "curl -u me: http://x",
        "curl -H \"Authorization: Bearer $TOKEN\" http://x",
        "export TOKEN=$(pass show x)",
        "export TOKEN=\"${OTHER}\"",
        "docker login --password-stdin < f",
        "tool --password-file /run/pw --token-file=/x",
        "mysql -u root -p shop",
        "mysql -p",
        "mkdir -p a/b && ssh -p 2222 h",
        "docker run -p 8080:80 x",
        "openssl rsa -passin file:/run/pw -passout env:PW",
        "git clone https://$USER:$TOKEN@host/x",
        "git clone ssh://git@host/x",
        "ansible --private-key ~/.ssh/id x",
        "kubectl get secret token",
        "git commit -m 'fix authorization: check the token: first'",
        "git commit -m 'basic internationalization of password reset'",
        "PWD=/x OLDPWD=/y ls",
        "llm --max-tokens 4096 --pad-token x --next-token y",
        "curl -b cookies.txt http://x",
        "export SECRET_NAME=x TOKEN_FILE=/y KEY_ID=z",
        "docker build --secret id=npm,src=/x .",
        "gpg --recv-keys 0123456789ABCDEF0123456789ABCDEF01234567",
        "grep -rn password src/",
        "http GET localhost:8000/x",
        "curl http://localhost:8080/@scope/pkg",
    ] {
        assert_eq!(redact(line, Policy::Redact), Redaction { line: Some(line.into()), found: vec![] });
    }
}

#[test]
fn the_policy_decides() {
    let line = "mysql -phunter2 && tool --token=x1";
    let kinds = |redaction: &Redaction| redaction.found.iter().map(|kind| kind.as_str()).collect::<Vec<_>>();
    let dropped = redact(line, Policy::Drop);
    assert_eq!((dropped.line.as_deref(), kinds(&dropped)), (None, vec!["password", "token"]));
    assert_eq!(redact("ls", Policy::Drop).line.as_deref(), Some("ls"));
    assert_eq!(redact(line, Policy::Off).line.as_deref(), Some(line));
    assert!(has_marker(&kept(line)) && !has_marker(line) && !has_marker("cat <secret:"));
}

#[test]
fn a_private_key_goes_as_a_whole() {
    let line = "cat > k <<E\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nE";
    assert_eq!(kept(line), "cat > k <<E\n<secret:pem>\nE");
    assert_eq!(kept("echo '-----BEGIN PRIVATE KEY-----\nMII"), "echo '<secret:pem>");
}

#[test]
fn flags_of_secrets_are_known_by_name() {
    for yes in
        ["--password", "--db-password", "--token", "-storepass", "--api-key", "--client-secret", "--pass"]
    {
        assert!(is_secret_flag(yes), "{yes}");
    }
    for no in ["-p", "--port", "--password-file", "--max-tokens", "password", "--", "", "--compass", "--key"]
    {
        assert!(!is_secret_flag(no), "{no}");
    }
}

/// A form for each kind of secret: letters stand for random characters, the rest for itself. `{a:36}` is 36 letters
/// and digits, `h` hexadecimal, `u` capitals and digits, `d` digits.
const FORMS: &[&str] = &[
    "git push https://ghp_{a:36}@github.com/a/b",
    "echo gho_{a:36}",
    "x ghu_{a:36}",
    "x ghs_{a:36}",
    "x ghr_{a:36}",
    "export T=github_pat_{a:22}_{a:59}",
    "x v1.{h:40}",
    "curl -H 'PRIVATE-TOKEN: glpat-{a:20}' x",
    "x glrt-{a:20}",
    "aws configure set x AKIA{u:16}",
    "x ASIA{u:16}",
    "AWS_SECRET_ACCESS_KEY={a:40} x",
    "x xoxb-{d:12}-{d:12}-{a:24}",
    "x xoxp-{d:12}-{a:24}",
    "x xapp-1-{u:11}-{d:13}-{h:64}",
    "curl -d @f https://hooks.slack.com/services/T{u:8}/B{u:8}/{a:24}",
    "x sk_live_{a:24}",
    "x sk_test_{a:24}",
    "x rk_live_{a:24}",
    "x whsec_{a:32}",
    "x AIza{a:35}",
    "x ya29.{a:60}",
    "x GOCSPX-{a:28}",
    "x sk-ant-api03-{a:90}",
    "x sk-or-v1-{h:64}",
    "x sk-proj-{a:48}",
    "x sk-{a:48}",
    "x hf_{a:34}",
    "x gsk_{a:52}",
    "x r8_{a:37}",
    "x pplx-{a:48}",
    "x xai-{a:80}",
    "npm config set x npm_{a:36}",
    "twine upload -p pypi-{a:100}",
    "x rubygems_{h:48}",
    "cargo login cio{a:32}",
    "x dckr_pat_{a:27}",
    "x nfp_{a:36}",
    "x pul-{h:40}",
    "x dop_v1_{h:64}",
    "x SG.{a:22}.{a:43}",
    "x SK{h:32}",
    "x key-{h:32}",
    "x shpat_{h:32}",
    "x sq0atp-{a:22}",
    "x {d:9}:AA{a:33}",
    "x https://discord.com/api/webhooks/{d:18}/{a:68}",
    "x M{a:23}.{a:6}.{a:27}",
    "x dapi{h:32}",
    "x dp.pt.{a:43}",
    "x lin_api_{a:40}",
    "x secret_{a:43}",
    "x figd_{a:40}",
    "x PMAK-{h:24}-{h:34}",
    "x {a:14}.atlasv1.{a:67}",
    "x hvs.{a:90}",
    "x glsa_{a:32}_{h:8}",
    "x NRAK-{u:27}",
    "x sntrys_{a:60}",
    "x sbp_{h:40}",
    "x pscale_tkn_{a:43}",
    "x tskey-auth-{a:20}",
    "x ATATT3{a:180}",
    "x AGE-SECRET-KEY-1{u:58}",
    "x eyJ{a:20}.eyJ{a:40}.{a:43}",
    "mysql -p{a:12}",
    "curl -u me:{a:12} x",
    "sshpass -p {a:12} ssh h",
    "docker login -p {a:12}",
    "gpg --passphrase {a:12}",
    "openssl enc -pass pass:{a:12}",
    "curl -H 'Authorization: Basic {a:24}' x",
    "export MY_TOKEN={a:20}",
    "x --password {a:10}",
    "x --secret-key={a:30}",
    "psql postgres://me:{a:12}@h/db",
    "x --auth {h:40}",
    "redis-cli -a {a:16}",
    "x 'AccountKey={a:86}=='",
    "x \"https://h/c?sig={a:43}%3D\"",
];

const SEED: u64 = 7;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % sides
    }

    fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.roll(alphabet.len())])).collect()
    }

    /// The form with its random parts, and those parts.
    fn fill(&mut self, form: &str) -> (String, Vec<String>) {
        let (mut line, mut parts) = (String::new(), Vec::new());
        let mut rest = form;
        while let Some((before, (spec, after))) =
            rest.split_once('{').and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
        {
            let (alphabet, length) = spec.split_once(':').unwrap();
            let alphabet: &[u8] = match alphabet {
                "a" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "h" => b"0123456789abcdef",
                "u" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
                "l" => b"abcdefghijklmnopqrstuvwxyz",
                _ => b"0123456789",
            };
            parts.push(self.text(alphabet, length.parse().unwrap()));
            line.push_str(before);
            line.push_str(parts.last().unwrap());
            rest = after;
        }
        line.push_str(rest);
        (line, parts)
    }
}

#[test]
fn of_every_kind_at_least_99_percent_are_found() {
    let mut dice = Dice(SEED);
    assert!(FORMS.len() >= 40);
    for form in FORMS {
        let rounds = 100;
        let found = (0..rounds).filter(|_| {
            let (line, parts) = dice.fill(form);
            let kept = kept(&line);
            // Not one long random part may be left.
            has_marker(&kept) && parts.iter().all(|part| part.len() < 10 || !kept.contains(part))
        });
        let found = found.count();
        assert!(found * 100 >= rounds * 99, "{form}: {found} of {rounds}; {}", kept(&dice.fill(form).0));
    }
}

const BENIGN: &[&str] = &[
    "git show {h:40}",
    "git diff {h:7}..{h:7}",
    "git cherry-pick {h:40} {h:40}",
    "docker pull app@sha256:{h:64}",
    "docker rm {h:12}",
    "kubectl logs web-{h:10}-{l:5}",
    "cat /var/lib/docker/overlay2/{h:64}/merged/etc/passwd",
    "ls ~/.cache/{a:43}/{a:22}",
    "cp {a:32}.tar.gz /backup/{d:8}/",
    "curl https://example.com/{a:40}?page={d:2}",
    "psql -c 'select * from t where id = {d:9}'",
    "uuid {h:8}-{h:4}-{h:4}-{h:4}-{h:12}",
    "nix build /nix/store/{l:32}-x",
    "sha256sum -c <<< '{h:64}  f'",
    "vim src/{l:12}/{l:9}_token.rs",
    "cargo test {l:8}::{l:12}_password",
    "export PATH=/opt/{l:8}/bin:$PATH",
    "make -j{d:1} {l:8}",
    "ssh -p {d:4} {l:6}@10.0.0.{d:2}",
    "kill -9 {d:5}",
    "rsync -av {l:5}@{l:8}:/srv/{l:10}/ ./{l:9}/",
    "git commit -m '{l:7} the {l:5} token and the {l:8} key'",
    "aws s3 cp s3://{l:9}/{a:30} .",
    "ls /services/T{u:8}/B{u:8}/{a:24}",
    "cd hooks.slack.com/services/{a:24}",
    "tail -f /tmp/{l:6}.{d:13}.log",
    "base64 -d <<< {a:40}=",
    "openssl dgst -sha256 {l:8}.bin",
    "x --key {l:6}.pem",
    "grep -rn '{l:6}' --include=*.{l:2}",
    "npm install @{l:5}/{l:8}@{d:1}.{d:1}",
    "x --author '{l:5} {l:7}'",
    "gpg --recv-keys {u:16}",
    "adb shell input text {l:9}",
    "ffmpeg -i {a:11}.mp4 -ss {d:2}:{d:2} o.mkv",
    "x -p {d:4}:{d:4}",
    "terraform apply -var region={l:2}-{l:4}-{d:1}",
    "x -k {a:40}",
    "youtube-dl https://youtu.be/{a:11}",
    "ls {a:44}",
];

#[test]
fn harmless_lines_stay_as_they_are() {
    let mut dice = Dice(SEED);
    let rounds = 100;
    let lines: Vec<String> = (0..rounds).flat_map(|_| BENIGN).map(|form| dice.fill(form).0).collect();
    let false_hits: Vec<_> = lines.iter().filter(|line| has_marker(&kept(line))).collect();
    // One in a thousand may look like a token by chance.
    assert!(
        false_hits.len() * 1000 <= lines.len(),
        "{} of {}: {:?}",
        false_hits.len(),
        lines.len(),
        false_hits.first()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_kept_holds_no_further_secret_and_survives_as_a_template(
        before in words::tests::shell_text(),
        form in prop::sample::select(FORMS),
    ) {
        let line = format!("{before} {}", Dice(SEED).fill(form).0);
        let first = redact(&line, Policy::Redact);
        let kept = first.line.unwrap();
        prop_assert_eq!(redact(&kept, Policy::Redact).line, Some(kept.clone()));
        for slot in normalise(&kept).slots {
            prop_assert!(!has_marker(&slot.value));
        }
    }

    #[test]
    fn any_bytes_are_redacted_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        redact(&String::from_utf8_lossy(&bytes), Policy::Redact);
    }
}
