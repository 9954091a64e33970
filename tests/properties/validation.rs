//! Properties of validation for arbitrary schemas and values.

use crdx_server::pipeline::compiled::{Dialect, SchemaNode};
use crdx_server::pipeline::unknown::Unknown;
use crdx_server::pipeline::{self, Facts, ObjectOrigin, ResourceVersion};
use crdx_server::schema::{Items, Schema, SchemaOrBool};
use crdx_value::Value;
use crdx_value::field::ROOT;
use proptest::prelude::*;
use std::sync::Arc;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[a-d]", 1 => Just(String::new()), 1 => Just("metadata".to_owned()), 1 => Just("kind".to_owned())]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![-3i64..70, any::<i64>()].prop_map(Value::Int),
        prop_oneof![Just(1.5), Just(-0.0), Just(1e300), Just(3.0), any::<i32>().prop_map(f64::from)]
            .prop_map(Value::Float),
        prop_oneof!["[aé1-]{0,3}", Just("2024-01-01".to_owned()), Just("x".repeat(70))].prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(name(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Random keywords of a node, including contradictory ones.
fn keywords() -> impl Strategy<Value = Schema> {
    let number = || prop::option::weighted(0.2, prop_oneof![Just(0.0), Just(-1.5), Just(2.0), Just(1e19)]);
    let size = || prop::option::weighted(0.2, -1i64..4);
    let shape = (
        prop::sample::select(vec!["object", "object", "array", "string", "integer", "number", "boolean", ""]),
        prop::sample::select(vec!["", "", "", "date", "int32", "duration", "nonsense"]),
        prop::sample::select(vec!["", "", "", "^a+$", "("]),
        prop::option::weighted(0.3, value()),
        prop::collection::vec(value(), 0..2),
        prop::collection::vec(name(), 0..2),
    );
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        prop::sample::select(vec![None, Some("set"), Some("map"), Some("atomic")]),
    );
    let bounds = ((number(), number(), number()), (size(), size(), size(), size(), size(), size()));
    (shape, flags, bounds).prop_map(|(shape, flags, bounds)| {
        let (type_, format, pattern, default, enum_, required) = shape;
        let (nullable, preserve, embedded, int_or_string, list_type) = flags;
        let ((maximum, minimum, multiple_of), sizes) = bounds;
        Schema {
            type_: type_.to_owned(),
            format: format.to_owned(),
            pattern: pattern.to_owned(),
            default: default.filter(|d| !d.is_null()),
            enum_,
            required,
            nullable,
            x_preserve_unknown_fields: preserve.then_some(true),
            x_embedded_resource: embedded,
            x_int_or_string: int_or_string,
            x_list_type: list_type.map(str::to_owned),
            x_list_map_keys: vec!["a".to_owned(); usize::from(list_type == Some("map"))],
            maximum,
            minimum,
            multiple_of,
            max_length: sizes.0,
            min_length: sizes.1,
            max_items: sizes.2,
            min_items: sizes.3,
            max_properties: sizes.4,
            min_properties: sizes.5,
            ..Schema::default()
        }
    })
}

fn schema() -> impl Strategy<Value = Schema> {
    keywords().prop_recursive(4, 24, 4, |inner| {
        let children = (
            prop::collection::btree_map(name(), inner.clone(), 0..4),
            prop::option::of(inner.clone()),
            prop::option::weighted(0.3, inner.clone()),
            prop::bool::weighted(0.1),
            (prop::collection::vec(inner.clone(), 0..2), prop::collection::vec(inner.clone(), 0..2)),
            (prop::collection::vec(inner.clone(), 0..2), prop::option::weighted(0.1, inner)),
        );
        (keywords(), children).prop_map(|(node, (properties, items, additional, anything, branches, more))| Schema {
            properties: properties.into_iter().map(|(name, s)| (name, Box::new(s))).collect(),
            items: items.map(|i| Items::Schema(Box::new(i))),
            additional_properties: match additional {
                Some(a) => Some(SchemaOrBool::Schema(Box::new(a))),
                None => anything.then_some(SchemaOrBool::Bool(true)),
            },
            any_of: branches.0,
            one_of: branches.1,
            all_of: more.0,
            not: more.1.map(Box::new),
            ..node
        })
    })
}

fn version(schema: Schema) -> ResourceVersion {
    ResourceVersion::new(
        Facts {
            group: "example.com".to_owned(),
            version: "v1".to_owned(),
            kind: "Foo".to_owned(),
            resource: "foos".to_owned(),
            schema: Some(Arc::new(schema)),
            ..Facts::default()
        },
        crdx_value::release::Release::NEWEST,
    )
}

fn foo(v: Value) -> Value {
    let mut object = match v {
        Value::Object(members) => members,
        other => [("a".to_owned(), other)].into(),
    };
    object.insert("apiVersion".to_owned(), Value::from("example.com/v1"));
    object.insert("kind".to_owned(), Value::from("Foo"));
    Value::Object(object)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pruning_twice_is_pruning_once(s in schema(), v in value()) {
        let node = SchemaNode::compile(&s, Dialect::Objects, crdx_value::release::Release::NEWEST);
        let mut once = v;
        pipeline::prune::prune(&mut once, Some(&node), true, &mut Unknown::new(false));
        let mut twice = once.clone();
        let mut unknown = Unknown::new(true);
        pipeline::prune::prune(&mut twice, Some(&node), true, &mut unknown);
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(unknown.sorted(), Vec::<String>::new());
    }

    #[test]
    fn defaulting_twice_is_defaulting_once(s in schema(), v in value()) {
        let node = SchemaNode::compile(&s, Dialect::Objects, crdx_value::release::Release::NEWEST);
        let mut once = v;
        pipeline::default::set_defaults(&mut once, &node, None).unwrap();
        let mut twice = once.clone();
        let mut defaulted = Vec::new();
        pipeline::default::set_defaults(&mut twice, &node, Some(&mut defaulted)).unwrap();
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(defaulted, vec![]);
    }

    #[test]
    fn no_object_panics(s in schema(), new in value(), old in value()) {
        let rv = version(s);
        let read = |v, source| pipeline::decode(&rv, foo(v), source).map(|d| d.object);
        if let (Ok(mut new), Ok(mut old)) = (read(new, ObjectOrigin::Request), read(old, ObjectOrigin::Storage)) {
            pipeline::default(&rv, &mut new).unwrap();
            pipeline::default(&rv, &mut old).unwrap();
            let fresh = pipeline::validate_create(&rv, &new).errors;
            let changed = pipeline::validate_update(&rv, &new, &old).errors;
            prop_assert!(fresh.iter().chain(&changed).all(|e| !e.to_string().is_empty()));
            pipeline::prepare_update(&rv, &mut new, &old);
            pipeline::validate_status_update(&rv, &new, &old);
        }
    }

    /// Ratcheting only removes errors: an update never reports a schema error that a create does not report.
    #[test]
    fn ratcheting_only_removes_errors(s in schema(), new in value(), old in value()) {
        let node = SchemaNode::compile(&s, Dialect::Objects, crdx_value::release::Release::NEWEST);
        let (mut correlation, pair) = crdx_server::schema::correlate::Correlation::new(&new, &old, &s);
        let fresh = pipeline::validate::validate(&new, &node, &ROOT, crdx_value::release::Release::NEWEST);
        let changed = pipeline::validate::validate_changed(&new, &node, (&ROOT, crdx_value::release::Release::NEWEST), &mut correlation, Some(pair));
        for e in &changed {
            // The branch to report is selected by the number of passed checks, which ratcheting does not change.
            prop_assert!(fresh.contains(e), "{}", e);
        }
    }
}
