//! Properties of decoders and encoders.

use crdx_text::documents::Chunks;
use crdx_text::{Syntax, json, spans, yaml};
use crdx_value::{Value, json as compact};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,20}",
        "[a-z0-9 :#'\"\\n\\t-]{0,40}",
        "(alpha |beta  |it's ){5,40}",
        any::<String>(),
        proptest::sample::select(vec![
            "y",
            "",
            "~",
            "null",
            "0777",
            "1:30",
            "2001-01-01",
            "a\n",
            "\n",
            " a\nb",
            "---",
            "<"
        ])
        .prop_map(str::to_owned),
    ]
}

/// An arbitrary value. Floats are not integral, because YAML would decode these as integers.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>()
            .prop_filter("written with a fraction or exponent", |x| x.is_finite() && x.fract() != 0.0)
            .prop_map(Value::Float),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        // Like kubectl, the encoder does not quote a key `<<`, which is then decoded as a merge key.
        let key = text().prop_filter("no merge", |k| k != "<<");
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::btree_map(key, inner, 0..5).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn written_yaml_reads_back(v in value()) {
        let text = yaml::write::to_string(&v);
        prop_assert_eq!(yaml::read(text.as_bytes()).map_err(|e| e.message), Ok(v), "{}", text);
    }

    #[test]
    fn written_json_reads_back(v in value()) {
        prop_assert_eq!(json::read(compact::to_string(&v).as_bytes()).unwrap(), v.clone());
        prop_assert_eq!(json::read(json::write::kubectl(&v).as_bytes()).unwrap(), v);
    }

    #[test]
    fn json_decodes_the_same_as_yaml(v in value()) {
        // YAML does not allow raw control characters, and folds raw line breaks.
        let text = compact::to_string(&v);
        prop_assume!(!text.contains(|c: char| c.is_control() || c == '\u{feff}' || ('\u{fffe}'..='\u{ffff}').contains(&c)));
        prop_assert_eq!(yaml::read(text.as_bytes()).map_err(|e| e.message), Ok(v), "{}", text);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (yaml::read_strict(&bytes), json::read_strict(&bytes));
        for syntax in [Syntax::Json, Syntax::Yaml] {
            let _ = spans::Spans::new(&bytes, syntax).locate("a.b[0]");
        }
        for chunk in Chunks::new(&bytes[..]) {
            let _ = chunk.unwrap().read();
        }
    }

    #[test]
    fn no_yaml_panics(text in "([a-b:?,&*!|>'\"%@`#~<>-]|[\\[\\]{}]|[ \n\t]| a: |- |\n  |---|&a |\\*a|<<: ){0,60}") {
        let _ = yaml::read_strict(text.as_bytes());
        let _ = spans::Spans::new(text.as_bytes(), Syntax::Yaml).locate("a.b[0]");
        for chunk in Chunks::new(text.as_bytes()) {
            let _ = chunk.unwrap().read();
        }
    }

    #[test]
    fn every_printed_member_is_in_a_schema(v in value()) {
        let text = yaml::write::to_string(&v);
        let spans = spans::Spans::new(text.as_bytes(), Syntax::Yaml);
        for (key, member) in v.as_object().into_iter().flatten() {
            // A key that looks like a path may be confused with a path.
            if !key.contains(['.', '[', ']']) && !key.is_empty() {
                let found = spans.locate(key);
                prop_assert!(found.exact, "{} in {}", key, text);
                let again = yaml::read(text[found.value.range.clone()].trim_start().as_bytes());
                if !member.is_null() && !matches!(member, Value::Array(_) | Value::Object(_)) && !text[found.value.range].contains('\n') {
                    prop_assert_eq!(again.ok(), Some(member.clone()));
                }
            }
        }
    }
}
