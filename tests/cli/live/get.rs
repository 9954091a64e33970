//! Error messages and warnings of `get`, recorded from kubectl 1.37 with a server that sends the same responses.

use super::fake::{Fake, Reply};
use super::{DEFINITION, TestDir, crd, group, groups, widget};

const ALL: &str = "/apis/fake.example.com/v1/namespaces/default";

fn status(code: u16, reason: &str, message: &str) -> Reply {
    Reply::Json(code, format!(r#"{{"kind":"Status","reason":"{reason}","message":"{message}","code":{code}}}"#))
}

/// A server with deprecated widgets, forbidden gadgets, and gones, which are discovered but not served.
fn answer(path: &str) -> Reply {
    let path = path.split('?').next().unwrap();
    let resources = [("widgets", "Widget"), ("gadgets", "Gadget"), ("gones", "Gone")];
    match path.strip_prefix(ALL).unwrap_or(path) {
        "/api/v1/namespaces/gone" => status(404, "NotFound", "namespaces \\\"gone\\\" not found"),
        "/api/v1/namespaces/here" => Reply::Json(200, "{}".to_owned()),
        "/apis/fake.example.com/v1/namespaces/gone/widgets/a"
        | "/apis/fake.example.com/v1/namespaces/here/widgets/a" => status(404, "NotFound", "no a"),
        "/version" => Reply::Json(200, r#"{"major":"1","minor":"37"}"#.to_owned()),
        "/api" => Reply::Json(200, groups(&[])),
        "/apis" => Reply::Json(200, groups(&[group("fake.example.com", "v1", &resources)])),
        DEFINITION => Reply::Json(200, crd("1", 10)),
        "/widgets" => Reply::Headed(
            "warning: 299 - \"widgets are \\\"old\\\", use gizmos\"\r\nwarning: 199 - \"not this\"\r\n",
            format!(r#"{{"kind":"WidgetList","metadata":{{}},"items":[{},{}]}}"#, widget("a", 3), widget("b", 3)),
        ),
        "/widgets/a" => Reply::Json(200, widget("a", 3)),
        "/widgets/nope" => status(404, "NotFound", "it has gone fishing"),
        "/gadgets" => status(403, "Forbidden", "gadgets is forbidden: no way"),
        _ => Reply::Json(404, "404 page not found\n".to_owned()),
    }
}

#[test]
fn get_prints_errors_and_warnings_of_the_server() {
    const OLD: &str = "Warning: widgets are \"old\", use gizmos\n";
    const FORBIDDEN: &str = "Error from server (Forbidden): gadgets is forbidden: no way\n\
        help: ask for permission to read it: kubectl crdx rbac prints the rules\n";
    const UNSERVED: &str = "the server could not find the requested resource (get gones.fake.example.com";
    const HELP: &str = "help: kubectl api-resources lists what it serves\n";
    let place = TestDir::new("said");
    let fake = Fake::serve(|path, _| answer(path));
    let unlisted = "Error from server (NotFound): Unable to list \"fake.example.com/v1, Resource=gones\": ";
    let unfound = "Error from server (NotFound): Unable to find \"fake.example.com/v1, Resource=gones\" that match label \
        selector \"a=b\", field selector \"\": ";
    for (words, code, names, err) in [
        ("widgets", 0, "a b", OLD.to_owned()),
        ("widgets --chunk-size 1", 0, "a b", OLD.to_owned()),
        // With a single list, rows need no kind prefix.
        ("widgets,gadgets", 2, "a b", format!("{OLD}{FORBIDDEN}")),
        ("gadgets,gones", 2, "", format!("{FORBIDDEN}{unlisted}{UNSERVED})\n{HELP}")),
        ("widgets nope", 1, "", "Error from server (NotFound): it has gone fishing\n".to_owned()),
        ("widgets nope --ignore-not-found", 0, "", String::new()),
        ("widgets nope -w --ignore-not-found", 0, "", String::new()),
        ("widgets a -n here", 1, "", "Error from server (NotFound): no a\n".to_owned()),
        // The namespace does not exist.
        ("widgets a -n gone", 1, "", "Error from server (NotFound): namespaces \"gone\" not found\n".to_owned()),
        ("widgets a x", 1, "a", format!("Error from server (NotFound): {}\n", unserved("widgets", "x"))),
        ("gones x", 1, "", format!("Error from server (NotFound): {UNSERVED} x)\n")),
        ("gones", 1, "", format!("{unlisted}{UNSERVED})\n{HELP}")),
        ("gones -l a=b", 1, "", format!("{unfound}{UNSERVED})\n{HELP}")),
        (
            "nothings.of.this",
            2,
            "",
            "error: the server doesn't have a resource type \"nothings\" in group \"of.this\"\n".to_owned(),
        ),
    ] {
        let said = place.run(&format!("get {words} --no-cache -s {}", fake.url));
        let rows = said.out.lines().skip(1).filter_map(|line| line.split(' ').next());
        assert_eq!((said.code, said.err.as_str()), (Some(code), err.as_str()), "{words}");
        assert_eq!(rows.collect::<Vec<_>>().join(" "), names, "{words}: {}", said.out);
    }
}

fn unserved(plural: &str, name: &str) -> String {
    format!("the server could not find the requested resource (get {plural}.fake.example.com {name})")
}
