//! The prefix of a generated name in an update.

use crate::pipeline::metadata::{Metadata, validate_prefix};
use crate::server::strategy::built_in_kind::behaviour::Behaviour;
use crdx_value::field::{ErrorList, FieldPath};
use crdx_value::release::Release;

/// Validates the prefix with the rule of a kind, if updates of the kind are validated with it.
pub(super) fn validate_update(
    behaviour: &Behaviour,
    metadata: Metadata<'_>,
    path: &FieldPath<'_>,
    release: Release,
    errors: &mut ErrorList,
) {
    if !release.since(behaviour.relaxes_prefix_since) {
        errors.extend(validate_prefix(metadata, behaviour.name, path, release));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::release::{Minor, V1_34};

    fn errors(relaxes_prefix_since: Minor, prefix: &str, release: &str) -> Vec<String> {
        let object = json::read(format!(r#"{{"metadata":{{"generateName":"{prefix}"}}}}"#).as_bytes()).unwrap();
        let mut errors = ErrorList::new();
        let (path, metadata) = (FieldPath::new("metadata"), Metadata::from_object(&object));
        let behaviour = Behaviour { relaxes_prefix_since, ..Behaviour::MOST };
        validate_update(&behaviour, metadata, &path, release.parse().unwrap(), &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_prefix_is_validated_again_by_most_kinds() {
        assert_eq!(errors(Minor::NEVER, "a-", "1.37"), [""; 0]);
        assert_eq!(errors(Minor::NEVER, "", "1.37"), [""; 0]);
        let found = errors(Minor::NEVER, "A_", "1.37");
        assert!(found[0].starts_with(r#"metadata.generateName: Invalid value: "A_": a lowercase"#), "{found:?}");
    }

    #[test]
    fn some_kinds_ceased_to_validate_it() {
        for (release, count) in [("1.33", 1), ("1.34", 0)] {
            assert_eq!(errors(V1_34, "A_", release).len(), count, "{release}");
        }
        assert_eq!(errors(Minor::ALWAYS, "A_", "1.30").len(), 0);
    }
}
