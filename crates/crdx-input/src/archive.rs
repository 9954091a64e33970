//! CRDs in tarballs and packed Helm charts. Nothing is written to disk.

use crdx_value::sort::{sort_by, sort_by_key};
use flate2::read::MultiGzDecoder;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Component, Path};
use tar::EntryType;

/// The largest content of an archive, in bytes.
pub const LIMIT: u64 = 100 << 20;

/// The content that an archive of any size may have, in bytes.
const SMALL: u64 = 4 << 20;
/// The largest ratio of larger content to the archive: texts that people write become ten to twenty times shorter.
const RATIO: u64 = 32;

/// The largest size of all files that may have CRDs, in bytes.
const DEFINITIONS: u64 = 32 << 20;

/// The longest path in bytes, as on Linux.
const LONGEST_PATH: usize = 4096;

/// The deepest nesting of packed charts in charts.
const MAX_DEPTH: usize = 4;

/// The start of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b";

/// The word that every CRD has.
const DEFINITION: &str = "CustomResourceDefinition";

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the archive.
    pub name: String,
    pub content: Vec<u8>,
}

/// The reason why an archive is not read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is damaged, or no archive.
    #[error("it is not a valid .tar.gz archive: {0}")]
    Invalid(#[from] io::Error),
    /// It unpacks to more bytes than [`LIMIT`], or than [`RATIO`] allows.
    #[error("it unpacks to more than {} MB", .0 >> 20)]
    TooLarge(u64),
    /// Its files have more than [`DEFINITIONS`] bytes.
    #[error("its .yaml, .yml and .json files, and the charts in it, have more than {} MB", DEFINITIONS >> 20)]
    TooMuchText,
    /// A path is longer than [`LONGEST_PATH`].
    #[error("it has a path of {0} bytes, longer than {LONGEST_PATH}")]
    LongPath(usize),
    /// A path leads out of the archive.
    #[error("it has the path {0:?}, which leads out of it")]
    Outside(String),
    /// An entry is a pipe or a device.
    #[error("it has {0:?}, which is neither a file nor a directory")]
    Special(String),
    /// Packed charts contain packed charts.
    #[error("its charts are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// It is a chart, and has no CRDs to install.
    #[error("it is a Helm chart without a directory `crds`")]
    ChartWithoutDefinitions,
}

impl ArchiveError {
    /// The next step for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "check the file; a single file of YAML needs no archive",
            Self::TooLarge(_)
            | Self::TooMuchText
            | Self::LongPath(_)
            | Self::Outside(_)
            | Self::Special(_)
            | Self::TooDeep => "unpack it yourself, if you trust it, and name the directory with the CRDs",
            Self::ChartWithoutDefinitions => {
                "its CRDs may be templates: save the output of `helm template`, and name that file"
            }
        }
    }
}

/// Returns true if the path of a file ends like an archive.
pub fn has_ending(path: &str) -> bool {
    [".tar.gz", ".tgz"].iter().any(|ending| path.ends_with(ending))
}

/// Returns true for the content of an archive.
pub fn is_archive(content: &[u8]) -> bool {
    content.starts_with(GZIP)
}

/// Returns the files of an archive that have CRDs, sorted by path. Of a Helm chart, these are the files that Helm installs
/// before its templates: those in `crds/` of the chart and of the charts in it.
///
/// # Errors
/// The archive is invalid, too large, or has devices or paths that lead out of it.
pub fn definitions(archive: &[u8]) -> Result<Vec<Member>, ArchiveError> {
    let (members, mut left) = unpacked(archive, &is_of_use)?;
    let charts = Charts::of(&members);
    if charts.is_empty() {
        let mut found = members;
        found.retain(is_definition);
        return Ok(found);
    }
    let mut found = Vec::new();
    of_charts(members, &charts, &mut left, 0, &mut found)?;
    if found.is_empty() {
        return Err(ArchiveError::ChartWithoutDefinitions);
    }
    sort_by(&mut found, |a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns the files with CRDs at a path inside of an archive, sorted by path. Of a Helm chart, these may be outside of `crds/`.
///
/// # Errors
/// As [`definitions`].
pub fn definitions_at(archive: &[u8], path: &str) -> Result<Vec<Member>, ArchiveError> {
    let (mut members, _) = unpacked(archive, &|name| is_of_use(name) && is_at(path, name))?;
    members.retain(is_definition);
    Ok(members)
}

/// Returns all files of an archive, sorted by path.
///
/// # Errors
/// As [`definitions`].
pub fn files(archive: &[u8]) -> Result<Vec<Member>, ArchiveError> {
    unpacked(archive, &|_| true).map(|(members, _)| members)
}

/// Returns true for a file that may have CRDs, and for a packed chart.
fn is_of_use(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) || has_ending(name)
}

/// Returns true if a member is the file, or in the directory, at a path inside. The path may leave out the directory at the top,
/// whose name often has the version.
fn is_at(path: &str, member: &str) -> bool {
    let is_below = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below(member) || member.split_once('/').is_some_and(|(_, name)| is_below(name))
}

/// Returns the files of an archive whose names are wanted, and what else may be unpacked.
fn unpacked(archive: &[u8], wants: &dyn Fn(&str) -> bool) -> Result<(Vec<Member>, Left), ArchiveError> {
    let unpacked = (archive.len() as u64).saturating_mul(RATIO).clamp(SMALL, LIMIT);
    let mut left = Left { unpacked, limit: unpacked, text: DEFINITIONS };
    let members = members(archive, &mut left, 0, wants)?;
    Ok((members, left))
}

/// The bytes that may still be unpacked and kept.
struct Left {
    unpacked: u64,
    /// The bytes that could be unpacked in the beginning.
    limit: u64,
    text: u64,
}

/// Adds the CRDs of charts, and of the packed charts in them.
fn of_charts(
    members: Vec<Member>,
    charts: &Charts,
    left: &mut Left,
    depth: usize,
    found: &mut Vec<Member>,
) -> Result<(), ArchiveError> {
    for member in members {
        if charts.have("/crds/", &member.name) && is_definition(&member) {
            found.push(member);
        } else if has_ending(&member.name) && charts.have("/charts/", &member.name) {
            if depth >= MAX_DEPTH {
                return Err(ArchiveError::TooDeep);
            }
            let inner = self::members(&member.content, left, depth + 1, &is_of_use)?;
            let named = |inner: Member| Member { name: format!("{}/{}", member.name, inner.name), ..inner };
            let inner: Vec<Member> = inner.into_iter().map(named).collect();
            let charts = Charts::of(&inner);
            of_charts(inner, &charts, left, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The directories with a `Chart.yaml`: the chart itself, which is the only directory at the top, and those in its `charts`.
/// Others, such as the charts in the source code of a project, are ordinary directories.
#[derive(Default)]
struct Charts(HashSet<String>);

impl Charts {
    fn of(members: &[Member]) -> Self {
        let files = members.iter().filter_map(|member| member.name.strip_suffix("/Chart.yaml"));
        let mut folders: Vec<&str> = files.collect();
        sort_by_key(&mut folders, |folder| folder.len());
        let Some(&top) = folders.first() else { return Self::default() };
        let is_below = |name: &str| name.strip_prefix(top).is_some_and(|rest| rest.starts_with('/'));
        let holds_all = members.iter().all(|member| is_below(&member.name));
        let has_archive_only = |above: &str| above.is_empty() || has_ending(above);
        if !holds_all || !has_archive_only(top.rsplit_once('/').map_or("", |(above, _)| above)) {
            return Self::default();
        }
        let mut charts = HashSet::from([top.to_owned()]);
        for folder in folders.into_iter().skip(1) {
            let above = folder.rsplit_once('/').and_then(|(above, _)| above.strip_suffix("/charts"));
            if above.is_some_and(|above| charts.contains(above)) {
                charts.insert(folder.to_owned());
            }
        }
        Self(charts)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if a file is in this folder of a chart.
    fn have(&self, folder: &str, name: &str) -> bool {
        name.match_indices(folder).any(|(end, _)| name.get(..end).is_some_and(|chart| self.0.contains(chart)))
    }
}

fn is_definition(member: &Member) -> bool {
    let is_text = [".yaml", ".yml", ".json"].iter().any(|ending| member.name.ends_with(ending));
    is_text && crdx_text::contains(&member.content, DEFINITION)
}

/// Reads the files whose names are wanted.
fn members(
    archive: &[u8],
    left: &mut Left,
    depth: usize,
    wants: &dyn Fn(&str) -> bool,
) -> Result<Vec<Member>, ArchiveError> {
    debug_assert!(depth <= MAX_DEPTH);
    let mut reader = Limited { inner: MultiGzDecoder::new(archive), left: left.unpacked, is_exceeded: false };
    let found = read(&mut tar::Archive::new(&mut reader), &mut left.text, wants);
    left.unpacked = reader.left;
    if reader.is_exceeded { Err(ArchiveError::TooLarge(left.limit)) } else { found }
}

/// Reads files of at most `left` bytes.
fn read(
    archive: &mut tar::Archive<impl Read>,
    left: &mut u64,
    wants: &dyn Fn(&str) -> bool,
) -> Result<Vec<Member>, ArchiveError> {
    let mut members = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path_bytes();
        if path.len() > LONGEST_PATH {
            return Err(ArchiveError::LongPath(path.len()));
        }
        let path = String::from_utf8_lossy(&path).into_owned();
        match entry.header().entry_type() {
            // Comments, such as the commit of `git archive`. Links lead to other files of the archive, or nowhere: nothing is
            // unpacked.
            EntryType::XGlobalHeader | EntryType::Symlink | EntryType::Link => continue,
            EntryType::Regular | EntryType::Directory => {}
            _ => return Err(ArchiveError::Special(path)),
        }
        let mut parts = Vec::new();
        for part in Path::new(&path).components() {
            match part {
                Component::Normal(name) => parts.push(name.to_string_lossy()),
                Component::CurDir => {}
                _ => return Err(ArchiveError::Outside(path)),
            }
        }
        // On other systems than Windows, its separators and drives are part of names.
        if path.contains('\\') || path.get(1..2) == Some(":") {
            return Err(ArchiveError::Outside(path));
        }
        let name = parts.join("/");
        if entry.header().entry_type() == EntryType::Regular && wants(&name) {
            let mut content = Vec::new();
            (&mut entry).take(*left + 1).read_to_end(&mut content)?;
            *left = left.checked_sub(content.len() as u64).ok_or(ArchiveError::TooMuchText)?;
            members.push(Member { name, content });
        }
    }
    sort_by(&mut members, |a, b| a.name.cmp(&b.name));
    Ok(members)
}

/// Ends after a number of bytes.
struct Limited<R> {
    inner: R,
    left: u64,
    is_exceeded: bool,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        let Some(left) = self.left.checked_sub(count as u64) else {
            self.is_exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        Ok(count)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    const CRD: &[u8] = b"kind: CustomResourceDefinition\n";

    fn header(kind: EntryType, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size as u64);
        header.set_mode(0o644);
        header
    }

    fn packed(build: impl FnOnce(&mut Builder<GzEncoder<Vec<u8>>>)) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        build(&mut builder);
        builder.into_inner().unwrap().finish().unwrap()
    }

    /// Packs files.
    pub(crate) fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
        packed(|builder| {
            for (name, content) in files {
                builder.append_data(&mut header(EntryType::Regular, content.len()), name, *content).unwrap();
            }
        })
    }

    /// Packs one entry whose path is written as it is.
    fn entry(path: &str, kind: EntryType) -> Vec<u8> {
        packed(|builder| {
            let mut header = header(kind, 0);
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, io::empty()).unwrap();
        })
    }

    fn names(archive: &[u8]) -> Vec<String> {
        definitions(archive).unwrap().into_iter().map(|member| member.name).collect()
    }

    #[test]
    fn a_tarball_has_the_files_with_crds() {
        let archive = tarball(&[
            ("p-1/b.yaml", CRD),
            ("p-1/a/c.json", CRD),
            ("p-1/README.md", CRD),
            ("p-1/values.yaml", b"a: 1\n"),
            ("p-1/deploy/chart/Chart.yaml", b"name: x\n"),
            ("p-1/deploy/chart/crds/d.yaml", CRD),
        ]);
        assert_eq!(names(&archive), ["p-1/a/c.json", "p-1/b.yaml", "p-1/deploy/chart/crds/d.yaml"]);
        assert!(names(&tarball(&[])).is_empty());
    }

    #[test]
    fn a_chart_has_the_crds_that_helm_installs() {
        let inner = tarball(&[("in/Chart.yaml", b"name: in\n"), ("in/crds/i.yaml", CRD), ("in/x.yaml", CRD)]);
        let archive = tarball(&[
            ("x/Chart.yaml", b"name: x\n"),
            ("x/crds/a.yaml", CRD),
            ("x/templates/t.yaml", CRD),
            ("x/charts/y/Chart.yaml", b"name: y\n"),
            ("x/charts/y/crds/b.yml", CRD),
            ("x/charts/in-1.tgz", &inner),
        ]);
        assert_eq!(names(&archive), ["x/charts/in-1.tgz/in/crds/i.yaml", "x/charts/y/crds/b.yml", "x/crds/a.yaml"]);
        let without = definitions(&tarball(&[("x/Chart.yaml", b"name: x\n"), ("x/templates/t.yaml", CRD)]));
        assert!(matches!(without, Err(ArchiveError::ChartWithoutDefinitions)));
    }

    #[test]
    fn paths_that_lead_out_and_devices_are_refused() {
        for path in ["../a.yaml", "a/../../b.yaml", "/etc/a.yaml", "..", "a\\..\\b.yaml", "C:a.yaml"] {
            let refused = definitions(&entry(path, EntryType::Regular));
            assert!(matches!(refused, Err(ArchiveError::Outside(_))), "{path}: {refused:?}");
        }
        for kind in [EntryType::Symlink, EntryType::Link] {
            assert!(definitions(&entry("a.yaml", kind)).unwrap().is_empty(), "{kind:?}");
        }
        for kind in [EntryType::Char, EntryType::Fifo] {
            let refused = definitions(&entry("a.yaml", kind));
            assert!(matches!(refused, Err(ArchiveError::Special(_))), "{kind:?}: {refused:?}");
        }
        assert!(definitions(&entry("./a.yaml", EntryType::Regular)).is_ok());
    }

    #[test]
    fn at_most_the_limit_is_unpacked() {
        let zeros = vec![0; (SMALL / 2) as usize];
        let large = tarball(&[("a.bin", &zeros), ("b.bin", &zeros)]);
        assert!(large.len() < 1 << 17 && matches!(definitions(&large), Err(ArchiveError::TooLarge(SMALL))));
        assert!(definitions(&tarball(&[("a.bin", &zeros), ("b.bin", &zeros[5000..])])).is_ok());
        // Random bytes cannot be packed.
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let random: Vec<u8> = (0..2_000_000).map(|_| next()).collect();
        let twice = vec![0; 8 << 20];
        assert!(definitions(&tarball(&[("a.bin", &random), ("b.bin", &twice)])).is_ok());
        let texts = [vec![b'#'; (DEFINITIONS / 2) as usize], vec![b'#'; (DEFINITIONS / 2) as usize + 1]];
        let texts = tarball(&[("a.bin", &random), ("a.yaml", &texts[0]), ("b.yaml", &texts[1])]);
        assert!(matches!(definitions(&texts), Err(ArchiveError::TooMuchText)));
        // Packed charts count, too.
        let chart = |name: &str, more: &[u8]| {
            let file = format!("{name}/Chart.yaml");
            tarball(&[
                (&file, b"name: x\n"),
                (&format!("{name}/charts/c.tgz"), more),
                (&format!("{name}/a.txt"), &zeros),
            ])
        };
        let nested = chart("x", &chart("y", &tarball(&[])));
        assert!(matches!(definitions(&nested), Err(ArchiveError::TooLarge(_))));
        let mut deep = tarball(&[]);
        for _ in 0..10 {
            deep = tarball(&[("x/Chart.yaml", b"name: x\n"), ("x/charts/c.tgz", &deep)]);
        }
        assert!(matches!(definitions(&deep), Err(ArchiveError::TooDeep)));
    }

    #[test]
    fn the_directory_at_the_top_may_be_left_out() {
        assert!(is_at("config/crd", "p-1/config/crd/a.yaml") && is_at("p-1/config", "p-1/config/crd/a.yaml"));
        assert!(is_at("a.yaml", "p-1/a.yaml") && is_at("a.yaml", "a.yaml"));
        assert!(!is_at("config/crd", "p-1/config/crds/a.yaml") && !is_at("crd", "p-1/config/crd/a.yaml"));
    }

    #[test]
    fn long_paths_are_refused() {
        let path = |length: usize| definitions(&tarball(&[(&format!("{}.yaml", "a/".repeat(length / 2)), CRD)]));
        assert!(path(4000).is_ok_and(|found| found.len() == 1));
        assert!(matches!(path(100_000), Err(ArchiveError::LongPath(100_005))));
    }

    #[test]
    fn a_chart_may_have_thousands_of_charts() {
        let names: Vec<String> = (0..5000).map(|i| format!("x/charts/c{i}/Chart.yaml")).collect();
        let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"name: c\n"[..])).collect();
        files.extend([
            ("x/Chart.yaml", &b"name: x\n"[..]),
            ("x/charts/c77/crds/a.yaml", CRD),
            ("x/charts/d/crds/b.yaml", CRD),
        ]);
        let members = files.iter().map(|(name, content)| Member { name: (*name).into(), content: content.to_vec() });
        let charts = Charts::of(&members.collect::<Vec<_>>());
        assert_eq!(charts.0.len(), 5001);
        assert!(charts.have("/crds/", "x/charts/c77/crds/a.yaml") && !charts.have("/crds/", "x/charts/d/crds/b.yaml"));
        assert!(!charts.have("/charts/", "y/charts/c.tgz"));
    }

    #[test]
    fn damaged_archives_are_errors() {
        let good = tarball(&[("a.yaml", CRD)]);
        for bad in [&b"\x1f\x8b"[..], b"text", &good[..good.len() / 2], b""] {
            assert!(matches!(definitions(bad), Err(ArchiveError::Invalid(_))), "{bad:?}");
        }
    }
}
