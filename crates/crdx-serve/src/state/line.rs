//! The lines of a state file: `{"crc32":…,"definition":…,"key":…,"revision":…,"object":…}`, where a removed object is
//! `null`, and `{"crc32":…,"revision":…}` for a resourceVersion whose object was removed. The checksum is of the rest of
//! the line after `"crc32":…,`.

use crdx_server::server::{Commit, DEFINITIONS, RestoredObject};
use crdx_text::{self as text, json};
use crdx_value::{Value, json::to_string};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Separates the header of a line from the object. It cannot occur inside the quoted strings before it.
const OBJECT: &str = ",\"object\":";
/// The beginning of a line with a checksum, which has eight hexadecimal digits.
const CHECKSUM: &str = "{\"crc32\":\"";
const AFTER_CHECKSUM: &str = "\",";
const DIGITS: usize = 8;

/// The format of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFormat {
    /// Every line has a checksum.
    Checked,
    /// The lines are of an earlier build, which wrote no checksums.
    Unchecked,
}

impl LineFormat {
    /// The format of a tail, which has no header.
    pub fn of_tail(text: &str) -> Self {
        if text.is_empty() || text.starts_with(CHECKSUM) { Self::Checked } else { Self::Unchecked }
    }
}

/// Adds a checksum to a line that begins with `{` and has no line break.
fn with_checksum(line: &str) -> String {
    let rest = line.get(1..).unwrap_or_default();
    format!("{CHECKSUM}{:08x}{AFTER_CHECKSUM}{rest}\n", crc32fast::hash(rest.as_bytes()))
}

/// The rest of a line after its checksum; `None` if the line has none, or another one.
fn checked(line: &str) -> Option<&str> {
    let (digits, rest) = line.strip_prefix(CHECKSUM)?.split_at_checked(DIGITS)?;
    let rest = rest.strip_prefix(AFTER_CHECKSUM)?;
    (digits == format!("{:08x}", crc32fast::hash(rest.as_bytes()))).then_some(rest)
}

/// Formats the line of a commit.
pub(super) fn write(commit: &Commit<'_>) -> Vec<u8> {
    let (definition, key) = (to_string(&Value::from(commit.definition)), to_string(&Value::from(commit.key)));
    let (revision, object) = (commit.revision, commit.object.unwrap_or("null"));
    with_checksum(&format!("{{\"definition\":{definition},\"key\":{key},\"revision\":{revision}{OBJECT}{object}}}"))
        .into_bytes()
}

/// The lines of a file that are not superseded, as slices of its text.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    /// The lines by definition and key.
    live: BTreeMap<String, BTreeMap<String, StateLine<'a>>>,
    revision: u64,
    /// The number of superseded lines.
    stale: usize,
}

/// A line of a state file that cannot be restored.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum LineError {
    #[error("line {0} is not a commit: restore a copy of the file, or remove that line")]
    NotACommit(usize),
    /// It does not have its checksum.
    #[error("line {0} is damaged: its checksum is another one; restore a copy of the file, or remove that line")]
    Damaged(usize),
    /// Its object is not JSON.
    #[error("{definition} {key} is not JSON ({error}): restore a copy of the file, or remove its line")]
    NotJson {
        /// The name of the CRD.
        definition: String,
        /// The key of the object.
        key: String,
        /// The error of the JSON reader.
        error: text::Error,
    },
}

#[derive(Debug)]
struct StateLine<'a> {
    whole: &'a str,
    revision: u64,
    object: &'a str,
}

impl<'a> Index<'a> {
    /// Adds lines; `number` is the line number of the first.
    pub fn read(&mut self, text: &'a str, number: usize, format: LineFormat) -> Result<(), LineError> {
        for (at, line) in text.split_terminator('\n').enumerate() {
            let rest = match format {
                LineFormat::Checked => checked(line).ok_or(LineError::Damaged(number + at))?,
                LineFormat::Unchecked => line.strip_prefix('{').ok_or(LineError::NotACommit(number + at))?,
            };
            self.add(line, rest).ok_or(LineError::NotACommit(number + at))?;
        }
        Ok(())
    }

    /// Adds a line; `rest` is what follows its checksum.
    fn add(&mut self, whole: &'a str, rest: &str) -> Option<()> {
        let Some((head, _)) = rest.split_once(OBJECT) else {
            let head = json::read(format!("{{{rest}").as_bytes()).ok()?;
            self.reach(&head)?;
            return (head.as_object()?.len() == 1).then_some(());
        };
        let (_, rest) = whole.split_once(OBJECT)?;
        let head = json::read(format!("{{{head}}}").as_bytes()).ok()?;
        // A damaged name of another member is not ignored.
        if head.as_object()?.len() != 3 {
            return None;
        }
        let revision = self.reach(&head)?;
        let text = |member: &str| head.str_at(&[member]).map(str::to_owned);
        let (definition, key) = (text("definition")?, text("key")?);
        let object = rest.strip_suffix('}')?;
        let removed = object == "null";
        let objects = self.live.entry(definition.clone()).or_default();
        let before = if removed {
            // Both lines are superseded.
            self.stale += 1;
            objects.remove(&key)
        } else {
            objects.insert(key.clone(), StateLine { whole, revision, object })
        };
        self.stale += usize::from(before.is_some());
        if definition == DEFINITIONS && (removed || before.is_none()) {
            // Also removes objects that were written while their CRD was being deleted.
            self.stale += self.live.remove(&key).map_or(0, |objects| objects.len());
        }
        Some(())
    }

    fn reach(&mut self, head: &Value) -> Option<u64> {
        let revision = u64::try_from(head.get("revision")?.as_int()?).ok()?;
        self.revision = self.revision.max(revision);
        Some(revision)
    }

    /// Returns the last resourceVersion.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns true if no line is superseded.
    pub fn is_clean(&self) -> bool {
        self.stale == 0
    }

    /// Parses the objects.
    ///
    /// # Errors
    /// Returns an error with the number of the line that cannot be read.
    pub fn restored(&self) -> Result<Vec<RestoredObject>, LineError> {
        let mut restored = Vec::new();
        for (definition, objects) in &self.live {
            for (key, line) in objects {
                let object = json::read(line.object.as_bytes()).map_err(|error| LineError::NotJson {
                    definition: definition.clone(),
                    key: key.clone(),
                    error,
                })?;
                let (definition, key) = (definition.clone(), key.clone());
                restored.push(RestoredObject { definition, key, revision: line.revision, object });
            }
        }
        Ok(restored)
    }

    /// Writes the lines that are not superseded, CRDs before their objects.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(with_checksum(&format!("{{\"revision\":{}}}", self.revision)).as_bytes())?;
        let of_definitions = |wanted: bool| {
            let those = self.live.iter().filter(move |(definition, _)| (*definition == DEFINITIONS) == wanted);
            those.flat_map(|(_, objects)| objects.values())
        };
        for line in of_definitions(true).chain(of_definitions(false)) {
            if checked(line.whole).is_some() {
                out.write_all(line.whole.as_bytes())?;
                out.write_all(b"\n")?;
            } else {
                out.write_all(with_checksum(line.whole).as_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(definition: &str, key: &str, revision: u64, object: Option<&str>) -> String {
        String::from_utf8(write(&Commit { definition, key, revision, object })).unwrap()
    }

    fn keys(text: &str) -> (Vec<(String, u64)>, u64, bool) {
        let mut index = Index::default();
        index.read(text, 1, LineFormat::Checked).unwrap();
        let restored = index.restored().unwrap().into_iter().map(|k| (k.key, k.revision)).collect();
        let mut again = Vec::new();
        index.write(&mut again).unwrap();
        let again = String::from_utf8(again).unwrap();
        let mut second = Index::default();
        second.read(&again, 1, LineFormat::Checked).unwrap();
        assert_eq!(second.restored(), index.restored());
        assert!(second.is_clean() && second.revision() == index.revision());
        (restored, index.revision(), index.is_clean())
    }

    #[test]
    fn the_last_line_of_a_key_counts() {
        let crd = line(DEFINITIONS, "a.b", 2, Some("{}"));
        let (one, two) =
            (line("a.b", "ns/x", 3, Some(r#"{"v":1}"#)), line("a.b", "ns/x", 4, Some(r#"{"v":",\"object\":"}"#)));
        let odd = line("a.b", "ns/\"y,\"object\":", 5, Some("{}"));
        let restored = |list: &[(&str, u64)]| list.iter().map(|(k, r)| ((*k).to_owned(), *r)).collect::<Vec<_>>();
        assert_eq!(keys(&format!("{crd}{one}")), (restored(&[("ns/x", 3), ("a.b", 2)]), 3, true));
        let all = format!("{crd}{one}{two}{odd}");
        assert_eq!(keys(&all), (restored(&[("ns/\"y,\"object\":", 5), ("ns/x", 4), ("a.b", 2)]), 5, false));
        let gone = line("a.b", "ns/x", 9, None);
        assert_eq!(keys(&format!("{crd}{one}{gone}")), (restored(&[("a.b", 2)]), 9, false));
        let without = line(DEFINITIONS, "a.b", 10, None);
        assert_eq!(keys(&format!("{all}{without}")), (vec![], 10, false));
        // A concurrent request wrote this object while its CRD was deleted.
        let again = line(DEFINITIONS, "a.b", 12, Some("{}"));
        assert_eq!(keys(&format!("{all}{without}{one}{again}")), (restored(&[("a.b", 12)]), 12, false));
    }

    #[test]
    fn a_line_that_is_not_a_commit_is_an_error() {
        let good = r#"{"definition":"a.b","key":"x","revision":3,"object":{}}"#;
        for bad in [
            "nonsense",
            "{}",
            "{\"revision\":-1}",
            "{\"revision\":1,\"object\":{}}",
            "{\"a\":1",
            "{\"revision\":1,\"a\":2}",
            "{\"brc32\":\"00000000\",\"definition\":\"a.b\",\"key\":\"x\",\"revision\":3,\"object\":{}}",
        ] {
            let error = Index::default().read(&format!("{good}\n{bad}\n"), 2, LineFormat::Unchecked).unwrap_err();
            assert_eq!(error, LineError::NotACommit(3), "{bad}");
            let checked = with_checksum(good) + &with_checksum(bad);
            assert!(Index::default().read(&checked, 2, LineFormat::Checked).is_err(), "{bad}");
        }
        let error = Index::default().read(&format!("{}{good}\n", with_checksum(good)), 2, LineFormat::Checked);
        assert_eq!(error, Err(LineError::Damaged(3)));
    }
}
