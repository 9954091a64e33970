//! Defaulting of CRDs (`apis/apiextensions/{v1,v1beta1}/defaults.go`).

use super::{Conversion, CrdVersion, CustomResourceDefinition};

/// Sets the defaults of `apiextensions.k8s.io/v1`, on every read.
pub fn v1(crd: &mut CustomResourceDefinition) {
    let names = &mut crd.spec.names;
    if names.singular.is_empty() {
        names.singular = names.kind.to_lowercase();
    }
    if names.list_kind.is_empty() && !names.kind.is_empty() {
        names.list_kind = format!("{}List", names.kind);
    }
    let conversion =
        crd.spec.conversion.get_or_insert_with(|| Conversion { strategy: "None".to_owned(), ..Conversion::default() });
    if let Some(service) = conversion.client_config.as_mut().and_then(|c| c.service.as_mut()) {
        service.port.get_or_insert(443);
    }
    if crd.status.stored_versions.is_empty()
        && let Some(storage) = crd.storage_version().map(str::to_owned)
    {
        crd.status.stored_versions.push(storage);
    }
}

/// Sets the defaults of `apiextensions.k8s.io/v1beta1`.
pub fn v1beta1(crd: &mut CustomResourceDefinition) {
    let spec = &mut crd.spec;
    if spec.scope.is_empty() {
        "Namespaced".clone_into(&mut spec.scope);
    }
    if spec.versions.is_empty() && !spec.version.is_empty() {
        spec.versions.push(CrdVersion {
            name: spec.version.clone(),
            served: true,
            storage: true,
            ..CrdVersion::default()
        });
    }
    if spec.version.is_empty()
        && let Some(first) = spec.versions.first()
    {
        spec.version.clone_from(&first.name);
    }
    spec.preserve_unknown_fields.get_or_insert(true);
    v1(crd);
    if let Some(conversion) = &mut crd.spec.conversion
        && conversion.strategy == "Webhook"
        && conversion.review_versions.is_empty()
    {
        conversion.review_versions.push("v1beta1".to_owned());
    }
}
