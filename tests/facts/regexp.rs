//! Compares matches and error messages of 212 patterns with Go's.

use crdx_regexp::Regexp;

#[test]
fn patterns_match_like_go() {
    let facts: serde_json::Value = serde_json::from_str(include_str!("go-regexp.json")).unwrap();
    let subjects: Vec<&str> = facts["subjects"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    let patterns = facts["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), 212);
    let mut wrong = Vec::new();
    for fact in patterns {
        let pattern = fact["p"].as_str().unwrap();
        let ours = match Regexp::new(pattern) {
            Err(error) => error.to_string(),
            Ok(regexp) => subjects.iter().map(|s| if regexp.is_match(s) { '1' } else { '0' }).collect(),
        };
        let go = fact.get("err").or(fact.get("m")).unwrap().as_str().unwrap();
        if ours != go {
            wrong.push(format!("{pattern}\n  go   {go}\n  ours {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), patterns.len(), wrong.join("\n"));
}
