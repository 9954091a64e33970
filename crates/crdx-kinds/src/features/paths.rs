//! Paths to the same field in several places.

/// The path to a field. A `*` matches every list item or map entry, and `a|b` matches both `a` and `b`.
pub(crate) type Path = &'static [&'static str];

/// The names that a step of a path matches.
pub(crate) fn names(step: &'static str) -> impl Iterator<Item = &'static str> {
    // Almost all steps have one name, and searching a text for a character is slower than comparing a few bytes.
    let is_single = step.bytes().all(|c| c != b'|');
    let single = is_single.then_some(step);
    let several = (!is_single).then(|| step.split('|'));
    single.into_iter().chain(several.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_matches_one_name_or_several() {
        assert!(names("spec").eq(["spec"]));
        assert!(names("ingress|egress").eq(["ingress", "egress"]));
    }
}
