//! Existing objects are read with a list where that needs fewer requests, with the same results as one request for each.

use super::fake::{Fake, Reply};
use super::{NOT_FOUND, TestDir, cluster, group, groups, object, status, widget};
use std::fmt::Write as _;

const COLLECTION: &str = "/apis/fake.example.com/v1/namespaces/default/widgets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// The name of an existing object; every third number of the input has none.
fn name(number: usize) -> String {
    format!("w{number:05}")
}

fn exists(number: usize) -> bool {
    !number.is_multiple_of(3)
}

/// The documents of `count` objects, in an order that is not that of the names.
fn documents(count: usize) -> String {
    let numbers = (0..count).rev().filter(|n| n % 2 == 0).chain((0..count).filter(|n| n % 2 == 1));
    numbers.map(|n| object(&name(n), 4) + "---\n").collect()
}

/// The number after `key` in a query.
fn parameter(path: &str, key: &str) -> Option<usize> {
    path.split_once('?')?.1.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

/// A page of a list of `total` objects, `item` of which gives the text of one.
fn page(path: &str, kind: &str, total: usize, item: impl Fn(usize) -> String, counted: bool) -> Reply {
    let start = parameter(path, "continue").unwrap_or(0);
    let end = (start + parameter(path, "limit").unwrap_or(total)).min(total);
    let items: Vec<String> = (start..end).map(item).collect();
    let mut metadata = r#""resourceVersion":"9""#.to_owned();
    if end < total {
        write!(metadata, r#","continue":"{end}""#).unwrap();
        if counted {
            write!(metadata, r#","remainingItemCount":{}"#, total - end).unwrap();
        }
    }
    let items = items.join(",");
    let version = if kind == "Widget" { "fake.example.com/v1" } else { "v1" };
    Reply::Json(
        200,
        format!(r#"{{"kind":"{kind}List","apiVersion":"{version}","metadata":{{{metadata}}},"items":[{items}]}}"#),
    )
}

/// Two of three widgets of the input, and `others` after them.
fn widgets(path: &str, count: usize, others: usize) -> Reply {
    if path.split('?').next() == Some(COLLECTION) {
        let mut numbers: Vec<usize> = (0..count).filter(|n| exists(*n)).collect();
        numbers.extend(50_000..50_000 + others);
        return page(path, "Widget", numbers.len(), |n| widget(&name(numbers[n]), 3), true);
    }
    match path.strip_prefix(COLLECTION).and_then(|rest| rest.strip_prefix("/w")?.parse().ok()) {
        Some(number) if exists(number) => Reply::Json(200, widget(&name(number), 3)),
        _ => cluster(path),
    }
}

/// The numbers of lists and of requests for single objects.
fn requests(fake: &Fake, collection: &str) -> (usize, usize) {
    let paths = fake.paths();
    let single = format!("{collection}/");
    (fake.count(collection), paths.iter().filter(|path| path.starts_with(&single)).count())
}

#[test]
fn many_objects_of_a_kind_in_a_namespace_are_read_with_one_list() {
    let place = TestDir::new("lists");
    place.write("some.yaml", &documents(120));
    let listed = Fake::serve(|path, _| widgets(path, 120, 100));
    let alone = Fake::serve(|path, _| {
        if path.starts_with(&format!("{COLLECTION}?")) {
            status(403, "widgets is forbidden: User \"a\" cannot list resource")
        } else {
            widgets(path, 120, 100)
        }
    });
    for line in ["validate -f some.yaml -o json", "validate -f some.yaml --jobs 1", "diff -f some.yaml --jobs 3"] {
        listed.forget();
        alone.forget();
        let with = place.run(&format!("{line} --no-cache -s {}", listed.url));
        let without = place.run(&format!("{line} --no-cache -s {}", alone.url));
        assert!(with.code.is_some_and(|code| code < 2), "{with:?}");
        let masked = |text: &str, fake: &Fake| text.replace(&fake.url, "URL");
        assert_eq!(masked(&with.out, &listed), masked(&without.out, &alone), "{line}");
        assert_eq!(masked(&with.err, &listed), masked(&without.err, &alone), "{line}");
        // A page of 120 objects, and one with the rest.
        assert_eq!(requests(&listed, COLLECTION), (2, 0), "{line}");
        assert_eq!(requests(&alone, COLLECTION), (1, 120), "{line}");
    }
}

#[test]
fn few_objects_are_requested_one_by_one() {
    let place = TestDir::new("no-lists");
    let fake = Fake::serve(|path, _| widgets(path, 29, 0));
    place.write("some.yaml", &documents(29));
    place.run(&format!("validate -f some.yaml -s {}", fake.url)).ends(0, &["29 accepted"]);
    assert_eq!(requests(&fake, COLLECTION), (0, 29));
}

#[test]
fn a_list_of_many_other_objects_is_not_read_further() {
    let place = TestDir::new("long-lists");
    place.write("some.yaml", &documents(60));
    let limits = |fake: &Fake| -> Vec<Option<usize>> {
        let paths = fake.paths();
        paths
            .iter()
            .filter(|path| path.starts_with(&format!("{COLLECTION}?")))
            .map(|path| parameter(path, "limit"))
            .collect()
    };
    // The server says how many objects follow.
    let fake = Fake::serve(|path, _| widgets(path, 60, 100_000));
    place.run(&format!("validate -f some.yaml -s {}", fake.url)).ends(0, &["60 accepted"]);
    // The first page has all of the existing objects, but not that the others do not exist.
    assert_eq!((limits(&fake), requests(&fake, COLLECTION)), (vec![Some(60)], (1, 20)));
    // It does not.
    let fake = Fake::serve(|path, _| {
        if path.starts_with(&format!("{COLLECTION}?")) {
            page(path, "Widget", 100_000, |n| widget(&name(n + 200), 3), false)
        } else {
            widgets(path, 60, 0)
        }
    });
    place.run(&format!("validate -f some.yaml -s {}", fake.url)).ends(0, &["60 accepted"]);
    assert_eq!((limits(&fake), requests(&fake, COLLECTION)), (vec![Some(60), Some(500)], (2, 60)));
}

#[test]
fn a_list_that_fails_is_replaced_by_requests() {
    let place = TestDir::new("failing-lists");
    place.write("some.yaml", &documents(120));
    // The second page fails.
    let failures: [fn() -> Reply; 5] = [
        || {
            let text =
                r#"{"kind":"Status","message":"too old","reason":"Expired","code":410,"metadata":{"continue":"80"}}"#;
            Reply::Json(410, text.to_owned())
        },
        || status(500, "broken"),
        || Reply::Json(404, NOT_FOUND.to_owned()),
        || Reply::Json(200, r#"{"kind":"WidgetList"}"#.to_owned()),
        || Reply::Text(200, "<html>"),
    ];
    for failure in failures {
        let fake =
            Fake::serve(move |path, _| if path.contains("continue=") { failure() } else { widgets(path, 120, 100) });
        place.run(&format!("validate -f some.yaml -s {}", fake.url)).ends(0, &["120 accepted"]);
        let (lists, single) = requests(&fake, COLLECTION);
        assert_eq!(single, 40, "{:?}", fake.paths());
        assert!(lists >= 2, "{lists}");
    }
    // So does the first one.
    let fake =
        Fake::serve(
            |path, _| {
                if path.starts_with(&format!("{COLLECTION}?")) { Reply::Close } else { widgets(path, 120, 100) }
            },
        );
    place.run(&format!("validate -f some.yaml -s {}", fake.url)).ends(0, &["120 accepted"]);
    assert_eq!(requests(&fake, COLLECTION).1, 120);
}

#[test]
fn objects_of_built_in_kinds_are_listed_but_not_secrets() {
    let place = TestDir::new("built-in-lists");
    let map = |kind: &str, n: usize, head: &str| {
        format!(
            r#"{{{head}"metadata":{{"name":"{}","namespace":"default","uid":"u","resourceVersion":"7"}},"data":{{"a":"{kind}"}}}}"#,
            name(n)
        )
    };
    let answer = move |path: &str, lists: bool| {
        for (collection, kind, data) in [(MAPS, "ConfigMap", "1"), (SECRETS, "Secret", "MQ==")] {
            if path.split('?').next() == Some(collection) {
                // Items of these lists have no apiVersion and kind.
                let listed = page(path, kind, 50, |n| map(data, n, ""), true);
                return if lists { listed } else { status(403, "forbidden") };
            }
            if let Some(n) = path.strip_prefix(collection).and_then(|rest| rest.strip_prefix("/w")?.parse().ok()) {
                return Reply::Json(200, map(data, n, &format!(r#""kind":"{kind}","apiVersion":"v1","#)));
            }
        }
        match path {
            "/api" => {
                let resources = [("namespaces", "Namespace"), ("configmaps", "ConfigMap"), ("secrets", "Secret")];
                Reply::Json(200, groups(&[group("", "v1", &resources)]))
            }
            _ => cluster(path),
        }
    };
    let mut text = String::new();
    for n in 0..50 {
        for (kind, data) in [("ConfigMap", if n == 7 { "2" } else { "1" }), ("Secret", "MQ==")] {
            writeln!(text, "apiVersion: v1\nkind: {kind}\nmetadata: {{name: {}}}\ndata: {{a: {data:?}}}\n---", name(n))
                .unwrap();
        }
    }
    place.write("some.yaml", &text);
    let listed = Fake::serve(move |path, _| answer(path, true));
    let alone = Fake::serve(move |path, _| answer(path, false));
    let run = |fake: &Fake| {
        let said = place.run(&format!("diff -f some.yaml --no-cache -s {}", fake.url));
        (said.code, said.out.replace(&fake.url, "URL"), said.err.replace(&fake.url, "URL"))
    };
    let (with, without) = (run(&listed), run(&alone));
    assert_eq!(with, without);
    assert!(with.0 == Some(1) && with.1.contains("+  a: \"2\""), "{with:?}");
    assert_eq!((requests(&listed, MAPS), requests(&listed, SECRETS)), ((1, 0), (0, 50)));
    assert_eq!((requests(&alone, MAPS), requests(&alone, SECRETS)), ((1, 50), (0, 50)));
}
