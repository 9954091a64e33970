//! Prints whole objects or the results of templates: `kubectl get -o json|yaml|kyaml|name|jsonpath|go-template|custom-columns`
//! (`printGeneric` of `kubectl/pkg/cmd/get/get.go`).
//!
//! Several objects, or the items of a list, are printed as one `List`, which is written while the objects arrive. Only
//! templates and custom columns need all results in memory.

use super::custom_columns::CustomColumns;
use super::go_template::GoTemplate;
use super::tabs::Tabs;
use crdx_text::{json, yaml};
use crdx_value::GoError;
use crdx_value::jsonpath::{Item, JsonPath};
use crdx_value::{self as value, Value, object};

/// The format of objects.
#[derive(Clone, Debug)]
pub enum Form {
    /// `-o json`
    Json,
    /// `-o yaml`
    Yaml,
    /// `-o kyaml`
    Kyaml,
    /// `-o name`: `kind.group/name`
    Name,
    /// `-o jsonpath=…`
    JsonPath {
        template: JsonPath,
        /// The template in the form given by the user.
        text: String,
        /// True to print results as JSON arrays (`jsonpath-as-json`).
        as_json: bool,
    },
    /// `-o go-template=…`
    Template(GoTemplate),
    /// `-o custom-columns=…`
    Columns(CustomColumns),
}

/// Prints objects one after another.
#[derive(Debug)]
pub struct Objects {
    form: Form,
    /// A single object, which is not wrapped in a list.
    single: bool,
    managed_fields: bool,
    printed: usize,
    tabs: Tabs,
    buffered: Vec<Value>,
}

impl Objects {
    /// Creates an output without objects. `single` is true for a single object selected by name; `managed_fields` is
    /// true to include managed fields in JSON and YAML.
    pub fn new(form: Form, single: bool, managed_fields: bool) -> Self {
        Self { form, single, managed_fields, printed: 0, tabs: Tabs::default(), buffered: Vec::new() }
    }

    /// Adds an object and returns the text that can be written now.
    ///
    /// # Errors
    /// Returns kubectl's message.
    pub fn add(&mut self, mut object: Value) -> Result<String, GoError> {
        let first = self.printed == 0;
        self.printed += 1;
        if !self.managed_fields && matches!(self.form, Form::Json | Form::Yaml | Form::Kyaml) {
            forget_managed_fields(&mut object);
        }
        Ok(match &self.form {
            Form::Json if self.single => json::write::kubectl(&object),
            Form::Yaml if self.single => yaml::write::to_string(&object),
            Form::Kyaml if self.single => yaml::kyaml::to_string(&object),
            Form::Json => {
                let before = if first { "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" } else { ",\n" };
                let text = json::write::indented(&object, "    ");
                format!("{before}        {}", text.replace('\n', "\n        "))
            }
            Form::Yaml => {
                let before = if first { "apiVersion: v1\nitems:\n" } else { "" };
                let list = yaml::write::to_string(&self::object([("items", Value::Array(vec![object]))]));
                format!("{before}{}", list.strip_prefix("items:\n").unwrap_or(&list))
            }
            Form::Kyaml => {
                let before = if first { "---\n{\n  apiVersion: \"v1\",\n  items: [" } else { ", " };
                format!("{before}{}", yaml::kyaml::node(&object, 1))
            }
            Form::Name => name(&object),
            Form::JsonPath { .. } | Form::Template(_) => {
                self.buffered.push(object);
                String::new()
            }
            Form::Columns(columns) => {
                if first {
                    columns.head(&mut self.tabs);
                }
                columns.row(&object, &mut self.tabs)?;
                String::new()
            }
        })
    }

    /// Returns the rest of the text.
    pub fn finish(mut self) -> Result<String, GoError> {
        let none = self.printed == 0;
        Ok(match &self.form {
            _ if self.single && none => String::new(),
            Form::Json | Form::Yaml | Form::Kyaml if self.single => String::new(),
            Form::Json if none => json::write::kubectl(&list(Vec::new())),
            Form::Yaml if none => yaml::write::to_string(&list(Vec::new())),
            Form::Kyaml if none => yaml::kyaml::to_string(&list(Vec::new())),
            Form::Json => {
                "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n"
                    .to_owned()
            }
            Form::Yaml => "kind: List\nmetadata:\n  resourceVersion: \"\"\n".to_owned(),
            Form::Kyaml => "],\n  kind: \"List\",\n  metadata: {\n    resourceVersion: \"\",\n  },\n}\n".to_owned(),
            Form::Name => String::new(),
            Form::JsonPath { .. } | Form::Template(_) => {
                let single = if self.single { self.buffered.pop() } else { None };
                let data = single.unwrap_or_else(|| list(self.buffered));
                match &self.form {
                    Form::JsonPath { template, text, as_json } => fill(template, text, *as_json, &data)?,
                    Form::Template(template) => template.execute(&data)?,
                    _ => String::new(),
                }
            }
            Form::Columns(columns) => {
                if none {
                    columns.head(&mut self.tabs);
                }
                self.tabs.flush()
            }
        })
    }
}

/// Formats the event `kind` of a watch as kubectl does with `--output-watch-events`.
///
/// # Errors
/// Returns kubectl's message.
pub fn event(form: &Form, kind: &str, object: Value) -> Result<String, GoError> {
    let event = |object: Value| self::object([("type", Value::from(kind)), ("object", object)]);
    Ok(match form {
        Form::Json => {
            let (kind, object) = (value::json::to_string(&kind.into()), value::json::to_string(&object));
            format!("{{\"type\":{kind},\"object\":{object}}}\n")
        }
        Form::Yaml => yaml::write::to_string(&event(object)),
        Form::Kyaml => {
            let (kind, object) = (yaml::kyaml::node(&kind.into(), 1), yaml::kyaml::node(&object, 1));
            format!("---\n{{\n  type: {kind},\n  object: {object},\n}}\n")
        }
        Form::Name => name(&object),
        Form::JsonPath { .. } | Form::Template(_) | Form::Columns(_) => {
            let mut printer = Objects::new(form.clone(), true, true);
            printer.add(event(object))? + &printer.finish()?
        }
    })
}

fn list(items: Vec<Value>) -> Value {
    object([
        ("apiVersion", Value::from("v1")),
        ("items", items.into()),
        ("kind", "List".into()),
        ("metadata", object([("resourceVersion", "")])),
    ])
}

fn forget_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn name(object: &Value) -> String {
    let kind = object.str_at(&["kind"]).unwrap_or_default().to_lowercase();
    let name = object.str_at(&["metadata", "name"]).unwrap_or("<unknown>");
    match object.str_at(&["apiVersion"]).unwrap_or_default().split_once('/') {
        Some((group, _)) => format!("{kind}.{group}/{name}\n"),
        None => format!("{kind}/{name}\n"),
    }
}

fn fill(template: &JsonPath, text: &str, as_json: bool, data: &Value) -> Result<String, GoError> {
    let found = if as_json { as_arrays(template, data) } else { template.execute(data) };
    // kubectl then also prints the object in Go syntax, which is omitted here.
    found.map_err(|error| format!("error executing jsonpath {}: {error}", crdx_value::quote::go_quote(text)).into())
}

fn as_arrays(template: &JsonPath, data: &Value) -> Result<String, GoError> {
    let value = |item: &Item<'_>| match item {
        Item::Value(value) => (*value).clone(),
        Item::Int(i) => Value::Int(*i),
        Item::Byte(byte) => Value::Int(i64::from(*byte)),
        Item::Missing => Value::Null,
    };
    let array = |items: &Vec<Item<'_>>| json::write::kubectl(&Value::Array(items.iter().map(value).collect()));
    Ok(template.find(data)?.iter().map(array).collect())
}

/// The flags that select a format.
#[derive(Clone, Copy, Debug)]
pub struct FormFlags<'a> {
    /// `-o`
    pub output: &'a str,
    /// `--template`
    pub template: Option<&'a str>,
    /// `--no-headers`
    pub no_headers: bool,
    /// `--allow-missing-template-keys`
    pub allow_missing: bool,
}

/// Parses the values of `-o` for these formats; returns `None` for other values. `read` returns the text of a file.
///
/// # Errors
/// Returns kubectl's message.
pub fn form(flags: FormFlags<'_>, read: impl Fn(&str) -> Result<String, GoError>) -> Result<Option<Form>, GoError> {
    let FormFlags { output, template, no_headers, allow_missing } = flags;
    match output.to_lowercase().as_str() {
        "json" => return Ok(Some(Form::Json)),
        "yaml" => return Ok(Some(Form::Yaml)),
        "kyaml" => return Ok(Some(Form::Kyaml)),
        _ if output == "name" => return Ok(Some(Form::Name)),
        _ => {}
    }
    let (word, text) = match (template.filter(|t| !t.is_empty()), output.split_once('=')) {
        (Some(template), _) => (output, template),
        (None, Some((word, text))) => (word, text),
        (None, None) => (output, ""),
    };
    let is_template = matches!(word, "go-template" | "go-template-file" | "template" | "templatefile");
    if (is_template || matches!(word, "jsonpath" | "jsonpath-as-json" | "jsonpath-file")) && text.is_empty() {
        return Err("template format specified but no template given".into());
    }
    match word {
        "go-template" | "template" => GoTemplate::parse(text, allow_missing).map(|t| Some(Form::Template(t))),
        "go-template-file" | "templatefile" => {
            let text = read(text).map_err(|e| format!("error reading --template {text}, {e}"))?;
            GoTemplate::parse(&text, allow_missing).map(|t| Some(Form::Template(t)))
        }
        "jsonpath" | "jsonpath-as-json" | "jsonpath-file" => {
            let text = match word {
                "jsonpath-file" => read(text).map_err(|e| format!("error reading --template {text}, {e}"))?,
                _ => text.to_owned(),
            };
            let parsed = JsonPath::parse(&text).map_err(|e| format!("error parsing jsonpath {text}, {e}"))?;
            let as_json = word == "jsonpath-as-json";
            Ok(Some(Form::JsonPath { template: parsed.allow_missing_keys(allow_missing), text, as_json }))
        }
        "custom-columns" => CustomColumns::parse(text, no_headers).map(|c| Some(Form::Columns(c))),
        "custom-columns-file" => {
            let text = read(text).map_err(|e| format!("error reading template {text}, {e}"))?;
            CustomColumns::parse_file(&text).map(|c| Some(Form::Columns(c)))
        }
        _ => Ok(None),
    }
}
