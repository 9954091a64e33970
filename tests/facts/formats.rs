//! The strings that Go accepts and rejects for each string format.

use crdx_server::schema::format;
use crdx_value::release::Release;
use std::collections::BTreeMap;

#[test]
fn formats_accept_what_go_accepts() {
    let path = std::env::var("FORMAT_FACTS").ok();
    let text = path.map_or(include_str!("formats.json").to_owned(), |p| std::fs::read_to_string(p).unwrap());
    let facts: BTreeMap<String, BTreeMap<String, Vec<String>>> = serde_json::from_str(&text).unwrap();
    assert_eq!(facts.len(), 26);
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, samples) in &facts {
        assert!(format::known(name, Release::NEWEST.minor()), "{name}");
        for (answer, texts) in samples {
            for text in texts {
                checked += 1;
                if format::check(name, text) != (answer == "yes") {
                    wrong.push(format!("{name}: Go says {answer} to {text:?}"));
                }
            }
        }
    }
    assert!(checked > 1000);
    wrong.truncate(80);
    assert!(wrong.is_empty(), "of {checked}:\n{}", wrong.join("\n"));
}
