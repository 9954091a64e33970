//! `conversion`: the strategy and its webhook (`apiserver/pkg/util/webhook/validation.go`).

use super::enum_text::enum_text;
use super::options::ValidationOptions;
use crate::crd::{Conversion, ServiceReference, Spec, WebhookClientConfig};
use crdx_value::field::names::{dns1035_label, dns1123_subdomain};
use crdx_value::field::{BadValue, BoundedErrors, FieldError, FieldPath};
use crdx_value::release::{Release, V1_34};
use crdx_value::url::Url;
use std::collections::BTreeSet;

/// The versions of `ConversionReview` that the server supports.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Returns true if the server supports this version of `ConversionReview`.
pub(crate) fn is_accepted_review_version(v: &str) -> bool {
    REVIEW_VERSIONS.contains(&v)
}

/// Validates `conversion`.
pub fn validate(
    conversion: &Conversion,
    options: &ValidationOptions,
    path: &FieldPath<'_>,
    errors: &mut BoundedErrors,
) {
    enum_text(&conversion.strategy, &["None", "Webhook"], &path.child("strategy"), errors);
    let config_path = path.child("webhookClientConfig");
    let versions_path = path.child("conversionReviewVersions");
    if conversion.strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if conversion.client_config.is_some() {
            errors.push(FieldError::forbidden(&config_path, detail));
        }
        if !conversion.review_versions.is_empty() {
            errors.push(FieldError::forbidden(&versions_path, detail));
        }
        return;
    }
    match &conversion.client_config {
        None => errors.push(FieldError::required(&config_path, "required when strategy is set to Webhook")),
        Some(config) => {
            client_config(config, &config_path, options.release, errors);
            if !config.ca_bundle.is_empty()
                && !options.invalid_ca_bundle
                && let Err(e) = super::ca_bundle::check(&config.ca_bundle)
            {
                let shown = BadValue::bytes(&config.ca_bundle, options.release);
                errors.push(FieldError::invalid(&config_path.child("caBundle"), shown, e));
            }
        }
    }
    review_versions(&conversion.review_versions, options, &versions_path, errors);
}

/// Adds the errors of the `clientConfig` of a conversion or admission webhook.
pub fn client_config(
    config: &WebhookClientConfig,
    path: &FieldPath<'_>,
    release: Release,
    errors: &mut impl Extend<FieldError>,
) {
    match (&config.url, &config.service) {
        (None, None) | (Some(_), Some(_)) => {
            errors.extend([FieldError::required(path, "exactly one of url or service is required")]);
        }
        (Some(url), None) => webhook_url(url, &path.child("url"), errors),
        (None, Some(s)) => service(s, &path.child("service"), release, errors),
    }
}

/// Returns true if the CRD has an invalid CA bundle.
pub fn has_invalid_ca_bundle(spec: &Spec) -> bool {
    let config = spec.conversion.as_ref().and_then(|c| c.client_config.as_ref());
    config.is_some_and(|c| !c.ca_bundle.is_empty() && super::ca_bundle::check(&c.ca_bundle).is_err())
}

fn review_versions(versions: &[String], options: &ValidationOptions, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let mut seen = BTreeSet::new();
    for (i, v) in versions.iter().enumerate() {
        if !seen.insert(v) {
            errors.push(FieldError::invalid(&path.index(i), v.as_str(), "duplicate version"));
            continue;
        }
        for message in dns1035_label(v.as_bytes()) {
            errors.push(FieldError::invalid(&path.index(i), v.as_str(), message));
        }
    }
    if options.recognized_review_version && !versions.iter().any(|v| is_accepted_review_version(v)) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(FieldError::invalid(
            path,
            BadValue::strings(versions.iter().map(String::as_str), options.release),
            detail,
        ));
    }
}

fn webhook_url(text: &str, path: &FieldPath<'_>, errors: &mut impl Extend<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(e) => {
            errors.extend([FieldError::required(path, format!("url must be a valid URL: {e}{FORM}"))]);
            return;
        }
    };
    let mut invalid = |shown: &str, detail: String| errors.extend([FieldError::invalid(path, shown, detail)]);
    if url.scheme != "https" {
        invalid(&url.scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if url.host.is_empty() {
        invalid("", format!("host must be specified{FORM}"));
    }
    if let Some(user) = &url.user {
        invalid(user, "user information is not permitted in the URL".to_owned());
    }
    if !url.fragment.is_empty() {
        invalid(&url.fragment, "fragments are not permitted in the URL".to_owned());
    }
    if !url.query.is_empty() {
        invalid(&url.query, "query parameters are not permitted in the URL".to_owned());
    }
}

/// Validates a service reference. The server confuses two paths: a missing name is reported at `namespace`, and vice
/// versa.
fn service(s: &ServiceReference, path: &FieldPath<'_>, release: Release, errors: &mut impl Extend<FieldError>) {
    let detail = |text| if release.since(V1_34) { "" } else { text };
    if s.namespace.is_empty() {
        errors.extend([FieldError::required(&path.child("name"), detail("service name is required"))]);
    }
    if s.name.is_empty() {
        errors.extend([FieldError::required(&path.child("namespace"), detail("service namespace is required"))]);
    }
    let port = s.port.unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.extend([FieldError::invalid(&path.child("port"), i64::from(port), detail)]);
    }
    let Some(url_path) = s.path.as_deref().filter(|p| !matches!(*p, "" | "/")) else { return };
    let path = path.child("path");
    let mut invalid = |detail: String| errors.extend([FieldError::invalid(&path, url_path, detail)]);
    if url_path == "//" {
        return invalid("segment[0] may not be empty".to_owned());
    }
    if !url_path.starts_with('/') {
        invalid("must start with a '/'".to_owned());
    }
    // The server skips the first byte even if it is not a slash.
    let rest = url_path.as_bytes().get(1..).unwrap_or_default();
    let rest = rest.strip_suffix(b"/").unwrap_or(rest);
    for (i, segment) in rest.split(|b| *b == b'/').enumerate() {
        if segment.is_empty() {
            invalid(format!("segment[{i}] may not be empty"));
            continue;
        }
        for message in dns1123_subdomain(segment) {
            invalid(format!("segment[{i}]: {message}"));
        }
    }
}
