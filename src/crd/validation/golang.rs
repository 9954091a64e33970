//! The server's internal Go structs as JSON: error messages that show a whole schema, rule or version show them so.
//! The names are those of the Go fields, in their order, and what is absent is null.

use crate::crd::{Column, CrdVersion, Spec, Subresources, Validation};
use crate::field::BadValue;
use crate::schema::{ExternalDocumentation, Items, Schema, SchemaOrBool, SchemaOrNames, ValidationRule};
use crate::value::{Value, json};
use std::collections::BTreeMap;

/// A schema.
pub fn schema(s: &Schema) -> BadValue {
    show(|w| w.schema(s))
}
/// A rule.
pub fn rule(r: &ValidationRule) -> BadValue {
    show(|w| w.rule(r))
}
/// `items`
pub fn items(i: &Items) -> BadValue {
    show(|w| w.items(i))
}
/// `versions`
pub fn versions(spec: &Spec) -> BadValue {
    show(|w| match spec.versions.as_slice() {
        [] if spec.versions_empty => w.raw("[]"),
        versions => w.list(versions, Writer::version),
    })
}
/// A text that Go has a pointer to: it is quoted as JSON quotes, not as Go does.
pub fn text(text: &str) -> BadValue {
    show(|w| w.string(text))
}
/// A list of strings.
pub fn strings(items: &[String]) -> BadValue {
    show(|w| w.strings(items))
}

fn show(write: impl FnOnce(&mut Writer)) -> BadValue {
    let mut w = Writer { out: String::new() };
    write(&mut w);
    BadValue::Raw(w.out)
}

struct Writer {
    out: String,
}

impl Writer {
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }
    fn key(&mut self, name: &str) {
        self.raw(if self.out.ends_with('{') { "\"" } else { ",\"" });
        self.raw(name);
        self.raw("\":");
    }
    fn string(&mut self, text: &str) {
        json::write_string(&mut self.out, text);
    }
    fn value(&mut self, v: &Value) {
        json::write_compact(&mut self.out, v);
    }
    fn text(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }
    fn flag(&mut self, name: &str, flag: bool) {
        self.key(name);
        self.raw(if flag { "true" } else { "false" });
    }
    fn optional<T>(&mut self, name: &str, v: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.key(name);
        match v {
            Some(v) => write(self, v),
            None => self.raw("null"),
        }
    }
    fn number(&mut self, name: &str, v: Option<f64>) {
        self.optional(name, v, |w, x| w.value(&Value::Float(x)));
    }
    fn integer(&mut self, name: &str, v: Option<i64>) {
        self.optional(name, v, |w, i| w.value(&Value::Int(i)));
    }
    fn list<T>(&mut self, items: &[T], write: impl FnMut(&mut Self, &T)) {
        self.given_list(items, false, write);
    }
    /// A list that is not null when it was given empty.
    fn given_list<T>(&mut self, items: &[T], given: bool, mut write: impl FnMut(&mut Self, &T)) {
        if items.is_empty() {
            return self.raw(if given { "[]" } else { "null" });
        }
        for (i, item) in items.iter().enumerate() {
            self.raw(if i == 0 { "[" } else { "," });
            write(self, item);
        }
        self.raw("]");
    }
    fn strings(&mut self, items: &[String]) {
        self.list(items, |w, s| w.string(s));
    }
    fn map<T>(&mut self, name: &str, members: &BTreeMap<String, T>, given: bool, mut write: impl FnMut(&mut Self, &T)) {
        self.key(name);
        if members.is_empty() {
            return self.raw(if given { "{}" } else { "null" });
        }
        self.raw("{");
        for (key, v) in members {
            let first = self.out.ends_with('{');
            if !first {
                self.raw(",");
            }
            self.string(key);
            self.raw(":");
            write(self, v);
        }
        self.raw("}");
    }
    fn schemas(&mut self, name: &str, schemas: &[Schema], given: bool) {
        self.key(name);
        self.given_list(schemas, given, Self::schema);
    }

    fn schema(&mut self, s: &Schema) {
        self.raw("{");
        self.text("ID", &s.id);
        self.text("Schema", &s.schema);
        self.optional("Ref", s.reference.as_deref(), Self::string);
        self.text("Description", &s.description);
        self.text("Type", &s.type_);
        self.flag("Nullable", s.nullable);
        self.text("Format", &s.format);
        self.text("Title", &s.title);
        self.optional("Default", s.default.as_ref(), Self::value);
        self.number("Maximum", s.maximum);
        self.flag("ExclusiveMaximum", s.exclusive_maximum);
        self.number("Minimum", s.minimum);
        self.flag("ExclusiveMinimum", s.exclusive_minimum);
        self.integer("MaxLength", s.max_length);
        self.integer("MinLength", s.min_length);
        self.text("Pattern", &s.pattern);
        self.integer("MaxItems", s.max_items);
        self.integer("MinItems", s.min_items);
        self.flag("UniqueItems", s.unique_items);
        self.number("MultipleOf", s.multiple_of);
        self.key("Enum");
        self.given_list(&s.enum_, s.empty.has("enum"), Self::value);
        self.integer("MaxProperties", s.max_properties);
        self.integer("MinProperties", s.min_properties);
        self.key("Required");
        self.given_list(&s.required, s.empty.has("required"), |w, s| w.string(s));
        self.optional("Items", s.items.as_ref(), Self::items);
        self.schemas("AllOf", &s.all_of, s.empty.has("allOf"));
        self.schemas("OneOf", &s.one_of, s.empty.has("oneOf"));
        self.schemas("AnyOf", &s.any_of, s.empty.has("anyOf"));
        self.optional("Not", s.not.as_deref(), Self::schema);
        self.map("Properties", &s.properties, s.empty.has("properties"), |w, s| w.schema(s));
        self.optional("AdditionalProperties", s.additional_properties.as_ref(), Self::schema_or_bool);
        self.map("PatternProperties", &s.pattern_properties, s.empty.has("patternProperties"), |w, s| w.schema(s));
        self.map("Dependencies", &s.dependencies, s.empty.has("dependencies"), |w, d| {
            let (schema, names) = match d {
                SchemaOrNames::Schema(schema) => (Some(&**schema), &[][..]),
                SchemaOrNames::Names(names) => (None, names.as_slice()),
            };
            w.raw("{");
            w.optional("Schema", schema, Self::schema);
            w.key("Property");
            w.strings(names);
            w.raw("}");
        });
        self.optional("AdditionalItems", s.additional_items.as_ref(), Self::schema_or_bool);
        self.map("Definitions", &s.definitions, s.empty.has("definitions"), |w, s| w.schema(s));
        self.optional("ExternalDocs", s.external_docs.as_ref(), |w, ExternalDocumentation { description, url }| {
            w.raw("{");
            w.text("Description", description);
            w.text("URL", url);
            w.raw("}");
        });
        self.optional("Example", s.example.as_ref(), Self::value);
        self.optional("XPreserveUnknownFields", s.x_preserve_unknown_fields, |w, b| w.value(&Value::Bool(b)));
        self.flag("XEmbeddedResource", s.x_embedded_resource);
        self.flag("XIntOrString", s.x_int_or_string);
        self.key("XListMapKeys");
        self.given_list(&s.x_list_map_keys, s.empty.has("x-kubernetes-list-map-keys"), |w, s| w.string(s));
        self.optional("XListType", s.x_list_type.as_deref(), Self::string);
        self.optional("XMapType", s.x_map_type.as_deref(), Self::string);
        self.key("XValidations");
        self.given_list(&s.x_validations, s.empty.has("x-kubernetes-validations"), Self::rule);
        self.raw("}");
    }
    fn items(&mut self, i: &Items) {
        let (one, many) = match i {
            Items::Schema(one) => (Some(&**one), &[][..]),
            Items::Schemas(many) => (None, many.as_slice()),
        };
        self.raw("{");
        self.optional("Schema", one, Self::schema);
        self.schemas("JSONSchemas", many, false);
        self.raw("}");
    }
    fn schema_or_bool(&mut self, s: &SchemaOrBool) {
        let (allows, schema) = match s {
            SchemaOrBool::Schema(schema) => (true, Some(&**schema)),
            SchemaOrBool::Bool(allows) => (*allows, None),
        };
        self.raw("{");
        self.flag("Allows", allows);
        self.optional("Schema", schema, Self::schema);
        self.raw("}");
    }
    fn rule(&mut self, r: &ValidationRule) {
        self.raw("{");
        self.text("Rule", &r.rule);
        self.text("Message", &r.message);
        self.text("MessageExpression", &r.message_expression);
        self.optional("Reason", r.reason.as_deref(), Self::string);
        self.text("FieldPath", &r.field_path);
        self.optional("OptionalOldSelf", r.optional_old_self, |w, b| w.value(&Value::Bool(b)));
        self.raw("}");
    }
    fn version(&mut self, v: &CrdVersion) {
        self.raw("{");
        self.text("Name", &v.name);
        self.flag("Served", v.served);
        self.flag("Storage", v.storage);
        self.flag("Deprecated", v.deprecated);
        self.optional("DeprecationWarning", v.deprecation_warning.as_deref(), Self::string);
        self.optional("Schema", v.schema.as_ref(), |w, Validation { schema }| {
            w.raw("{");
            w.optional("OpenAPIV3Schema", schema.as_deref(), Self::schema);
            w.raw("}");
        });
        self.optional("Subresources", v.subresources.as_ref(), Self::subresources);
        self.key("AdditionalPrinterColumns");
        self.list(&v.columns, Self::column);
        self.key("SelectableFields");
        self.list(&v.selectable_fields, |w, path| {
            w.raw("{");
            w.text("JSONPath", path);
            w.raw("}");
        });
        self.raw("}");
    }
    fn subresources(&mut self, s: &Subresources) {
        self.raw("{");
        self.optional("Status", s.status.then_some(()), |w, ()| w.raw("{}"));
        self.optional("Scale", s.scale.as_ref(), |w, scale| {
            w.raw("{");
            w.text("SpecReplicasPath", &scale.spec_replicas_path);
            w.text("StatusReplicasPath", &scale.status_replicas_path);
            w.optional("LabelSelectorPath", scale.label_selector_path.as_deref(), Self::string);
            w.raw("}");
        });
        self.raw("}");
    }
    fn column(&mut self, c: &Column) {
        self.raw("{");
        self.text("Name", &c.name);
        self.text("Type", &c.type_);
        self.text("Format", &c.format);
        self.text("Description", &c.description);
        self.key("Priority");
        self.value(&Value::Int(c.priority.into()));
        self.text("JSONPath", &c.json_path);
        self.raw("}");
    }
}
