//! The name of a type says what its values are: few files define a type with the same name.

use super::architecture::modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// No name may be defined in as many files.
const TOO_MANY: usize = 5;

/// Names that are the idiom in every crate, such as `fmt::Error` and `io::Error` of the standard library.
const IDIOMS: &[&str] = &["Error"];

/// The names of the structs, enums, traits and aliases that `text` defines. Associated types and the module of tests do
/// not count.
fn defined(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut is_in_impl = false;
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for line in code.lines() {
        if line.starts_with('}') {
            is_in_impl = false;
        } else if line.starts_with("impl") || without_visibility(line).starts_with("trait ") {
            is_in_impl = !line.ends_with('}');
        }
        let line = without_visibility(line.trim_start());
        let Some((keyword, rest)) = line.split_once(' ') else { continue };
        let is_type = match keyword {
            "struct" | "enum" | "trait" => true,
            "type" => !is_in_impl,
            _ => false,
        };
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if is_type && name.starts_with(char::is_uppercase) {
            names.insert(name);
        }
    }
    names
}

/// The line after `pub` or `pub(…)`.
fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    if let Some(public) = rest.strip_prefix(' ') {
        return public;
    }
    rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(line, |(_, rest)| rest)
}

#[test]
fn a_type_name_is_not_defined_in_many_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = modules();
    let mut files: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    let production = modules.iter().filter(|source| !source.file.ends_with("tests.rs"));
    for source in production {
        for name in defined(&source.text) {
            files.entry(name).or_default().push(source.file.strip_prefix(root).unwrap().to_owned());
        }
    }
    assert!(files.len() > 1000, "{}", files.len());
    let mut repeated = files;
    repeated.retain(|name, files| files.len() >= TOO_MANY && !IDIOMS.contains(name));
    assert!(repeated.is_empty(), "give these types names that say what their values are: {repeated:#?}");
}

#[test]
fn definitions_are_found() {
    let text = "
pub struct A(u8);
pub(in crate::server) enum B<'a> {}
    struct C;
pub(crate) type D = Vec<E>;
pub trait F {
    type G;
}
impl Eq for A {}
type J = u8;
impl<T> F for A<T>
where
    T: F,
{
    type G = u8;
}
fn h() {
    type I = u8;
}
// struct K
let type_ = L;
#[cfg(test)]
mod tests {
    struct M;
}
";
    assert_eq!(defined(text), BTreeSet::from(["A", "B", "C", "D", "F", "I", "J"]));
}
