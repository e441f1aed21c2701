//! What a line is cut into, as data, and what holds for every line.

use std::time::Instant;

use proptest::prelude::*;

use super::*;

/// Words between brackets, operators between them; redirections and groups with their signs.
fn shown(line: &str) -> String {
    let mut out = String::new();
    for segment in segments(line) {
        if let Some(operator) = segment.operator_before {
            out.push_str(&format!(" {} ", operator.as_str().replace('\n', "⏎")));
        }
        for word in &segment.words {
            assert_eq!(&line[word.span()], word.raw);
            match word.role {
                Role::Plain => out.push_str(&format!("[{}]", word.text)),
                Role::Target | Role::Delimiter => out.push_str(&format!("{{{}}}", word.text)),
                Role::Redirection | Role::Group => out.push_str(&word.text),
                Role::Heredoc => out.push_str(&format!("«{}»", word.text.replace('\n', "⏎"))),
            }
        }
    }
    out
}

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(shown(line), *expected, "{line:?}");
    }
}

#[test]
fn words_lose_their_quotes_and_keep_where_they_stood() {
    check(&[
        ("", ""),
        ("   \t ", ""),
        ("git status", "[git][status]"),
        (r#"git commit -m "fix: \"quoted\" work""#, r#"[git][commit][-m][fix: "quoted" work]"#),
        (r"ls 'Croatia 2019' a\ b", "[ls][Croatia 2019][a b]"),
        (r#"echo a"b c"'d e'f"#, "[echo][ab cd ef]"),
        ("echo '' \"\"", "[echo][][]"),
        ("echo café 日本", "[echo][café][日本]"),
        ("a \\\n  b", "[a][b]"),
        ("a\\\nb", "[ab]"),
        ("echo a#b # and the rest", "[echo][a#b]"),
        ("# nothing", ""),
        (r"echo $'it\'s' x", r"[echo][$'it\'s'][x]"),
        ("trailing\\", "[trailing\\]"),
    ]);
}

#[test]
fn operators_cut_only_outside_quotes_and_substitutions() {
    check(&[
        ("a;b&&c||d|e|&f&g\nh", "[a] ; [b] && [c] || [d] | [e] |& [f] & [g] ⏎ [h]"),
        ("sleep 9 &", "[sleep][9] & "),
        ("ls;", "[ls]"),
        (";; ls", " ;; [ls]"),
        ("\n\nls\n\npwd\n", "[ls] ⏎ [pwd]"),
        ("echo 'a;b' \"c|d\" e\\;f", "[echo][a;b][c|d][e;f]"),
        ("echo $(a; b | c) `d; e` ${x:-y;z}", "[echo][$(a; b | c)][`d; e`][${x:-y;z}]"),
        (r#"echo "$(echo "a; b")" c"#, r#"[echo]["$(echo "a; b")"][c]"#),
        ("diff <(ls a) <(ls b)", "[diff][<(ls a)][<(ls b)]"),
        ("case x in a) ls;; b) pwd;; esac", "[case][x][in][a])[ls] ;; [b])[pwd] ;; [esac]"),
        ("(cd x && ls)", "([cd][x] && [ls])"),
        ("f(){ ls; }", "[f(){][ls] ; [}]"),
        ("xs=(a b)", "[xs=(a b)]"),
        ("echo $(never closed", "[echo][$]([never][closed]"),
    ]);
}

#[test]
fn redirections_stay_in_their_segment() {
    check(&[
        ("make >out 2>&1", "[make]>{out}2>&1"),
        ("a 2> /dev/null | b", "[a]2>{/dev/null} | [b]"),
        ("a &> f; b >| g; c >& h", "[a]&>{f} ; [b]>|{g} ; [c]>&{h}"),
        ("a < in >> out <<< 'x y'", "[a]<{in}>>{out}<<<{x y}"),
        ("echo hi2>f", "[echo][hi2]>{f}"),
        ("cat <<EOF > f\na; b\nit's\nEOF\nls", "[cat]<<{EOF}>{f}«a; b⏎it's⏎EOF» ⏎ [ls]"),
        ("cat <<-'E' | wc\n\tx\n\tE", "[cat]<<-{E} | [wc]«\tx⏎\tE»"),
        ("cat <<EOF\nno end", "[cat]<<{EOF}«no end»"),
    ]);
}

#[test]
fn what_stands_for_something_left_out_is_a_word() {
    check(&[
        ("rm -rf <path>", "[rm][-rf][<path>]"),
        ("git commit -m<msg> --depth=<num>", "[git][commit][-m<msg>][--depth=<num>]"),
        ("curl -u me:<secret:password> <url>", "[curl][-u][me:<secret:password>][<url>]"),
        ("cat <paths>x", "[cat]<{paths}>{x}"),
        ("cat <secret:>x", "[cat]<{secret:}>{x}"),
    ]);
}

#[test]
fn an_open_quote_leaves_words_between_blanks() {
    check(&[("echo it's  fine; ls", "[echo][it's][fine;][ls]"), ("ls; echo \"a b", "[ls] ; [echo][\"a][b]")]);
    let ending = |line| segments(line).last().unwrap().ending;
    assert_eq!([ending("it's"), ending("its")], [Ending::Open, Ending::Closed]);
}

#[test]
fn the_program_is_found_behind_what_runs_it() {
    for (line, expected) in [
        ("git push", Some("git")),
        ("/usr/bin/git push", Some("git")),
        ("sudo -u bob -E FOO=1 rm -rf x", Some("rm")),
        ("FOO=1 BAR='a b' env -i A=b -u C nice -n 5 make", Some("make")),
        ("if ! time -p timeout -s KILL 5 ls", Some("ls")),
        ("xargs -0 -n 1 rm", Some("rm")),
        ("sudo -- sh -c x", Some("sh")),
        ("(rm x)", Some("rm")),
        (">f ls", Some("ls")),
        ("command -v git", Some("command")),
        ("sudo", Some("sudo")),
        ("sudo -k", Some("sudo")),
        ("X=1", None),
    ] {
        assert_eq!(segments(line)[0].program_name().map(|(name, _)| name), expected, "{line}");
    }
}

#[test]
fn quoted_words_are_right_in_all_three_shells() {
    for (word, expected) in [
        ("plain-1.0/x:y@z", "plain-1.0/x:y@z"),
        ("", "''"),
        ("a b", "'a b'"),
        ("x; rm -rf ~", "'x; rm -rf ~'"),
        ("it's", r"'it'\''s'"),
        (r"a\b", r"'a'\\'b'"),
        ("''", r"\'\'"),
        ("~", "'~'"),
        ("$HOME", "'$HOME'"),
        ("<path>", "'<path>'"),
        ("é", "'é'"),
    ] {
        assert_eq!(quote(word).as_deref(), Some(expected));
    }
    for refused in ["a\nb", "\u{1b}[2J", "a\u{202e}b", "\0", "\t", "\u{9b}"] {
        assert_eq!(quote(refused), None);
    }
}

#[test]
fn one_word_is_one_word() {
    for yes in ["a", "'a b'", "$(x; y)", "a\\ b", "--x=\"y z\""] {
        assert!(is_one_word(yes), "{yes}");
    }
    for no in ["", "a b", "a;", "a|b", "it's", "#x", " a", ">f", "(a)", "a &"] {
        assert!(!is_one_word(no), "{no}");
    }
}

#[test]
fn a_long_line_of_anything_is_cut_in_one_pass() {
    let nasty = [
        "a ",
        "'",
        "\"",
        "$(",
        "`",
        "((",
        "<<x ",
        "<",
        "\\",
        ";",
        "<secret:a",
        "a(",
        "${",
        "1",
        "#\n",
        "<<a\n",
    ];
    for piece in nasty {
        let line = piece.repeat((1 << 18) / piece.len());
        let start = Instant::now();
        segments(&line);
        // One pass takes a fraction of a second in a debug build; anything quadratic takes minutes.
        assert!(start.elapsed().as_secs() < 5, "{piece:?} took {:?}", start.elapsed());
    }
}

/// Text in which everything that matters to a shell is frequent.
pub(crate) fn shell_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z0-9]{1,8}",
        4 => Just(" ".to_owned()),
        4 => r#"[-'"\\ \n\t;&|<>(){}$`#=/~.*!0-9]{1,3}"#,
        1 => prop::sample::select(vec![
            "git commit -am ", "git push -u origin main", "npm run build", "go test ./...", "<path>", "<secret:aws>",
            "sudo ", " <<EOF\n", "\nEOF\n", "--x=/a/b", "$(a/b)", "deadbeef1", "https://a.b/c", "\"a b\"", "'a/b'",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn quoted_words_joined_are_the_same_words_again(words in prop::collection::vec("[ -~é日]{0,12}", 1..6)) {
        let line = words.iter().map(|word| quote(word).unwrap()).collect::<Vec<_>>().join(" ");
        let cut = segments(&line);
        prop_assert_eq!(cut.len(), 1);
        let again: Vec<_> = cut[0].words.iter().map(|word| word.text.clone().into_owned()).collect();
        prop_assert_eq!(again, words);
    }

    #[test]
    fn without_operators_the_words_are_those_of_the_library(line in r#"[a-c"' \\\t]{0,24}"#) {
        let ours: Vec<String> = segments(&line).iter().flat_map(|segment| &segment.words)
            .map(|word| word.text.clone().into_owned()).collect();
        if let Some(theirs) = shlex::split(&line) {
            prop_assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn any_line_is_cut_into_spans_that_do_not_overlap(line in shell_text()) {
        let mut end = 0;
        for word in segments(&line).iter().flat_map(|segment| &segment.words) {
            prop_assert!(word.start >= end && !word.raw.is_empty());
            prop_assert_eq!(&line[word.span()], word.raw);
            prop_assert!(line.get(word.span_from(word.text.len() / 2)).is_some() || !word.text.is_ascii());
            end = word.span().end;
        }
    }

    #[test]
    fn any_bytes_are_cut_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        segments(&String::from_utf8_lossy(&bytes));
    }
}
