//! Names that an undeclared name may have been meant to be, since cel-go 0.33 (Kubernetes 1.38): `common/env/catalog.go` and `checker/errors.go`.

use crate::env::Env;
use crate::syntax::Macro;

/// The types that cel-go's standard library declares as variables (`stdlib.Types`).
const TYPES: [&str; 12] = [
    "bool",
    "bytes",
    "double",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];
/// Functions of cel-go's standard library for expressions that were parsed by older versions.
const OLD_FUNCTIONS: [&str; 3] = ["__not_strictly_false__", "_in_", "in"];
/// The product of the lengths of two names above which they are not compared.
const MAX_COMPARISONS: usize = 64 * 64;

/// The names in the environment that are similar to `name`, most similar first, at most two. If the environment has `name`
/// itself (as a macro, say), it is the only one (`Catalog.Find`).
pub(super) fn similar(env: &Env, name: &str) -> Vec<String> {
    let parse_options = env.parse_options();
    let macros = Macro::FORMS.iter().filter(|(which, ..)| parse_options.macros.has(*which)).map(|(_, name, ..)| *name);
    let variables = env.variables.iter().map(|variable| &*variable.name);
    let functions = env.base.functions.keys().copied();
    let mut known: Vec<&str> = variables.chain(functions).chain(TYPES).chain(OLD_FUNCTIONS).chain(macros).collect();
    if name.is_empty() || known.contains(&name) {
        return known.into_iter().filter(|one| !name.is_empty() && *one == name).take(1).map(str::to_owned).collect();
    }
    known.retain(|one| one.contains('.') == name.contains('.'));
    known.sort_unstable_by_key(|one| (one.len(), *one));
    known.dedup();
    let most = match name.len() {
        ..=3 => 1,
        4..=8 => 2,
        length => length / 3,
    };
    let distances = known.iter().filter_map(|one| Some((*one, distance(name, one).filter(|found| *found <= most)?)));
    let near: Vec<(&str, usize)> = distances.collect();
    let found: Vec<&str> = match near.iter().map(|(_, distance)| *distance).min() {
        Some(least) => near.into_iter().filter(|(_, distance)| *distance == least).map(|(one, _)| one).collect(),
        None if name.len() >= 2 => known.into_iter().filter(|one| one.starts_with(name)).collect(),
        None => Vec::new(),
    };
    found.into_iter().take(2).map(str::to_owned).collect()
}

/// The end of a message about an undeclared name.
pub(super) fn suffix(name: &str, similar: &[String]) -> String {
    match similar {
        [only] if only != name => format!(" (did you mean '{only}'?)"),
        [first, second, ..] => format!(" (did you mean '{first}' or '{second}'?)"),
        _ => String::new(),
    }
}

/// The number of deletions, insertions, substitutions and transpositions between two names; `None` if they differ too much
/// (`EditDistance`).
fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() < b.len() { (a.len(), b.len()) } else { (b.len(), a.len()) };
    if short == 0 || long >= 16 && long * 2 >= short * 3 {
        return Some(long - short);
    }
    if a.len() * b.len() > MAX_COMPARISONS {
        return None;
    }
    let threshold = long / 3;
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, of_a) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, of_b) in b.iter().enumerate() {
            let cost = usize::from(of_a != of_b);
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut least = (at(&above, j + 1) + 1).min(at(&row, j) + 1).min(at(&above, j) + cost);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(of_b) && b.get(j - 1) == Some(of_a);
            if swapped {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
        }
        if row.iter().min().is_some_and(|least| *least > threshold) {
            return None;
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::BaseEnv;
    use crate::types::Type;

    /// The cases of cel-go's `TestEditDistance`.
    #[test]
    fn distances_are_those_of_cel_go() {
        let cases = [
            ("", "", Some(0)),
            ("a", "", Some(1)),
            ("siz", "size", Some(1)),
            ("optioanl", "optional", Some(1)),
            ("hello", "world", None),
            ("abcdefghij", "0123456789", None),
            ("abcdefghijklmnop", "abcdefghij", Some(6)),
            ("abcdefghijklmnop", "abcdef", Some(10)),
        ];
        for (a, b, expected) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
        // The rows are those of the first name.
        assert_eq!((distance("kitten", "sitting"), distance("sitting", "kitten")), (Some(3), None));
        assert_eq!(
            (distance(&"a".repeat(64), &"a".repeat(64)), distance(&"a".repeat(65), &"a".repeat(65))),
            (Some(0), None)
        );
    }

    fn error(source: &str, release: &str) -> String {
        let env = Env::new(BaseEnv::for_new(release.parse().unwrap())).with_variable("self", Type::Dyn);
        let shown = env.compile(source).unwrap_err().display();
        shown.lines().filter(|line| line.starts_with("ERROR")).collect::<Vec<_>>().join("; ")
    }

    /// Answers of a real server of 1.38.0-beta.0.
    #[test]
    fn a_similar_name_is_suggested() {
        assert_eq!(error("nope", "1.37"), "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')");
        assert_eq!(error("nope", "1.38"), "ERROR: <input>:1:1: undeclared reference to 'nope'");
        let expected = "ERROR: <input>:1:1: undeclared reference to 'math' (did you mean 'path'?); \
                        ERROR: <input>:1:14: undeclared reference to 'greatest'";
        assert_eq!(error("math.greatest(1, 2) == 2", "1.38"), expected);
        let expected = "ERROR: <input>:1:4: undeclared reference to 'ind' (did you mean 'in' or 'int'?)";
        assert_eq!(error("ind('b')", "1.38"), expected);
    }

    #[test]
    fn a_namespace_is_part_of_the_name() {
        let expected =
            "ERROR: <input>:1:19: undeclared reference to 'format.dns123Label' (did you mean 'format.dns1123Label'?)";
        assert_eq!(error("format.dns123Label().hasValue()", "1.38"), expected);
    }
}
