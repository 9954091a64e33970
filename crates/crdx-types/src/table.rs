//! The table of kinds and types, `types.txt`, which `scripts/builtin-types` generates from the Go modules.
//!
//! A line may end with the releases to which it applies: `@31-34`, `@-34` (up to), `@31` (since). A line without this
//! suffix applies to all releases; an indented line inherits the releases of the line above it.
//!
//! ```text
//! releases 30 37
//! kind apps/v1 Deployment apps/v1.Deployment served cluster deprecated=1.9 removed=1.16 instead=apps/v1/Deployment
//! kind * DeleteOptions meta/v1.DeleteOptions  in every known group and version
//! kind ** Status meta/v1.Status               in any group and version
//! type core/v1.Container struct               one line per field: name, Go type, flags (- for none), words
//!  name string - n=1
//!  ports [].ContainerPort eo n=6 ps=merge pk=containerPort lt=map lk=containerPort,protocol
//!                                             .ContainerPort is in the same package
//! type core/v1.SecretKeySelector struct
//!  +atomic                                    +structType=atomic or +mapType=atomic
//! type core/v1.Protocol string                one line per constant, if the published schema has an enum
//!  SCTP
//! type resource.Quantity custom               has its own UnmarshalJSON
//! ```
//!
//! The flags of a field: `i` embedded, `e` omitempty, `z` omitzero, `o` +optional, `r` +required, `d` +default.
//!
//! The words of a field: `n`, its number in Protobuf messages; `ps` and `pk`, its patch strategy and merge key; `lt`,
//! `lk` and `mt`, its list type, list map keys and map type; `d`, its default as JSON, which is the rest of the line.

use crate::releases::{Releases, split_releases};
use crdx_embedded::embedded;
use crdx_value::group_version;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::OnceLock;

/// The rows of the table, indexed by kind and by type.
#[derive(Debug)]
pub struct Table {
    releases: Releases,
    /// By group version and kind.
    kinds: BTreeMap<&'static str, BTreeMap<&'static str, Vec<KindRow>>>,
    /// Type rows, sorted by name.
    types: Cow<'static, [TypeRow]>,
}

/// A kind in a range of releases.
#[derive(Clone, Debug)]
pub struct KindRow {
    /// The releases that have the kind in their scheme.
    pub releases: Releases,
    /// The name of the Go type.
    pub type_name: &'static str,
    /// True if API servers of the release can serve the kind; otherwise it can only be decoded.
    pub served: bool,
    /// True if the kind is cluster-scoped.
    pub cluster: bool,
    /// The release that deprecated the kind, such as `1.21`.
    pub deprecated: Option<&'static str>,
    /// The release that stopped serving the kind.
    pub removed: Option<&'static str>,
    /// The group version and kind to use instead, such as `apps/v1/Deployment`.
    pub instead: Option<&'static str>,
}

/// A type: its name, definition and indented lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeRow {
    pub name: &'static str,
    pub head: &'static str,
    releases: (u32, u32),
    body: &'static str,
}

/// A field of a struct in a range of releases.
#[derive(Clone, Debug)]
pub(super) struct FieldRow {
    pub releases: Releases,
    /// The JSON name; the Go name for an embedded struct.
    pub name: &'static str,
    pub type_name: &'static str,
    pub flags: &'static str,
    /// The words after the flags.
    pub words: &'static str,
}

/// The line for a struct that is merged as a single value. It comes before the fields.
const ATOMIC: &str = "+atomic";

impl FieldRow {
    pub fn is_embedded(&self) -> bool {
        self.flags.contains('i')
    }

    /// Returns true if the published schema requires the field (`isOptional` in kube-openapi's generator).
    pub fn is_required(&self) -> bool {
        self.flags.contains('r') || !self.flags.contains(['o', 'e'])
    }
}

/// The releases of the table, and the rows of the types of CRDs and of metadata, which the build script has indexed because
/// every run needs them.
const DEFINITIONS: (Releases, &[TypeRow]) = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The table, indexed on first use.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table::read(embedded!("types.txt").text().leak());
        let types = table.types.to_mut();
        types.extend_from_slice(DEFINITIONS.1);
        types.sort_unstable_by_key(|row| row.name);
        table
    })
}

/// The part of the table with the types of CRDs and of metadata, which is small. It has no kinds.
pub(super) fn definitions() -> &'static Table {
    static TABLE: Table =
        Table { releases: DEFINITIONS.0, kinds: BTreeMap::new(), types: Cow::Borrowed(DEFINITIONS.1) };
    &TABLE
}

impl Table {
    fn read(text: &'static str) -> Self {
        let mut table = Self { releases: DEFINITIONS.0, kinds: BTreeMap::new(), types: Cow::default() };
        let mut types = Vec::new();
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            rest = after;
            let mut words = line.split(' ');
            match words.next() {
                Some("kind") => {
                    let (line, releases) = split_releases(line, &table.releases);
                    let mut words = line.split(' ').skip(1);
                    let mut word = || words.next().unwrap_or_default();
                    let rows = table.kinds.entry(word()).or_default().entry(word()).or_default();
                    rows.push(KindRow::read(word(), words, releases));
                }
                Some("type") => {
                    let mut end = 0;
                    while let Some(indented) = rest.get(end..).filter(|rest| rest.starts_with(' ')) {
                        end += indented.find('\n').map_or(indented.len(), |at| at + 1);
                    }
                    let (body, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                    rest = after;
                    let (line, releases) = split_releases(line, &table.releases);
                    let mut words = line.split(' ').skip(1);
                    let mut word = || words.next().unwrap_or_default();
                    let (name, head) = (word(), word());
                    let releases = (*releases.start(), *releases.end());
                    types.push(TypeRow { name, head, releases, body });
                }
                _ => {}
            }
        }
        table.types = types.into();
        table
    }

    /// The releases that the table covers.
    pub fn releases(&self) -> Releases {
        self.releases.clone()
    }

    /// The kind in `release`; `group_version` has the form of `apiVersion`.
    pub fn kind(&self, group_version: &str, kind: &str, release: u32) -> Option<&KindRow> {
        self.rows(group_version, kind).iter().find(|row| row.releases.contains(&release))
    }

    /// The kind in the server's scheme into which a body is decoded: like [`Table::kind`], but also finds kinds shared
    /// by many group versions.
    pub fn registered(&self, group_version: &str, kind: &str, release: u32) -> Option<&KindRow> {
        let known = || {
            let mut rows = self.kinds.get(group_version).into_iter().flat_map(BTreeMap::values).flatten();
            rows.any(|row| row.releases.contains(&release))
        };
        let one = self.kind(group_version, kind, release).or_else(|| self.kind("**", kind, release));
        one.or_else(|| self.kind("*", kind, release).filter(|_| known()))
    }

    /// The rows of a kind for all releases.
    pub fn rows(&self, group_version: &str, kind: &str) -> &[KindRow] {
        self.kinds.get(group_version).and_then(|kinds| kinds.get(kind)).map_or(&[], Vec::as_slice)
    }

    /// Returns true if any release serves a kind of this group.
    pub fn has_group(&self, group: &str) -> bool {
        // The keys are `group/version`, and versions alone in the core group.
        let from_group = self.kinds.range::<str, _>((Bound::Included(group), Bound::Unbounded));
        let with_prefix = from_group.take_while(|(group_version, _)| group_version.starts_with(group));
        let mut of_group = with_prefix.filter(|(group_version, _)| group_version::group(group_version) == group);
        of_group.any(|(_, kinds)| kinds.values().flatten().any(|row| row.served))
    }

    pub(super) fn types(&self) -> &[TypeRow] {
        &self.types
    }

    pub(super) fn type_id(&self, name: &str) -> Option<usize> {
        self.types.binary_search_by(|row| row.name.cmp(name)).ok()
    }

    /// The fields of a struct in all releases.
    pub(super) fn fields(row: TypeRow) -> impl Iterator<Item = FieldRow> {
        row.lines().filter(|(line, _)| *line != ATOMIC).map(|(line, releases)| {
            let mut words = line.splitn(4, ' ');
            let mut word = || words.next().unwrap_or_default();
            FieldRow { releases, name: word(), type_name: word(), flags: word(), words: word() }
        })
    }

    /// Returns true if a struct is merged as a single value in `release`.
    pub(super) fn is_atomic(row: TypeRow, release: u32) -> bool {
        let mut first = row.lines().take_while(|(line, _)| *line == ATOMIC);
        first.any(|(_, releases)| releases.contains(&release))
    }

    /// The constants to which the published schema limits a type, with their releases.
    pub(super) fn constants(row: TypeRow) -> impl Iterator<Item = (&'static str, Releases)> {
        row.lines()
    }
}

impl TypeRow {
    /// The indented lines with their releases.
    fn lines(self) -> impl Iterator<Item = (&'static str, Releases)> {
        let (first, last) = self.releases;
        self.body.lines().map(move |line| split_releases(line.trim_start(), &(first..=last)))
    }
}

impl KindRow {
    /// Returns the server's warning about a deprecated version of a kind in a release (`deprecation.WarningMessage`).
    pub fn deprecation_warning(&self, api_version: &str, kind: &str, release: u32) -> Option<String> {
        let since = self.deprecated?;
        let minor = |version: &str| version.strip_prefix("1.")?.parse::<u32>().ok();
        if minor(since).is_none_or(|since| since > release) {
            return None;
        }
        let mut message = format!("{api_version} {kind} is deprecated in v{since}+");
        if let Some(removed) = self.removed {
            message = format!("{message}, unavailable in v{removed}+");
        }
        if let Some((api_version, kind)) = self.instead.and_then(|instead| instead.rsplit_once('/')) {
            message = format!("{message}; use {api_version} {kind}");
        }
        Some(message)
    }

    fn read(type_name: &'static str, words: impl Iterator<Item = &'static str>, releases: Releases) -> Self {
        let (deprecated, removed, instead) = (None, None, None);
        let mut row = Self { releases, type_name, served: false, cluster: false, deprecated, removed, instead };
        for word in words {
            match word.split_once('=') {
                None if word == "served" => row.served = true,
                None if word == "cluster" => row.cluster = true,
                Some(("deprecated", version)) => row.deprecated = Some(version),
                Some(("removed", version)) => row.removed = Some(version),
                Some(("instead", kind)) => row.instead = Some(kind),
                _ => {}
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_end_with_releases() {
        assert_eq!(split_releases("a string e @31-34", &(30..=37)), ("a string e", 31..=34));
        assert_eq!(split_releases("a @-34", &(30..=37)), ("a", 30..=34));
        assert_eq!(split_releases("a @31", &(30..=37)), ("a", 31..=37));
        assert_eq!(split_releases("a", &(30..=37)), ("a", 30..=37));
    }

    #[test]
    fn kinds_depend_on_the_release() {
        let table = table();
        assert!(table.kind("apps/v1", "Deployment", 37).is_some_and(|row| row.served && !row.cluster));
        assert!(table.kind("v1", "Namespace", 30).is_some_and(|row| row.cluster));
        assert!(table.kind("policy/v1beta1", "PodDisruptionBudget", 37).is_none_or(|row| !row.served));
        assert!(table.has_group("apps") && !table.has_group("example.com"));
    }

    #[test]
    fn types_are_sorted_so_that_they_are_found() {
        for table in [table(), definitions()] {
            let names: Vec<&str> = table.types().iter().map(|row| row.name).collect();
            let unsorted = names.windows(2).find(|pair| pair[0] >= pair[1]);
            assert_eq!(unsorted, None);
            assert!(table.type_id("meta/v1.ObjectMeta").is_some());
        }
        assert!(table().type_id("core/v1.Pod").is_some());
        assert!(definitions().type_id("core/v1.Pod").is_none());
    }
}
