//! Verdicts on metadata that cannot be decoded, on objects without a name and on annotations that are too long, compared
//! with recorded answers of the real server and of kubectl; and the same verdict on policies from every command.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRD: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"foos.q.example.com"},"spec":{"group":"q.example.com","scope":"Namespaced",
    "names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}}}}}}}]}}"#;

/// Writes files into the folder of a test.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-errors").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

/// Runs a command without a cluster; returns its exit code, its JSON report and its messages.
fn report(folder: &Path, line: &str) -> (Option<i32>, Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(line.split_whitespace())
        .args(["-o", "json"])
        .current_dir(folder)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}: {messages}"));
    (output.status.code(), report, messages)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn system_metadata_is_decoded_before_it_is_ignored() {
    let facts = lines(include_str!("../facts/system-metadata.jsonl"));
    let mut documents = String::new();
    for (at, fact) in facts.iter().enumerate() {
        let (field, value) = (fact["field"].as_str().unwrap(), fact["value"].as_str().unwrap());
        let is_definition = fact["kind"] == "CustomResourceDefinition";
        let name = if is_definition { format!("a{at}s.example.com") } else { format!("p{at}") };
        let own_name = if field == "name" { String::new() } else { format!(r#""name":"{name}","#) };
        let (metadata, status) = match field {
            "status" => (format!(r#"{{"name":"{name}"}}"#), format!(r#","status":{value}"#)),
            _ => (format!(r#"{{{own_name}"{field}":{value}}}"#), String::new()),
        };
        let rest = if is_definition {
            format!(
                r#""apiVersion":"apiextensions.k8s.io/v1","spec":{{"group":"example.com","scope":"Namespaced","names":{{"plural":"a{at}s","kind":"A{at}"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object"}}}}}}]}}"#
            )
        } else {
            r#""apiVersion":"admissionregistration.k8s.io/v1","spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]},"validations":[{"expression":"true"}]}"#.to_owned()
        };
        let kind = fact["kind"].as_str().unwrap();
        writeln!(documents, "---\n{{\"kind\":\"{kind}\",\"metadata\":{metadata},{rest}{status}}}").unwrap();
    }
    let folder = folder("system-metadata", &[("all.yaml", &documents)]);
    for line in ["validate -f all.yaml --offline", "validate -f all.yaml --offline --create", "lint all.yaml"] {
        let (code, report, _) = report(&folder, line);
        assert_eq!(code, Some(1), "{line}");
        let items = report["items"].as_array().unwrap();
        assert_eq!(items.len(), facts.len(), "{line}");
        for (fact, item) in facts.iter().zip(items) {
            let accepted = fact["code"] == 201;
            let verdict = if accepted { "accepted" } else { "rejected" };
            assert_eq!(item["verdict"], verdict, "{line}: {fact}\n{item}");
            let message = fact["message"].as_str().unwrap();
            // kubectl decodes the metadata, and sends nothing if it cannot.
            let decoding = message.split_once("cannot be handled as a ").and_then(|(_, rest)| rest.split_once(": "));
            let is_strict = message.contains(": strict decoding error: ");
            let is_sent = line.starts_with("lint") || is_strict || fact["field"] == "status";
            let expected = match decoding.filter(|_| !is_sent) {
                Some((_, error)) => format!("unable to decode \"all.yaml\": {error}"),
                None => message.to_owned(),
            };
            assert_eq!(item["answer"]["message"].as_str().unwrap_or_default(), expected, "{line}: {fact}");
        }
    }
    // As CRDs that are given for objects.
    let objects = "apiVersion: example.com/v1\nkind: A0\nmetadata: {name: a}\n";
    fs::write(folder.join("objects.yaml"), objects).unwrap();
    let (code, ..) = self::report(&folder, "validate -f objects.yaml --crds all.yaml --offline");
    assert_eq!(code, Some(2));
}

#[test]
fn metadata_and_names_are_checked_as_by_kubectl() {
    let facts = lines(include_str!("../facts/kubectl-metadata.jsonl"));
    let old = r#"{"apiVersion":"q.example.com/v1","kind":"Foo","metadata":{"name":"old","namespace":"default"},"spec":{"a":1}}"#;
    let folder = folder("kubectl-metadata", &[("crd.yaml", CRD), ("old.yaml", old)]);
    for fact in &facts {
        let metadata = fact["metadata"].as_str().unwrap();
        let object =
            format!(r#"{{"apiVersion":"q.example.com/v1","kind":"Foo","metadata":{metadata},"spec":{{"a":2}}}}"#);
        fs::write(folder.join("new.yaml"), object).unwrap();
        let old = if fact["exists"] == true { "--old old.yaml" } else { "" };
        let line = format!("validate -f new.yaml --crds crd.yaml --offline {old} {}", fact["flag"].as_str().unwrap());
        let (_, report, _) = report(&folder, &line);
        let item = &report["items"][0];
        let expected = fact["message"].as_str().unwrap().replace("FILE", "new.yaml");
        assert_eq!(item["verdict"], if expected.is_empty() { "accepted" } else { "rejected" }, "{line}: {fact}");
        let errors = item["errors"].as_array().unwrap().iter();
        let messages: Vec<&str> = errors.map(|error| error["message"].as_str().unwrap()).collect();
        let expected: Vec<String> = if expected.is_empty() { Vec::new() } else { vec![expected] };
        assert_eq!(messages, expected, "{line}: {fact}");
    }
}

#[test]
fn objects_of_built_in_kinds_need_a_name() {
    let input = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n---\napiVersion: authorization.k8s.io/v1\nkind: \
                 SelfSubjectAccessReview\nspec: {}\n";
    let folder = folder("names", &[("all.yaml", input)]);
    let unsent = ["resource name may not be empty"; 2];
    for (flag, expected) in [
        ("", unsent),
        ("--replace", unsent),
        ("--create", ["metadata.name: Required value: name or generateName is required", ""]),
    ] {
        let (_, report, _) = report(&folder, &format!("validate -f all.yaml --offline {flag}"));
        let item = |at: usize| report["items"][at]["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
        let answers = [item(0), item(1)];
        if flag == "--replace" {
            assert_eq!(answers[0], expected[0]);
        } else {
            assert_eq!(answers, expected, "{flag}");
        }
    }
}

#[test]
fn a_missing_name_comes_before_unknown_fields_and_wrong_types() {
    let kinds = [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {bogus: 1}\n",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {bogus: 1}\nspec: {replicas: x}\n",
        "apiVersion: v1\nkind: Namespace\nmetadata: {bogus: 1}\n",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {bogus: 1}\nspec: {}\n",
        "apiVersion: q.example.com/v1\nkind: Foo\nmetadata: {bogus: 1}\nspec: {a: x}\n",
    ];
    let folder = folder("nameless", &[("crd.yaml", CRD), ("all.yaml", &kinds.join("---\n"))]);
    let messages = |flag: &str| -> Vec<String> {
        let (_, report, _) = report(&folder, &format!("validate -f all.yaml --crds crd.yaml --offline {flag}"));
        let items = report["items"].as_array().unwrap().iter();
        items.map(|item| item["errors"][0]["message"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for flag in ["", "--server-side", "--replace"] {
        assert_eq!(messages(flag), ["resource name may not be empty"; 5], "{flag}");
    }
    assert!(messages("--create").iter().all(|message| !message.contains("resource name may not be empty")));
}

/// The server generates the name of a `LimitRange`, but only `kubectl create` sends one without a name.
#[test]
fn a_limit_range_without_a_name_is_only_created() {
    let folder = folder("unnamed", &[("all.yaml", "apiVersion: v1\nkind: LimitRange\nspec: {limits: []}\n")]);
    let item = |flag: &str| {
        let (_, report, _) = report(&folder, &format!("validate -f all.yaml --offline {flag}"));
        report["items"][0].clone()
    };
    assert_eq!(item("--create")["verdict"], "accepted");
    for flag in ["", "--server-side", "--server-side --force-conflicts", "--replace"] {
        let item = item(flag);
        assert_eq!(item["errors"][0]["message"], "resource name may not be empty", "{flag}");
        assert_eq!((&item["verdict"], &item["defaulted"]), (&"rejected".into(), &serde_json::json!([])), "{flag}");
    }
}

#[test]
fn names_and_namespaces_of_built_in_kinds_are_parts_of_paths() {
    let input = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a/b, bogus: 1}\n---\napiVersion: v1\nkind: ConfigMap\n\
                 metadata: {name: a/b}\n";
    let folder = folder("paths", &[("all.yaml", input)]);
    let namespace = "invalid namespace \"a/b\": [may not contain '/']";
    let name = "invalid resource name \"a/b\": [may not contain '/']";
    for flag in ["", "--server-side", "--replace", "--create"] {
        let (_, report, _) = report(&folder, &format!("validate -f all.yaml --offline {flag}"));
        let message = |at: usize| report["items"][at]["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(message(0), namespace, "{flag}");
        assert_eq!(message(1) == name, flag != "--create", "{flag}: {}", message(1));
    }
}

#[test]
fn objects_are_judged_by_a_crd_that_is_too_large_for_apply() {
    let description = "x".repeat(300 << 10);
    let large = CRD.replace(r#""a":{"#, &format!(r#""a":{{"description":"{description}","#));
    let object = |a: &str| {
        format!(r#"{{"apiVersion":"q.example.com/v1","kind":"Foo","metadata":{{"name":"n"}},"spec":{{"a":{a}}}}}"#)
    };
    let files = [("crd.yaml", &*large), ("good.yaml", &object("1")), ("bad.yaml", &object("true"))];
    let folder = folder("large-crd", &files);
    for input in ["-f crd.yaml good.yaml bad.yaml", "-f good.yaml bad.yaml crd.yaml"] {
        let (code, report, _) = report(&folder, &format!("validate {input} --offline"));
        assert_eq!(code, Some(1), "{input}");
        let mut verdicts: Vec<(&str, &str)> = report["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (item["kind"].as_str().unwrap(), item["verdict"].as_str().unwrap()))
            .collect();
        verdicts.sort_unstable();
        let expected = [("CustomResourceDefinition", "rejected"), ("Foo", "accepted"), ("Foo", "rejected")];
        assert_eq!(verdicts, expected, "{input}");
        let crd = report["items"].as_array().unwrap().iter().find(|item| item["kind"] != "Foo").unwrap();
        let error = &crd["errors"][0];
        let message = "metadata.annotations: Too long: may not be more than 262144 bytes";
        assert_eq!(error["message"], message);
        let help = error["help"].as_str().unwrap();
        for command in ["--server-side", "kubectl create", "replace"] {
            assert!(help.contains(command), "{help}");
        }
    }
    for flag in ["--server-side", "--create"] {
        let (code, ..) = report(&folder, &format!("validate -f crd.yaml good.yaml --offline {flag}"));
        assert_eq!(code, Some(0), "{flag}");
    }
    // A CRD with another fault stays unknown.
    let wrong = large.replace(r#""plural":"foos""#, r#""plural":"bars""#);
    fs::write(folder.join("crd.yaml"), wrong).unwrap();
    let (code, ..) = report(&folder, "validate -f crd.yaml good.yaml --offline");
    assert_eq!(code, Some(2));
}

#[test]
fn the_namespace_of_a_cluster_scoped_object_is_not_sent() {
    let crd = CRD.replace("Namespaced", "Cluster");
    let object =
        r#"{"apiVersion":"q.example.com/v1","kind":"Foo","metadata":{"name":"n","namespace":"zz"},"spec":{"a":1}}"#;
    let folder = folder("cluster-scoped", &[("crd.yaml", &crd), ("foo.yaml", object)]);
    let (code, report, _) = report(&folder, "validate -f foo.yaml --crds crd.yaml --offline --show-last-applied");
    assert_eq!(code, Some(0));
    let metadata = &report["items"][0]["result"]["metadata"];
    // As recorded from kubectl 1.37.
    let annotation = "{\"apiVersion\":\"q.example.com/v1\",\"kind\":\"Foo\",\"metadata\":{\"annotations\":{},\"name\":\"n\"},\"spec\":{\"a\":1}}\n";
    assert_eq!(metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"], annotation);
    assert_eq!(metadata.get("namespace"), None);
}

#[test]
fn every_command_gives_the_same_verdict_on_admission_kinds() {
    let policy = |expression: &str| {
        json!({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p"},
            "spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],
            "resources":["*"]}]},"validations":[{"expression":expression}]}})
    };
    let webhooks = |expression: &str| {
        json!({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"w"},
            "webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://h/"},"sideEffects":"None",
            "admissionReviewVersions":["v1"],"matchConditions":[{"name":"c","expression":expression}]}]})
    };
    let binding = |action: &str| {
        json!({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding",
            "metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":[action]}})
    };
    let object = r#"{"apiVersion":"q.example.com/v1","kind":"Foo","metadata":{"name":"n"},"spec":{"a":1}}"#;
    for (good, bad, message) in [
        (policy("true"), policy("1 +"), "spec.validations[0].expression: Invalid value: \"1 +\": compilation failed: "),
        (
            webhooks("true"),
            webhooks("x"),
            "webhooks[0].matchConditions[0].expression: Invalid value: \"x\": compilation failed: ",
        ),
        (binding("Deny"), binding("No"), "spec.validationActions[0]: Unsupported value: \"No\""),
    ] {
        let (good, bad) = (good.to_string(), bad.to_string());
        let files = [("crd.yaml", CRD), ("foo.yaml", object), ("good.yaml", &*good), ("bad.yaml", &*bad)];
        let folder = folder("admission-kinds", &files);
        let errors = |line: &str, code: i32| -> String {
            let (exit, report, messages) = report(&folder, line);
            assert_eq!(exit, Some(code), "{line}: {report}{messages}");
            let first = report["items"].as_array().into_iter().flatten().find(|item| item["kind"] != "Foo");
            let text = first.map(|item| item["errors"][0]["message"].as_str().unwrap_or_default().to_owned());
            text.unwrap_or_default()
        };
        for (file, code) in [("good.yaml", 0), ("bad.yaml", 1)] {
            let expected = if code == 0 { "" } else { message };
            let validated = errors(&format!("validate -f {file} --offline"), code);
            let update = errors(&format!("validate -f {file} --old good.yaml --offline"), code);
            let linted = errors(&format!("lint {file}"), code);
            let diff = errors(&format!("diff -f {file} --old good.yaml --offline"), 2 * code);
            for found in [&update, &linted, &diff] {
                assert_eq!(*found, validated, "{file}");
            }
            assert!(validated.starts_with(expected) && validated.is_empty() == expected.is_empty(), "{validated}");
            let given = errors(&format!("validate -f foo.yaml --crds crd.yaml --policies {file} --offline"), code);
            assert_eq!(given, if code == 0 { "" } else { &*validated });
        }
    }
}
