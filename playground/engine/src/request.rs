//! The requests of the page.

use crdx::{FieldValidation, Release, RequestOptions};
use crdx_value::Value;
use std::rc::Rc;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The result of the request to the server.
    Simulate,
    /// The differences between the results of all releases.
    Versions,
    /// A suite file for `kubectl crdx test`.
    TestCase,
    /// The commands that show the same on a command line.
    Command,
    /// The versions of Kubernetes, and the nearest of them to the version of the request.
    About,
    /// The panes to which the documents of files belong.
    Sort,
    /// Answers to HTTP requests.
    Exchange,
}

/// The request to the simulated server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// POST.
    Create,
    /// PUT.
    Update,
    /// Server-side apply.
    Apply,
    /// PUT of `/status`.
    Status,
    /// PATCH of `/scale`, with the replicas of the object.
    Scale,
}

/// The texts of the page, which are empty if a pane is. A request that does not have one of them means that of the request before,
/// so that a large CRD is sent once.
#[derive(Clone, Debug, Default)]
pub struct Panes {
    /// `crd`: the CRDs.
    pub crd: Rc<str>,
    /// `object`: the object of the request.
    pub object: Rc<str>,
    /// `oldObject`: the object that exists.
    pub old_object: Rc<str>,
    /// `policies`: admission policies, their bindings and what they refer to.
    pub policies: Rc<str>,
}

impl Panes {
    fn read(&mut self, value: &mut Value) {
        let panes = [
            ("crd", &mut self.crd),
            ("object", &mut self.object),
            ("oldObject", &mut self.old_object),
            ("policies", &mut self.policies),
        ];
        for (key, pane) in panes {
            if let Some(Value::String(text)) = value.get_mut(key).map(std::mem::take) {
                *pane = text.into();
            }
        }
    }
}

/// A request of the page.
#[derive(Clone, Debug)]
pub struct Request {
    /// `action`; by default `simulate`.
    pub action: Action,
    /// `version`; by default the newest release.
    pub release: Release,
    /// `operation`; by default `create`.
    pub operation: Operation,
    /// The texts.
    pub panes: Panes,
    /// `fieldValidation`, `force`, `namespace` and `user`, which has `name` and `groups`.
    pub options: RequestOptions,
    /// `texts`: the contents of files.
    pub texts: Vec<String>,
    /// `exchanges`: HTTP requests.
    pub exchanges: Vec<Value>,
}

impl Request {
    /// Reads a request; `panes` are the texts of the request before, and then those of this one.
    ///
    /// # Errors
    /// Returns a message for an unknown action, operation, version or level of field validation.
    pub fn of(mut value: Value, panes: &mut Panes) -> Result<Self, String> {
        panes.read(&mut value);
        let text = |key: &str| value.str_at(&[key]).unwrap_or_default();
        let action = match text("action") {
            "" | "simulate" => Action::Simulate,
            "versions" => Action::Versions,
            "testCase" => Action::TestCase,
            "command" => Action::Command,
            "about" => Action::About,
            "sort" => Action::Sort,
            "exchange" => Action::Exchange,
            other => return Err(format!("unknown action {other:?}")),
        };
        let operation = match text("operation") {
            "" | "create" => Operation::Create,
            "update" => Operation::Update,
            "apply" => Operation::Apply,
            "status" => Operation::Status,
            "scale" => Operation::Scale,
            other => return Err(format!("unknown operation {other:?}")),
        };
        let release = match text("version") {
            "" => Release::NEWEST,
            version if action == Action::About => nearest(version),
            version => {
                version.parse().map_err(|_| format!("unknown version {version:?}: use {}", Release::supported()))?
            }
        };
        let list = |key: &str| value.get(key).and_then(Value::as_array).unwrap_or_default();
        let texts = list("texts").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self {
            action,
            release,
            operation,
            panes: panes.clone(),
            options: options(&value)?,
            texts,
            exchanges: list("exchanges").to_vec(),
        })
    }
}

/// The simulated version that is nearest to that of a link, which may be older than this page.
fn nearest(version: &str) -> Release {
    let minor = || version.strip_prefix("1.")?.parse().ok();
    version.parse().ok().or_else(|| minor().map(Release::nearest)).unwrap_or(Release::NEWEST)
}

fn options(value: &Value) -> Result<RequestOptions, String> {
    let mut options = RequestOptions::default();
    "kubectl".clone_into(&mut options.field_manager);
    options.force = value.get("force").and_then(Value::as_bool).unwrap_or_default();
    if let Some(namespace) = value.str_at(&["namespace"]).filter(|namespace| !namespace.is_empty()) {
        namespace.clone_into(&mut options.namespace);
    }
    options.field_validation = match value.str_at(&["fieldValidation"]).unwrap_or_default() {
        // kubectl's default.
        "" | "Strict" => FieldValidation::Strict,
        "Warn" => FieldValidation::Warn,
        "Ignore" => FieldValidation::Ignore,
        other => return Err(format!("unknown level {other:?} of field validation")),
    };
    let user = value.str_at(&["user", "name"]).unwrap_or_default();
    if !user.is_empty() {
        let groups = value.at(&["user", "groups"]).and_then(Value::as_array).unwrap_or_default();
        options = options.user(user, groups.iter().filter_map(Value::as_str));
    }
    Ok(options)
}
