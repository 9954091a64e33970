//! Identifies names by hashes, so that millions of names need little memory.

use std::hash::{BuildHasher as _, Hash, RandomState};

/// 128 bits of a name. Two of a billion names have the same bits with a probability of less than 10⁻²⁰.
pub type NameHash = [u64; 2];

/// Computes hashes. Those of different hashers differ, except of clones.
#[derive(Clone, Debug, Default)]
pub struct NameHasher([RandomState; 2]);

impl NameHasher {
    /// Returns the hash of a name.
    pub fn hash(&self, name: impl Hash) -> NameHash {
        self.0.each_ref().map(|state| state.hash_one(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_have_different_hashes() {
        let hasher = NameHasher::default();
        assert_eq!(hasher.hash(("a", "bc")), hasher.clone().hash(("a", "bc")));
        assert_ne!(hasher.hash(("a", "bc")), hasher.hash(("ab", "c")));
        let [first, second] = hasher.hash("a");
        assert_ne!(first, second);
    }
}
