//! The lines of a state file: `{"definition":…,"key":…,"revision":…,"object":…}`, where a removed object is `null`, and
//! `{"revision":…}` for a resourceVersion whose object was removed.

use crate::server::{Commit, DEFINITIONS, RestoredObject};
use crate::text::{self, json};
use crate::value::{Value, json::to_string};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Separates the header of a line from the object. It cannot occur inside the quoted strings before it.
const OBJECT: &str = ",\"object\":";

/// Formats the line of a commit.
pub(super) fn write(commit: &Commit<'_>) -> Vec<u8> {
    let (definition, key) = (to_string(&Value::from(commit.definition)), to_string(&Value::from(commit.key)));
    let (revision, object) = (commit.revision, commit.object.unwrap_or("null"));
    format!("{{\"definition\":{definition},\"key\":{key},\"revision\":{revision}{OBJECT}{object}}}\n").into_bytes()
}

/// The lines of a file that are not superseded, as slices of its text.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    /// The lines by definition and key.
    live: BTreeMap<String, BTreeMap<String, Line<'a>>>,
    revision: u64,
    /// The number of superseded lines.
    stale: usize,
}

/// A line of a state file that cannot be restored.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum LineError {
    /// It is not a commit.
    #[error("line {0} is not a commit: restore a copy of the file, or remove that line")]
    NotACommit(usize),
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
struct Line<'a> {
    whole: &'a str,
    revision: u64,
    object: &'a str,
}

impl<'a> Index<'a> {
    /// Adds lines; `number` is the line number of the first.
    pub fn read(&mut self, text: &'a str, number: usize) -> Result<(), LineError> {
        for (at, line) in text.lines().enumerate() {
            self.add(line).ok_or(LineError::NotACommit(number + at))?;
        }
        Ok(())
    }

    fn add(&mut self, whole: &'a str) -> Option<()> {
        let Some((head, rest)) = whole.split_once(OBJECT) else {
            self.reach(&json::read(whole.as_bytes()).ok()?)?;
            return Some(());
        };
        let head = json::read(format!("{head}}}").as_bytes()).ok()?;
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
            objects.insert(key.clone(), Line { whole, revision, object })
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
        writeln!(out, "{{\"revision\":{}}}", self.revision)?;
        let of_definitions = |wanted: bool| {
            let those = self.live.iter().filter(move |(definition, _)| (*definition == DEFINITIONS) == wanted);
            those.flat_map(|(_, objects)| objects.values())
        };
        for line in of_definitions(true).chain(of_definitions(false)) {
            out.write_all(line.whole.as_bytes())?;
            out.write_all(b"\n")?;
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
        index.read(text, 1).unwrap();
        let restored = index.restored().unwrap().into_iter().map(|k| (k.key, k.revision)).collect();
        let mut again = Vec::new();
        index.write(&mut again).unwrap();
        let again = String::from_utf8(again).unwrap();
        let mut second = Index::default();
        second.read(&again, 1).unwrap();
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
        let good = line("a.b", "x", 3, Some("{}"));
        for bad in ["nonsense", "{}", "{\"revision\":-1}", "{\"revision\":1,\"object\":{}}", "{\"a\":1"] {
            let error = Index::default().read(&format!("{good}{bad}\n"), 2).unwrap_err();
            assert_eq!(error, LineError::NotACommit(3), "{bad}");
        }
    }
}
