//! The table of internal types, `types.txt`, which `scripts/builtin-types` generates from the sources of Kubernetes.
//!
//! A line without indentation is a type, with the type that defines it if it is not a struct. An indented line is a field
//! of a struct: its Go name, its type (`.Name` is in the same package), its JSON name in the versioned type, and flags:
//! `i` embedded, `t` printed with its JSON name, `e` omitempty, `z` omitzero. The JSON name is `-` for a field that the
//! versioned type does not have, and `^name` for a field of the struct that contains this one. A line may end with
//! releases, as in [`crdx_types::table`].

use crdx_types::releases::{Releases, split_releases};
use std::collections::HashMap;
use std::sync::OnceLock;

const TEXT: &str = include_str!("types.txt");
/// The releases of lines that name none.
const ALL: Releases = 0..=u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct InternalType {
    /// The type that defines it; empty for a struct.
    pub of: &'static str,
    fields: Vec<(Field, Releases)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The Go name.
    pub name: &'static str,
    /// The expression of its type.
    pub type_: &'static str,
    /// The JSON name in the versioned type.
    pub key: &'static str,
    flags: &'static str,
}

impl Field {
    /// True for an embedded struct.
    pub fn is_embedded(&self) -> bool {
        self.flags.contains('i')
    }

    /// True if JSON has no zero value.
    pub fn omits_zero(&self) -> bool {
        self.flags.contains(['e', 'z'])
    }

    /// The name in JSON.
    pub fn json_name(&self) -> &'static str {
        if self.flags.contains('t') { self.key } else { self.name }
    }
}

impl InternalType {
    /// The fields in a release, in the order of the Go source.
    pub fn fields(&self, release: u32) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(move |(_, releases)| releases.contains(&release)).map(|(field, _)| field)
    }
}

/// The type with a name such as `core.PodSpec`.
pub fn find(name: &str) -> Option<&'static InternalType> {
    static TYPES: OnceLock<HashMap<&'static str, InternalType>> = OnceLock::new();
    TYPES.get_or_init(read).get(name)
}

fn read() -> HashMap<&'static str, InternalType> {
    let mut types = HashMap::new();
    let mut name = "";
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        let (text, releases) = split_releases(line, &ALL);
        if let Some(row) = text.strip_prefix(' ') {
            let mut words = row.split(' ');
            let mut word = || words.next().unwrap_or_default();
            let field = Field { name: word(), type_: word(), key: word(), flags: word() };
            let of: &mut InternalType = types.entry(name).or_default();
            of.fields.push((field, releases));
        } else {
            let (found, of) = text.split_once(' ').unwrap_or((text, ""));
            name = found;
            types.insert(name, InternalType { of, fields: Vec::new() });
        }
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_order_of_the_release() {
        let names = |release| {
            let spec = find("core.PodSecurityContext").unwrap();
            spec.fields(release).map(|field| field.name).collect::<Vec<_>>()
        };
        assert_eq!(names(31).first(), Some(&"HostNetwork"));
        assert_eq!(names(37).first(), Some(&"SELinuxOptions"));
        assert_eq!(names(37).iter().filter(|name| **name == "Sysctls").count(), 1);
    }

    #[test]
    fn the_types_of_fields_are_known() {
        let types = read();
        assert!(types.len() > 150);
        for (name, type_) in &types {
            let package = name.rsplit_once('.').map_or("", |(package, _)| package);
            for (field, _) in &type_.fields {
                let bare = field.type_.trim_start_matches(['*', '[', ']']);
                let full = if bare.starts_with('.') { format!("{package}{bare}") } else { bare.to_owned() };
                let is_basic = !full.contains('.') || full.starts_with("map[");
                let is_opaque = super::super::OPAQUE.contains(&full.as_str());
                assert!(is_basic || is_opaque || types.contains_key(full.as_str()), "{name}.{}: {full}", field.name);
            }
        }
    }
}
