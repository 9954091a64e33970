//! Validates values against schemas like kube-openapi (`kube-openapi/pkg/validation/validate`), and converts its errors to
//! field errors like `apiextensions-apiserver/pkg/apiserver/validation/validation.go`.
//!
//! Peculiarities of the server:
//! - Errors of anyOf, oneOf, allOf, not and number formats have no path of their own. They are reported at the path where
//!   validation began (`<nil>` for an object) with the value `""`.
//! - If all branches of anyOf or oneOf fail, the errors of the branch with the most passed checks are reported, so passed
//!   checks are counted.
//! - A null is validated only against the type and the enum, and an enum never contains null.
//! - Messages contain kube-openapi's own path, which is empty at the root, and begins with a dot below additional
//!   properties of the root.
//! - Keywords that no stored CRD can have (patternProperties, dependencies, uniqueItems, lists of item schemas) are
//!   ignored.

mod number;
mod report;
mod value_enum;

use super::compiled::{Additional, Pattern, SchemaNode, Type};
use crate::schema::correlate::{Correlation, Pair};
use crate::schema::{format, ratchet};
use crdx_value::field::{ErrorList, FieldPath};
use crdx_value::release::Release;
use crdx_value::{Map, Value, quote};
use report::{ErrorReporter, ValidationOutcome, ValuePath};

/// Validates a value against a schema. The paths of errors start with `prefix`.
pub fn validate(v: &Value, node: &SchemaNode, prefix: &FieldPath<'_>, release: Release) -> ErrorList {
    let prefix = (!prefix.is_root()).then(|| prefix.to_string());
    let mut validator = Validator { report: ErrorReporter::new(prefix, release), correlation: None };
    let outcome = validator.outcome(v, node, &ValuePath::Root, None);
    validator.report.finish(outcome)
}

/// Validates an updated value against a schema. Errors at a node that equals its correlated old node are tolerated
/// (ratcheting).
pub fn validate_changed<'a>(
    v: &'a Value,
    node: &SchemaNode,
    (prefix, release): (&FieldPath<'_>, Release),
    correlation: &mut Correlation<'a>,
    pair: Option<Pair>,
) -> ErrorList {
    // Ratcheting can only remove errors, so values are correlated only if there are any.
    if validate(v, node, prefix, release).is_empty() {
        return ErrorList::new();
    }
    let prefix = (!prefix.is_root()).then(|| prefix.to_string());
    let mut validator = Validator { report: ErrorReporter::new(prefix, release), correlation: Some(correlation) };
    let outcome = validator.outcome(v, node, &ValuePath::Root, pair);
    validator.report.finish(outcome)
}

struct Validator<'c, 'a> {
    report: ErrorReporter,
    correlation: Option<&'c mut Correlation<'a>>,
}

impl<'a> Validator<'_, 'a> {
    /// Returns the outcome of a value of its own: the root, or a branch.
    fn outcome(
        &mut self,
        v: &'a Value,
        node: &SchemaNode,
        path: &ValuePath<'_>,
        pair: Option<Pair>,
    ) -> ValidationOutcome {
        let mut out = ValidationOutcome::default();
        self.value(v, node, path, pair, &mut out);
        out
    }

    /// Adds the outcome of a value to `out`.
    #[inline]
    fn value(
        &mut self,
        v: &'a Value,
        node: &SchemaNode,
        path: &ValuePath<'_>,
        pair: Option<Pair>,
        out: &mut ValidationOutcome,
    ) {
        // Branches may be validated for each of many values.
        if self.report.steps.take(1).is_err() {
            return;
        }
        let before = out.errors.len();
        self.check(v, node, path, pair, out);
        if out.errors.len() > before && ratchet::tolerates(&mut self.correlation, pair) {
            out.errors.truncate(before);
        }
    }

    fn check(
        &mut self,
        v: &'a Value,
        node: &SchemaNode,
        path: &ValuePath<'_>,
        pair: Option<Pair>,
        out: &mut ValidationOutcome,
    ) {
        let checks = &node.checks;
        if v.is_null() {
            if !checks.types.is_any() && !checks.types.contains(Type::Null) && !node.nullable {
                out.fail(self.report.wrong_type(path, &checks.types.joined(), "null"));
            } else {
                out.passed += 1;
            }
            return self.one_of_values(v, node, path, out);
        }
        // Each group of checks that applies counts as passed, and so does the node itself.
        if !checks.types.is_any() || !checks.format.is_empty() {
            self.type_(v, node, path, out);
            out.passed += 1;
        }
        if checks.has_branches {
            self.branches(v, node, path, out);
        }
        // The branches, which count even if there are none, and the node itself.
        out.passed += 2;
        match v {
            Value::String(s) => {
                self.string(s, node, path, out);
                out.passed += 1;
                if checks.string_format {
                    if !format::check(&checks.format, s) {
                        out.fail(self.report.wrong_type(path, &checks.format, s));
                    }
                    out.passed += 1;
                }
            }
            Value::Int(_) | Value::Float(_) => {
                number::check(v, checks, path, &self.report, out);
                out.passed += 1;
            }
            Value::Array(items) => {
                self.array(items, node, path, pair, out);
                out.passed += 1;
            }
            _ => {}
        }
        self.one_of_values(v, node, path, out);
        out.passed += 1;
        if let Value::Object(members) = v {
            self.object(members, node, path, pair, out);
            out.passed += 1;
        }
        out.passed += 1;
    }

    fn type_(&self, v: &Value, node: &SchemaNode, path: &ValuePath<'_>, out: &mut ValidationOutcome) {
        let (types, format) = (&node.checks.types, &node.checks.format);
        let (found, found_format) = match v {
            Value::Null => (Type::Null, ""),
            Value::Bool(_) => (Type::Boolean, ""),
            Value::Int(_) => (Type::Integer, "int64"),
            Value::Float(_) => (Type::Number, "float64"),
            Value::String(_) => (Type::String, ""),
            Value::Array(_) => (Type::Array, ""),
            Value::Object(_) => (Type::Object, ""),
        };
        let fits = types.contains(found)
            || matches!(v, Value::Float(x) if types.contains(Type::Integer) && number::is_integral(*x))
            || found == Type::Integer && types.contains(Type::Number);
        if fits {
            out.passed += 1;
            return;
        }
        let texts = matches!(found, Type::String | Type::Array);
        let numeric = types.contains(Type::Number) || types.contains(Type::Integer);
        if !format.is_empty() && !texts && found_format != format {
            out.fail(self.report.wrong_type(path, format, found_format));
        } else if !format.is_empty() && texts && !numeric {
            out.passed += 1;
        } else {
            out.fail(self.report.wrong_type(path, &types.joined(), found.name()));
        }
    }

    fn string(&self, s: &str, node: &SchemaNode, path: &ValuePath<'_>, out: &mut ValidationOutcome) {
        let checks = &node.checks;
        // Characters are counted only if the number of bytes does not decide.
        let bytes = s.len() as i64;
        let length = || s.chars().count() as i64;
        if let Some(max) = checks.max_length
            && bytes > max
            && length() > max
        {
            out.fail(self.report.too_long(path, max));
        } else if let Some(min) = checks.min_length
            && length() < min
        {
            out.fail(self.report.too_short(path, s, min));
        } else if let Some(pattern) = &checks.pattern
            && let Some(complaint) = self.mismatch(pattern, s)
        {
            let text = format!("{path} in body should match '{complaint}'");
            out.fail(self.report.invalid(path, s, text));
        }
    }

    /// Returns the pattern if a text does not match it.
    fn mismatch(&self, pattern: &Pattern, s: &str) -> Option<String> {
        match pattern.regexp() {
            Ok(regexp) => {
                self.report.steps.take(regexp.work(s.len())).ok()?;
                (!regexp.is_match(s)).then(|| pattern.source().to_owned())
            }
            Err(crdx_regexp::Error::Unfinished) => {
                self.report.steps.take_all();
                None
            }
            Err(error) => Some(format!("{}, but pattern is invalid: {error}", pattern.source())),
        }
    }

    #[inline]
    fn one_of_values(&self, v: &Value, node: &SchemaNode, path: &ValuePath<'_>, out: &mut ValidationOutcome) {
        let allowed = &node.checks.enum_;
        if allowed.is_empty() {
            return;
        }
        let is_allowed = match (&node.checks.enum_texts, v) {
            (Some(texts), Value::String(text)) => texts.contains(text.as_str()),
            _ => {
                self.report.steps.take(allowed.len() as u64).is_err()
                    || allowed.iter().any(|a| value_enum::equals(v, a))
            }
        };
        if !is_allowed {
            out.fail(self.report.not_supported(path, v, allowed));
        }
    }

    fn array(
        &mut self,
        items: &'a [Value],
        node: &SchemaNode,
        path: &ValuePath<'_>,
        pair: Option<Pair>,
        out: &mut ValidationOutcome,
    ) {
        if let Some(items_node) = node.items.as_deref() {
            for (i, item) in items.iter().enumerate() {
                let pair = self.correlation.as_deref_mut().zip(pair).and_then(|(c, pair)| c.index(pair, i));
                self.value(item, items_node, &ValuePath::Index(path, i), pair, out);
            }
        }
        let size = items.len() as i64;
        if let Some(min) = node.checks.min_items
            && size < min
        {
            out.fail(self.report.too_few(path, size, min, "items"));
        }
        if let Some(max) = node.checks.max_items
            && size > max
        {
            out.fail(self.report.too_many(path, size, max, "items"));
        }
        out.passed += 1;
    }

    fn object(
        &mut self,
        members: &'a Map,
        node: &SchemaNode,
        path: &ValuePath<'_>,
        pair: Option<Pair>,
        out: &mut ValidationOutcome,
    ) {
        let checks = &node.checks;
        let size = members.len() as i64;
        if let Some(min) = checks.min_properties
            && size < min
        {
            out.fail(self.report.too_few(path, size, min, "properties"));
        }
        if let Some(max) = checks.max_properties
            && size > max
        {
            out.fail(self.report.too_many(path, size, max, "properties"));
        }
        let mut properties = node.properties_in_order();
        for (name, v) in members {
            if let Some(property) = properties.find(name) {
                let pair = self.member_pair(path, pair, name);
                self.value(v, property, &ValuePath::Property(path, name), pair, out);
                continue;
            }
            match &node.additional {
                Some(Additional::Schema(additional)) => {
                    let pair = self.member_pair(path, pair, name);
                    self.value(v, additional, &ValuePath::Additional(path, name), pair, out);
                }
                Some(Additional::Bool(false)) => {
                    let text = format!("{path}.{name} in body is a forbidden property");
                    out.fail(self.report.invalid(path, name.as_str(), text));
                }
                _ => {}
            }
        }
        for name in &checks.required {
            if self.report.steps.are_spent() {
                return;
            }
            if !members.contains_key(name) {
                out.fail(self.report.required(&ValuePath::Additional(path, name)));
            }
        }
    }

    /// Both objects were decoded at the same version, so apiVersion and kind have no old value, and their errors are
    /// never tolerated.
    fn member_pair(&mut self, path: &ValuePath<'_>, pair: Option<Pair>, name: &'a str) -> Option<Pair> {
        if matches!(name, "apiVersion" | "kind") && path.is_empty() {
            return None;
        }
        self.correlation.as_deref_mut()?.key(pair?, name)
    }

    fn branches(&mut self, v: &'a Value, node: &SchemaNode, path: &ValuePath<'_>, out: &mut ValidationOutcome) {
        let checks = &node.checks;
        if !checks.any_of.is_empty() {
            self.any_of(v, &checks.any_of, path, out);
        }
        if !checks.one_of.is_empty() {
            self.one_of(v, &checks.one_of, path, out);
        }
        if !checks.all_of.is_empty() {
            let mut valid = 0;
            for branch in &checks.all_of {
                let result = self.outcome(v, branch, path, None);
                valid += usize::from(result.errors.is_empty());
                out.merge(result);
            }
            if valid != checks.all_of.len() {
                let nothing = if valid == 0 { ". None validated" } else { "" };
                out.fail(self.unplaced(path, &format!("must validate all the schemas (allOf){nothing}")));
            }
        }
        if let Some(not) = &checks.not
            && self.outcome(v, not, path, None).errors.is_empty()
        {
            out.fail(self.unplaced(path, "must not validate the schema (not)"));
        }
    }

    fn any_of(&mut self, v: &'a Value, branches: &[SchemaNode], path: &ValuePath<'_>, out: &mut ValidationOutcome) {
        let mut best: Option<ValidationOutcome> = None;
        for branch in branches {
            let result = self.outcome(v, branch, path, None);
            if result.errors.is_empty() || self.report.steps.are_spent() {
                out.merge(result);
                return;
            }
            if best.as_ref().is_none_or(|b| result.passed > b.passed) {
                best = Some(result);
            }
        }
        out.fail(self.unplaced(path, "must validate at least one schema (anyOf)"));
        if let Some(best) = best {
            out.merge(best);
        }
    }

    fn one_of(&mut self, v: &'a Value, branches: &[SchemaNode], path: &ValuePath<'_>, out: &mut ValidationOutcome) {
        let mut best: Option<ValidationOutcome> = None;
        let mut first: Option<ValidationOutcome> = None;
        let mut valid = 0;
        for branch in branches {
            let result = self.outcome(v, branch, path, None);
            if result.errors.is_empty() {
                valid += 1;
                first.get_or_insert(result);
            } else if best.as_ref().is_none_or(|b| result.passed > b.passed) {
                best = Some(result);
            }
        }
        let found = match valid {
            1 => {
                if let Some(first) = first {
                    out.merge(first);
                }
                return;
            }
            0 => "Found none valid".to_owned(),
            n => format!("Found {n} valid alternatives"),
        };
        out.fail(self.unplaced(path, &format!("must validate one and only one schema (oneOf). {found}")));
        if let Some(best) = best.filter(|_| valid == 0) {
            out.merge(best);
        }
    }

    fn unplaced(&self, path: &ValuePath<'_>, complaint: &str) -> report::ValidationError {
        self.report.unplaced(path, format!("{} {complaint}", quote::go_quote(&path.to_string())))
    }
}

/// The error message if `s` does not match. A pattern that cannot be compiled matches nothing.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node, texts};
    use crdx_value::field::{FieldError, ROOT};

    fn errors(schema: &str, v: &str) -> Vec<String> {
        let schema = format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
        texts(&validate(&json(&format!(r#"{{"a":{v}}}"#)), &node(&schema), &ROOT, Release::NEWEST))
    }

    #[test]
    fn checks_and_errors_are_limited() {
        let unfinished = vec![FieldError::unfinished(&ROOT)];
        let check = |schema: &str, v: &str| validate(&json(v), &node(schema), &ROOT, Release::NEWEST);
        let names = |count: usize| (0..count).map(|i| format!(r#""r{i}""#)).collect::<Vec<_>>().join(",");
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        // Each of 1000 items lacks 1000 fields.
        let required = format!(r#"{{"items":{{"type":"object","required":[{}]}}}}"#, names(1000));
        assert_eq!(check(&required, &list("{}", 1000)), unfinished);
        // Each error names 1000 values.
        let texts = format!(r#"{{"items":{{"type":"string","enum":[{}]}}}}"#, names(1000));
        assert_eq!(check(&texts, &list(r#""x""#, 2000)), unfinished);
        assert_eq!(check(&texts, &list(r#""r999""#, 20_000)), []);
        // Each item is validated against 1000 branches.
        let branches = format!(r#"{{"items":{{"anyOf":{}}}}}"#, list(r#"{"required":["x"]}"#, 1000));
        assert_eq!(check(&branches, &list("{}", 20_000)), unfinished);
    }

    #[test]
    fn types() {
        for (schema, v, error) in [
            (
                r#"{"type":"integer"}"#,
                r#""x""#,
                r#"a: Invalid value: "string": a in body must be of type integer: "string""#,
            ),
            (r#"{"type":"string"}"#, "null", r#"a: Invalid value: "null": a in body must be of type string: "null""#),
            (
                r#"{"x-kubernetes-int-or-string":true}"#,
                "1.5",
                r#"a: Invalid value: "number": a in body must be of type integer,string: "number""#,
            ),
            (
                r#"{"type":"string","format":"date"}"#,
                "5",
                r#"a: Invalid value: "int64": a in body must be of type date: "int64""#,
            ),
        ] {
            assert_eq!(errors(schema, v), [error]);
        }
        assert_eq!(errors(r#"{"type":"string","nullable":true}"#, "null"), [""; 0]);
        assert_eq!(errors(r#"{"type":"integer"}"#, "1e3"), [""; 0]);
        assert_eq!(
            errors(r#"{"type":"integer"}"#, "1.5"),
            [
                r#"a: Invalid value: "number": a in body must be of type integer: "number""#,
                r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in a"#,
            ]
        );
    }

    #[test]
    fn numbers() {
        for (schema, v, error) in [
            (r#"{"maximum":3}"#, "4", "a: Invalid value: 4: a in body should be less than or equal to 3"),
            (r#"{"maximum":3,"exclusiveMaximum":true}"#, "3", "a: Invalid value: 3: a in body should be less than 3"),
            (r#"{"minimum":1.5}"#, "0.5", "a: Invalid value: 0.5: a in body should be greater than or equal to 1.5"),
            (r#"{"multipleOf":3}"#, "4", "a: Invalid value: 4: a in body should be a multiple of 3"),
            (r#"{"multipleOf":0.1}"#, "1", "a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0"),
            (
                r#"{"type":"integer","format":"int32"}"#,
                "3000000000",
                r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a"#,
            ),
            (
                r#"{"type":"integer","maximum":1.5}"#,
                "1",
                r#"<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in a"#,
            ),
        ] {
            assert_eq!(errors(schema, v), [error]);
        }
    }

    #[test]
    fn texts_and_sizes() {
        for (schema, v, error) in [
            (r#"{"maxLength":1}"#, r#""éé""#, "a: Too long: may not be more than 1 byte"),
            (r#"{"minLength":2}"#, r#""é""#, r#"a: Invalid value: "é": a in body should be at least 2 chars long"#),
            (r#"{"pattern":"^a$"}"#, r#""b""#, r#"a: Invalid value: "b": a in body should match '^a$'"#),
            (r#"{"maxItems":1}"#, "[1,2]", "a: Too many: 2: must have at most 1 item"),
            (r#"{"minItems":1}"#, "[]", "a: Invalid value: 0: a in body should have at least 1 items"),
            (r#"{"maxProperties":0}"#, r#"{"x":1}"#, "a: Too many: 1: must have at most 0 items"),
            (r#"{"minProperties":1}"#, "{}", "a: Invalid value: 0: a in body should have at least 1 properties"),
            (r#"{"enum":["x",1]}"#, r#""y""#, r#"a: Unsupported value: "y": supported values: "x", "1""#),
            (
                r#"{"enum":["x",null],"nullable":true}"#,
                "null",
                r#"a: Unsupported value: null: supported values: "x", "null""#,
            ),
            (r#"{"required":["r"]}"#, "{}", "a.r: Required value"),
        ] {
            assert_eq!(errors(schema, v), [error]);
        }
    }

    /// Answers of a server of 1.38.0-beta.0.
    #[test]
    fn too_small_values_have_errors_of_their_own_since_1_38() {
        let message = |schema, v| {
            let found = validate(&json(v), &node(schema), &FieldPath::new("a"), "1.38".parse().unwrap());
            found.iter().map(|error| format!("{} {error}", error.kind.reason())).collect::<Vec<_>>()
        };
        let expected = "FieldValueTooShort a: Too short: must be at least 2 characters";
        assert_eq!(message(r#"{"minLength":2}"#, r#""é""#), [expected]);
        assert_eq!(message(r#"{"minItems":1}"#, "[]"), ["FieldValueTooFew a: Too few: 0: must have at least 1 item"]);
        let expected = "FieldValueTooFew a: Too few: 0: must have at least 2 items";
        assert_eq!(message(r#"{"minProperties":2}"#, "{}"), [expected]);
    }

    #[test]
    fn errors_at_the_nil_path_have_the_path_of_the_value() {
        let schema = r#"{"properties":{"a":{"not":{}},"b":{"items":{"type":"integer","format":"int32"}}}}"#;
        let found = validate(&json(r#"{"a":1,"b":[1,4294967296]}"#), &node(schema), &ROOT, Release::NEWEST);
        assert!(found.iter().all(FieldError::is_at_nil_path));
        assert_eq!(found.iter().map(FieldError::value_path).collect::<Vec<_>>(), [Some("a"), Some("b[1]")]);
        let found = validate(&json("1"), &node(r#"{"not":{}}"#), &ROOT, Release::NEWEST);
        assert_eq!(found.iter().map(FieldError::value_path).collect::<Vec<_>>(), [None]);
    }

    #[test]
    fn errors_of_the_best_branch_are_reported_without_path() {
        assert_eq!(
            errors(r#"{"anyOf":[{"required":["x","y"]},{"properties":{"z":{"maximum":1}}}]}"#, r#"{"z":2}"#),
            [
                r#"<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)"#,
                "a.z: Invalid value: 2: a.z in body should be less than or equal to 1",
            ]
        );
        assert_eq!(
            errors(r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, "3"),
            [
                r#"<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives"#
            ]
        );
        assert_eq!(
            errors(r#"{"allOf":[{"minimum":1},{"minimum":1}],"not":{"maximum":0}}"#, "0"),
            [
                "a: Invalid value: 0: a in body should be greater than or equal to 1",
                r#"<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated"#,
                r#"<nil>: Invalid value: "": "a" must not validate the schema (not)"#,
            ]
        );
    }

    #[test]
    fn paths_below_additional_properties_of_the_root_begin_with_a_dot() {
        let n = node(r#"{"additionalProperties":{"type":"integer"}}"#);
        let errors = validate(&json(r#"{"k":""}"#), &n, &FieldPath::new("default"), Release::NEWEST);
        assert_eq!(
            texts(&errors),
            [r#"default.k: Invalid value: "string": .k in body must be of type integer: "string""#]
        );
    }
}
