//! Spelling suggestions ("did you mean").

use strsim::damerau_levenshtein;

/// The candidate closest to `word`, if one is close enough: it differs only in case, or by inserting, deleting,
/// replacing or swapping at most a third of its characters. Of equally close candidates, the first in alphabetical
/// order is returned, so that the result does not depend on the order of the candidates.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let most = word.chars().count().max(3) / 3;
    let distance = |candidate: &'a str| {
        let distance = damerau_levenshtein(&lower, &candidate.to_lowercase());
        (candidate != word && distance <= most).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(distance).min().map(|(_, candidate)| candidate)
}

/// The help line that suggests `candidate`.
pub fn did_you_mean(candidate: &str) -> String {
    format!("did you mean `{candidate}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_has_a_suggestion() {
        let fields = ["secretName", "secretKey", "replicas", "image"];
        assert_eq!(closest("secretname", fields), Some("secretName"));
        assert_eq!(closest("secretNmae", fields), Some("secretName"));
        assert_eq!(closest("replcas", fields), Some("replicas"));
        assert_eq!(closest("Deploymint", ["Deployment", "DaemonSet"]), Some("Deployment"));
    }

    #[test]
    fn an_unrelated_word_has_no_suggestion() {
        assert_eq!(closest("colour", ["image", "replicas"]), None);
        assert_eq!(closest("image", ["image"]), None);
    }

    #[test]
    fn the_order_of_candidates_does_not_matter() {
        assert_eq!(closest("bat", ["cat", "bar"]), Some("bar"));
        assert_eq!(closest("bat", ["bar", "cat"]), Some("bar"));
    }
}
