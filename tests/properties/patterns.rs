//! Patterns, JSONPath templates and formats give a result for any text.

use crdx_regexp::Regexp;
use crdx_server::schema::format;
use crdx_value::jsonpath::{JsonPath, column::Column, relaxed, selectable::SelectableField};
use crdx_value::{Value, object, time::Timestamp};
use proptest::prelude::*;

fn data() -> Value {
    let item = object([("name", Value::from("a")), ("n", Value::Int(1)), ("f", Value::Float(0.5)), ("z", Value::Null)]);
    object([("items", Value::from(vec![item, Value::Null, Value::from("é")])), ("a", object([("b", true)]))])
}

/// Text composed of meaningful pieces.
fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 0..12).prop_map(|p| p.concat())
}

const REGEXP: &[&str] = &[
    "a",
    "é",
    "(",
    ")",
    "(?:",
    "(?i)",
    "(?P<n>",
    "|",
    "*",
    "+",
    "?",
    "{2}",
    "{2,}",
    "{1000}",
    "{",
    "}",
    "[",
    "]",
    "^",
    "$",
    ".",
    "-",
    "\\",
    "\\pL",
    "\\d",
    "\\b",
    "\\B",
    "\\Q",
    "\\E",
    "\\x{d800}",
    "[^",
    "[:alpha:]",
    "(?s-m:",
    "\\z",
    "K",
    "ſ",
    "&&",
];

const JSONPATH: &[&str] = &[
    "{",
    "}",
    ".items",
    "[*]",
    "[0]",
    "[-1]",
    "[::2]",
    "[0,1]",
    "['a']",
    ".a",
    ".b",
    "..",
    ".*",
    "[?(",
    ")]",
    "@.n",
    "==",
    ">",
    "1",
    "1.5",
    "'x'",
    "\"",
    "'",
    "\\",
    "range ",
    "end",
    " ",
    ".",
    "@",
    "$",
    ",",
    "[?(@.n==1)]",
    "{range .items[*]}",
    "{end}",
    "true",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_pattern_is_read_or_refused(pattern in prop_oneof![pieces(REGEXP), any::<String>()], text in any::<String>()) {
        match Regexp::new(&pattern) {
            Err(error) => prop_assert!(error.to_string().starts_with("error parsing regexp: ")),
            Ok(regexp) => {
                let found = regexp.find(&text);
                prop_assert_eq!(regexp.is_match(&text), found.is_some());
                let all = regexp.find_all(&text, Some(1), &mut 1_000_000).unwrap();
                prop_assert_eq!(all.first().cloned(), found);
            }
        }
    }

    #[test]
    fn any_template_is_read_or_refused(template in prop_oneof![pieces(JSONPATH), any::<String>()]) {
        let data = data();
        if let Ok(path) = JsonPath::parse(&template) {
            let strict = path.execute(&data);
            let plain = !template.contains('{');
            prop_assert!(!plain || strict.as_ref() == Ok(&template));
            let _ = path.allow_missing_keys(true).execute(&data);
        }
        for type_ in ["string", "integer", "date"] {
            if let Some(column) = Column::new(&template, type_) {
                column.cell(&data, Timestamp::default());
            }
        }
        let _ = (relaxed(&template), SelectableField::new(&template).text(&data));
    }

    #[test]
    fn formats_accept_or_reject_any_text(text in any::<String>()) {
        for name in ["uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "isbn", "creditcard", "byte", "date", "duration",
            "date-time", "rgbcolor", "k8s-long-name"] {
            format::check(name, &text);
        }
        prop_assert!(format::check("password", &text));
    }
}
