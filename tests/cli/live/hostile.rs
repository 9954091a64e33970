//! A hostile server: whatever it sends, a run ends with an error, and with bounded memory.

use super::fake::{Fake, Reply};
use super::{TestDir, WIDGETS, cluster, crd, widget};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

const A: &str = "/apis/fake.example.com/v1/namespaces/default/widgets/a";
const HEAD: &[u8] = b"HTTP/1.1 200 x\r\ncontent-type: application/json\r\n";

static SENT: AtomicUsize = AtomicUsize::new(0);

/// A string that never ends.
fn endless(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD)?;
    out.write_all(b"\r\n{\"a\":\"")?;
    loop {
        out.write_all(&[b'x'; 4096])?;
        SENT.fetch_add(4096, Ordering::Relaxed);
    }
}

/// Headers that never end.
fn headers(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD)?;
    loop {
        out.write_all(b"x-more: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n")?;
    }
}

/// One byte every now and then.
fn slow(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD)?;
    out.write_all(b"content-length: 1000000\r\n\r\n{")?;
    loop {
        std::thread::sleep(std::time::Duration::from_millis(100));
        out.write_all(b" ")?;
        out.flush()?;
    }
}

/// Many small objects, which need 60 times the memory of their text.
fn small_objects(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD)?;
    out.write_all(b"\r\n{\"items\":[{}")?;
    for _ in 0..3_000_000 {
        out.write_all(b",{\"a\":0}")?;
    }
    out.write_all(b"]}")
}

#[test]
fn an_answer_has_a_limit() {
    let place = TestDir::new("endless");
    let object = |reply: fn() -> Reply| Fake::serve(move |path, _| if path == A { reply() } else { cluster(path) });
    let line = |fake: &Fake, more: &str| format!("validate -f a.yaml -s {} --no-cache{more}", fake.url);
    let fake = object(|| Reply::Raw(endless));
    place.run(&line(&fake, "")).ends(2, &["is longer than 32 MiB", "no API server sends so much"]);
    assert_eq!(fake.count(A), 1);
    // The sockets have buffers, too.
    assert!(SENT.load(Ordering::Relaxed) < 64 << 20, "{SENT:?}");
    let fake = object(|| Reply::Raw(small_objects));
    place.run(&line(&fake, "")).ends(2, &["has too many values"]);
    let fake = object(|| Reply::Raw(headers));
    place.run(&line(&fake, "")).ends(2, &["help: "]);
    let fake = object(|| Reply::Raw(slow));
    place.run(&line(&fake, " --request-timeout 1s")).ends(2, &["did not answer GET", "within 1 s"]);
    for discovery in ["/apis", "/version", super::DEFINITION] {
        let fake = Fake::serve(move |path, _| if path == discovery { Reply::Raw(endless) } else { cluster(path) });
        let said = place.run(&line(&fake, ""));
        assert!(said.all().contains("is longer than 32 MiB"), "{discovery}: {said:?}");
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let place = TestDir::new("redirect");
    let elsewhere = Fake::serve(|path, _| cluster(path));
    let url = elsewhere.url.clone();
    for code in [301, 302, 307, 308] {
        let head: &'static str = format!("location: {url}{A}\r\n").leak();
        let fake =
            Fake::serve(move |path, _| if path == A { Reply::Coded(code, head, String::new()) } else { cluster(path) });
        place.run(&format!("validate -f a.yaml -s {} --no-cache", fake.url)).ends(2, &[&format!("answered {code}")]);
    }
    assert_eq!(elsewhere.paths(), [""; 0]);
}

fn page(items: &[String], token: &str) -> Reply {
    let items = items.join(",");
    Reply::Json(
        200,
        format!(
            r#"{{"kind":"WidgetList","metadata":{{"resourceVersion":"9","continue":"{token}"}},"items":[{items}]}}"#
        ),
    )
}

#[test]
fn a_list_ends() {
    let place = TestDir::new("endless-list");
    place.write("new.yaml", &crd("", 10));
    let requests = AtomicUsize::new(0);
    let fresh = move |path: &str, _| match path.split('?').next() {
        Some(WIDGETS) => page(&[], &format!("token{}", requests.fetch_add(1, Ordering::Relaxed))),
        _ => cluster(path),
    };
    let cycle = |path: &str, _| match path.split_once("continue=") {
        Some((_, "one")) => page(&[widget("a", 1)], "two"),
        Some((_, "two")) => page(&[widget("b", 1)], "three"),
        Some(_) => page(&[widget("c", 1)], "one"),
        None if path.starts_with(WIDGETS) => page(&[widget("d", 1)], "one"),
        None => cluster(path),
    };
    let (fresh, cycle) = (Fake::serve(fresh), Fake::serve(cycle));
    for command in ["rehearse new.yaml", "get widgets -A --sort-by .metadata.name"] {
        fresh.forget();
        let says = ["widgets does not end: more than 200 of its pages are not full"];
        place.run(&format!("{command} -s {} --no-cache", fresh.url)).ends(2, &says);
        assert_eq!(fresh.count(WIDGETS), 201, "{command}");
        let says = ["widgets does not end: a page has the continue token of an earlier one"];
        place.run(&format!("{command} -s {} --no-cache", cycle.url)).ends(2, &says);
    }
}

#[test]
fn a_page_that_is_too_long_is_requested_in_smaller_pages() {
    let place = TestDir::new("long-pages");
    place.write("new.yaml", &crd("", 10));
    let fake = Fake::serve(|path, _| {
        let Some((WIDGETS, query)) = path.split_once('?').or(Some((path, ""))).filter(|(path, _)| *path == WIDGETS)
        else {
            return cluster(path);
        };
        let value = |key: &str| query.split('&').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
        let limit: usize = value("limit").map_or(usize::MAX, |limit| limit.parse().unwrap());
        let from: usize = value("continue").map_or(0, |token| token.parse().unwrap());
        // 100 objects of 1 MiB each.
        let to = from.saturating_add(limit).min(100);
        let large = "x".repeat(1 << 20);
        let mut items = String::new();
        for n in from..to {
            let one = widget(&format!("w{n:03}"), 7).replace(r#""color":"red""#, &format!(r#""color":"{large}""#));
            write!(items, "{}{one}", if n == from { "" } else { "," }).unwrap();
        }
        page(&[items], &if to < 100 { to.to_string() } else { String::new() })
    });
    place.run(&format!("rehearse new.yaml -s {} --no-cache", fake.url)).ends(0, &["100 objects"]);
    // Pages of 500 and 62 were too long.
    assert_eq!(fake.count(WIDGETS), 2 + 15);
    let said = place.run(&format!("get widgets -A -o name --sort-by .metadata.name -s {} --no-cache", fake.url));
    assert_eq!(said.ends(0, &[]).out.lines().count(), 100);
}

/// An event that never ends, after one that does.
fn event(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD)?;
    let added = format!("\r\n{{\"type\":\"ADDED\",\"object\":{}}}\n{{\"type\":\"", widget("late", 1));
    out.write_all(added.as_bytes())?;
    loop {
        out.write_all(&[b'x'; 4096])?;
    }
}

#[test]
fn an_event_of_a_watch_has_a_limit() {
    let place = TestDir::new("endless-event");
    let fake = Fake::serve(|path, _| match path.split_once('?') {
        Some((_, query)) if query.contains("watch=true") => Reply::Raw(event),
        Some((path, _)) if path.ends_with("/widgets") => page(&[], ""),
        _ => cluster(path),
    });
    let line = format!("get widgets -w -s {} --no-cache", fake.url);
    place.run(&line).ends(2, &["late", "an event is longer than 32 MiB"]);
}
