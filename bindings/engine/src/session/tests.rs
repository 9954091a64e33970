use super::*;
use crdx_text::json;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn session() -> Session {
    Session::new(&json::read(br#"{"kubernetesVersion":"1.37","seed":1}"#).unwrap()).unwrap()
}

fn frame(header: &str, body: &str) -> Frame {
    Frame { header: json::read(header.as_bytes()).unwrap(), body: body.as_bytes().to_vec() }
}

fn send(session: &mut Session, id: i64, method: &str, path: &str, body: &str) -> Vec<Frame> {
    let header = format!(r#"{{"id":{id},"method":"{method}","path":"{path}","contentType":"application/json"}}"#);
    session.answer(frame(&header, body))
}

fn number(frame: &Frame, key: &str) -> Option<i64> {
    frame.header.get(key).and_then(Value::as_int)
}

#[test]
fn events_follow_the_reply_to_the_write_that_causes_them() {
    let mut session = session();
    let started = send(&mut session, 1, "GET", &format!("{MAPS}?watch=true&resourceVersion=0"), "");
    assert_eq!(number(&started[0], "code"), Some(200));
    let replies = send(&mut session, 2, "POST", MAPS, r#"{"metadata":{"name":"a"}}"#);
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert_eq!(number(&replies[0], "code"), Some(201));
    assert_eq!(number(&replies[1], "id"), Some(1));
    assert!(replies[1].body.starts_with(br#"{"type":"ADDED""#));

    assert!(session.answer(frame(r#"{"id":1,"end":true}"#, "")).is_empty());
    assert_eq!(send(&mut session, 3, "DELETE", &format!("{MAPS}/a"), "").len(), 1, "the watch has ended");
}

#[test]
fn a_watch_sends_bookmarks_when_the_host_asks_for_them() {
    let mut session = session();
    let path = format!("{MAPS}?watch=true&resourceVersion=0&allowWatchBookmarks=true");
    let started = send(&mut session, 1, "GET", &path, "");
    assert_eq!(number(&started[0], "bookmarkMilliseconds"), Some(60_000));
    let bookmarks = session.answer(frame(r#"{"id":1,"bookmark":true}"#, ""));
    assert!(bookmarks[0].body.starts_with(br#"{"type":"BOOKMARK""#));
}

#[test]
fn a_deletion_pauses_between_its_writes() {
    let mut session = session();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
    assert_eq!(number(&send(&mut session, 1, "POST", pods, pod)[0], "code"), Some(201));
    let paused = send(&mut session, 2, "DELETE", &format!("{pods}/p"), "");
    assert_eq!(number(&paused[0], "pauseMilliseconds"), Some(5), "{paused:?}");
    assert_eq!(number(&session.answer(frame(r#"{"id":2,"resume":true}"#, ""))[0], "code"), Some(200));
}

#[test]
fn a_request_waits_for_the_outcomes_of_its_webhooks() {
    let mut session = session();
    let webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = r#"{"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","admissionReviewVersions":["v1"],"sideEffects":"None",
        "clientConfig":{"url":"https://127.0.0.1:9443/w"},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]}"#;
    assert_eq!(number(&send(&mut session, 1, "POST", webhooks, configuration)[0], "code"), Some(201));

    for (id, allowed, code) in [(2, true, 201), (3, false, 400)] {
        let calls = send(&mut session, id, "POST", MAPS, &format!(r#"{{"metadata":{{"name":"a{id}"}}}}"#));
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert_eq!(calls[0].header.str_at(&["url"]), Some("https://127.0.0.1:9443/w?timeout=10s"));
        let review = json::read(&calls[0].body).unwrap();
        let uid = review.str_at(&["request", "uid"]).unwrap();
        let answer = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{uid}","allowed":{allowed}}}}}"#
        );
        let outcome = format!(r#"{{"id":{id},"call":{},"code":200}}"#, number(&calls[0], "call").unwrap());
        assert_eq!(number(&session.answer(frame(&outcome, &answer))[0], "code"), Some(code));
    }
    let calls = send(&mut session, 4, "POST", MAPS, r#"{"metadata":{"name":"a4"}}"#);
    let outcome = format!(r#"{{"id":4,"call":{},"error":"EOF"}}"#, number(&calls[0], "call").unwrap());
    let failed = session.answer(frame(&outcome, ""));
    assert_eq!(number(&failed[0], "code"), Some(500));
    assert!(String::from_utf8_lossy(&failed[0].body).contains("failed calling webhook"), "{failed:?}");
}

#[test]
fn a_copy_with_another_seed_has_other_uids() {
    let uid = |seed: Option<&str>| {
        let mut session = session();
        if let Some(seed) = seed {
            assert!(session.answer(frame(&format!(r#"{{"seed":{seed}}}"#), "")).is_empty());
        }
        let created = send(&mut session, 1, "POST", MAPS, r#"{"metadata":{"name":"a"}}"#);
        json::read(&created[0].body).unwrap().str_at(&["metadata", "uid"]).unwrap().to_owned()
    };
    assert_eq!(uid(None), uid(None));
    assert_ne!(uid(None), uid(Some("2")));
}

#[test]
fn other_versions_are_refused() {
    let settings = json::read(br#"{"kubernetesVersion":"1.2"}"#).unwrap();
    assert_eq!(Session::new(&settings).unwrap_err().to_string(), "kubernetesVersion \"1.2\" is not simulated");
}

#[test]
fn the_token_of_a_service_account_names_the_user() {
    let mut session = session();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let created = send(&mut session, 1, "POST", accounts, r#"{"metadata":{"name":"robot"}}"#);
    assert_eq!(number(&created[0], "code"), Some(201), "{created:?}");
    let issued = send(&mut session, 2, "POST", &format!("{accounts}/robot/token"), "{}");
    let issued = json::read(&issued[0].body).unwrap();
    let token = issued.str_at(&["status", "token"]).unwrap();
    let review = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;
    for (token, code, expected) in
        [(token, 201, "system:serviceaccount:default:robot"), ("other", 401, r#""reason":"Unauthorized""#)]
    {
        let header = format!(
            r#"{{"id":3,"method":"POST","path":"/apis/authentication.k8s.io/v1/selfsubjectreviews",
            "contentType":"application/json","authorization":"Bearer {token}"}}"#
        );
        let replies = session.answer(frame(&header, review));
        assert_eq!(number(&replies[0], "code"), Some(code), "{replies:?}");
        assert!(String::from_utf8_lossy(&replies[0].body).contains(expected), "{replies:?}");
    }
}
