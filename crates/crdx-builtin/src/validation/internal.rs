//! Values of internal types as error messages show them: as JSON since 1.34, and in Go syntax (`%#v`) before
//! (`ErrorBody` in `k8s.io/apimachinery/pkg/util/validation/field`).
//!
//! Most internal types have no JSON tags, so that all fields are shown with their Go names in the order of the source.
//! Validators work on values of versioned types, which are printed here by the table of internal types.

mod table;

use crdx_cel::value::Quantity;
use crdx_types::empties::Empties;
use crdx_value::field::BadValue;
use crdx_value::release::{Minor, Release, V1_33, V1_34};
use crdx_value::{Value, json, quote::go_quote};
use std::fmt::Write as _;
use table::Field;

/// The maximum depth of printed values.
const MAX_DEPTH: usize = 200;

/// The types that are printed in their own way.
const OPAQUE: &[&str] = &[
    "intstr.IntOrString",
    "meta/v1.Duration",
    "meta/v1.FieldsV1",
    "meta/v1.MicroTime",
    "meta/v1.Time",
    "resource.Quantity",
    "runtime.Object",
    "runtime.RawExtension",
    "types.NodeName",
    "types.UID",
];

/// A value of an internal type in an error; `type_` is an expression such as `[]core.Toleration`.
pub fn bad_value(type_: &str, value: &Value, empties: Option<&Empties>, release: Release) -> BadValue {
    if release.since(V1_34) {
        return BadValue::Raw(to_json(type_, value, empties, release));
    }
    let mut target = type_;
    if let Some(pointed) = type_.strip_prefix('*') {
        if value.is_null() {
            return BadValue::from("null");
        }
        target = pointed;
    }
    BadValue::Raw(ValuePrinter::new(Style::Go, release).print(target, value, empties))
}

/// Compares two values of an internal type as Go's `Semantic.DeepEqual` does: absent and empty lists and maps are equal,
/// but not absent structs and those without fields.
pub fn is_equal(type_: &str, a: &Value, b: &Value, release: Release) -> bool {
    let compared = |value| ValuePrinter::new(Style::Compared, release).print(type_, value, None);
    a == b || compared(a) == compared(b)
}

/// A value of an internal type as JSON.
pub fn to_json(type_: &str, value: &Value, empties: Option<&Empties>, release: Release) -> String {
    ValuePrinter::new(Style::Json, release).print(type_, value, empties)
}

/// A value of an internal type as indented JSON (`toPrettyJSON` in `k8s.io/apimachinery/pkg/util/diff`).
pub(crate) fn to_pretty_json(type_: &str, value: &Value, empties: Option<&Empties>, release: Release) -> String {
    ValuePrinter::new(Style::Pretty, release).print(type_, value, empties)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Json,
    /// JSON in which equal quantities have the same text.
    Compared,
    Pretty,
    Go,
}

struct ValuePrinter {
    style: Style,
    release: Minor,
    out: String,
    depth: usize,
    /// The number of open objects and lists.
    nesting: usize,
}

/// A value, its empty lists and maps, and the struct that contains it.
#[derive(Clone, Copy)]
struct PrintedValue<'v> {
    value: &'v Value,
    empties: Option<&'v Empties>,
    outer: &'v Value,
}

impl PrintedValue<'_> {
    fn child(self, name: &str) -> Self {
        let (mut value, mut key) = (self.value, name);
        if let Some(name) = name.strip_prefix('^') {
            (value, key) = (self.outer, name);
        }
        let value = value.get(key).unwrap_or(&Value::Null);
        Self { value, empties: self.empties.and_then(|empties| empties.child(key)), outer: self.value }
    }

    fn is_empty(self) -> bool {
        self.empties.is_some_and(|empties| empties.text().is_some())
    }
}

impl ValuePrinter {
    fn new(style: Style, release: Release) -> Self {
        Self { style, release: release.minor(), out: String::new(), depth: 0, nesting: 0 }
    }

    fn print(mut self, type_: &str, value: &Value, empties: Option<&Empties>) -> String {
        self.value(type_, "", PrintedValue { value, empties, outer: &Value::Null });
        self.out
    }

    fn is_go(&self) -> bool {
        self.style == Style::Go
    }

    /// Prints a value of a type expression in a package.
    fn value(&mut self, type_: &str, package: &str, node: PrintedValue<'_>) {
        if self.depth > MAX_DEPTH {
            return self.out.push_str("null");
        }
        self.depth += 1;
        if let Some(target) = type_.strip_prefix('*') {
            self.pointer(target, package, node);
        } else if let Some(item) = type_.strip_prefix("[]") {
            self.list((type_, item), package, node);
        } else if let Some((_, of)) = type_.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            self.map((type_, of), package, node);
        } else {
            self.named(type_, package, node);
        }
        self.depth -= 1;
    }

    fn pointer(&mut self, target: &str, package: &str, node: PrintedValue<'_>) {
        match (self.is_go(), node.value.is_null()) {
            (false, true) => self.out.push_str("null"),
            (false, false) => self.value(target, package, node),
            // Go prints an address, which differs from request to request.
            (true, is_nil) => {
                let at = if is_nil { "nil" } else { "0xc000000000" };
                let _ = write!(self.out, "(*{})({at})", shown(target, package));
            }
        }
    }

    fn list(&mut self, (type_, item): (&str, &str), package: &str, node: PrintedValue<'_>) {
        let items = node.value.as_array().unwrap_or_default();
        if matches!(item, "byte" | "uint8") && !self.is_go() {
            return json::write_compact(&mut self.out, node.value);
        }
        if self.is_go() {
            self.out.push_str(&shown(type_, package));
        }
        if items.is_empty() {
            let (nil, empty) = if self.is_go() { ("(nil)", "{}") } else { ("null", "[]") };
            return self.out.push_str(if node.is_empty() { empty } else { nil });
        }
        let [open, close] = if self.is_go() { ['{', '}'] } else { ['[', ']'] };
        self.open(open);
        for (at, value) in items.iter().enumerate() {
            self.separate(at == 0);
            let empties = node.empties.and_then(|empties| empties.index(at));
            self.value(item, package, PrintedValue { value, empties, outer: node.outer });
        }
        self.close(close, false);
    }

    fn map(&mut self, (type_, of): (&str, &str), package: &str, node: PrintedValue<'_>) {
        if self.is_go() {
            self.out.push_str(&shown(type_, package));
        }
        let Some(members) = node.value.as_object().filter(|members| !members.is_empty()) else {
            let nil = if self.is_go() { "(nil)" } else { "null" };
            return self.out.push_str(if node.is_empty() { "{}" } else { nil });
        };
        self.open('{');
        for (at, (key, value)) in members.iter().enumerate() {
            self.separate(at == 0);
            self.map_key(key);
            let empties = node.empties.and_then(|empties| empties.child(key));
            self.value(of, package, PrintedValue { value, empties, outer: node.outer });
        }
        self.close('}', false);
    }

    fn named(&mut self, type_: &str, package: &str, node: PrintedValue<'_>) {
        let full = qualified(type_, package);
        if OPAQUE.contains(&full.as_str()) {
            return self.opaque(&full, node.value);
        }
        let Some(definition) = table::find(&full) else { return self.scalar(type_, node.value) };
        let package = full.rsplit_once('.').map_or("", |(package, _)| package);
        match definition.of {
            "" => self.object(&full, node),
            // The name of a list or map in Go syntax is that of the type.
            of if of.starts_with('[') => self.list((&full, of.trim_start_matches("[]")), package, node),
            of if of.starts_with("map[") => {
                let (_, item) = of.split_once(']').unwrap_or_default();
                self.map((&full, item), package, node);
            }
            of => self.value(of, package, node),
        }
    }

    fn object(&mut self, full: &str, node: PrintedValue<'_>) {
        let package = full.rsplit_once('.').map_or("", |(package, _)| package);
        if self.is_go() {
            self.out.push_str(&shown(full, ""));
        }
        self.open('{');
        let mut is_first = true;
        self.fields(full, package, node, &mut is_first);
        self.close('}', is_first);
    }

    fn fields(&mut self, full: &str, package: &str, node: PrintedValue<'_>, is_first: &mut bool) {
        let fields =
            table::find(full).into_iter().flat_map(|definition| definition.fields(self.release.number().into()));
        for field in fields.collect::<Vec<_>>() {
            self.field(field, package, node, is_first);
        }
    }

    fn field(&mut self, field: &Field, package: &str, node: PrintedValue<'_>, is_first: &mut bool) {
        let inner = match field.name {
            // Internal objects have no type.
            "TypeMeta" => PrintedValue { value: &Value::Null, empties: None, outer: node.outer },
            "ObjectMeta" => node.child("metadata"),
            _ if field.is_embedded() => node,
            _ => node.child(field.key),
        };
        if field.is_embedded() && !self.is_go() {
            let full = qualified(field.type_, package);
            let package = full.rsplit_once('.').map_or("", |(package, _)| package).to_owned();
            return self.fields(&full, &package, inner, is_first);
        }
        // A pointer to a zero value is not omitted.
        let is_omitted = if field.type_.starts_with('*') { inner.value.is_null() } else { is_zero(inner.value) };
        if !self.is_go() && field.omits_zero() && is_omitted {
            return;
        }
        self.separate(*is_first);
        *is_first = false;
        let name = if self.is_go() { field.name } else { field.json_name() };
        self.field_name(name);
        self.value(field.type_, package, inner);
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.nesting += 1;
    }

    /// Goes to the next item or member.
    fn separate(&mut self, is_first: bool) {
        if !is_first {
            self.out.push_str(if self.is_go() { ", " } else { "," });
        }
        self.indent();
    }

    fn close(&mut self, bracket: char, is_empty: bool) {
        self.nesting = self.nesting.saturating_sub(1);
        if !is_empty {
            self.indent();
        }
        self.out.push(bracket);
    }

    fn indent(&mut self) {
        if self.style == Style::Pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', self.nesting));
        }
    }

    fn map_key(&mut self, key: &str) {
        if self.style == Style::Go {
            self.out.push_str(&go_quote(key));
        } else {
            json::write_string(&mut self.out, key);
        }
        self.colon();
    }

    fn field_name(&mut self, name: &str) {
        if self.style == Style::Go {
            self.out.push_str(name);
        } else {
            json::write_string(&mut self.out, name);
        }
        self.colon();
    }

    fn colon(&mut self) {
        self.out.push_str(if self.style == Style::Pretty { ": " } else { ":" });
    }

    /// A value of a basic type.
    fn scalar(&mut self, type_: &str, value: &Value) {
        match (type_, value) {
            ("string", Value::Null) => self.out.push_str("\"\""),
            ("bool", Value::Null) => self.out.push_str("false"),
            (_, Value::Null) => self.out.push('0'),
            (_, Value::String(text)) if self.is_go() => self.out.push_str(&go_quote(text)),
            (_, value) => json::write_compact(&mut self.out, value),
        }
    }

    fn opaque(&mut self, full: &str, value: &Value) {
        if self.is_go() {
            return self.out.push_str(&go_opaque(full, value));
        }
        match (full, value) {
            ("resource.Quantity", value) if self.style == Style::Compared => {
                let quantity = value.as_str().and_then(|text| Quantity::parse(text, self.release).ok());
                let text = quantity.map_or_else(|| json::to_string(value), |quantity| quantity.in_one_form());
                self.out.push_str(&text);
            }
            ("resource.Quantity", Value::Null) => self.out.push_str("\"0\""),
            ("meta/v1.Duration", Value::Null) => self.out.push_str("\"0s\""),
            ("intstr.IntOrString", Value::Null) => self.out.push('0'),
            ("types.NodeName" | "types.UID", Value::Null) => self.out.push_str("\"\""),
            (_, value) => json::write_compact(&mut self.out, value),
        }
    }
}

/// A value of a type with its own format in Go syntax.
fn go_opaque(full: &str, value: &Value) -> String {
    match (full, value) {
        ("intstr.IntOrString", Value::String(text)) => {
            format!("intstr.IntOrString{{Type:1, IntVal:0, StrVal:{}}}", go_quote(text))
        }
        ("intstr.IntOrString", value) => {
            format!("intstr.IntOrString{{Type:0, IntVal:{}, StrVal:\"\"}}", value.as_int().unwrap_or_default())
        }
        ("runtime.RawExtension", Value::Null) => go_raw_extension("(nil)"),
        ("runtime.RawExtension", value) => {
            let bytes: Vec<String> = json::to_string(value).bytes().map(|byte| format!("{byte:#x}")).collect();
            go_raw_extension(&format!("{{{}}}", bytes.join(", ")))
        }
        ("types.NodeName" | "types.UID", value) => go_quote(value.as_str().unwrap_or_default()),
        ("resource.Quantity", value) => {
            let text = value.as_str().unwrap_or("0");
            let number =
                Quantity::parse(text, V1_33).ok().and_then(|quantity| quantity.to_string().parse::<i64>().ok());
            format!(
                "resource.Quantity{{i:resource.int64Amount{{value:{}, scale:0}}, d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:{}, Format:\"DecimalSI\"}}",
                number.unwrap_or_default(),
                go_quote(text)
            )
        }
        // The zero time; other times are set by the server only.
        _ => "time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)".to_owned(),
    }
}

fn go_raw_extension(bytes: &str) -> String {
    format!("runtime.RawExtension{{Raw:[]uint8{bytes}, Object:runtime.Object(nil)}}")
}

/// Returns true for a value that `omitempty` leaves out.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(set) => !set,
        Value::Int(number) => *number == 0,
        Value::Float(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// The name of a type with its package.
fn qualified(type_: &str, package: &str) -> String {
    if type_.starts_with('.') { format!("{package}{type_}") } else { type_.to_owned() }
}

/// A type expression as Go prints it: `[]core.Container` and `v1.LabelSelector`.
fn shown(type_: &str, package: &str) -> String {
    for prefix in ["*", "[]"] {
        if let Some(rest) = type_.strip_prefix(prefix) {
            return format!("{prefix}{}", shown(rest, package));
        }
    }
    if let Some((key, of)) = type_.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[{}]{}", shown(key, package), shown(of, package));
    }
    let full = qualified(type_, package);
    full.rsplit_once('/').map_or(full.as_str(), |(_, name)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::field::{FieldError, ROOT};

    fn shown_in(minor: u16, type_: &str, text: &str) -> String {
        let given = crdx_text::json::read(text.as_bytes()).unwrap();
        let empties = Empties::from_value(&given);
        let bad = bad_value(type_, &given, empties.as_ref(), Release::new(minor).unwrap());
        FieldError::invalid(&ROOT, bad, "").body().replace("Invalid value: ", "")
    }

    #[test]
    fn structs_are_shown_with_all_fields_in_the_order_of_the_source() {
        let strategy = r#"{"rollingUpdate":{"maxSurge":"25%"},"type":"x"}"#;
        assert_eq!(
            shown_in(37, "apps.DeploymentStrategy", strategy),
            r#"{"Type":"x","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}"#
        );
        assert_eq!(
            shown_in(33, "apps.DeploymentStrategy", r#"{"type":"x"}"#),
            r#"apps.DeploymentStrategy{Type:"x", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}"#
        );
        assert_eq!(
            shown_in(
                31,
                "core.ScopeSelector",
                r#"{"matchExpressions":[{"scopeName":"a","operator":"In","values":["b"]}]}"#
            ),
            r#"core.ScopeSelector{MatchExpressions:[]core.ScopedResourceSelectorRequirement{core.ScopedResourceSelectorRequirement{ScopeName:"a", Operator:"In", Values:[]string{"b"}}}}"#
        );
    }

    #[test]
    fn a_pointer_to_a_zero_value_is_shown() {
        let owner = r#"{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","controller":false}"#;
        assert_eq!(shown_in(35, "meta/v1.OwnerReference", owner), owner);
    }

    #[test]
    fn tagged_fields_are_shown_as_in_json() {
        let selector = r#"{"matchLabels":{"a":"b<"}}"#;
        assert_eq!(shown_in(34, "*meta/v1.LabelSelector", selector), "{\"matchLabels\":{\"a\":\"b\\u003c\"}}");
        assert_eq!(
            shown_in(31, "*meta/v1.LabelSelector", selector),
            r#"v1.LabelSelector{MatchLabels:map[string]string{"a":"b<"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}"#
        );
        assert_eq!(
            (shown_in(34, "*meta/v1.LabelSelector", "null"), shown_in(33, "*meta/v1.LabelSelector", "null")),
            ("null".to_owned(), "\"null\"".to_owned())
        );
    }

    #[test]
    fn empty_values_differ_from_absent_ones() {
        for (type_, text, new, old) in [
            ("[]networking.IngressRule", "[]", "[]", "[]networking.IngressRule{}"),
            ("[]networking.IngressRule", "null", "null", "[]networking.IngressRule(nil)"),
            ("core.ResourceList", "{}", "{}", "core.ResourceList{}"),
            ("core.ResourceList", "null", "null", "core.ResourceList(nil)"),
            ("map[string]string", "null", "null", "map[string]string(nil)"),
        ] {
            assert_eq!((shown_in(37, type_, text), shown_in(31, type_, text)), (new.to_owned(), old.to_owned()));
        }
        assert_eq!(
            shown_in(37, "core.ScopeSelector", r#"{"matchExpressions":[{"scopeName":"a","operator":"","values":[]}]}"#),
            r#"{"MatchExpressions":[{"ScopeName":"a","Operator":"","Values":[]}]}"#
        );
    }

    #[test]
    fn an_empty_struct_differs_from_none_and_an_empty_list_does_not() {
        let is_equal = |a: &str, b: &str| {
            let read = |text: &str| crdx_text::json::read(text.as_bytes()).unwrap();
            super::is_equal("core.Container", &read(a), &read(b), Release::NEWEST)
        };
        assert!(is_equal(r#"{"name":"a","args":[]}"#, r#"{"name":"a"}"#));
        assert!(is_equal(r#"{"name":"a","resources":{}}"#, r#"{"name":"a"}"#));
        assert!(!is_equal(r#"{"name":"a","securityContext":{}}"#, r#"{"name":"a"}"#));
    }

    #[test]
    fn fields_that_internal_types_have_elsewhere_are_shown_there() {
        let text = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"hostNetwork":true,"securityContext":{},"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","emptyDir":{}}]}}"#;
        let old = shown_in(34, "core.PodTemplateSpec", text);
        assert!(old.starts_with(r#"{"labels":{"a":"b"},"Spec":{"Volumes":[{"Name":"v","HostPath":null,"EmptyDir":{"Medium":"","SizeLimit":null},"GCE"#), "{old}");
        assert!(old.contains(r#""SecurityContext":{"HostNetwork":true,"HostPID":false"#), "{old}");
        let new = shown_in(37, "core.PodTemplateSpec", text);
        assert!(new.contains(r#""NodeName":"","HostNetwork":true,"HostPID":false"#), "{new}");
    }

    #[test]
    fn indented_values_are_those_of_go() {
        let value = crdx_text::json::read(br#"{"accessModes":["a"],"resources":{"requests":{"storage":"1Gi"}}}"#);
        let text = to_pretty_json("core.PersistentVolumeClaimSpec", &value.unwrap(), None, Release::NEWEST);
        let start = "{\n \"AccessModes\": [\n  \"a\"\n ],\n \"Selector\": null,\n \"Resources\": {\n  \"Limits\": null,\n  \"Requests\": {\n   \"storage\": \"1Gi\"\n  }\n },\n \"VolumeName\": \"\",\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("\n}"), "{text}");
    }
}
