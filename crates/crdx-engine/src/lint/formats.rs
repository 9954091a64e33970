//! String formats that some releases ignore.

use crate::schema_steps::{SchemaStep, schema_path, steps_below};
use crdx_server::crd::Spec;
use crdx_server::schema::{Schema, format};
use crdx_value::release::{Release, ReleaseSet};

/// A format that some releases do not support: they accept every string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The field in the CRD: `spec.versions[0].schema.openAPIV3Schema.….format`.
    pub crd_field: String,
    /// The format.
    pub format: String,
    /// The oldest release that checks it in a new CRD.
    pub since: Release,
    /// The simulated releases that ignore it.
    pub by: ReleaseSet,
}

/// Returns the formats of a CRD that one of `releases` ignores and a newer release checks.
pub fn ignored(spec: &Spec, releases: &ReleaseSet) -> Vec<Ignored> {
    let mut found = Vec::new();
    for (index, version) in spec.versions.iter().enumerate() {
        if let Some(schema) = spec.schema(&version.name) {
            let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
            walk(schema, &prefix, releases, &mut Vec::new(), &mut found);
        }
    }
    found
}

fn walk(schema: &Schema, prefix: &str, releases: &ReleaseSet, steps: &mut Vec<SchemaStep>, found: &mut Vec<Ignored>) {
    let knows = |release: &Release| format::known(&schema.format, release.compatibility());
    if schema.type_ == "string"
        && !schema.format.is_empty()
        && let Some(since) = Release::known().find(knows)
        && let Some(by) = ReleaseSet::from_releases(releases.iter().filter(|release| !knows(release)))
    {
        let crd_field = format!("{prefix}{}.format", schema_path(steps));
        found.push(Ignored { crd_field, format: schema.format.clone(), since, by });
    }
    for (step, below) in steps_below(schema) {
        steps.push(step);
        walk(below, prefix, releases, steps, found);
        steps.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formats_that_came_later_are_ignored() {
        let schema = |format: &str| {
            let text = format!(r#"{{"type":"object","properties":{{"s":{{"type":"string","format":"{format}"}}}}}}"#);
            Schema::from_value(&crdx_text::json::read(text.as_bytes()).unwrap()).unwrap()
        };
        let ignored = |format: &str, releases: &str| {
            let mut found = Vec::new();
            walk(&schema(format), "p", &releases.parse().unwrap(), &mut Vec::new(), &mut found);
            found.into_iter().map(|one| (one.crd_field, one.since.to_string(), one.by.to_string())).collect::<Vec<_>>()
        };
        let crd_field = "p.properties[s].format".to_owned();
        assert_eq!(ignored("k8s-short-name", "1.33..1.37"), [(crd_field, "1.35".to_owned(), "1.33, 1.34".to_owned())]);
        assert_eq!(ignored("date-time", "1.30..1.37"), []);
        assert_eq!(ignored("no-such-format", "1.30..1.37"), []);
        assert_eq!(ignored("k8s-short-name", "1.37"), []);
    }
}
