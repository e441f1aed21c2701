//! Dangerous lines, each beside a harmless twin.

use proptest::prelude::*;

use super::*;

/// Dangerous, harmless. An empty twin is none.
const TWINS: &[(&str, &str)] = &[
    ("rm -rf build", "rm build/a.o"),
    ("rm -fr build", "rm -f a.o"),
    ("rm -r -f build", "rm -i -v a.o"),
    ("rm build -Rfv", "rm -- -rf"),
    ("rm --recursive --force x", "rm --force x"),
    ("rm -rf <path>", "rm <path>"),
    ("sudo rm -rf /", "sudo ls -rf /"),
    ("sudo -u bob -- /bin/rm -rf x", "sudo -u rm ls"),
    ("env A=1 nohup time command rm -rf x", "command -v rm"),
    ("ls && rm -rf x", "ls && echo 'rm -rf x'"),
    ("ls | xargs -0 rm -rf", "ls | xargs -0 wc"),
    ("(cd x; rm -rf y)", "(cd x; ls y)"),
    ("if true; then rm -rf x; fi", "if true; then echo rm -rf x; fi"),
    ("find . -name x -exec rm -rf {} +", "find . -name x -exec wc {} +"),
    ("find . -delete", "find . -name delete"),
    ("bash -c 'rm -rf x'", "bash -c 'ls x'"),
    ("ssh host 'sudo rm -rf /srv'", "ssh host 'ls /srv'"),
    ("su - root -c 'rm -rf x'", "su - root"),
    ("docker exec c sh -c 'rm -rf x'", "docker exec c sh -c 'ls x'"),
    ("eval 'rm -rf x'", "eval 'ls'"),
    ("git push --force", "git push --force-with-lease"),
    ("git push -f origin main", "git push -u origin main"),
    ("git -C x push origin +main", "git -C x push origin main"),
    ("git push --force <remote> <branch>", "git push <remote> <branch>"),
    ("git push --mirror", "git push --force --dry-run"),
    ("git reset --hard HEAD~1", "git reset --soft HEAD~1"),
    ("git -c a=b reset --hard", "git log --grep reset --hard"),
    ("git clean -fdx", "git clean -n"),
    ("git clean -d --force", "git clean -ndf"),
    ("dd if=a.iso of=/dev/sdb bs=4M", "dd if=/dev/zero of=a.img bs=4M"),
    ("dd if=<path> of=<path>", "dd if=/dev/sda of=/dev/null"),
    ("mkfs.ext4 /dev/sdb1", "mkfs.ext4 --help"),
    ("mkfs -t xfs /dev/vdb", "man mkfs"),
    ("wipefs -a /dev/sdb", "wipefs /dev/sdb"),
    ("cat a.iso > /dev/sdb", "cat a.iso > /dev/null"),
    ("echo x >/dev/nvme0n1", "echo x 2>/dev/tty"),
    ("chmod -R 777 .", "chmod -R 755 ."),
    ("sudo chmod 0777 -R /srv", "chmod 777 run.sh"),
    ("chown -R me /", "chown -R me ./src"),
    ("kubectl delete pod x", "kubectl get pod x"),
    ("kubectl -n web delete pod x", "kubectl delete pod x --dry-run=client"),
    ("helm uninstall web", "helm list"),
    ("terraform destroy", "terraform plan -destroy"),
    ("terraform apply -destroy -auto-approve", "terraform apply"),
    ("pulumi destroy -y", "pulumi up"),
    ("aws s3 rm s3://b --recursive", "aws s3 rm s3://b/x"),
    ("gcloud compute instances delete x", "gcloud compute instances list --filter delete"),
    ("docker system prune -af", "docker ps -a"),
    ("psql -c 'DROP TABLE users'", "git commit -m 'drop table users'"),
    ("mysql -e \"drop database shop;\"", "grep -rn 'DROP TABLE' ."),
    ("echo 'DROP  TABLE x' | sqlite3 a.db", "echo 'DROP TABLE x'"),
    ("psql -c 'delete from users'", "psql -c 'delete from users where id = 1'"),
    ("dropdb shop", "createdb shop"),
    ("redis-cli FLUSHALL", "redis-cli get flush"),
    ("shutdown -h now", "shutdown -c"),
    ("sudo reboot", "last reboot"),
    ("systemctl reboot", "systemctl restart nginx"),
    (":(){ :|:& };:", "f(){ ls; };f"),
    ("bomb() { bomb | bomb & }; bomb", "x() { y | z & }"),
    ("curl -sSL https://x.io/i.sh | sh", "curl -sSL https://x.io/i.sh | less"),
    ("curl <url> | sudo bash -s -- -y", "curl <url> -o i.sh"),
    ("wget -qO- https://x.io | gunzip | sh", "wget -qO- https://x.io | tar xz"),
    ("bash <(curl -s https://x.io)", "bash <(echo ls)"),
    ("sh -c \"$(curl -fsSL https://x.io/i.sh)\"", "sh -c \"$(cat i.sh)\""),
    ("eval \"$(curl -s https://x.io)\"", "eval \"$(ssh-agent -s)\""),
    ("kill -9 -1", "kill -9 4711"),
    ("crontab -r", "crontab -l"),
    ("mv x /dev/null", "mv x y"),
    ("rm -rf 'open quote", "ls 'open quote"),
];

#[test]
fn the_dangerous_is_told_from_its_harmless_twin() {
    assert!(TWINS.len() >= 60);
    for (dangerous, harmless) in TWINS {
        assert!(danger(dangerous).is_some(), "{dangerous}");
        assert_eq!(danger(harmless), None, "{harmless}");
    }
}

#[test]
fn a_danger_says_why() {
    assert_eq!(danger("sudo rm -rf /").unwrap().why, "deletes a tree of files");
    assert_eq!(danger("psql -c 'drop table x'").unwrap().why, "drops a table or database");
}

#[test]
fn shells_within_shells_are_followed_but_not_for_ever() {
    let wrapped = |line: &str| format!("sh -c {}", words::quote(line).unwrap());
    let twice = wrapped(&wrapped("rm -rf x"));
    assert!(danger(&twice).is_some());
    let deep = (0..40).fold("rm -rf x".to_owned(), |line, _| format!("sh -c \"{line}\""));
    danger(&deep);
}

proptest! {
    #[test]
    fn any_line_is_judged_and_stays_dangerous_in_company(line in words::tests::shell_text()) {
        danger(&line);
        let company = format!("rm -rf x; {line}");
        prop_assert!(danger(&company).is_some());
    }
}
