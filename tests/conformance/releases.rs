//! Responses of older servers, which depend on the release.

use crate::conformance::exchange::{Client, InProcess, Reply};
use crdx_value::release::Release;
use serde_json::Value;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const KITES: &str = "/apis/toys.example.com/v1/namespaces/default/kites";

fn crd(rule: &str) -> String {
    let spec = r#"{"type":"object","properties":{"url":{"type":"string"},"port":{"x-kubernetes-int-or-string":true,"maxLength":5}},"x-kubernetes-validations":[{"rule":RULE}]}"#;
    let spec = spec.replace("RULE", &serde_json::json!(rule).to_string());
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"kites.toys.example.com"}},"spec":{{"group":"toys.example.com","scope":"Namespaced","names":{{"plural":"kites","kind":"Kite"}},"versions":[{{"name":"v1","served":true,"storage":true,"subresources":{{"status":{{}}}},"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{"spec":{spec}}}}}}}}}]}}}}"#
    )
}

fn send(server: &mut InProcess, method: &str, path: &str, body: &str) -> Reply {
    let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    server.call(method, path, Some(body), Some(content_type), "application/json")
}

fn server(minor: u16) -> InProcess {
    let mut server = InProcess::of(Release::new(minor).unwrap());
    assert_eq!(send(&mut server, "POST", CRDS, &crd("true")).code, 201);
    server
}

#[test]
fn a_cost_that_only_some_versions_estimate_refuses_a_crd_there() {
    // infrastructures.config.openshift.io of OpenShift has a rule like the first one.
    let pattern = format!("!has(self.url) || matches(self.url, '^https://{}')", "a".repeat(140));
    // Since 1.34, maxLength of an int-or-string limits its size.
    let numbers: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let loops = format!("!has(self.port) || [{}].all(x, self.port == self.port)", numbers.join(","));
    let address = "!has(self.url) || ip(self.url) == ip('10.0.0.1')".to_owned();
    for (rule, refused) in [(pattern, 37..=37), (loops, 30..=33), (address, 30..=31)] {
        for minor in 30..=37 {
            let mut server = InProcess::of(Release::new(minor).unwrap());
            let code = send(&mut server, "POST", CRDS, &crd(&rule)).code;
            assert_eq!(code == 422, refused.contains(&minor), "1.{minor} {rule}");
        }
    }
}

#[test]
fn the_uid_of_an_absent_object_is_compared_before_1_34() {
    let absent =
        r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a","uid":"u","resourceVersion":"1"}}"#;
    for (minor, code) in [(30, 409), (33, 409), (34, 404), (37, 404)] {
        let reply = send(&mut server(minor), "PUT", &format!("{KITES}/a"), absent);
        assert_eq!(reply.code, code, "1.{minor}");
    }
}

#[test]
fn managed_fields_of_a_wrong_type_are_kept_since_1_37() {
    let kite = |spec: &str| {
        format!(
            r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"a","resourceVersion":"RV"}},"spec":{spec}}}"#
        )
    };
    for (minor, kept) in [(31, false), (36, false), (37, true)] {
        let mut server = server(minor);
        let created = send(&mut server, "POST", KITES, &kite("{}").replace(r#","resourceVersion":"RV""#, ""));
        let version = created.body["metadata"]["resourceVersion"].as_str().unwrap();
        // A write of `status` ignores the spec, but the owners of its fields cannot be determined.
        let path = format!("{KITES}/a/status");
        let reply = send(&mut server, "PUT", &path, &kite(r#"{"url":5}"#).replace("RV", version));
        assert_eq!(reply.code, 200, "{}", reply.body);
        assert_eq!(!reply.body["metadata"]["managedFields"].is_null(), kept, "1.{minor}");
    }
}

#[test]
fn a_write_of_the_status_releases_owners_of_absent_metadata_before_1_36() {
    let kite = |metadata: &str| {
        format!(
            r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"a"{metadata}}},"status":{{}}}}"#
        )
    };
    for (minor, kept) in [(31, false), (35, false), (36, true), (37, true)] {
        let mut server = server(minor);
        let path = format!("{KITES}?fieldManager=labels");
        let created = send(&mut server, "POST", &path, &kite(r#","labels":{"x":"y"}"#));
        let version = format!(r#","resourceVersion":{}"#, created.body["metadata"]["resourceVersion"]);
        let reply = send(&mut server, "PUT", &format!("{KITES}/a/status?fieldManager=status"), &kite(&version));
        assert_eq!((reply.code, &reply.body["metadata"]["labels"]["x"]), (200, &serde_json::json!("y")), "1.{minor}");
        let owners = reply.body["metadata"]["managedFields"].to_string();
        assert_eq!(owners.contains("f:labels"), kept, "1.{minor} {owners}");
    }
}

#[test]
fn a_write_of_the_status_releases_owners_in_other_versions_before_1_35() {
    let kite = |version: &str, port: u8, revision: &Value| {
        format!(
            r#"{{"apiVersion":"toys.example.com/{version}","kind":"Kite","metadata":{{"name":"a","resourceVersion":{revision}}},"spec":{{"port":{port}}},"status":{{}}}}"#
        )
    };
    for (minor, kept) in [(31, false), (34, false), (35, true), (37, true)] {
        let mut server = InProcess::of(Release::new(minor).unwrap());
        let mut definition: Value = serde_json::from_str(&crd("true")).unwrap();
        let versions = definition["spec"]["versions"].as_array_mut().unwrap();
        versions.push(versions[0].clone());
        versions[1]["name"] = "v2".into();
        versions[1]["storage"] = false.into();
        assert_eq!(send(&mut server, "POST", CRDS, &definition.to_string()).code, 201);
        let path = format!("{}?fieldManager=maker", KITES.replace("/v1/", "/v2/"));
        let created = send(&mut server, "POST", &path, &kite("v2", 1, &Value::from(""))).body;
        let written = kite("v1", 2, &created["metadata"]["resourceVersion"]);
        let reply = send(&mut server, "PUT", &format!("{KITES}/a/status?fieldManager=status"), &written);
        assert_eq!((reply.code, &reply.body["spec"]["port"]), (200, &Value::from(1)), "1.{minor}");
        let owners = reply.body["metadata"]["managedFields"].to_string();
        assert_eq!(owners.contains("f:port"), kept, "1.{minor} {owners}");
    }
}

#[test]
fn a_patch_must_not_remove_the_api_version() {
    let mut server = server(37);
    let kite = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"}}"#;
    assert_eq!(send(&mut server, "POST", KITES, kite).code, 201);
    for version in ["null", r#""""#, r#""/""#, r#""toys.example.com/""#] {
        let reply = send(&mut server, "PATCH", &format!("{KITES}/a"), &format!(r#"{{"apiVersion":{version}}}"#));
        assert_eq!(reply.code, 500, "{version}: {}", reply.body);
        assert_eq!(
            reply.body["message"],
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"
        );
    }
    // The name and the revision are checked before.
    for (metadata, code) in [(r#""name":"b""#, 400), (r#""resourceVersion":"9999""#, 409), (r#""uid":"u""#, 500)] {
        let patch = format!(r#"{{"apiVersion":null,"metadata":{{{metadata}}}}}"#);
        assert_eq!(send(&mut server, "PATCH", &format!("{KITES}/a"), &patch).code, code, "{metadata}");
    }
}

#[test]
fn percent_signs_in_a_misfit_are_formatted_before_1_34() {
    let patch = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"},"spec":"50% sure"}"#;
    for (minor, printed) in [(30, "50%!s(MISSING)ure"), (33, "50%!s(MISSING)ure"), (34, "50% sure"), (37, "50% sure")] {
        let mut server = server(minor);
        let path = format!("{KITES}/a?fieldManager=a");
        let reply = server.call("PATCH", &path, Some(patch), Some("application/apply-patch+yaml"), "application/json");
        let message = reply.body["message"].as_str().unwrap();
        assert!(message.ends_with(&format!(".spec: expected map, got &{{{printed}}}")), "1.{minor} {message}");
    }
}

#[test]
fn openapi_has_the_types_and_parameters_of_the_release() {
    let get = |server: &mut InProcess, path: &str| server.call("GET", path, None, None, "application/json").body;
    let kinds = |of: &serde_json::Value| of["x-kubernetes-group-version-kind"].as_array().unwrap().len();
    // Counted in the documents of real servers of these versions; for 1.38, from `kubernetes/scheme` of client-go.
    for (minor, version, delete_options, watch_events) in [
        (30, "unversioned", 52, 54),
        (31, "1.31", 53, 55),
        (34, "1.34", 55, 57),
        (37, "1.37", 55, 2),
        (38, "1.38", 56, 2),
    ] {
        let mut server = server(minor);
        let own = get(&mut server, "/openapi/v3/apis/apiextensions.k8s.io/v1");
        assert_eq!(own["info"]["version"], version);
        let types = &own["components"]["schemas"];
        assert_eq!(kinds(&types["io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent"]), watch_events, "1.{minor}");
        let of_crd = get(&mut server, "/openapi/v3/apis/toys.example.com/v1");
        let types = &of_crd["components"]["schemas"];
        assert_eq!(kinds(&types["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]), delete_options, "1.{minor}");
        let list = &types["io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"]["properties"];
        assert_eq!(list.get("shardInfo").is_some(), minor >= 36);
        let is_beta = list["shardInfo"]["description"].as_str().is_some_and(|text| text.contains("is a beta field"));
        assert_eq!(is_beta, minor >= 38);
        let all = get(&mut server, "/openapi/v2");
        let parameters = all["parameters"].as_object().unwrap();
        assert_eq!(parameters.keys().any(|name| name.starts_with("shardSelector")), minor >= 36, "1.{minor}");
        let merged = &all["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"];
        assert_eq!(kinds(merged), delete_options + 2, "1.{minor}");
    }
}

/// Sends a request with the content type of a patch, and expects JSON.
fn patch(server: &mut InProcess, path: &str, kind: &str, body: &str) -> Reply {
    let content_type = format!("application/{kind}");
    server.call("PATCH", path, Some(body), Some(&content_type), "application/json")
}

#[test]
fn before_1_37_an_absent_object_precedes_a_patch_that_is_no_json() {
    for (minor, code) in [(31, 404), (36, 404), (37, 400)] {
        let reply = patch(&mut server(minor), &format!("{KITES}/a"), "merge-patch+json", "x");
        assert_eq!(reply.code, code, "1.{minor}: {}", reply.body);
    }
    // A number that is out of range is valid JSON.
    let reply = patch(&mut server(37), &format!("{KITES}/a"), "merge-patch+json", r#"{"a":1e999}"#);
    assert_eq!(reply.code, 404, "{}", reply.body);
}

#[test]
fn an_apply_that_creates_an_object_keeps_its_system_fields_before_1_37() {
    let config =
        r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a","deletionGracePeriodSeconds":5}}"#;
    for (minor, kept) in [(31, true), (36, true), (37, false)] {
        let reply = patch(&mut server(minor), &format!("{KITES}/a?fieldManager=m"), "apply-patch+yaml", config);
        assert_eq!(reply.code, 201, "{}", reply.body);
        assert_eq!(reply.body["metadata"]["deletionGracePeriodSeconds"] == 5, kept, "1.{minor}");
    }
}

#[test]
fn deletions_heed_the_option_to_ignore_read_errors_since_1_37() {
    let options = r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"propagationPolicy":"Background"}"#;
    for (minor, code) in [(31, 404), (32, 404), (36, 404), (37, 422)] {
        let reply = send(&mut server(minor), "DELETE", &format!("{KITES}/a"), options);
        assert_eq!(reply.code, code, "1.{minor}: {}", reply.body);
    }
}

#[test]
fn the_table_of_crds_has_columns_of_its_own_since_1_37() {
    for (minor, columns) in [(31, 2), (36, 2), (37, 8)] {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let table = server(minor).call("GET", CRDS, None, None, accept).body;
        assert_eq!(table["columnDefinitions"].as_array().unwrap().len(), columns, "1.{minor}");
        assert_eq!(table["rows"][0]["cells"].as_array().unwrap().len(), columns, "1.{minor}");
    }
}

#[test]
fn a_page_after_the_current_revision_is_refused() {
    // {"v":"meta.k8s.io/v1","rv":999999999,"start":"a"}
    let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5OTk5OTk5LCJzdGFydCI6ImEifQ";
    for (minor, code) in [(31, 500), (33, 500), (34, 504), (37, 504)] {
        let path = format!("{KITES}?continue={token}");
        let reply = server(minor).call("GET", &path, None, None, "application/json");
        assert_eq!(reply.code, code, "1.{minor}: {}", reply.body);
    }
}

#[test]
fn before_1_37_an_optional_old_value_has_no_declared_type() {
    let crd = |minor: u16, rule: &str| {
        let schema = r#"{"type":"object","default":{"x-y":"a"},"properties":{"x-y":{"type":"string"}},"x-kubernetes-validations":[{"rule":RULE,"optionalOldSelf":true}]}"#;
        let schema = schema.replace("RULE", &serde_json::json!(rule).to_string());
        let crd =
            crd("true").replace(r#""properties":{"spec":"#, &format!(r#""properties":{{"other":{schema},"spec":"#));
        send(&mut InProcess::of(Release::new(minor).unwrap()), "POST", CRDS, &crd).code
    };
    for (minor, code) in [(31, 422), (36, 422), (37, 201)] {
        assert_eq!(crd(minor, "!oldSelf.hasValue() || has(oldSelf.value().x__dash__y)"), code, "1.{minor}");
        assert_eq!(crd(minor, "oldSelf.orValue(self) == self"), 201, "1.{minor}");
    }
}

#[test]
fn objects_with_null_fields_are_unequal_before_1_34() {
    let nullable = r#""o":{"type":"object","properties":{"a":{"type":"string","nullable":true}}},"url""#;
    let definition = crd("!has(self.o) || self.o == self.o").replace(r#""url""#, nullable);
    let kite = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"},"spec":{"o":{"a":null}}}"#;
    for (minor, code) in [(31, 422), (33, 422), (34, 201), (37, 201)] {
        let mut server = InProcess::of(Release::new(minor).unwrap());
        assert_eq!(send(&mut server, "POST", CRDS, &definition).code, 201);
        let reply = send(&mut server, "POST", KITES, kite);
        assert_eq!(reply.code, code, "1.{minor}: {}", reply.body);
    }
}

#[test]
fn strict_errors_name_the_kind_of_the_body() {
    let body = |api_version: &str| {
        format!(r#"{{"apiVersion":"{api_version}","kind":"Other","metadata":{{"name":"a","no":1}}}}"#)
    };
    let mut server = server(37);
    let path = format!("{KITES}?fieldValidation=Strict");
    let message = |reply: Reply| reply.body["message"].as_str().unwrap().to_owned();
    assert_eq!(
        message(send(&mut server, "POST", &path, &body("v2"))),
        "Other in version \"v2\" cannot be handled as a Other: strict decoding error: unknown field \"metadata.no\""
    );
    assert_eq!(
        message(send(&mut server, "POST", &path, &body(""))),
        "Object 'apiVersion' is missing in 'object has no apiVersion field'"
    );
    let number = r#"{"apiVersion":"toys.example.com/v2","kind":"Kite","metadata":{"name":"a"},"x":1e400}"#;
    assert_eq!(
        message(send(&mut server, "POST", &path, number)),
        "Kite in version \"v2\" cannot be handled as a Kite: json: cannot unmarshal number 1e400 into Go value of type float64"
    );
}

#[test]
fn a_write_of_the_status_tolerates_unchanged_errors_since_1_33() {
    let status = |schema: &str| {
        crd("true").replace(r#""properties":{"spec":"#, &format!(r#""properties":{{"status":{schema},"spec":"#))
    };
    let lax = status(r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}"#);
    let bounded = status(
        r#"{"type":"object","properties":{"a":{"type":"string","maxLength":1},"b":{"type":"string","x-kubernetes-validations":[{"rule":"self == ''"}]}}}"#,
    );
    for (minor, code) in [(31, 422), (32, 422), (33, 200), (37, 200)] {
        let mut server = InProcess::of(Release::new(minor).unwrap());
        assert_eq!(send(&mut server, "POST", CRDS, &lax).code, 201);
        let kite = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"}}"#;
        assert_eq!(send(&mut server, "POST", KITES, kite).code, 201);
        let path = format!("{KITES}/a/status");
        assert_eq!(send(&mut server, "PATCH", &path, r#"{"status":{"a":"long","b":"no"}}"#).code, 200);
        assert_eq!(send(&mut server, "PATCH", &format!("{CRDS}/kites.toys.example.com"), &bounded).code, 200);
        for (change, code) in
            [(r#"{"a":"long"}"#, code), (r#"{"a":"","b":"no","c":1}"#, code), (r#"{"a":"","b":""}"#, 200)]
        {
            let reply = send(&mut server, "PATCH", &path, &format!(r#"{{"status":{change}}}"#));
            assert_eq!(reply.code, code, "1.{minor} {change}: {}", reply.body);
        }
    }
}

#[test]
fn the_option_to_ignore_read_errors_is_decoded_since_1_32() {
    let options = r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":1}"#;
    for (minor, decoded) in [(31, false), (32, true), (37, true)] {
        let reply = send(&mut server(minor), "DELETE", &format!("{KITES}/a"), options);
        assert_eq!(reply.code != 404, decoded, "1.{minor}: {}", reply.body);
    }
}

#[test]
fn a_page_that_the_watch_cache_answers_does_not_validate_its_revision() {
    let page = "limit=1&resourceVersion=x";
    let cases = [
        (30, format!("{page}&resourceVersionMatch=NotOlderThan"), 400),
        (31, format!("{page}&resourceVersionMatch=NotOlderThan"), 500),
        (32, format!("{page}&resourceVersionMatch=NotOlderThan"), 500),
        (33, format!("{page}&resourceVersionMatch=NotOlderThan"), 400),
        (31, format!("{page}&resourceVersionMatch=Exact"), 400),
        (31, page.to_owned(), 400),
        (30, "resourceVersion=x".to_owned(), 500),
    ];
    for (minor, query, code) in cases {
        let reply = send(&mut server(minor), "GET", &format!("{KITES}?{query}"), "");
        assert_eq!(reply.code, code, "1.{minor} {query}: {}", reply.body);
    }
}

#[test]
fn an_element_of_a_wrong_type_equals_no_other_element_of_a_set() {
    let list = r#"{"type":"array","maxItems":4,"items":{"type":"integer"},"x-kubernetes-list-type":"set"}"#;
    let lists = format!(r#""set":{list},"l":{},"port""#, list.replace("set", "atomic"));
    let cases = [
        ("sets.contains([1, 2, 3], self.set)", false),
        ("sets.contains([], self.set)", false),
        ("sets.equivalent(self.set, [2])", false),
        ("self.set == self.l", false),
        ("sets.contains(self.set, [2])", true),
        ("sets.intersects(self.set, [2])", true),
    ];
    for minor in [30, 31, 34, 37] {
        for (rule, holds) in cases {
            let mut server = InProcess::of(Release::new(minor).unwrap());
            assert_eq!(send(&mut server, "POST", CRDS, &crd(rule).replace(r#""port""#, &lists)).code, 201, "{rule}");
            let kite = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a"},"spec":{"set":[1.0,2],"l":[1,2]}}"#;
            let reply = send(&mut server, "POST", KITES, kite);
            let message = reply.body["message"].as_str().unwrap_or("accepted").to_owned();
            if holds {
                assert_eq!(reply.code, 201, "1.{minor} {rule}: {message}");
            } else {
                assert!(message.ends_with(&format!("failed rule: {rule}")), "1.{minor}: {message}");
            }
        }
    }
}

#[test]
fn labels_with_a_null_in_an_apply_are_validated_since_1_33() {
    let kite = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"a","labels":{"a":null,"b":"invalid "}}}"#;
    for (minor, code) in [(31, 201), (32, 201), (33, 422), (37, 422)] {
        let path = format!("{KITES}/a?fieldManager=m");
        let mut server = server(minor);
        let reply = server.call("PATCH", &path, Some(kite), Some("application/apply-patch+yaml"), "application/json");
        assert_eq!(reply.code, code, "1.{minor}");
        if code == 201 {
            assert_eq!(reply.body["metadata"]["labels"]["a"], "");
        }
    }
}
