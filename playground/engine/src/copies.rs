//! Texts that users copy from the page: a test case for `kubectl crdx test`, and commands.

use crate::documents::{Pane, Problem};
use crate::request::{Operation, Request};
use crate::session::Session;
use crate::simulation::{self, Verdict};
use crdx::{FieldValidation, ObjectRef, Release};
use crdx_text::printable::is_hidden;
use crdx_text::yaml;
use crdx_value::{Value, object};
use std::fmt::Write as _;

/// The name of the file with each text, in test cases and commands.
const CRD_FILE: &str = "crd.yaml";
const OBJECT_FILE: &str = "object.yaml";
const OLD_OBJECT_FILE: &str = "old.yaml";
const POLICIES_FILE: &str = "policies.yaml";

/// The suite with the result of the page, as `text`; `error` is the reason why there is none.
pub fn test_case(request: &Request, session: &Session) -> Value {
    match suite(request, session) {
        Ok(suite) => object([("text", yaml::write::to_string(&suite))]),
        Err(reason) => object([("error", reason)]),
    }
}

fn suite(request: &Request, session: &Session) -> Result<Value, &'static str> {
    let is_apply = request.operation == Operation::Apply;
    let list = match request.operation {
        Operation::Create => "onCreate",
        Operation::Update | Operation::Status => "onUpdate",
        Operation::Apply => "onApply",
        Operation::Scale => return Err("Suites have no cases that scale: choose another operation."),
    };
    if session.refusal.is_some() {
        return Err("The server has to accept the CRDs and policies of a suite.");
    }
    let outcome = simulation::run(request, session);
    if outcome.problems.iter().any(Problem::is_of_strict_decoding) {
        return Err("Suites accept unknown fields with a warning: choose Warn.");
    }
    let document = outcome.document.as_ref().ok_or("The object has to be readable.")?;
    let name = ObjectRef::from_object(&document.value);
    let definition =
        session.definition(&name.api_version, &name.kind).ok_or("No CRD defines the kind of the object.")?;
    let crd_name = definition.value.str_at(&["metadata", "name"]).unwrap_or_default();

    let mut case: Vec<(&str, Value)> = vec![("name", format!("{} {}", name.kind, name.name).trim().into())];
    if request.operation == Operation::Create {
        case.push(("initial", (*request.panes.object).into()));
    } else {
        if !request.panes.old_object.trim().is_empty() {
            case.push(("initial", (*request.panes.old_object).into()));
            if outcome.has_invalid_old_object {
                case.push(("initialCRDPatches", Value::Array(vec![without_schema()])));
            }
            if is_apply && has_managers(&request.panes.old_object) {
                return Err("Suites cannot state the managers of the stored object: remove metadata.managedFields.");
            }
        } else if !is_apply {
            return Err("An update needs a stored object.");
        }
        case.push((if is_apply { "applied" } else { "updated" }, (*request.panes.object).into()));
    }
    match (&outcome.response, outcome.verdict) {
        (Some(response), _) => case.push(("expected", yaml::write::to_string(&expected(&response.object)).into())),
        (None, Verdict::Rejected) => {
            let errors = outcome.problems.iter().filter(|problem| !problem.field.is_empty());
            let message = errors.map(|problem| problem.message.as_str()).next().unwrap_or(&outcome.message);
            let is_status = request.operation == Operation::Status;
            case.push((if is_status { "expectedStatusError" } else { "expectedError" }, message.into()));
        }
        (None, _) => return Err("The result has to be known."),
    }
    if request.options.force && is_apply {
        case.push(("force", true.into()));
    }
    let version = crdx_value::group_version::split(&name.api_version).1;
    let mut suite: Vec<(&str, Value)> = vec![
        ("name", name.kind.as_str().into()),
        ("crdName", crd_name.into()),
        ("crd", CRD_FILE.into()),
        ("version", version.into()),
        ("tests", object([(list, Value::Array(vec![object(case)]))])),
    ];
    if !request.panes.policies.trim().is_empty() {
        suite.push(("policies", Value::Array(vec![POLICIES_FILE.into()])));
    }
    if request.release != Release::NEWEST {
        suite.push(("kubernetesVersions", Value::Array(vec![request.release.minor().to_string().into()])));
    }
    Ok(object(suite))
}

/// A patch of a CRD that makes it accept every object. The CRD of a suite has one version only.
fn without_schema() -> Value {
    // `kubectl crdx test` adds a property of its own, so there have to be some.
    let properties = object([("kind", object([("type", "string")]))]);
    let any = [
        ("type", Value::from("object")),
        ("x-kubernetes-preserve-unknown-fields", true.into()),
        ("properties", properties),
    ];
    let path = "/spec/versions/0/schema/openAPIV3Schema";
    object([("op", "replace".into()), ("path", path.into()), ("value", object(any))])
}

/// Returns true if an object has managers of its fields.
fn has_managers(text: &str) -> bool {
    let object = yaml::read(text.as_bytes());
    object.is_ok_and(|object| object.at(&["metadata", "managedFields"]).is_some())
}

/// The stored object without the metadata that the server writes.
fn expected(stored: &Value) -> Value {
    let mut expected = stored.clone();
    if let Some(metadata) = expected.get_mut("metadata").and_then(Value::as_object_mut) {
        for written in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "namespace"] {
            metadata.remove(written);
        }
    }
    expected
}

/// The commands that write the texts to files and simulate the request, as `text`.
pub fn command(request: &Request, session: &Session) -> Value {
    let mut text = String::new();
    let version = format!("--offline --kubernetes-version {}", request.release);
    let has_refused_crd = session.refusal.as_ref().is_some_and(|refusal| refusal.pane == Pane::Definitions);
    if has_refused_crd || request.panes.object.trim().is_empty() {
        write_file(CRD_FILE, &request.panes.crd, &mut text);
        let _ = writeln!(text, "kubectl crdx lint {CRD_FILE} {version}");
        return object([("text", text)]);
    }
    let mut arguments = vec![OBJECT_FILE.to_owned(), format!("--crds {CRD_FILE}")];
    write_file(CRD_FILE, &request.panes.crd, &mut text);
    write_file(OBJECT_FILE, &request.panes.object, &mut text);
    let operation = match request.operation {
        Operation::Create => "--create",
        Operation::Update => "--replace",
        Operation::Apply => "--server-side",
        Operation::Status => "--subresource status --replace",
        Operation::Scale => "--subresource scale",
    };
    arguments.push(operation.to_owned());
    if request.operation != Operation::Create && !request.panes.old_object.trim().is_empty() {
        write_file(OLD_OBJECT_FILE, &request.panes.old_object, &mut text);
        arguments.push(format!("--old {OLD_OBJECT_FILE}"));
    }
    if request.options.force && request.operation == Operation::Apply {
        arguments.push("--force-conflicts".to_owned());
    }
    if !request.panes.policies.trim().is_empty() {
        write_file(POLICIES_FILE, &request.panes.policies, &mut text);
        arguments.push(format!("--policies {POLICIES_FILE}"));
    }
    if let Some(user) = &request.options.user {
        arguments.push(format!("--request-user {}", quoted(&user.username)));
        // `--request-user` adds this group, too.
        let groups = user.groups.iter().filter(|group| *group != "system:authenticated");
        arguments.extend(groups.map(|group| format!("--request-group {}", quoted(group))));
    }
    if request.options.field_validation != FieldValidation::Strict {
        arguments.push(format!("--field-validation {}", request.options.field_validation.as_str()));
    }
    arguments.push(version);
    let _ = writeln!(text, "kubectl crdx validate {} -o yaml", arguments.join(" "));
    object([("text", text)])
}

/// Writes a here-document, whose delimiter is no line of the content. A terminal would obey control characters in a text that is
/// pasted, and some of them end the paste, so that the rest is run.
fn write_file(name: &str, content: &str, text: &mut String) {
    if content.contains(is_hidden) {
        let _ = writeln!(text, "printf '%s\\n' {} > {name}", escaped(content.trim_end()));
        return;
    }
    let mut delimiter = "EOF".to_owned();
    while content.lines().any(|line| line == delimiter) {
        delimiter.push('_');
    }
    let _ = writeln!(text, "cat > {name} <<'{delimiter}'\n{}\n{delimiter}", content.trim_end());
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if word.contains(is_hidden) {
        escaped(word)
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A word of bash, zsh or ksh (`$'…'`) in which hidden characters are escaped.
fn escaped(word: &str) -> String {
    let mut text = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            c if is_hidden(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(text, "\\x{byte:02x}");
                }
            }
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a: \"\u{1b}[201~\r\u{9b}1b\u{202e} é 'x' \\n\"\nb: 1";

    #[test]
    fn no_control_character_is_pasted() {
        let mut text = String::new();
        write_file("a.yaml", HOSTILE, &mut text);
        text.push_str(&quoted("\u{1b}it's"));
        assert!(!text.contains(is_hidden), "{text:?}");
        assert!(text.ends_with("$'\\x1bit\\'s'"), "{text}");
        let mut plain = String::new();
        write_file("a.yaml", "b: 'c'\n", &mut plain);
        assert_eq!(plain, "cat > a.yaml <<'EOF'\nb: 'c'\nEOF\n");
    }

    #[cfg(unix)]
    #[test]
    fn the_shell_writes_the_same_file() {
        let mut text = String::new();
        write_file("/dev/stdout", HOSTILE, &mut text);
        let output = std::process::Command::new("bash").args(["-c", &text]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{HOSTILE}\n"), "{text}");
    }
}
