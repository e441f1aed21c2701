//! What a reader has in mind: the lines it was last told, by number. It believes every answer and nothing else, knows no
//! ledger, and shares no code with what it judges.

/// What one pair of eyes believes of one file in one epoch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mind {
    pub(crate) lines: Vec<Option<String>>,
    /// Whether it believes to know where the file ends.
    pub(crate) to_the_end: bool,
}

pub(crate) fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

impl Mind {
    pub(crate) fn whole(&mut self, text: &str) {
        self.lines = lines(text).into_iter().map(Some).collect();
        self.to_the_end = true;
    }

    pub(crate) fn part(&mut self, first: usize, text: &[String]) {
        if self.lines.len() < first - 1 + text.len() {
            self.lines.resize(first - 1 + text.len(), None);
        }
        for (index, line) in text.iter().enumerate() {
            self.lines[first - 1 + index] = Some(line.clone());
        }
    }

    /// An elided text: a stub says which lines of the file it stands for.
    pub(crate) fn elided(&mut self, text: &str) {
        self.lines.clear();
        self.to_the_end = true;
        for line in lines(text) {
            match line.contains("DRIP-elided").then(|| original(&line)) {
                Some((_, last)) => self.lines.resize(last, None),
                None => self.lines.push(Some(line)),
            }
        }
    }

    /// The body of a delta. Old lines that are told must be the ones in mind.
    pub(crate) fn delta(&mut self, body: &str) {
        let body = lines(body);
        let unified = body.first().is_some_and(|line| line.starts_with("--- "));
        let mut at = if unified { 2 } else { 0 };
        let mut out: Vec<Option<String>> = Vec::new();
        let mut taken = 0;
        while at < body.len() {
            let ((old, old_count), (new, new_count)) = head(&body[at]);
            at += 1;
            let old_start = if old_count == 0 { old } else { old - 1 };
            let new_start = if new_count == 0 { new } else { new - 1 };
            if self.lines.len() < old_start + old_count {
                self.lines.resize(old_start + old_count, None);
            }
            out.extend_from_slice(&self.lines[taken..old_start]);
            assert_eq!(out.len(), new_start, "the new side of a hunk is where the lines before it end");
            let mut told = 0;
            let mut given = 0;
            while told < old_count || given < new_count {
                let (sign, line) = if unified {
                    (body[at].as_bytes()[0], body[at][1..].to_owned())
                } else if given < new_count {
                    let (number, line) = body[at].split_once('\t').expect("a numbered line");
                    assert_eq!(
                        number.parse::<usize>().unwrap(),
                        new_start + given + 1,
                        "the number is the line's"
                    );
                    (b'+', line.to_owned())
                } else {
                    told = old_count;
                    continue;
                };
                at += 1;
                let cut = body.get(at).is_some_and(|next| next.starts_with("\\ No newline"));
                let line = if cut { line.trim_end_matches('\n').to_owned() } else { line };
                at += usize::from(cut);
                if sign != b'+' {
                    let held = &self.lines[old_start + told];
                    assert!(
                        held.is_none() || held.as_ref() == Some(&line),
                        "{held:?} is in mind, told {line:?}"
                    );
                    told += 1;
                }
                if sign != b'-' {
                    out.push(Some(line));
                    given += 1;
                }
            }
            taken = old_start + old_count;
        }
        out.extend_from_slice(&self.lines[taken..]);
        self.lines = out;
    }

    /// Whether lines are in mind as they are in a text.
    #[track_caller]
    pub(crate) fn must_hold(&self, text: &str, first: usize, last: usize, why: &str) {
        let text = lines(text);
        for number in first..=last.min(text.len()) {
            let held = self.lines.get(number - 1).and_then(Option::as_ref);
            assert_eq!(held, Some(&text[number - 1]), "{why}: line {number}");
        }
    }

    /// Whether nothing in mind differs from a text, and it ends where the text ends.
    #[track_caller]
    pub(crate) fn must_agree(&self, text: &str, why: &str) {
        let text = lines(text);
        assert_eq!(self.lines.len(), text.len(), "{why}: how long the file is");
        for (index, (held, line)) in self.lines.iter().zip(&text).enumerate() {
            assert!(
                held.is_none() || held.as_ref() == Some(line),
                "{why}: line {}: {held:?}, not {line:?}",
                index + 1
            );
        }
    }
}

/// `: lines 3-9, ` in a stub.
fn original(stub: &str) -> (usize, usize) {
    let (_, place) = stub.split_once(": lines ").expect("a stub says where it stands");
    let (first, rest) = place.split_once('-').expect("both ends");
    let last: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (first.parse().unwrap(), last.parse().unwrap())
}

/// `@@ -3,4 +3,5 @@ …`
fn head(line: &str) -> ((usize, usize), (usize, usize)) {
    let inside = line.strip_prefix("@@ -").unwrap_or_else(|| panic!("{line:?} is no head of a hunk"));
    let (sides, _) = inside.split_once(" @@").expect("a head ends");
    let (old, new) = sides.split_once(" +").expect("two sides");
    let side = |text: &str| {
        let (start, count) = text.split_once(',').expect("start and count");
        (start.parse().unwrap(), count.parse().unwrap())
    };
    (side(old), side(new))
}
