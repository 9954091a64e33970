//! Formats the costs of rules.

/// Formats a number with separators: `12,345`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a cost as a share of a limit.
pub fn percent(percent: f64) -> String {
    match percent {
        p if p > 10_000.0 => ">100x".to_owned(),
        p if p >= 10.0 => format!("{p:.0}%"),
        p if p >= 0.01 => format!("{p:.2}%"),
        _ => "<0.01%".to_owned(),
    }
}

/// Returns the beginning of a rule, shortened to fit on a line.
pub fn shortened(rule: &str) -> String {
    const MAX_CHARS: usize = 60;
    let line = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_CHARS { line } else { line.chars().take(MAX_CHARS - 3).collect::<String>() + "..." }
}
