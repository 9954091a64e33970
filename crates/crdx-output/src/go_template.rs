//! `kubectl get -o go-template` (`cli-runtime/pkg/printers/template.go`).

use crdx_value::GoError;
use crdx_value::base64::Encoding;
use crdx_value::quote::go_quote;
use crdx_value::{Value, number};
use gotmpl::{MissingKey, Template, TemplateError};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A parsed template.
#[derive(Clone)]
pub struct GoTemplate {
    template: Arc<Template>,
    text: Arc<str>,
}

impl fmt::Debug for GoTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GoTemplate").field(&self.text).finish()
    }
}

impl GoTemplate {
    /// Parses a template. `allow_missing` is true if a missing key is printed as `<no value>`, not an error.
    ///
    /// # Errors
    /// Returns kubectl's message, with the parser's reason.
    pub fn parse(text: &str, allow_missing: bool) -> Result<Self, GoError> {
        let missing = if allow_missing { MissingKey::Invalid } else { MissingKey::Error };
        let template = Template::new("output")
            .missing_key(missing)
            .func("exists", |args| Ok(gotmpl::Value::Bool(exists(args))))
            .func("base64decode", base64_decode)
            .parse(text)
            .map_err(|error| format!("error parsing template {text}, {error}"))?;
        Ok(Self { template: Arc::new(template), text: text.into() })
    }

    /// Prints an object.
    ///
    /// # Errors
    /// Returns kubectl's message, with the reason.
    pub fn execute(&self, object: &Value) -> Result<String, GoError> {
        // kubectl also prints the template and the object in Go syntax, which are omitted here.
        let error =
            |error: TemplateError| GoError::from(format!("error executing template {}: {error}", go_quote(&self.text)));
        self.template.execute_to_string(&data(object)).map_err(error)
    }
}

fn data(value: &Value) -> gotmpl::Value {
    match value {
        Value::Null => gotmpl::Value::Nil,
        Value::Bool(bool) => gotmpl::Value::Bool(*bool),
        Value::Int(int) => gotmpl::Value::Int(*int),
        // The crate prints these without an exponent, unlike Go.
        Value::Float(float) if *float != 0.0 && !(1e-4..1e21).contains(&float.abs()) => {
            gotmpl::Value::String(number::format_v(*float).into())
        }
        Value::Float(float) => gotmpl::Value::Float(*float),
        Value::String(text) => gotmpl::Value::String(text.as_str().into()),
        Value::Array(items) => gotmpl::Value::List(items.iter().map(data).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (Arc::from(key.as_str()), data(value)));
            gotmpl::Value::Map(Arc::new(members.collect::<BTreeMap<_, _>>()))
        }
    }
}

/// `exists OBJECT KEY…`: true if `index` with the same arguments has a value.
fn exists(args: &[gotmpl::Value]) -> bool {
    let Some((object, keys)) = args.split_first() else { return false };
    let found = keys.iter().try_fold(object, |object, key| match (object, key) {
        (gotmpl::Value::List(items), gotmpl::Value::Int(index)) => items.get(usize::try_from(*index).ok()?),
        (gotmpl::Value::Map(members), gotmpl::Value::String(key)) => members.get(key),
        _ => None,
    });
    found.is_some_and(|value| !matches!(value, gotmpl::Value::Nil))
}

fn base64_decode(args: &[gotmpl::Value]) -> Result<gotmpl::Value, TemplateError> {
    let [gotmpl::Value::String(text)] = args else {
        return Err(TemplateError::Exec("base64decode needs one string".to_owned()));
    };
    let bytes = Encoding::Standard
        .decode(text)
        .map_err(|at| TemplateError::Exec(format!("base64 decode failed: illegal base64 data at input byte {at}")))?;
    Ok(gotmpl::Value::String(String::from_utf8_lossy(&bytes).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn print(template: &str) -> Result<String, GoError> {
        let object = br#"{"kind":"List","items":[{"a":{"n":1,"f":1.5,"big":1e21}},{"a":null,"t":"YWI="}],"ok":true}"#;
        GoTemplate::parse(template, true)?.execute(&json::read(object).unwrap())
    }

    #[test]
    fn templates_print_what_kubectl_prints() {
        // The expected texts are those of kubectl 1.37.
        for (template, expected) in [
            ("{{.kind}} {{.missing}} {{.ok}}", "List <no value> true"),
            ("{{range .items}}{{.a}};{{end}}", "map[big:1e+21 f:1.5 n:1];<no value>;"),
            ("{{range $i, $x := .items}}{{$i}}{{if exists $x \"a\" \"n\"}}={{$x.a.n}}{{end}} {{end}}", "0=1 1 "),
            ("{{(index .items 1).t | base64decode}}{{len .items}}", "ab2"),
            ("{{range .items}}{{with .t}}{{printf \"%q\" .}}{{else}}-{{end}}{{end}}", "-\"YWI=\""),
            ("{{- /* none */ -}} {{define \"x\"}}[{{.}}]{{end}}{{template \"x\" .kind}}", "[List]"),
            ("{{if and .ok (eq .kind \"List\")}}y{{end}}", "y"),
        ] {
            assert_eq!(print(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn errors_name_the_template() {
        let error = print("{{.kind").unwrap_err();
        assert!(error.as_str().starts_with("error parsing template {{.kind, template: output:1:"), "{error}");
        let error = print("{{base64decode .kind.x}}").unwrap_err();
        assert!(error.as_str().starts_with("error executing template \"{{base64decode .kind.x}}\": "), "{error}");
        let strict = GoTemplate::parse("{{.a}}", false).unwrap();
        assert!(strict.execute(&Value::Object(crdx_value::Map::new())).is_err());
    }
}
