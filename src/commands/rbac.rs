//! `rbac`: prints a `ClusterRole` that only allows reading what the commands need.

pub mod args;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::flags::OnlyJson;
use crdx_engine::documents::InputEntry;
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::object::Object;
use crdx_input::InputOptions;
use crdx_input::required::{Required, Sources};
use crdx_output::printable::complain;
use crdx_server::policies::{self, rbac};
use crdx_text::{json, yaml};
use crdx_value::names::{dns1035_label, dns1123_subdomain};
use crdx_value::{Value, object};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &args::Rbac) -> Result<Exit, Error> {
    let mut wanted = BTreeMap::<String, BTreeSet<String>>::new();
    let mut exit = Exit::Accepted;
    for word in &args.resources {
        let Some((plural, group)) = word.split_once('.').filter(|(plural, group)| is_resource(plural, group)) else {
            complain!("error: {word:?} is not PLURAL.GROUP\nhelp: kubectl api-resources lists names and groups");
            return Ok(Exit::CannotTell);
        };
        wanted.entry(group.to_owned()).or_default().insert(plural.to_owned());
    }
    let options = InputOptions::default();
    for entry in Sources::open(&args.crds, options.clone(), Required::Definition, "--crds") {
        match entry {
            InputEntry::Document(document) => {
                let object = Object { document, warnings: Vec::new() };
                let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default().to_owned();
                let (group, plural) = (text(&["spec", "group"]), text(&["spec", "names", "plural"]));
                if object.is_definition() {
                    if is_resource(&plural, &group) {
                        wanted.entry(group).or_default().insert(plural);
                    } else {
                        let location = object.finder().start();
                        complain!(
                            "error: {location}: a CRD with the plural {plural:?} and the group {group:?} cannot exist, so that the role leaves it out\nhelp: correct the names; kubectl crdx lint shows the server's errors"
                        );
                        exit = Exit::CannotTell;
                    }
                }
            }
            InputEntry::Problem(note) => {
                complain!("error: {}", note.text());
                exit = Exit::CannotTell;
            }
            InputEntry::Warning(_) => {}
        }
    }
    flags::report_notes(&options);
    if wanted.is_empty() {
        complain!(
            "note: no custom resource may be read with this role: name some as PLURAL.GROUP, or give their CRDs with --crds"
        );
    }
    let role = role(&args.name, &wanted);
    let text = match args.output {
        Some(OnlyJson::Json) => json::write::kubectl(&role),
        None => yaml::write::to_string(&role),
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(exit)
}

/// Returns true if the server accepts the names. In a role, `*` would be all resources or groups.
fn is_resource(plural: &str, group: &str) -> bool {
    dns1035_label(plural.as_bytes()).is_empty() && dns1123_subdomain(group.as_bytes()).is_empty()
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    texts.into_iter().map(Value::from).collect::<Vec<_>>().into()
}

fn rule(group: &str, resources: Value, verbs: &[&str]) -> Value {
    object([("apiGroups", texts([group])), ("resources", resources), ("verbs", texts(verbs.iter().copied()))])
}

/// Returns the role; `wanted` contains plural names by group.
fn role(name: &str, wanted: &BTreeMap<String, BTreeSet<String>>) -> Value {
    // Without these permissions, commands report what they could not read.
    let admission = [
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    ];
    let paths = object([
        ("nonResourceURLs", texts(["/api", "/api/*", "/apis", "/apis/*", "/version"])),
        ("verbs", texts(["get"])),
    ]);
    let mut rules = vec![
        paths,
        // `get crds`, `serve --load-from-cluster` and `rehearse --policies` list CRDs.
        rule("apiextensions.k8s.io", texts(["customresourcedefinitions"]), &["get", "list"]),
        rule(policies::GROUP, texts(admission), &["list"]),
        rule("", texts(["namespaces"]), &["get"]),
        rule("", texts(["limitranges", "resourcequotas", "serviceaccounts", "services"]), &["list"]),
        // The classes of Ingresses, and the ranges of cluster IPs.
        rule("networking.k8s.io", texts(["ingressclasses", "servicecidrs"]), &["list"]),
        // The classes that Pods and volumes name.
        rule("node.k8s.io", texts(["runtimeclasses"]), &["list"]),
        rule("scheduling.k8s.io", texts(["priorityclasses"]), &["list"]),
        rule("storage.k8s.io", texts(["storageclasses"]), &["list"]),
        // Params of policies.
        rule("", texts(["configmaps"]), &["get", "list"]),
        // RBAC objects determine the answers of `authorizer` in policies.
        rule(rbac::GROUP, texts(["clusterrolebindings", "clusterroles", "rolebindings", "roles"]), &["list"]),
    ];
    for (group, plurals) in wanted {
        rules.push(rule(group, texts(plurals.iter().map(String::as_str)), &["get", "list", "watch"]));
    }
    object([
        ("apiVersion", Value::from("rbac.authorization.k8s.io/v1")),
        ("kind", "ClusterRole".into()),
        ("metadata", object([("name", name)])),
        ("rules", rules.into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_a_wildcard() {
        assert!(is_resource("kites", "toys.example.com") && is_resource("deployments", "apps"));
        for (plural, group) in [
            ("*", "*"),
            ("*", "toys.example.com"),
            ("secrets", ""),
            ("secrets", "*"),
            ("kites/status", "a.b"),
            ("", "a.b"),
        ] {
            assert!(!is_resource(plural, group), "{plural} {group}");
        }
    }

    #[test]
    fn a_role_only_reads() {
        let wanted = BTreeMap::from([("g.example.com".to_owned(), BTreeSet::from(["things".to_owned()]))]);
        let role = role("crdx", &wanted);
        let rules = role.get("rules").and_then(Value::as_array).unwrap_or_default();
        assert_eq!(rules.len(), 12);
        for verb in rules.iter().flat_map(|r| r.get("verbs").and_then(Value::as_array).unwrap_or_default()) {
            assert!(matches!(verb.as_str(), Some("get" | "list" | "watch")), "{verb:?}");
        }
        let of = |resource: &str| {
            rules
                .iter()
                .find(|rule| rule.get("resources") == Some(&texts([resource])))
                .and_then(|rule| rule.get("verbs"))
        };
        assert_eq!(of("customresourcedefinitions"), Some(&texts(["get", "list"])));
        assert_eq!(rules.last().and_then(|r| r.get("resources")), Some(&texts(["things"])));
    }
}
