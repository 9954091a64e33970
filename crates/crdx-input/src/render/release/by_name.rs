//! Objects by their namespaces and names. Directories that were rendered on their own, such as overlays of several clusters, may
//! have different objects of one name.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The objects of one kind, by namespace and name.
#[derive(Debug)]
pub struct ByName<T>(BTreeMap<(String, String), Vec<OfRoot<T>>>);

/// An object with the root that it belongs to.
type OfRoot<T> = (Option<Arc<str>>, T);

/// The reason why there is no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("{0} is not in this input")]
    Missing(String),
    #[error("this input has several {0} that differ")]
    Several(String),
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: PartialEq> ByName<T> {
    /// Adds an object, which may be from a directory that was rendered on its own.
    pub fn add(&mut self, root: Option<&Arc<str>>, namespace: &str, name: &str, object: T) {
        self.0.entry((namespace.to_owned(), name.to_owned())).or_default().push((root.cloned(), object));
    }

    /// Returns the object for one from `root`: that of the same directory, or the one that all others have.
    ///
    /// # Errors
    /// There is none, or there are several that differ.
    pub fn find(&self, root: Option<&Arc<str>>, namespace: &str, name: &str) -> Result<&T, NameError> {
        let named = || format!("{namespace}/{name}");
        let all = self.0.get(&(namespace.to_owned(), name.to_owned())).map(Vec::as_slice).unwrap_or_default();
        let own: Vec<&T> = all.iter().filter(|(of, _)| of.as_ref() == root).map(|(_, object)| object).collect();
        let found = if own.is_empty() { all.iter().map(|(_, object)| object).collect() } else { own };
        let (first, others) = found.split_first().ok_or_else(|| NameError::Missing(named()))?;
        if others.iter().all(|other| other == first) { Ok(first) } else { Err(NameError::Several(named())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_of_the_same_directory_counts() {
        let mut objects = ByName::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        objects.add(Some(&a), "n", "x", 1);
        objects.add(Some(&b), "n", "x", 2);
        objects.add(Some(&a), "n", "y", 3);
        objects.add(None, "n", "y", 3);
        assert_eq!(objects.find(Some(&b), "n", "x"), Ok(&2));
        assert_eq!(objects.find(Some(&b), "n", "y"), Ok(&3));
        assert_eq!(objects.find(None, "n", "x"), Err(NameError::Several("n/x".to_owned())));
        assert_eq!(objects.find(None, "m", "x"), Err(NameError::Missing("m/x".to_owned())));
    }
}
