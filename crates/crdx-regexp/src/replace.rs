//! Expands replacement templates: `$1`, `$name`, `${name}` and `$$`.

use crdx_value::unicode as tables;

/// A parsed replacement template.
pub struct Template<'a> {
    parts: Vec<Part<'a>>,
}

enum Part<'a> {
    Text(&'a str),
    /// The groups with this number or name; the first that participated in the match is used.
    Groups(Vec<usize>),
}

impl<'a> Template<'a> {
    /// Parses a template. An unknown name expands to nothing, and a `$` without a name is literal.
    pub fn new(mut template: &'a str, names: &[String]) -> Self {
        let mut parts = Vec::new();
        while let Some((before, rest)) = template.split_once('$') {
            parts.push(Part::Text(before));
            if let Some(rest) = rest.strip_prefix('$') {
                parts.push(Part::Text("$"));
                template = rest;
            } else if let Some((name, rest)) = reference(rest) {
                parts.push(Part::Groups(groups(name, names)));
                template = rest;
            } else {
                parts.push(Part::Text("$"));
                template = rest;
            }
        }
        parts.push(Part::Text(template));
        Self { parts }
    }

    /// Returns true if the template refers to any group.
    pub(crate) fn has_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Groups(groups) if !groups.is_empty()))
    }

    /// Appends the replacement of one match.
    pub fn expand(&self, out: &mut String, text: &str, slots: &[Option<usize>]) {
        for part in &self.parts {
            match part {
                Part::Text(literal) => out.push_str(literal),
                Part::Groups(groups) => {
                    let found = groups.iter().find_map(|group| super::range(slots.get(2 * group..2 * group + 2)?));
                    out.push_str(found.and_then(|range| text.get(range)).unwrap_or(""));
                }
            }
        }
    }
}

/// Parses the name after a `$`: the longest sequence of letters, digits and `_`, optionally in braces. Returns the name
/// and the rest.
fn reference(rest: &str) -> Option<(&str, &str)> {
    let (braces, body) = rest.strip_prefix('{').map_or((false, rest), |body| (true, body));
    let end = body.find(|c: char| c != '_' && !tables::is_letter(c) && !tables::is_digit(c)).unwrap_or(body.len());
    let (name, rest) = body.split_at_checked(end)?;
    if name.is_empty() {
        return None;
    }
    if braces { Some((name, rest.strip_prefix('}')?)) } else { Some((name, rest)) }
}

fn groups(name: &str, names: &[String]) -> Vec<usize> {
    let number = name.bytes().all(|b| b.is_ascii_digit()) && name.len() < 10;
    if number && (name.len() == 1 || !name.starts_with('0')) {
        return name.parse().ok().filter(|n| *n < names.len()).into_iter().collect();
    }
    names.iter().enumerate().filter(|(_, n)| *n == name).map(|(i, _)| i).collect()
}
