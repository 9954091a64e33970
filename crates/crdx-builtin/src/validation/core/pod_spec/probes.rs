//! Probes and lifecycle handlers (`validateProbe`, `validateHandler` and `validateLifecycle`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::release::{V1_32, V1_33};

/// Validates the three probes of a container.
pub fn validate(errors: &mut Errors, container: &FieldValue<'_, '_>) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.child(name);
        if !probe.is_set() {
            continue;
        }
        handler(errors, &probe, None);
        for name in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
            errors.nonnegative(&probe.child(name));
        }
        let grace_period = probe.child("terminationGracePeriodSeconds");
        if grace_period.int().is_some_and(|seconds| seconds <= 0) {
            errors.invalid(&grace_period, "must be greater than 0");
        }
        let success = probe.child("successThreshold");
        if name == "readinessProbe" {
            if grace_period.is_set() {
                errors.invalid(&grace_period, "must not be set for readinessProbes");
            }
        } else if success.int() != Some(1) {
            errors.invalid_value(&success.path, success.int().unwrap_or_default(), "must be 1");
        }
    }
}

/// `validateLifecycle`; stop signals are dropped by the server.
pub fn lifecycle(errors: &mut Errors, lifecycle: &FieldValue<'_, '_>, grace_period: Option<i64>) {
    for hook in ["postStart", "preStop"].map(|name| lifecycle.child(name)) {
        if hook.is_set() {
            handler(errors, &hook, grace_period);
        }
    }
}

/// `validateHandler`. A probe has no `sleep`, a hook no `grpc`.
fn handler(errors: &mut Errors, handler: &FieldValue<'_, '_>, grace_period: Option<i64>) {
    let mut found = false;
    for name in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = handler.child(name);
        if !action.is_set() {
            continue;
        }
        if found {
            errors.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        found = true;
        match name {
            "exec" => {
                let command = action.child("command");
                if command.len() == 0 {
                    errors.required(&command, "");
                }
            }
            "httpGet" => http_get(errors, &action),
            "sleep" => sleep(errors, &action, grace_period),
            _ => formats::port_number_or_name(errors, &action.child("port")),
        }
    }
    if !found {
        errors.required(handler, "must specify a handler type");
    }
}

/// `validateHTTPGetAction`
fn http_get(errors: &mut Errors, action: &FieldValue<'_, '_>) {
    errors.require_text(&action.child("path"));
    formats::port_number_or_name(errors, &action.child("port"));
    errors.supported(&action.child("scheme"), &["HTTP", "HTTPS"]);
    let headers = action.child("httpHeaders");
    for header in headers.items() {
        let name = header.child("name").text();
        errors.messages_at(&headers.path, name, formats::http_header_name(name));
    }
}

/// `validateSleepAction`
fn sleep(errors: &mut Errors, action: &FieldValue<'_, '_>, grace_period: Option<i64>) {
    let Some(grace_period) = grace_period else { return };
    let seconds = action.child("seconds").int().unwrap_or_default();
    let allows_zero = errors.release.since(V1_33);
    let first = i64::from(!allows_zero);
    if seconds >= first && seconds <= grace_period {
        return;
    }
    let detail = if allows_zero {
        format!("must be non-negative and less than terminationGracePeriodSeconds ({grace_period})")
    } else {
        let gate = ". Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.";
        let gate = if errors.release.since(V1_32) { gate } else { "" };
        format!("must be greater than 0 and less than terminationGracePeriodSeconds ({grace_period}){gate}")
    };
    errors.invalid_value(&action.path, seconds, detail);
}
