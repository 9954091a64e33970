//! The versions that an update of a CRD removes, which the server refuses while `status.storedVersions` lists them.
//!
//! A manifest usually has no status, so for an old CRD from a file only a part of `status.storedVersions` is known: the
//! storage version is in it, and of other versions nothing is known.

use crate::report::{Diagnostic, ObjectReport, RunNote, Verdict};
use crdx_value::{Value, json};

/// The versions that are in the old CRD or its `status.storedVersions`, and not in the new CRD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedVersions {
    /// The name of the CRD.
    name: String,
    /// The storage version of the new CRD.
    storage: String,
    /// True if the old CRD has `status.storedVersions`.
    is_known: bool,
    /// The removed versions in which objects may be stored.
    stored: Vec<String>,
    /// The removed versions of which it is not known whether objects were ever stored in them.
    unknown: Vec<String>,
}

impl RemovedVersions {
    /// Compares the old CRD with the new one.
    pub fn between(old: &Value, new: &Value) -> Self {
        let kept: Vec<&str> = versions(new).filter_map(|version| version.str_at(&["name"])).collect();
        let is_removed = |name: &&str| !kept.contains(name);
        let owned = |names: Vec<&str>| names.into_iter().filter(is_removed).map(str::to_owned).collect::<Vec<_>>();
        let named = |is_storage: bool| {
            let wanted = versions(old).filter(move |version| stores(version) == is_storage);
            wanted.filter_map(|version| version.str_at(&["name"])).collect()
        };
        let listed = old.at(&["status", "storedVersions"]).and_then(Value::as_array).unwrap_or_default();
        let listed: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        let is_known = !listed.is_empty();
        Self {
            name: new.str_at(&["metadata", "name"]).unwrap_or_default().to_owned(),
            storage: versions(new).find(|v| stores(v)).and_then(|v| v.str_at(&["name"])).unwrap_or_default().to_owned(),
            is_known,
            stored: owned(if is_known { listed } else { named(true) }),
            unknown: if is_known { Vec::new() } else { owned(named(false)) },
        }
    }

    /// Returns true if objects must be rewritten before the server accepts the update.
    pub fn needs_migration(&self) -> bool {
        !self.stored.is_empty()
    }

    /// Adds to the item of the new CRD how to migrate. An update that may have to be rejected cannot be told.
    pub fn complete(&self, item: &mut ObjectReport) {
        for error in &mut item.errors {
            let is_stored = error.field.as_deref().is_some_and(|field| field.starts_with("status.storedVersions["));
            if is_stored && self.needs_migration() {
                error.help = Some(self.migration());
            }
        }
        if self.unknown.is_empty() {
            return;
        }
        let versions = self.unknown.join(", ");
        match item.verdict {
            Verdict::Accepted => {
                item.verdict = Verdict::CannotTell;
                item.reason = format!(
                    "version {versions} is removed, and the old CRD has no status: the server rejects the update if \
                     status.storedVersions still has {versions}"
                );
                item.help = Some(self.ask());
            }
            Verdict::Rejected => item.warnings.push(Diagnostic {
                kind: "StoredVersions".to_owned(),
                field: Some("spec.versions".to_owned()),
                message: format!("the server also rejects the update if status.storedVersions still has {versions}"),
                location: Some(item.location.clone()),
                help: Some(self.ask()),
                ..Diagnostic::default()
            }),
            Verdict::Decodes | Verdict::Skipped | Verdict::CannotTell => {}
        }
    }

    /// The note about the status that is assumed, if the update removes a version.
    pub fn note(&self) -> Option<RunNote> {
        let assumes = !self.is_known && self.needs_migration();
        assumes.then(|| RunNote { kind: "storedVersions", message: self.assumption() })
    }

    fn assumption(&self) -> String {
        let stored = self.stored.join(", ");
        format!("the old CRD has no status, so status.storedVersions is assumed to have its storage version {stored}")
    }

    /// The help for a CRD without status.
    fn ask(&self) -> String {
        format!("give the old CRD with its status, as `kubectl get crd {} -o yaml` prints it", self.name)
    }

    /// The safe order of steps.
    fn migration(&self) -> String {
        let Self { name, storage, .. } = self;
        let stored = self.stored.join(", ");
        let assumption = if self.is_known { String::new() } else { self.assumption() + "; " };
        let status = format!("{{\"status\":{{\"storedVersions\":[{}]}}}}", json::to_string(&storage.as_str().into()));
        format!(
            "{assumption}migrate the objects first: 1. make {storage} the storage version and keep {stored} in spec.versions; \
             2. rewrite all objects: kubectl get {name} -A -o json | kubectl replace -f -; \
             3. kubectl patch crd {name} --subresource=status --type=merge -p '{status}'; \
             4. remove {stored}"
        )
    }
}

fn versions(crd: &Value) -> impl Iterator<Item = &Value> {
    crd.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default().iter()
}

fn stores(version: &Value) -> bool {
    version.get("storage").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SourceLocation;
    use crdx_text::json;

    fn crd(versions: &[(&str, bool)], stored: &[&str]) -> Value {
        let versions = versions.iter().map(|(name, storage)| format!(r#"{{"name":"{name}","storage":{storage}}}"#));
        let versions: Vec<String> = versions.collect();
        let text = format!(
            r#"{{"metadata":{{"name":"foos.example.com"}},"spec":{{"versions":[{}]}},"status":{{"storedVersions":{stored:?}}}}}"#,
            versions.join(",")
        );
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn without_a_status_only_the_storage_version_is_known() {
        let old = [("v1alpha1", false), ("v1beta1", true), ("v1", false)];
        let removed =
            |stored: &[&str], new: &[(&str, bool)]| RemovedVersions::between(&crd(&old, stored), &crd(new, &[]));
        let both = removed(&[], &[("v1", true)]);
        assert_eq!((both.stored.join(" "), both.unknown.join(" ")), ("v1beta1".to_owned(), "v1alpha1".to_owned()));
        assert!(both.note().is_some());
        let alpha = removed(&[], &[("v1beta1", false), ("v1", true)]);
        assert_eq!((alpha.needs_migration(), alpha.unknown.join(" ")), (false, "v1alpha1".to_owned()));
        // A version that is in the status only was removed from the CRD before; the server still refuses.
        let known = removed(&["v1", "v1alpha1", "v0"], &[("v1", true)]);
        assert_eq!((known.stored.join(" "), known.unknown.len()), ("v1alpha1 v0".to_owned(), 0));
        assert_eq!(known.note(), None);
        assert_eq!(removed(&["v1"], &[("v1", true)]).stored.len(), 0);
    }

    #[test]
    fn an_update_that_may_be_rejected_cannot_be_told() {
        let (old, new) = (crd(&[("v1alpha1", false), ("v1", true)], &[]), crd(&[("v1", true)], &[]));
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        RemovedVersions::between(&old, &new).complete(&mut item);
        assert_eq!(item.verdict, Verdict::CannotTell);
        assert!(item.reason.contains("v1alpha1"), "{}", item.reason);
        let mut same = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        RemovedVersions::between(&old, &old).complete(&mut same);
        assert_eq!(same.verdict, Verdict::Accepted);
    }
}
