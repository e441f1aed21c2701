//! Rust text as code alone. What stands in strings, characters and comments is blanked, so that in what is left a
//! brace is a brace and a word is a word. Knows no rule of the house.

/// The same text, byte for byte, with blanks for all that is no code. Lines stay lines.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + skipped(bytes, at);
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("whole characters were blanked")
}

/// Where the bracket at `open` closes, in code.
pub(crate) fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Names of functions with a body and their lengths in lines, in code.
pub(crate) fn functions(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn") {
        let whole = !code[..at].ends_with(is_word) && !code[..at].ends_with('#');
        let rest = code[at + 2..].trim_start();
        let name: String = rest.chars().take_while(|letter| is_word(*letter) || *letter == '$').collect();
        // Without a name it is the type of a pointer.
        if !whole || name.is_empty() || rest.len() == code.len() - at - 2 {
            continue;
        }
        if let Some(end) = body_end(code, code.len() - rest.len()) {
            found.push((name, code[at..end].matches('\n').count() + 1));
        }
    }
    found
}

/// The text before the test modules at its very end; those elsewhere stay.
pub(crate) fn production(text: &str) -> &str {
    let code = code(text);
    let mut end = text.len();
    while let Some(start) =
        test_modules(&code[..end]).find(|(_, close)| code[*close + 1..end].trim().is_empty())
    {
        end = start.0;
    }
    &text[..end]
}

/// Where test modules with a body begin and close.
fn test_modules(code: &str) -> impl Iterator<Item = (usize, usize)> {
    let starts = code.match_indices("#[cfg(test)]").map(|(at, _)| at);
    starts.filter(|at| *at == 0 || code[..*at].ends_with('\n')).filter_map(|start| {
        let mut at = start;
        while code[at..].starts_with("#[") {
            let behind = &code[closing(code, at + 1)? + 1..];
            at = code.len() - behind.trim_start().len();
        }
        let name = code[at..].strip_prefix("mod ")?;
        let brace = at + "mod ".len() + name.find(|letter: char| !is_word(letter) && letter != ' ')?;
        (code.as_bytes()[brace] == b'{').then(|| closing(code, brace))?.map(|close| (start, close))
    })
}

/// Where the body ends of a function whose name stands at `at`. `None` if it has none.
fn body_end(code: &str, mut at: usize) -> Option<usize> {
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b';' | b'}' => return None,
            b'(' | b'[' => at = closing(code, at)?,
            b'{' => {
                let close = closing(code, at)?;
                // `Matrix<{ N + 1 }>` is an argument and no body.
                if !code[close + 1..].trim_start().starts_with(['>', ',']) {
                    return Some(close);
                }
                at = close;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How many bytes of no code begin here.
fn skipped(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let inside_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => find(rest, b"\n").unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest, b'"'),
        [b'r', ..] if !inside_word => raw_string(rest, 1),
        [b'b' | b'c', b'r', ..] if !inside_word => raw_string(rest, 2),
        [b'\'', b'\\', ..] => quoted(rest, b'\''),
        [b'\'', first, ..] => {
            let width =
                1 + usize::from(*first >= 0xc0) + usize::from(*first >= 0xe0) + usize::from(*first >= 0xf0);
            // Without the second quote it is a lifetime.
            if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        _ => 0,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string(rest: &[u8], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return 0;
    }
    let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
    find(&rest[open + 1..], &end).map_or(rest.len(), |at| open + 1 + at + end.len())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[test]
fn what_is_no_code_is_blanked() {
    for (text, expected) in [
        ("a // {\nb", "a     \nb"),
        ("a /* { /* \n */ } */ b", "a         \n         b"),
        ("f(\"}\\\"{\") + 1", "f(      ) + 1"),
        ("f(r#\"}\"{\"#, br\"{\")", "f(        ,      )"),
        ("g('{', '\\'', 'é', &'a b)", "g(   ,     ,     , &'a b)"),
        ("for_r(r#fn)", "for_r(r#fn)"),
        ("\"never ends {", "             "),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn functions_are_found_whatever_stands_before_them() {
    let body = "    x();\n".repeat(99);
    for before in [
        "",
        "pub ",
        "pub(in crate::a) ",
        "pub(crate) unsafe extern \"C\" ",
        "extern \"C\" ",
        "const ",
        "#[inline] ",
        "default async ",
    ] {
        let text = format!(
            "mod a {{\n{before}fn long<const N: usize>(\n    a: [u8; 3],\n) -> A<{{ N }}>\n{{\n{body}}}\n}}\n"
        );
        assert_eq!(functions(&code(&text)), [("long".to_owned(), 104)], "{before}");
    }
}

#[test]
fn a_brace_in_a_string_ends_no_function_and_a_declaration_is_none() {
    let text = "trait A {\n    fn declared(a: [u8; 3]);\n    fn short() {}\n}\nfn long() {\n    let a = r\"\n}\n\";\n}\n";
    assert_eq!(functions(&code(text)), [("short".to_owned(), 1), ("long".to_owned(), 5)]);
    assert_eq!(functions("type A = fn(u8) -> fn ();\nlet a = fnord {};"), []);
}

#[test]
fn only_tests_at_the_very_end_are_no_production() {
    let uses = "#[cfg(test)]\nuse a::b;\n";
    let tests =
        "#[cfg(test)]\n#[allow(a, reason = \"]\")]\nmod tests {\n    const A: &str = r\"\n}\n\";\n}\n";
    let code = "fn a() {}\n";
    assert_eq!(production(&format!("{code}{tests}")), code);
    assert_eq!(production(&format!("{code}{tests}\n{tests}")).trim_end(), code.trim_end());
    for whole in
        [format!("{uses}{code}"), format!("{tests}{code}"), format!("{code}#[cfg(test)]\nmod tests;\n")]
    {
        assert_eq!(production(&whole), whole);
    }
    assert_eq!(production(&format!("{uses}{code}{tests}")), format!("{uses}{code}"));
    assert_eq!(
        production(&format!("{code}// {}", tests.replace('\n', " "))).len(),
        code.len() + 3 + tests.len()
    );
}
