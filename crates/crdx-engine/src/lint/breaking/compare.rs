//! Compares two schemas of one version, node by node.

use super::{BreakingChange, ChangeKind, Ratcheting};
use crate::schema_steps::{SchemaStep, below, schema_path, steps_below, value_path};
use crdx_server::schema::{Schema, SchemaOrBool};
use crdx_value::{Value, json};

/// The maximum number of changes that are reported.
const MAX_DIFFERENCES: usize = 1000;

/// Returns the changes from the old to the new schema that may break existing objects. `keep` is true if the old CRD
/// and the new CRD, respectively, preserve unknown fields everywhere.
pub(super) fn compare(old: &Schema, new: &Schema, keep: (bool, bool), prefix: &str) -> Vec<BreakingChange> {
    let mut comparison = Comparison { prefix, steps: Vec::new(), anchor: None, found: Vec::new() };
    comparison.node(old, new, keep);
    comparison.found
}

struct Comparison<'c> {
    prefix: &'c str,
    steps: Vec<SchemaStep>,
    /// The number of steps to the enclosing list that must stay unchanged as a whole.
    anchor: Option<usize>,
    found: Vec<BreakingChange>,
}

impl Comparison<'_> {
    fn report(&mut self, kind: ChangeKind, ratcheting: Ratcheting, keyword: &str, detail: String) {
        if self.found.len() >= MAX_DIFFERENCES {
            return;
        }
        let dot = if keyword.is_empty() { "" } else { "." };
        let crd_field = format!("{}{}{dot}{keyword}", self.prefix, schema_path(&self.steps));
        let path = value_path(&self.steps);
        self.found.push(BreakingChange { path, kind, detail, ratcheting, versions: Vec::new(), crd_field });
    }

    /// Returns the path that must stay unchanged so that errors about this node are tolerated.
    fn unchanged(&self) -> Ratcheting {
        let steps = self.anchor.and_then(|depth| self.steps.get(..depth)).unwrap_or(&self.steps);
        Ratcheting::While(value_path(steps))
    }

    fn node(&mut self, old: &Schema, new: &Schema, keep: (bool, bool)) {
        if old == new && keep.0 == keep.1 {
            return;
        }
        let keep = (keep.0 || old.preserves_unknown_fields(), keep.1 || new.preserves_unknown_fields());
        self.types(old, new);
        self.required(old, new);
        self.enums(old, new);
        self.limits(old, new);
        self.junctors(old, new);
        self.rules(old, new);
        self.defaults(old, new);
        self.list_types(old, new);
        self.fields(old, new, keep);
        let merges = new.type_ != "array" || new.x_list_type.as_deref() == Some("map");
        for (step, node) in steps_below(new) {
            let Some(before) = below(old, &step) else { continue };
            let anchor = self.anchor;
            if step == SchemaStep::Items && !merges {
                self.anchor = anchor.or(Some(self.steps.len()));
            }
            // A node that declares properties does not inherit x-kubernetes-preserve-unknown-fields.
            let inherited = |schema: &Schema, keeps: bool| keeps && !describes(schema);
            let inner = (inherited(before, keep.0), inherited(node, keep.1));
            self.steps.push(step);
            self.node(before, node, inner);
            self.steps.pop();
            self.anchor = anchor;
        }
    }

    fn types(&mut self, old: &Schema, new: &Schema) {
        let name = |s: &Schema| match s.type_.as_str() {
            _ if s.x_int_or_string => "int-or-string".to_owned(),
            "" => "any".to_owned(),
            type_ => type_.to_owned(),
        };
        let (before, after) = (name(old), name(new));
        let wider = matches!((before.as_str(), after.as_str()), ("integer", "number" | "int-or-string"))
            || after == "any"
            || (before == "string" && after == "int-or-string");
        if before != after && !wider {
            let ratcheting = self.unchanged();
            self.report(ChangeKind::Type, ratcheting, "type", format!("was {before}, is {after}"));
        }
        if old.nullable && !new.nullable {
            let ratcheting = self.unchanged();
            self.report(ChangeKind::Type, ratcheting, "nullable", "null is no longer allowed".to_owned());
        }
    }

    fn required(&mut self, old: &Schema, new: &Schema) {
        for name in new.required.iter().filter(|name| !old.required.contains(name)) {
            if new.properties.get(name).is_some_and(|p| p.default.is_some()) {
                continue;
            }
            let ratcheting = self.unchanged();
            self.report(ChangeKind::Required, ratcheting, "required", format!("{name} is required"));
            self.rename_last(name);
        }
    }

    /// Sets the path of the last change to a field of this node.
    fn rename_last(&mut self, name: &str) {
        let mut steps = self.steps.clone();
        steps.push(SchemaStep::Property(name.to_owned()));
        if let Some(last) = self.found.last_mut() {
            last.path = value_path(&steps);
        }
    }

    fn enums(&mut self, old: &Schema, new: &Schema) {
        if new.enum_.is_empty() || old.enum_ == new.enum_ {
            return;
        }
        let gone: Vec<String> = old.enum_.iter().filter(|v| !new.enum_.contains(v)).map(json::to_string).collect();
        let detail = if old.enum_.is_empty() {
            let allowed: Vec<String> = new.enum_.iter().map(json::to_string).collect();
            format!("only {} allowed now", allowed.join(", "))
        } else if gone.is_empty() {
            return;
        } else {
            format!("no longer allowed: {}", gone.join(", "))
        };
        let ratcheting = self.unchanged();
        self.report(ChangeKind::Enum, ratcheting, "enum", detail);
    }

    fn limits(&mut self, old: &Schema, new: &Schema) {
        let highest = [
            ("maxLength", old.max_length, new.max_length),
            ("maxItems", old.max_items, new.max_items),
            ("maxProperties", old.max_properties, new.max_properties),
        ];
        for (keyword, before, after) in highest {
            if let Some(after) = after.filter(|after| before.is_none_or(|before| *after < before)) {
                self.limit(keyword, before, after);
            }
        }
        let least = [
            ("minLength", old.min_length, new.min_length),
            ("minItems", old.min_items, new.min_items),
            ("minProperties", old.min_properties, new.min_properties),
        ];
        for (keyword, before, after) in least {
            if let Some(after) = after.filter(|after| *after > before.unwrap_or(0)) {
                self.limit(keyword, before, after);
            }
        }
        if let Some(after) = new.maximum
            && old.maximum.is_none_or(|before| {
                after < before || (after.total_cmp(&before).is_eq() && new.exclusive_maximum && !old.exclusive_maximum)
            })
        {
            self.limit("maximum", old.maximum, after);
        }
        if let Some(after) = new.minimum
            && old.minimum.is_none_or(|before| {
                after > before || (after.total_cmp(&before).is_eq() && new.exclusive_minimum && !old.exclusive_minimum)
            })
        {
            self.limit("minimum", old.minimum, after);
        }
        if let Some(after) = new.multiple_of.filter(|_| new.multiple_of != old.multiple_of) {
            self.limit("multipleOf", old.multiple_of, after);
        }
        for (keyword, before, after) in [("pattern", &old.pattern, &new.pattern), ("format", &old.format, &new.format)]
        {
            if !after.is_empty() && before != after {
                self.limit(keyword, Some(before).filter(|b| !b.is_empty()), after);
            }
        }
    }

    fn limit(&mut self, keyword: &str, before: Option<impl std::fmt::Display>, after: impl std::fmt::Display) {
        let detail = match before {
            Some(before) => format!("{keyword} was {before}, is {after}"),
            None => format!("{keyword} is {after} now"),
        };
        let ratcheting = self.unchanged();
        self.report(ChangeKind::Tightened, ratcheting, keyword, detail);
    }

    fn junctors(&mut self, old: &Schema, new: &Schema) {
        let not = |s: &Schema| s.not.as_deref().map(std::slice::from_ref).unwrap_or_default().to_vec();
        for (keyword, before, after) in [
            ("allOf", old.all_of.clone(), new.all_of.clone()),
            ("anyOf", old.any_of.clone(), new.any_of.clone()),
            ("oneOf", old.one_of.clone(), new.one_of.clone()),
            ("not", not(old), not(new)),
        ] {
            if !after.is_empty() && before != after {
                let verb = if before.is_empty() { "is new" } else { "is another" };
                let ratcheting = self.unchanged();
                self.report(ChangeKind::Tightened, ratcheting, keyword, format!("{keyword} {verb}"));
            }
        }
    }

    fn rules(&mut self, old: &Schema, new: &Schema) {
        for (index, rule) in new.x_validations.iter().enumerate() {
            if old.x_validations.iter().any(|before| before.rule.trim() == rule.rule.trim()) {
                continue;
            }
            let transition = rule.rule.contains("oldSelf");
            let ratcheting = if transition { Ratcheting::No } else { self.unchanged() };
            let keyword = format!("x-kubernetes-validations[{index}].rule");
            self.report(ChangeKind::Tightened, ratcheting, &keyword, format!("new rule: {}", rule.rule.trim()));
        }
    }

    fn defaults(&mut self, old: &Schema, new: &Schema) {
        let Some(before) = &old.default else { return };
        let text = json::to_string;
        let detail = match &new.default {
            None => format!("was {}, is removed", text(before)),
            Some(after) if after != before => format!("was {}, is {}", text(before), text(after)),
            Some(_) => return,
        };
        self.report(ChangeKind::Default, Ratcheting::No, "default", detail);
    }

    fn list_types(&mut self, old: &Schema, new: &Schema) {
        let (before, after) = (old.x_list_type.as_deref(), new.x_list_type.as_deref());
        let word = |type_: Option<&str>| type_.unwrap_or("atomic").to_owned();
        if word(before) != word(after) {
            let detail = format!("x-kubernetes-list-type was {}, is {}", word(before), word(after));
            self.report(ChangeKind::ListType, Ratcheting::Always, "x-kubernetes-list-type", detail);
        } else if old.x_list_map_keys != new.x_list_map_keys {
            let detail =
                format!("keys were {}, are {}", old.x_list_map_keys.join(", "), new.x_list_map_keys.join(", "));
            self.report(ChangeKind::ListType, Ratcheting::No, "x-kubernetes-list-map-keys", detail);
        }
        let word = |type_: &Option<String>| type_.clone().unwrap_or_else(|| "granular".to_owned());
        if word(&old.x_map_type) != word(&new.x_map_type) {
            let detail = format!("x-kubernetes-map-type was {}, is {}", word(&old.x_map_type), word(&new.x_map_type));
            self.report(ChangeKind::ListType, Ratcheting::No, "x-kubernetes-map-type", detail);
        }
    }

    /// Reports the fields that are pruned from existing objects.
    fn fields(&mut self, old: &Schema, new: &Schema, keep: (bool, bool)) {
        if keep.1 || takes_any(new) {
            return;
        }
        for name in old.properties.keys().filter(|name| !new.properties.contains_key(*name)) {
            if new.additional_properties.is_none() && is_object(new) {
                self.report(
                    ChangeKind::Removed,
                    Ratcheting::No,
                    "",
                    "is dropped from objects at their next write".to_owned(),
                );
                self.rename_last(name);
            }
        }
        if !is_object(new) {
            return;
        }
        if old.additional_properties.is_some() && !is_false(old) && new.additional_properties.is_none() {
            let detail = "unspecified fields are pruned: additionalProperties was removed".to_owned();
            self.report(ChangeKind::Removed, Ratcheting::No, "", detail);
        } else if keep.0 && new.additional_properties.is_none() {
            self.report(ChangeKind::Removed, Ratcheting::No, "", "unknown fields are dropped now".to_owned());
        }
    }
}

fn is_object(s: &Schema) -> bool {
    s.type_ == "object" && !s.x_embedded_resource || !s.properties.is_empty()
}

fn describes(s: &Schema) -> bool {
    !s.properties.is_empty() || s.additional_properties.is_some()
}

fn takes_any(s: &Schema) -> bool {
    matches!(s.additional_properties, Some(SchemaOrBool::Bool(true))) || s.default.as_ref().is_some_and(Value::is_null)
}

fn is_false(s: &Schema) -> bool {
    matches!(s.additional_properties, Some(SchemaOrBool::Bool(false)))
}
