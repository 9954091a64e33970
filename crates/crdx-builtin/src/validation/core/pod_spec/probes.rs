//! Probes and lifecycle handlers (`validateProbe`, `validateHandler` and `validateLifecycle`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::release::{Gate, V1_32, V1_33};

/// `supportedStopSignalsLinux`, sorted
const LINUX_SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];

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

/// `validateLifecycle`
pub fn lifecycle(errors: &mut Errors, lifecycle: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>) {
    let grace_period = spec.child("terminationGracePeriodSeconds").int();
    for hook in ["postStart", "preStop"].map(|name| lifecycle.child(name)) {
        if hook.is_set() {
            handler(errors, &hook, grace_period);
        }
    }
    let signal = lifecycle.child("stopSignal");
    // Without the gate, the server drops the field.
    if signal.is_set() && errors.release.enables(Gate::ContainerStopSignals) {
        stop_signal(errors, &signal, spec.child("os"));
    }
}

/// `validateStopSignal`
fn stop_signal(errors: &mut Errors, signal: &FieldValue<'_, '_>, system: FieldValue<'_, '_>) {
    match system.child("name").text() {
        _ if !system.is_set() => errors.forbidden(signal, "may not be set for containers with empty `spec.os.name`"),
        "windows" => errors.supported(signal, &["SIGKILL", "SIGTERM"]),
        "linux" => errors.supported(signal, LINUX_SIGNALS),
        _ => {}
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
            _ => {
                formats::port_number_or_name(errors, &action.child("port"));
                let mode = action.child("mode");
                if name == "grpc" && mode.is_set() && errors.release.enables(Gate::GRPCContainerProbeTLS) {
                    errors.supported(&mode, &["Plaintext", "TLS"]);
                }
            }
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
    let (protocol, host) = (action.child("protocol"), action.child("host"));
    match protocol.text() {
        _ if !protocol.is_set() || !errors.release.enables(Gate::H2CContainerProbe) => {}
        "HTTP2" if action.child("scheme").text() != "HTTP" => {
            errors.invalid(&protocol, "is only supported with HTTP (H2C)");
        }
        "HTTP2" if !host.text().is_empty() => errors.invalid(&host, "must be empty when `protocol` is \"HTTP2\""),
        _ => errors.supported(&protocol, &["HTTP1", "HTTP2"]),
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
