//! Containers, init containers and ephemeral containers (`validateContainers`, `validateInitContainers` and
//! `validateEphemeralContainers`).

use super::{PodOptions, env, probes, security_context, volume_mounts};
use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::field::FieldError;
use crdx_value::release::{Gate, V1_33, V1_36};
use std::collections::{BTreeSet, HashMap, HashSet};

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
const ONLY_FOR_SIDECARS: &str = "may not be set for init containers without restartPolicy=Always";
const NOT_EPHEMERAL: &str = "cannot be set for an Ephemeral Container";
const MAX_RESTART_RULES: usize = 20;
const MAX_EXIT_CODES: usize = 255;

/// The fields that an ephemeral container may not have, in the order of its Go type
/// (`allowedEphemeralContainerFields` has the others).
const FORBIDDEN_IN_EPHEMERAL: &[&str] = &[
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// The containers of a Pod specification.
pub struct Containers<'v, 'p> {
    /// The Pod specification.
    pub spec: FieldValue<'v, 'p>,
    /// The valid volumes, by name.
    pub volumes: HashMap<&'v str, &'v Value>,
    /// The names of resource claims.
    pub claims: &'p BTreeSet<&'v str>,
    pub options: &'p PodOptions,
}

impl Containers<'_, '_> {
    /// Validates all containers.
    pub fn validate(&self, errors: &mut Errors) {
        self.regular(errors);
        self.init(errors);
        self.ephemeral(errors);
    }

    fn regular(&self, errors: &mut Errors) {
        let list = self.spec.child("containers");
        if list.len() == 0 {
            return errors.required(&list, "");
        }
        let mut seen = HashSet::new();
        for container in list.items() {
            self.common(errors, &container);
            let name = container.child("name");
            if !seen.insert(name.text()) {
                errors.duplicate(&name);
            }
            self.lifecycle_and_probes(errors, &container);
            if errors.release.enables(Gate::ContainerRestartRules) {
                restart_policy(errors, &container);
            } else {
                errors.forbid_if_set(&container.child("restartPolicy"), "may not be set for non-init containers");
            }
        }
        let mut ports = HashSet::new();
        for container in list.items() {
            host_ports(errors, &container, &mut ports);
        }
    }

    fn init(&self, errors: &mut Errors) {
        let (list, containers) = (self.spec.child("initContainers"), self.spec.child("containers"));
        let mut seen: HashSet<&str> = containers.items().map(|container| container.child("name").text()).collect();
        for (at, container) in list.items().enumerate() {
            self.common(errors, &container);
            init_restart_policy(errors, &container);
            let name = container.child("name");
            if seen.contains(name.text()) {
                errors.duplicate(&name);
            } else if !name.text().is_empty() {
                seen.insert(name.text());
            }
            // The server checks each init container as if it were the first one.
            host_ports(errors, &FieldValue { path: list.path.index(0), ..list.index(at) }, &mut HashSet::new());
            let is_sidecar = container.child("restartPolicy").text() == "Always";
            if is_sidecar {
                self.lifecycle_and_probes(errors, &container);
            } else {
                for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                    errors.forbid_if_set(&container.child(field), ONLY_FOR_SIDECARS);
                }
            }
            self.resize_policy_of_init(errors, &container, is_sidecar);
        }
    }

    fn resize_policy_of_init(&self, errors: &mut Errors, container: &FieldValue<'_, '_>, is_sidecar: bool) {
        let policies = container.child("resizePolicy");
        // Before 1.33 the server drops the field.
        if !errors.release.since(V1_36) || is_sidecar || self.options.allows_restart_of_init_containers {
            return;
        }
        for policy in policies.items() {
            let restart = policy.child("restartPolicy");
            if restart.text() == "RestartContainer" {
                let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                errors.invalid(&restart, detail);
            }
        }
    }

    fn ephemeral(&self, errors: &mut Errors) {
        let list = self.spec.child("ephemeralContainers");
        let names_of = |field| {
            let list: FieldValue<'_, '_> = self.spec.child(field);
            list.items().map(|container| container.child("name").text()).collect::<Vec<_>>()
        };
        let others: HashSet<&str> = names_of("containers").into_iter().chain(names_of("initContainers")).collect();
        let mut seen = others.clone();
        for container in list.items() {
            self.common(errors, &container);
            image_without_spaces(errors, &container);
            let name = container.child("name");
            if !seen.insert(name.text()) {
                errors.duplicate(&name);
            }
            let target = container.child("targetContainerName");
            if !target.text().is_empty() && !others.contains(target.text()) {
                errors.not_found(&target);
            }
            for name in FORBIDDEN_IN_EPHEMERAL {
                let field = container.child(name);
                if !is_zero(&field, name) {
                    errors.forbidden(&field, NOT_EPHEMERAL);
                }
            }
            for mount in container.child("volumeMounts").items() {
                for field in ["subPath", "subPathExpr"] {
                    let field = mount.child(field);
                    if !field.text().is_empty() {
                        errors.forbidden(&field, NOT_EPHEMERAL);
                    }
                }
            }
        }
    }

    /// `validateContainerCommon`
    fn common(&self, errors: &mut Errors, container: &FieldValue<'_, '_>) {
        let name = container.child("name");
        if errors.require_text(&name) {
            formats::label(errors, &name);
        }
        errors.require_text(&container.child("image"));
        errors.one_of(&container.child("terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
        ports(errors, &container.child("ports"));
        env::variables(errors, &container.child("env"));
        env::sources(errors, &container.child("envFrom"));
        volume_mounts::validate(errors, container, &self.volumes);
        pull_policy(errors, &container.child("imagePullPolicy"));
        let resources = container.child("resources");
        let huge = self.options.allows_indivisible_huge_pages;
        resources::requirements(errors, &resources, resources::Owner::Container, self.claims, huge);
        if errors.release.since(V1_33) {
            resize_policy(errors, &container.child("resizePolicy"), self.spec.child("restartPolicy").text());
        }
        security_context::container(errors, &container.child("securityContext"), &self.spec, self.options);
    }

    fn lifecycle_and_probes(&self, errors: &mut Errors, container: &FieldValue<'_, '_>) {
        probes::lifecycle(errors, &container.child("lifecycle"), &self.spec);
        probes::validate(errors, container);
    }
}

/// `validatePullPolicy`
pub(crate) fn pull_policy(errors: &mut Errors, policy: &FieldValue<'_, '_>) {
    errors.one_of(policy, &["Always", "IfNotPresent", "Never"]);
}

/// `validateContainerOnlyForPod`
pub(crate) fn image_without_spaces(errors: &mut Errors, container: &FieldValue<'_, '_>) {
    let image = container.child("image");
    if image.text().trim() != image.text() {
        errors.invalid(&image, "must not have leading or trailing whitespace");
    }
}

/// `validateContainerPorts`
fn ports(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    let mut seen = HashSet::new();
    for port in list.items() {
        let (name, number, host) = (port.child("name"), port.child("containerPort"), port.child("hostPort"));
        if !name.text().is_empty() {
            let messages = formats::port_name(name.text());
            if !messages.is_empty() {
                errors.messages(&name, messages);
            } else if !seen.insert(name.text()) {
                errors.duplicate(&name);
            }
        }
        match number.int().unwrap_or_default() {
            0 => errors.required(&number, ""),
            _ => formats::port_number(errors, &number),
        }
        if host.int().unwrap_or_default() != 0 {
            formats::port_number(errors, &host);
        }
        errors.one_of(&port.child("protocol"), PROTOCOLS);
    }
}

/// `AccumulateUniqueHostPorts`, for one container
fn host_ports(errors: &mut Errors, container: &FieldValue<'_, '_>, seen: &mut HashSet<String>) {
    for port in container.child("ports").items() {
        let host_port = port.child("hostPort");
        let number = host_port.int().unwrap_or_default();
        if number == 0 {
            continue;
        }
        let text = format!("{}/{}/{number}", port.child("protocol").text(), port.child("hostIP").text());
        if seen.contains(&text) {
            errors.list.push(FieldError::duplicate(&host_port.path, text));
        } else {
            seen.insert(text);
        }
    }
}

/// `validateResizePolicy`
fn resize_policy(errors: &mut Errors, list: &FieldValue<'_, '_>, restart_policy: &str) {
    let mut seen = HashSet::new();
    for policy in list.items() {
        let (name, restart) = (policy.child("resourceName"), policy.child("restartPolicy"));
        if !seen.insert(name.text()) {
            errors.list.push(FieldError::duplicate(&policy.path, errors.stringer(name.text())));
        }
        // The server reports these errors at the list.
        match name.text() {
            "" => errors.required(list, ""),
            "cpu" | "memory" => {}
            other => {
                let shown = errors.stringer(other);
                errors.list.push(FieldError::not_supported(&list.path, shown, &["cpu", "memory"]));
            }
        }
        errors.one_of(&FieldValue { path: list.path, ..restart }, &["NotRequired", "RestartContainer"]);
        if restart_policy == "Never" && restart.text() != "NotRequired" {
            let owner = if errors.release.since(V1_36) { "pod " } else { "" };
            let detail = format!("must be 'NotRequired' when {owner}`restartPolicy` is 'Never'");
            errors.invalid_value(&list.path, restart.text(), detail);
        }
    }
}

/// `validateInitContainerRestartPolicy`
fn init_restart_policy(errors: &mut Errors, container: &FieldValue<'_, '_>) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    let release = errors.release;
    if !policy.is_set() {
        if rules.len() > 0 && release.enables(Gate::ContainerRestartRules) {
            errors.required(&policy, "must specify restartPolicy when restart rules are used");
        }
    } else if !release.enables(Gate::ContainerRestartRules) {
        errors.supported(&policy, &["Always"]);
    } else if policy.text() != "Always" || release.since(V1_36) {
        restart_policy(errors, container);
    } else if rules.len() > 0 {
        let detail = "restartPolicyRules are not allowed for init containers with restart policy Always";
        errors.forbidden(&rules, detail);
    }
}

/// `validateContainerRestartPolicy`
fn restart_policy(errors: &mut Errors, container: &FieldValue<'_, '_>) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    if policy.is_set() {
        errors.supported(&policy, &["Always", "Never", "OnFailure"]);
    } else if rules.len() > 0 {
        errors.required(&policy, "must specify restartPolicy when restart rules are used");
    }
    if rules.len() > MAX_RESTART_RULES {
        errors.too_many(&rules, rules.len(), MAX_RESTART_RULES as i64);
    }
    let actions: &[&str] = if errors.release.enables(Gate::RestartAllContainersOnContainerExits) {
        &["Restart", "RestartAllContainers"]
    } else {
        &["Restart"]
    };
    for rule in rules.items() {
        errors.supported(&rule.child("action"), actions);
        let exit_codes = rule.child("exitCodes");
        if !exit_codes.is_set() {
            errors.required(&exit_codes, "must be specified");
            continue;
        }
        errors.supported(&exit_codes.child("operator"), &["In", "NotIn"]);
        let values = exit_codes.child("values");
        if values.len() > MAX_EXIT_CODES {
            errors.too_many(&values, values.len(), MAX_EXIT_CODES as i64);
        }
    }
}

/// Returns true if Go's value of a field is the zero value of its type, as it is not for an empty list. The field `resources` is a
/// struct, which is always present.
fn is_zero(field: &FieldValue<'_, '_>, name: &str) -> bool {
    let is_nil = |field: &FieldValue<'_, '_>| !field.is_set() && !field.is_given_empty();
    if name == "resources" {
        return ["limits", "requests", "claims"].iter().all(|name| is_nil(&field.child(name)));
    }
    is_nil(field)
}

/// The errors about a list of names of an update that adds or removes containers, and about images
/// (`ValidateContainerUpdates`). Returns false if the lists have different lengths.
pub fn validate_update(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) -> bool {
    if new.len() != old.len() {
        errors.forbidden(new, "pod updates may not add or remove containers");
        return false;
    }
    for container in new.items() {
        errors.require_text(&container.child("image"));
        image_without_spaces(errors, &container);
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn an_ephemeral_container_has_no_empty_values_of_other_fields() {
        let fields = |members: &str| {
            let pod = format!(r#"{{"spec":{{"ephemeralContainers":[{{"name":"e","image":"i",{members}}}]}}}}"#);
            let end = ": Forbidden: cannot be set for an Ephemeral Container";
            let errors = created("v1", "Pod", &pod, "1.37");
            let found = errors.iter().filter_map(|e| e.strip_prefix("spec.ephemeralContainers[0].")?.strip_suffix(end));
            found.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(fields(r#""resources":{},"volumeDevices":[]"#), [""; 0]);
        assert_eq!(
            fields(r#""ports":[],"lifecycle":{},"resources":{"limits":{}}"#),
            ["ports", "resources", "lifecycle"]
        );
    }
    #[test]
    fn the_resource_of_a_resize_policy_has_no_quotes_before_1_34() {
        let policy = r#"{"resourceName":"a","restartPolicy":"NotRequired"}"#;
        let pod =
            format!(r#"{{"spec":{{"containers":[{{"name":"c","image":"i","resizePolicy":[{policy},{policy}]}}]}}}}"#);
        let has = |release, error: &str| {
            created("v1", "Pod", &pod, release).contains(&format!("spec.containers[0].resizePolicy{error}"))
        };
        let supported = r#"supported values: "cpu", "memory""#;
        assert!(has("1.33", &format!(": Unsupported value: a: {supported}")) && has("1.33", "[1]: Duplicate value: a"));
        assert!(has("1.34", &format!(r#": Unsupported value: "a": {supported}"#)));
    }
}
