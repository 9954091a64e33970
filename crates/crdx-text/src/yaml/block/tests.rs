//! The short cut gives the same values and outlines as the scanner and the parser.

use super::{outline, read};
use crate::Syntax;
use crate::spans::outline::Outline;
use crate::spans::{Found, Spans};
use crate::yaml::source::CheckedText;
use crate::yaml::{decode, tree};
use crdx_value::{Value, json};
use proptest::prelude::*;

fn short_cut(text: &str) -> Option<Value> {
    read(&CheckedText::new(text.as_bytes()))
}

/// The value of the stages, if there is one, no duplicate key and no second document.
fn staged(text: &str) -> Option<Value> {
    let source = CheckedText::new(text.as_bytes());
    let tree = tree::parse(&source).ok()?;
    let decoded = decode::decode(&tree, &source.text, decode::DuplicateKeys::Collect).ok()?;
    (decoded.duplicates.is_empty() && !decoded.repeated && tree.rest.is_none()).then_some(decoded.value)
}

/// The outline of the stages, if the text can be parsed.
fn staged_outline(text: &str) -> Option<Outline> {
    let source = CheckedText::new(text.as_bytes());
    Some(decode::outline(&tree::parse(&source).ok()?))
}

fn short_cut_outline(text: &str) -> Option<Outline> {
    outline(&CheckedText::new(text.as_bytes()), None)
}

#[track_caller]
fn is_read_as(text: &str, value: &str) {
    assert_eq!(short_cut(text).map(|v| json::to_string(&v)).as_deref(), Some(value), "{text}");
    assert_eq!(staged(text), short_cut(text), "{text}");
    assert!(short_cut_outline(text).is_some(), "{text}");
    assert_eq!(staged_outline(text), short_cut_outline(text), "{text}");
}

#[track_caller]
fn is_left(texts: &[&str]) {
    for text in texts {
        assert_eq!(short_cut(text), None, "{text}");
    }
}

#[test]
fn collections() {
    is_read_as("---\na:\n  b: 1\n  c:\n    d: x\ne: 2\n", r#"{"a":{"b":1,"c":{"d":"x"}},"e":2}"#);
    is_read_as(
        "# one\n\na:\n- b: 1\n  c: 2\n-   d: 3\n    e: 4\nf: 5\n",
        r#"{"a":[{"b":1,"c":2},{"d":3,"e":4}],"f":5}"#,
    );
    is_read_as("a:\n  - - x\n    - u\n  -\n    z: 1\n  -\n  - b\n", r#"{"a":[["x","u"],{"z":1},null,"b"]}"#);
    is_read_as("- a\n- b: c\n", r#"["a",{"b":"c"}]"#);
    is_read_as("a:\nb: # c\n  # d\n  e:\n", r#"{"a":null,"b":{"e":null}}"#);
    is_read_as(
        "a: []\nb: {} # c\nc: [x, 'y', \"z\", 1, [no]]\nd: {a: b, \"c d\": [1.5], e: {}, }\n",
        r#"{"a":[],"b":{},"c":["x","y","z",1,[false]],"d":{"a":"b","c d":[1.5],"e":{}}}"#,
    );
}

#[test]
fn plain_scalars_in_flow_collections() {
    is_read_as(
        "a: [run, --verbose, -c, echo it's  fine , x=1&y#z]\nb: {image: nginx:1.2, url: http://a/b, most: 25%, a b: -1}\n",
        r#"{"a":["run","--verbose","-c","echo it's  fine","x=1\u0026y#z"],"b":{"a b":-1,"image":"nginx:1.2","most":"25%","url":"http://a/b"}}"#,
    );
    is_read_as("a: [-, --, $(X), a - b, a &b, a !b]\n", r#"{"a":["-","--","$(X)","a - b","a \u0026b","a !b"]}"#);
}

#[test]
fn keys() {
    is_read_as(
        "a.b/c-d: 1\n\"e f\": 2\n'g: h': 3\n0x10: 4\non: 5\n1.5: 6\na:b: 7\n",
        r#"{"1.5":6,"16":4,"a.b/c-d":1,"a:b":7,"e f":2,"g: h":3,"true":5}"#,
    );
    is_read_as("\"<<\": {a: b}\n", r#"{"\u003c\u003c":{"a":"b"}}"#);
}

#[test]
fn scalars() {
    is_read_as(
        "a: b c  \nd: 0777\ne: ~\nf: -1\ng: 1e3\nh: y\ni: \"1\"\nj: a#b # c\nk: http://x:80/?a=[b],{c}\n",
        r#"{"a":"b c","d":511,"e":null,"f":-1,"g":1000,"h":true,"i":"1","j":"a#b","k":"http://x:80/?a=[b],{c}"}"#,
    );
    is_read_as("a: é — “x”\nb: \"ß\"\n", "{\"a\":\"é — “x”\",\"b\":\"ß\"}");
    is_read_as("a: 18446744073709551615\nb: .5\n", r#"{"a":18446744073709552000,"b":0.5}"#);
}

#[test]
fn scalars_of_several_lines() {
    is_read_as("a: b\n  c\n\n  d\ne: f\n", r#"{"a":"b c\nd","e":"f"}"#);
    is_read_as(
        "a: |\n  b\n   c\n\n  # d\ne: |-\n  f\n# g\ni: >+\n  j\n  k\n\nl: m\n",
        r#"{"a":"b\n c\n\n# d\n","e":"f","i":"j k\n\n","l":"m"}"#,
    );
    is_read_as("a:\n- |\n x\n- \"b\\tc\\\n    d\"\n- 'it''s\n  e' # f\n", r#"{"a":["x\n","b\tcd","it's e"]}"#);
    is_read_as("a: |2\n    b\nc: d\n", r#"{"a":"  b\n","c":"d"}"#);
}

#[test]
fn anything_else_is_left() {
    is_left(&[
        "",
        "\n",
        "a: b",
        "a\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !!str 1\n",
        "<<: {a: b}\n",
        "? a\n: b\n",
        "%YAML 1.1\n",
    ]);
    is_left(&[
        "a: b\n---\nc: d\n",
        "a: b\n...\n",
        "--- a\n",
        "a: b\r\nc: d\n",
        "a: b\u{85}c: d\n",
        "# a\u{2028}b: c\n",
    ]);
    is_left(&["[a]\n", "\"a\"\n", "a:\n  b\n", "a b: c\n", "a : b\n", "a:\tb\n", "\ta: b\n", "a: .inf\n", "~: a\n"]);
    is_left(&["a: [b\n]\n", "a: [b #c]\n", "a: {b}\n", "a: [b: c]\n", "a: {\"b\":c}\n", "a: [- b]\n", "a: [b:]\n"]);
}

#[test]
fn duplicate_keys_are_left() {
    is_left(&["a: b\na: c\n", "a: {b: c, b: d}\n", "yes: a\non: b\n", "1: a\n\"1\": b\n"]);
}

#[test]
fn errors_are_left() {
    is_left(&[
        "a: b: c\n",
        "a: - b\n",
        "a: [b]]\n",
        "a: [b]\n  c\n",
        "a: \"b\" c\n",
        "a: \"b\"\n  c\n",
        "a:\n  b: c\n d: e\n",
    ]);
    is_left(&[
        "a:\n  - b\n- c\n",
        "- a\nb: c\n",
        "  a: b\nc: d\n",
        "a: b # c\n  d\n",
        "a: |\n\tb\n",
        "a: @b\n",
        "a: `b\n",
    ]);
    is_left(&["a: b\n  c: d\n", "a: |\n b\n  c\nd\n", "a: ]\n", "a: 'b\n", "a: [,]\n", "- a\n  - b: c\n"]);
}

#[test]
fn depth_is_limited() {
    let deep = (0..1000).map(|i| " ".repeat(i) + "a:\n").collect::<Vec<_>>().concat();
    is_left(&[&deep, &format!("{}a\n", "- ".repeat(1000)), &format!("a: {}{}\n", "[".repeat(1000), "]".repeat(1000))]);
}

#[test]
fn the_examples_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    let texts: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let chunks: Vec<_> =
        texts.iter().flat_map(|text| crate::documents::Chunks::new(text.as_bytes())).flatten().collect();
    let read = chunks.iter().filter(|chunk| short_cut(std::str::from_utf8(&chunk.text).unwrap()).is_some()).count();
    assert!(read * 10 > chunks.len() * 9, "{read} of {}", chunks.len());
}

/// Lines of pieces that are frequent in manifests, or that end what is read here.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b: ",
        "b:",
        "c: d",
        "c: d",
        "- ",
        "- ",
        "-",
        "\"e\": ",
        "'f'",
        "\"g\\n\"",
        "|",
        ">-",
        "|2+",
        "[",
        "]",
        "[a, b]",
        "{",
        "}",
        "{a: 1}",
        ", ",
        "# x",
        " # y",
        " ",
        "\t",
        "on",
        "1.5",
        "0x1f",
        "~",
        "<<: ",
        "&x ",
        "*x",
        "!!str ",
        "---",
        "...",
        "é",
        "\u{2028}",
        "\"",
        "'",
        "? ",
        ":",
        "x: |\n  y\n",
        "x: y\n    z",
        "{}",
        "[]",
        "''",
        "-1",
        "a#b",
        "--x",
        "25% ",
        "a:b",
        "[-c, a b: c]",
        "{a: b:c, d e: -}",
        ", ",
    ];
    let line = (0..5usize, prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..4));
    let line = line.prop_map(|(indent, pieces)| format!("{}{}\n", " ".repeat(indent), pieces.concat()));
    prop::collection::vec(line, 1..8).prop_map(|lines| lines.concat())
}

/// A path to one of the keys in [`text`].
fn path() -> impl Strategy<Value = String> {
    let steps = ["a", "b", "c", "e", "x", "g", "a.b", "[0]", "[1]", ".c", "[a]"];
    prop::collection::vec(prop::sample::select(steps.to_vec()), 0..4).prop_map(|steps| steps.join(""))
}

fn found(text: &str, path: &str) -> Found {
    Spans::new(text.as_bytes(), Syntax::Yaml).locate(path)
}

/// The same, in the index of the whole text.
fn found_in_index(text: &str, path: &str) -> Found {
    let spans = Spans::new(text.as_bytes(), Syntax::Yaml);
    // It is made after some searches.
    for _ in 0..100 {
        spans.locate("");
    }
    spans.locate(path)
}

#[test]
fn skipped_values_hide_no_fields_and_show_none_of_their_own() {
    for text in [
        "b: 1\nx: \"y\nb: c\"\n",
        "b: 1\nx: 'it''s\nb: c'\n",
        "b: 1\nx: {y: [1,\nb: 2], z: 3}\n",
        "b: 1\nx:\n- y: [a\n,b]\n",
        "x: |\n  b: 2\n\n  b: [\n# b: 3\nb: 1\n",
        "x: y\n  b\nb: 1\n",
        "x:\n- b: 2\n- y\nb: 1\n",
        "x: &x {b: 2}\nb: *x\n",
        "x: {b: 2}\n\"b\": 1\n",
    ] {
        for path in ["b", "x[0].b", "x.b"] {
            assert_eq!(found(text, path), found_in_index(text, path), "{path} in {text}");
        }
        assert!(found(text, "b").exact, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60_000))]

    #[test]
    fn values_are_those_of_the_stages(text in text()) {
        if let Some(value) = short_cut(&text) {
            prop_assert_eq!(Some(value), staged(&text), "{}", text);
        }
    }

    #[test]
    fn fields_are_found_without_reading_others(text in text(), path in path()) {
        if staged_outline(&text).is_some() {
            prop_assert_eq!(found(&text, &path), found_in_index(&text, &path), "{} {}", path, text);
        }
    }

    #[test]
    fn outlines_are_those_of_the_stages(text in text()) {
        if let Some(outline) = short_cut_outline(&text) {
            prop_assert_eq!(Some(outline), staged_outline(&text), "{}", text);
        }
    }
}
