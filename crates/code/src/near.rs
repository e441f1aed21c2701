//! Names that somebody may have meant. Knows names only, not what has them.

/// As many as fit one line.
const MOST: usize = 5;

/// The names most like `typed`, best first: what stands after the last dot counts, then the whole.
pub(crate) fn near<'n>(names: impl Iterator<Item = &'n str>, typed: &str) -> Vec<String> {
    let (typed, target) = (typed.to_lowercase(), last(typed).to_lowercase());
    let mut scored: Vec<(usize, usize, &str)> = names
        .filter_map(|name| {
            let own = last(name).to_lowercase();
            let distance = edits(&own, &target);
            is_alike(&own, &target, distance).then(|| (distance, edits(&name.to_lowercase(), &typed), name))
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(MOST).map(|(_, _, name)| name.to_owned()).collect()
}

/// The words that end a sentence about a name that is not there.
pub(crate) fn words(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; near is {one}"),
        several => format!("; near are {}", several.join(", ")),
    }
}

fn is_alike(own: &str, target: &str, distance: usize) -> bool {
    /// Shorter ones are part of too many.
    const PART: usize = 3;
    let is_part = |small: &str, large: &str| small.len() >= PART && large.contains(small);
    is_part(own, target) || is_part(target, own) || distance * 2 <= target.len()
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_name_in_another_class_comes_before_one_that_is_only_spelled_alike() {
        let names = ["Session.send", "Adapter.send", "Session.sand", "resend", "close"];
        assert_eq!(
            near(names.into_iter(), "Sessions.send"),
            ["Session.send", "Adapter.send", "Session.sand", "resend"]
        );
        assert_eq!(near(names.into_iter(), ""), [""; 0]);
    }
}
