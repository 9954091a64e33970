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
