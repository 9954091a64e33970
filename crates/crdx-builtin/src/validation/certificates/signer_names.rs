//! Names of signers and trust bundles (`pkg/apis/core/validation/names.go`).

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::field::names::{self, NameForm};
use crdx_value::quote::go_quote;

const MAX_DOMAIN: usize = 253;
const MAX_PATH: usize = 253 + 63 + 1;

/// `IsKubernetesSignerName`
pub(crate) fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split('/').next().unwrap_or_default();
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

/// `ValidateSignerName`
pub(crate) fn signer_name(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if !errors.require_text(field) {
        return;
    }
    let text = field.text();
    let Some((domain, path)) = text.split_once('/').filter(|(_, path)| !path.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return errors.invalid(field, detail);
    };
    if domain.len() > MAX_DOMAIN {
        errors.too_long(field, MAX_DOMAIN as i64);
    }
    first_invalid(errors, field, domain, names::dns1123_label);
    if !domain.contains('.') {
        errors.invalid_value(&field.path, domain, "should be a domain with at least two segments separated by dots");
    }
    first_invalid(errors, field, path, names::dns1123_subdomain);
    let max = MAX_DOMAIN + MAX_PATH + 1;
    if text.len() > max {
        errors.too_long(field, max as i64);
    }
}

/// Reports the first invalid segment of a text.
fn first_invalid(errors: &mut Errors, field: &FieldValue<'_, '_>, text: &str, check: fn(&[u8]) -> Vec<String>) {
    let found =
        text.split('.').map(|label| (label, check(label.as_bytes()))).find(|(_, messages)| !messages.is_empty());
    if let Some((label, messages)) = found {
        let quoted = go_quote(label);
        let messages = messages.into_iter().map(|message| format!("validating label {quoted}: {message}")).collect();
        errors.messages_at(&field.path, text, messages);
    }
}

/// `ValidateClusterTrustBundleName`, with the signer that the name contains
pub(crate) fn trust_bundle_name(name: &str) -> Vec<String> {
    match name.rsplit_once(':') {
        None => names::name_is_subdomain(name, NameForm::Whole),
        // A name without signer may not contain a colon.
        Some(("", _)) => {
            vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()]
        }
        Some((_, rest)) => names::name_is_subdomain(rest, NameForm::Whole),
    }
}
