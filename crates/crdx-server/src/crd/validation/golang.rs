//! Formats the server's internal Go structs for error messages that contain a whole schema, rule or version: as JSON
//! and, before 1.34, in Go syntax (`%#v`), where pointers are printed as varying addresses. Members have the names and
//! the order of the Go fields, and absent values are null.

use crate::crd::{Column, CrdVersion, Spec, Subresources, Validation};
use crate::schema::keywords::{Keyword, KeywordVisitor};
use crate::schema::{Empty, ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crdx_value::field::BadValue;
use crdx_value::release::{Release, V1_34};
use crdx_value::{Value, json, print, quote};
use std::collections::BTreeMap;

/// Formats a schema.
pub fn schema(s: &Schema, release: Release) -> BadValue {
    show(release, |w| w.schema(s))
}
/// Formats a rule.
pub fn rule(r: &ValidationRule, release: Release) -> BadValue {
    show(release, |w| w.rule(r))
}
/// Formats `items`.
pub fn items(i: &Items, release: Release) -> BadValue {
    show(release, |w| w.items(i))
}
/// Formats `versions`.
pub fn versions(spec: &Spec, release: Release) -> BadValue {
    let versions = spec.versions.as_slice();
    show(release, |w| {
        w.given_list(
            versions,
            spec.versions_empty,
            "[]apiextensions.CustomResourceDefinitionVersion",
            StructWriter::version,
        );
    })
}
/// Formats a string that is a pointer in Go: since 1.34 it is quoted like JSON, before like Go.
pub fn text(text: &str, release: Release) -> BadValue {
    if release.since(V1_34) { show(release, |w| w.string(text)) } else { BadValue::from(text) }
}

/// The Go type of a schema.
const SCHEMA: &str = "apiextensions.JSONSchemaProps";

/// The placeholder for the address of a pointer.
const ADDRESS: &str = "0xc000000000";

fn show(release: Release, write: impl FnOnce(&mut StructWriter)) -> BadValue {
    let mut w = StructWriter { json: release.since(V1_34), first: true, out: String::new() };
    write(&mut w);
    BadValue::Raw(w.out)
}

struct StructWriter {
    /// True for JSON, false for Go syntax.
    json: bool,
    /// True until the first field of the current struct is written.
    first: bool,
    out: String,
}

impl StructWriter {
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }
    fn comma(&mut self) {
        self.raw(if self.json { "," } else { ", " });
    }
    /// Opens a struct of a type.
    fn open(&mut self, type_: &str) {
        if !self.json {
            self.raw(type_);
        }
        self.raw("{");
        self.first = true;
    }
    fn close(&mut self) {
        self.first = false;
        self.raw("}");
    }
    fn key(&mut self, name: &str) {
        if !self.first {
            self.comma();
        }
        self.first = false;
        let quote = if self.json { "\"" } else { "" };
        self.raw(quote);
        self.raw(name);
        self.raw(quote);
        self.raw(":");
    }
    fn string(&mut self, text: &str) {
        if self.json {
            json::write_string(&mut self.out, text);
        } else {
            self.out.push_str(&quote::go_quote(text));
        }
    }
    fn value(&mut self, v: &Value) {
        if self.json {
            json::write_compact(&mut self.out, v);
        } else {
            print::write_go_syntax(&mut self.out, v);
        }
    }
    fn text(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }
    fn flag(&mut self, name: &str, flag: bool) {
        self.key(name);
        self.raw(if flag { "true" } else { "false" });
    }
    /// Writes a field that is a pointer to a type.
    fn optional<T>(&mut self, name: &str, type_: &str, v: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.key(name);
        match v {
            Some(v) if self.json => write(self, v),
            None if self.json => self.raw("null"),
            v => {
                let address = if v.is_some() { ADDRESS } else { "nil" };
                self.raw(&format!("(*{type_})({address})"));
            }
        }
    }
    fn optional_flag(&mut self, name: &str, flag: Option<bool>) {
        self.optional(name, "bool", flag, |w, b| w.value(&Value::Bool(b)));
    }
    /// Writes a slice of a Go type. With `given`, an empty slice is not nil.
    fn given_list<T>(&mut self, items: &[T], given: bool, type_: &str, mut write: impl FnMut(&mut Self, &T)) {
        let omitted = items.is_empty() && !given;
        match (self.json, omitted) {
            (true, true) => return self.raw("null"),
            (false, true) => return self.raw(&format!("{type_}(nil)")),
            (true, false) => self.raw("["),
            (false, false) => self.raw(&format!("{type_}{{")),
        }
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.comma();
            }
            write(self, item);
        }
        self.raw(if self.json { "]" } else { "}" });
    }
    fn strings(&mut self, items: &[String], given: bool) {
        self.given_list(items, given, "[]string", |w, s| w.string(s));
    }
    /// Writes a map of a Go type.
    fn map<T>(
        &mut self,
        (name, type_): (&str, &str),
        members: &BTreeMap<String, T>,
        given: bool,
        mut write: impl FnMut(&mut Self, &T),
    ) {
        self.key(name);
        let omitted = members.is_empty() && !given;
        match (self.json, omitted) {
            (true, true) => return self.raw("null"),
            (false, true) => return self.raw(&format!("{type_}(nil)")),
            (true, false) => self.raw("{"),
            (false, false) => self.raw(&format!("{type_}{{")),
        }
        for (i, (key, v)) in members.iter().enumerate() {
            if i > 0 {
                self.comma();
            }
            self.string(key);
            self.raw(":");
            write(self, v);
        }
        self.raw("}");
    }
    fn schemas(&mut self, name: &str, schemas: &[Schema], given: bool) {
        self.key(name);
        self.given_list(schemas, given, "[]apiextensions.JSONSchemaProps", Self::schema);
    }

    fn schema(&mut self, s: &Schema) {
        self.open(SCHEMA);
        s.visit_keywords(&mut SchemaWriter { w: self, empty: &s.empty });
        self.close();
    }
    fn schema_or_names(&mut self, dependency: &SchemaOrNames) {
        let (schema, names) = match dependency {
            SchemaOrNames::Schema(schema) => (Some(&**schema), &[][..]),
            SchemaOrNames::Names(names) => (None, names.as_slice()),
        };
        self.open("apiextensions.JSONSchemaPropsOrStringArray");
        self.optional("Schema", SCHEMA, schema, Self::schema);
        self.key("Property");
        self.strings(names, false);
        self.close();
    }
    fn external_documentation(&mut self, docs: &ExternalDocumentation) {
        self.open("apiextensions.ExternalDocumentation");
        self.text("Description", &docs.description);
        self.text("URL", &docs.url);
        self.close();
    }
    fn items(&mut self, i: &Items) {
        let (one, many) = match i {
            Items::Schema(one) => (Some(&**one), &[][..]),
            Items::Schemas(many) => (None, many.as_slice()),
        };
        self.open("apiextensions.JSONSchemaPropsOrArray");
        self.optional("Schema", SCHEMA, one, Self::schema);
        self.schemas("JSONSchemas", many, false);
        self.close();
    }
    fn schema_or_bool(&mut self, s: &SchemaOrBool) {
        let (allows, schema) = match s {
            SchemaOrBool::Schema(schema) => (true, Some(&**schema)),
            SchemaOrBool::Bool(allows) => (*allows, None),
        };
        self.open("apiextensions.JSONSchemaPropsOrBool");
        self.flag("Allows", allows);
        self.optional("Schema", SCHEMA, schema, Self::schema);
        self.close();
    }
    fn rule(&mut self, r: &ValidationRule) {
        self.open("apiextensions.ValidationRule");
        self.text("Rule", &r.rule);
        self.text("Message", &r.message);
        self.text("MessageExpression", &r.message_expression);
        self.optional("Reason", "apiextensions.FieldValueErrorReason", r.reason.as_deref(), Self::string);
        self.text("FieldPath", &r.field_path);
        self.optional_flag("OptionalOldSelf", r.optional_old_self);
        self.close();
    }
    fn version(&mut self, v: &CrdVersion) {
        self.open("apiextensions.CustomResourceDefinitionVersion");
        self.text("Name", &v.name);
        self.flag("Served", v.served);
        self.flag("Storage", v.storage);
        self.flag("Deprecated", v.deprecated);
        self.optional("DeprecationWarning", "string", v.deprecation_warning.as_deref(), Self::string);
        self.optional(
            "Schema",
            "apiextensions.CustomResourceValidation",
            v.schema.as_ref(),
            |w, Validation { schema }| {
                w.open("apiextensions.CustomResourceValidation");
                w.optional("OpenAPIV3Schema", SCHEMA, schema.as_deref(), Self::schema);
                w.close();
            },
        );
        self.optional(
            "Subresources",
            "apiextensions.CustomResourceSubresources",
            v.subresources.as_ref(),
            Self::subresources,
        );
        self.key("AdditionalPrinterColumns");
        self.given_list(&v.columns, false, "[]apiextensions.CustomResourceColumnDefinition", Self::column);
        self.key("SelectableFields");
        self.given_list(&v.selectable_fields, false, "[]apiextensions.SelectableField", |w, path| {
            w.open("apiextensions.SelectableField");
            w.text("JSONPath", path);
            w.close();
        });
        self.close();
    }
    fn subresources(&mut self, s: &Subresources) {
        self.open("apiextensions.CustomResourceSubresources");
        self.optional("Status", "apiextensions.CustomResourceSubresourceStatus", s.status.then_some(()), |w, ()| {
            w.raw("{}");
        });
        self.optional("Scale", "apiextensions.CustomResourceSubresourceScale", s.scale.as_ref(), |w, scale| {
            w.open("apiextensions.CustomResourceSubresourceScale");
            w.text("SpecReplicasPath", &scale.spec_replicas_path);
            w.text("StatusReplicasPath", &scale.status_replicas_path);
            w.optional("LabelSelectorPath", "string", scale.label_selector_path.as_deref(), Self::string);
            w.close();
        });
        self.close();
    }
    fn column(&mut self, c: &Column) {
        self.open("apiextensions.CustomResourceColumnDefinition");
        self.text("Name", &c.name);
        self.text("Type", &c.type_);
        self.text("Format", &c.format);
        self.text("Description", &c.description);
        self.key("Priority");
        self.value(&Value::Int(c.priority.into()));
        self.text("JSONPath", &c.json_path);
        self.close();
    }
}

/// Writes the keywords of a schema.
struct SchemaWriter<'a> {
    w: &'a mut StructWriter,
    empty: &'a Empty,
}

impl KeywordVisitor for SchemaWriter<'_> {
    fn text(&mut self, keyword: Keyword, text: &str) {
        self.w.text(keyword.go_field, text);
    }
    fn optional_text(&mut self, keyword: Keyword, text: Option<&str>) {
        self.w.optional(keyword.go_field, "string", text, StructWriter::string);
    }
    fn flag(&mut self, keyword: Keyword, flag: bool) {
        self.w.flag(keyword.go_field, flag);
    }
    fn optional_flag(&mut self, keyword: Keyword, flag: Option<bool>) {
        self.w.optional_flag(keyword.go_field, flag);
    }
    fn number(&mut self, keyword: Keyword, number: Option<f64>) {
        self.w.optional(keyword.go_field, "float64", number, |w, x| w.value(&Value::Float(x)));
    }
    fn integer(&mut self, keyword: Keyword, integer: Option<i64>) {
        self.w.optional(keyword.go_field, "int64", integer, |w, i| w.value(&Value::Int(i)));
    }
    fn json(&mut self, keyword: Keyword, value: Option<&Value>) {
        self.w.optional(keyword.go_field, "apiextensions.JSON", value, StructWriter::value);
    }
    fn json_list(&mut self, keyword: Keyword, values: &[Value]) {
        self.w.key(keyword.go_field);
        self.w.given_list(values, self.empty.has(keyword.name), "[]apiextensions.JSON", StructWriter::value);
    }
    fn names(&mut self, keyword: Keyword, names: &[String]) {
        self.w.key(keyword.go_field);
        self.w.strings(names, self.empty.has(keyword.name));
    }
    fn items(&mut self, keyword: Keyword, items: Option<&Items>) {
        self.w.optional(keyword.go_field, "apiextensions.JSONSchemaPropsOrArray", items, StructWriter::items);
    }
    fn schemas(&mut self, keyword: Keyword, schemas: &[Schema]) {
        self.w.schemas(keyword.go_field, schemas, self.empty.has(keyword.name));
    }
    fn schema(&mut self, keyword: Keyword, schema: Option<&Schema>) {
        self.w.optional(keyword.go_field, SCHEMA, schema, StructWriter::schema);
    }
    fn schema_map(&mut self, keyword: Keyword, schemas: &BTreeMap<String, Box<Schema>>) {
        let type_ = "map[string]apiextensions.JSONSchemaProps";
        self.w.map((keyword.go_field, type_), schemas, self.empty.has(keyword.name), |w, s| w.schema(s));
    }
    fn definitions(&mut self, keyword: Keyword, schemas: &BTreeMap<String, Box<Schema>>) {
        let type_ = "apiextensions.JSONSchemaDefinitions";
        self.w.map((keyword.go_field, type_), schemas, self.empty.has(keyword.name), |w, s| w.schema(s));
    }
    fn schema_or_bool(&mut self, keyword: Keyword, value: Option<&SchemaOrBool>) {
        self.w.optional(keyword.go_field, "apiextensions.JSONSchemaPropsOrBool", value, StructWriter::schema_or_bool);
    }
    fn dependencies(&mut self, keyword: Keyword, dependencies: &BTreeMap<String, SchemaOrNames>) {
        let type_ = "apiextensions.JSONSchemaDependencies";
        let is_given = self.empty.has(keyword.name);
        self.w.map((keyword.go_field, type_), dependencies, is_given, StructWriter::schema_or_names);
    }
    fn external_docs(&mut self, keyword: Keyword, docs: Option<&ExternalDocumentation>) {
        let type_ = "apiextensions.ExternalDocumentation";
        self.w.optional(keyword.go_field, type_, docs, StructWriter::external_documentation);
    }
    fn rules(&mut self, keyword: Keyword, rules: &[ValidationRule]) {
        self.w.key(keyword.go_field);
        self.w.given_list(rules, self.empty.has(keyword.name), "apiextensions.ValidationRules", StructWriter::rule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::field::{FieldError, FieldPath};

    #[test]
    fn older_releases_show_structs_in_go_syntax() {
        let r = ValidationRule {
            rule: "self == \"a\"".to_owned(),
            optional_old_self: Some(true),
            ..ValidationRule::default()
        };
        let text = |release| FieldError::invalid(&FieldPath::new("a"), rule(&r, release), "b").to_string();
        assert_eq!(
            text(Release::NEWEST),
            r#"a: Invalid value: {"Rule":"self == \"a\"","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":true}: b"#
        );
        assert_eq!(
            text(Release::OLDEST),
            r#"a: Invalid value: apiextensions.ValidationRule{Rule:"self == \"a\"", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(0xc000000000)}: b"#
        );
    }
}
