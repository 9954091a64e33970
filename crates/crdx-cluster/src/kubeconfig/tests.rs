use super::*;
use crdx_value::json;
use std::fmt::Write as _;

/// Every field in which a person may have put a secret, each with the text `canary`.
const FULL: &str = r#"{"current-context":"canary","kind":"canary","contexts":[{"name":"canary","context":{"cluster":"canary","user":"canary","namespace":"canary"}}],"clusters":[{"name":"canary","cluster":{"server":"canary","proxy-url":"canary","tls-server-name":"canary","insecure-skip-tls-verify":true,"certificate-authority":"canary","certificate-authority-data":"Y2FuYXJ5","extensions":[{"name":"client.authentication.k8s.io/exec","extension":{"a":"canary"}}]}}],"users":[{"name":"canary","user":{"username":"canary","password":"canary","token":"canary","tokenFile":"canary","client-certificate":"canary","client-certificate-data":"Y2FuYXJ5","client-key":"canary","client-key-data":"Y2FuYXJ5","as":"canary","as-uid":"canary","as-groups":["canary"],"as-user-extra":{"canary":["canary"]},"auth-provider":{"name":"canary","config":{"id-token":"canary"}},"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"canary","args":["canary"],"env":[{"name":"canary","value":"canary"}],"installHint":"canary","interactiveMode":"Never","provideClusterInfo":true}}}]}"#;

fn decode(text: &str) -> Result<Kubeconfig, FieldError> {
    Kubeconfig::decode(text.as_bytes(), Path::new("/home/me/.kube"))
}

/// All values that differ from `value` in one place, which has each of a few other types.
fn variants(value: &Value) -> Vec<Value> {
    let canary = || Value::from("canary");
    let mut all = vec![canary(), Value::Int(7), Value::Bool(true), Value::Array(vec![canary()])];
    all.push(crdx_value::object([("canary", canary())]));
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                all.extend(variants(member).into_iter().map(|other| {
                    let mut members = members.clone();
                    members.insert(key.clone(), other);
                    Value::Object(members)
                }));
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                all.extend(variants(item).into_iter().map(|other| {
                    let mut items = items.clone();
                    items[i] = other;
                    Value::Array(items)
                }));
            }
        }
        _ => {}
    }
    all
}

#[test]
fn no_error_contains_a_text_of_the_file() {
    let full = json::to_string(&crdx_text::json::read(FULL.as_bytes()).unwrap());
    assert!(decode(&full).is_ok());
    let mut errors = 0;
    for variant in variants(&crdx_text::json::read(FULL.as_bytes()).unwrap()) {
        let mut texts = String::new();
        match decode(&json::to_string(&variant)) {
            Err(error) => {
                errors += 1;
                write!(texts, "{error} {error:?}").unwrap();
            }
            Ok(found) => {
                let plugins = found.users.iter().filter_map(|(_, user)| user.plugin.as_ref()?.as_ref().err());
                plugins.for_each(|error| write!(texts, "{error} {error:?}").unwrap());
            }
        }
        assert!(!texts.contains("canary") && !texts.contains("Y2Fu"), "{texts}");
    }
    assert!(errors > 100, "{errors}");
    // Syntax errors: the text cut anywhere, and with one more character anywhere.
    for (at, _) in full.char_indices() {
        for extra in ["", "*", "&", "\"", "\t", "\u{1}", "%", "{", "}", "\n---", "\n- ", "!!binary "] {
            let broken = match extra {
                "" => full.split_at(at).0.to_owned(),
                extra => format!("{}{extra}{}", full.split_at(at).0, full.split_at(at).1),
            };
            if let Err(error) = decode(&broken) {
                let text = format!("{error} {error:?}");
                assert!(!text.contains("canary") && !text.contains("Y2Fu"), "{broken}: {text}");
            }
        }
    }
    for yaml in [
        "users: *canary",
        "users:\n  canary: [\n",
        "a: 'canary\n",
        "canary: canary: canary",
        "? [canary]\n: 1\n",
        "<<: canary",
        "\u{fffe}canary",
    ] {
        let text = format!("{:?}", decode(yaml));
        assert!(!text.contains("canary"), "{yaml}: {text}");
    }
    let bytes = Kubeconfig::decode(b"token: canary\xff", Path::new("")).unwrap_err();
    assert!(!bytes.to_string().contains("canary"), "{bytes}");
}

#[test]
fn debug_output_contains_no_secret() {
    let text = r#"{"clusters":[{"name":"c","cluster":{"server":"https://a:canary@b","proxy-url":"http://a:canary@b"}}],"users":[{"name":"u","user":{"password":"canary","token":"canary","client-key-data":"Y2FuYXJ5","auth-provider":{"config":{"id-token":"canary"}},"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"c","args":["canary"],"env":[{"name":"A","value":"canary"}],"interactiveMode":"Never"}}}]}"#;
    let shown = format!("{:?}", decode(text).unwrap());
    assert!(!shown.contains("canary") && !shown.contains("Y2Fu"), "{shown}");
}

#[test]
fn files_are_merged_and_paths_are_relative_to_theirs() {
    let mut all = decode("users:\n- name: a\n  user: {tokenFile: t, exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login}}\n").unwrap();
    let next = Kubeconfig::decode(
        b"current-context: b\nusers:\n- {name: a, user: {token: x}}\n- {name: b, user: {client-key: /k}}\n",
        Path::new("d"),
    );
    all.merge(next.unwrap());
    let [(_, a), (_, b)] = &all.users[..] else { panic!("{all:?}") };
    assert_eq!(
        (all.current_context.as_deref(), a.token_file.as_deref()),
        (Some("b"), Some(Path::new("/home/me/.kube/t")))
    );
    let plugin = a.plugin.clone().unwrap().unwrap();
    assert_eq!(
        (plugin.command.to_str(), plugin.interactive),
        (Some("/home/me/.kube/bin/login"), Interactive::IfAvailable)
    );
    assert_eq!((a.token.is_some(), b.key.file.as_deref()), (false, Some(Path::new("/k"))));
    assert_eq!(
        decode("users: [{name: a}, {name: a}]").unwrap_err().to_string(),
        "users[1].name is the name of an earlier item of the list"
    );
    // Only the selected user's plugin must be usable.
    let unused = decode("users: [{name: a, user: {exec: {command: x}}}]").unwrap();
    let error = unused.users[0].1.plugin.clone().unwrap().unwrap_err();
    assert!(
        error.to_string().starts_with("users[0].user.exec.apiVersion must be client.authentication.k8s.io/v1"),
        "{error}"
    );
}
