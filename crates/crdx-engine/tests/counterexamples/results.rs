//! The results of the pairs, in a file with a line of JSON for each.

use super::random::Sent;
use crdx_engine::search::{Answer, Question, VersionUpgrade};
use crdx_value::{Map, Value, json, object};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// The answers of the search and of random objects about one version of a pair.
pub struct PairResult(Value);

impl PairResult {
    pub fn new(name: &str, version: &VersionUpgrade, sent: &Sent, times: [Duration; 2]) -> Self {
        let answers = version.answers.iter().map(|(question, answer)| {
            let random = sent.found.get(question);
            let mut members = Map::from([("search".to_owned(), text_of(answer).into())]);
            members.extend(random.map(|object| ("random".to_owned(), object.clone())));
            (question.as_str().to_owned(), Value::Object(members))
        });
        let number = |number: usize| Value::Int(i64::try_from(number).unwrap());
        let millis = |time: Duration| Value::Int(i64::try_from(time.as_millis()).unwrap());
        Self(object([
            ("what", name.into()),
            ("version", version.version.as_str().into()),
            ("answers", Value::Object(answers.collect())),
            ("tries", number(version.accepted)),
            ("objects", number(sent.objects)),
            ("accepted", number(sent.accepted)),
            ("searchMillis", millis(times[0])),
            ("randomMillis", millis(times[1])),
        ]))
    }
}

fn text_of(answer: &Answer) -> &'static str {
    match answer {
        Answer::Found(_) => "found",
        Answer::NonePossible => "none possible",
        Answer::NoneFound => "none found",
        Answer::CannotTell(_) => "cannot tell",
    }
}

/// The results so far.
pub struct Results {
    file: Option<File>,
    /// The results by the key of the pair; null for a pair that cannot be compared.
    pairs: BTreeMap<String, Value>,
}

impl Results {
    /// Reads the results in a file, if there is one.
    pub fn open(path: Option<String>) -> Self {
        let Some(path) = path else { return Self { file: None, pairs: BTreeMap::new() } };
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| crdx_text::json::read(line.as_bytes()).ok());
        let pairs = lines
            .map(|line| (line.str_at(&["pair"]).unwrap().to_owned(), line.get("result").unwrap().clone()))
            .collect();
        Self { file: Some(OpenOptions::new().create(true).append(true).open(path).unwrap()), pairs }
    }

    /// Compares a pair, unless its result is known, and prints the tally.
    pub fn add(&mut self, key: &str, compare: impl FnOnce() -> Option<PairResult>) {
        if self.pairs.contains_key(key) {
            return;
        }
        let start = Instant::now();
        let result = compare().map(|result| result.0).unwrap_or_default();
        let line = json::to_string(&object([("pair", key.into()), ("result", result.clone())]));
        if let Some(file) = &mut self.file {
            writeln!(file, "{line}").unwrap();
        }
        println!("{key} {:?} {}", start.elapsed(), json::to_string(&result));
        self.pairs.insert(key.to_owned(), result);
        println!("{self}");
    }

    fn answers(&self) -> impl Iterator<Item = (&Value, Question, &Value)> {
        let results = self.pairs.values().filter(|result| !result.is_null());
        results.flat_map(|result| {
            let answer =
                move |question: Question| Some((result, question, result.get("answers")?.get(question.as_str())?));
            Question::ALL.into_iter().filter_map(answer)
        })
    }

    /// Returns the number of pairs that were compared.
    pub fn compared(&self) -> usize {
        self.pairs.values().filter(|result| !result.is_null()).count()
    }

    /// Returns the answers "none possible" that a random object contradicts.
    pub fn contradicted(&self) -> Vec<String> {
        self.with_random("none possible")
    }

    fn with_random(&self, search: &str) -> Vec<String> {
        let is = |answer: &Value| answer.str_at(&["search"]) == Some(search) && answer.get("random").is_some();
        let found = self.answers().filter(|(_, _, answer)| is(answer));
        found
            .map(|(result, question, answer)| {
                let what = result.str_at(&["what"]).unwrap();
                format!("{what}, {}: {}", question.as_str(), json::to_string(answer.get("random").unwrap()))
            })
            .collect()
    }
}

impl fmt::Display for Results {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        for (_, _, answer) in self.answers() {
            *counts.entry((answer.str_at(&["search"]).unwrap(), answer.get("random").is_some())).or_default() += 1;
        }
        let compared = self.pairs.values().filter(|result| !result.is_null());
        let objects = |key: &str| -> i64 { compared.clone().filter_map(|result| result.get(key)?.as_int()).sum() };
        writeln!(
            out,
            "{} pairs of {} compared, {} random objects, {} of them accepted",
            self.compared(),
            self.pairs.len(),
            objects("objects"),
            objects("accepted")
        )?;
        for ((search, is_found), count) in &counts {
            writeln!(out, "  {search}, random objects {}: {count}", if *is_found { "found one" } else { "none" })?;
        }
        for (label, all) in [("contradicted", self.contradicted()), ("missed", self.with_random("none found"))] {
            for one in all {
                writeln!(out, "  {label}: {one}")?;
            }
        }
        Ok(())
    }
}
