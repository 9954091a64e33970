use super::*;

const CRD: &str = include_str!("../../tests/kites.yaml");

fn with_kites() -> ApiServer {
    let server = ApiServer::new();
    server.install(CRD).unwrap();
    server
}

fn kite(name: &str, spec: &str) -> String {
    format!("apiVersion: toys.example.com/v1\nkind: Kite\nmetadata:\n  name: {name}\nspec: {spec}\n")
}

fn name(name: &str) -> ObjectRef {
    ObjectRef::new("toys.example.com/v1", "Kite", name)
}

fn status(result: Result<Response, Error>) -> Status {
    match result.unwrap_err() {
        Error::Status(status) => *status,
        other => panic!("{other}"),
    }
}

#[test]
fn every_verb_reaches_the_server() {
    let server = with_kites();
    let created = server.create(kite("a", "{lines: 2}")).unwrap();
    assert_eq!((created.code, created.at(&["spec", "lines"])), (201, Some(&Value::Int(2))));

    let mut wanted = created.object.clone();
    wanted.insert_at(&["spec", "colour"], "red".into());
    let updated = server.update(wanted.clone()).unwrap();
    assert_eq!(updated.row.as_ref().unwrap().to_string(), "a  red  10");
    assert_eq!(updated.row.unwrap().get("Length"), Some(&Value::Int(10)));
    let conflict = status(server.update(wanted));
    assert_eq!((conflict.code, conflict.reason.as_str()), (409, "Conflict"));

    let scaled = server.scale(&name("a"), 5).unwrap();
    assert_eq!(scaled.object.str_at(&["kind"]), Some("Scale"));
    assert_eq!(server.get(&name("a")).unwrap().at(&["spec", "lines"]), Some(&Value::Int(5)));

    let mut flying = server.get(&name("a")).unwrap().object;
    flying.insert_at(&["status", "phase"], "Flying".into());
    flying.insert_at(&["spec", "colour"], "blue".into());
    let flying = server.update_status(flying).unwrap();
    assert_eq!(flying.object.str_at(&["status", "phase"]), Some("Flying"));
    assert_eq!(flying.object.str_at(&["spec", "colour"]), Some("red"), "only the status is written");

    let operation = r#"[{"op": "replace", "path": "/spec/length", "value": 11}]"#;
    assert_eq!(server.patch(&name("a"), PatchType::Json, operation).unwrap().at(&["spec", "length"]), Some(&11.into()));

    let list = server.list(&Collection::new("toys.example.com/v1", "Kite").namespace("default")).unwrap();
    assert_eq!((list.items.len(), list.rows.len()), (1, 1));
    let other = Collection::new("toys.example.com/v1", "Kite").fields("metadata.name!=a");
    assert_eq!(server.list(&other).unwrap().items, []);

    server.delete(&name("a")).unwrap();
    assert_eq!(status(server.get(&name("a"))).code, 404);
}

#[test]
fn an_apply_conflicts_with_another_manager_unless_it_is_forced() {
    let server = with_kites();
    server.apply(kite("a", "{length: 5}")).unwrap();
    let other = server.with(RequestOptions::default().field_manager("other"));
    let conflict = status(other.apply(kite("a", "{length: 6}")));
    assert_eq!((conflict.code, conflict.causes[0].field.as_str()), (409, ".spec.length"));
    assert_eq!(conflict.causes[0].position.unwrap().to_string(), "5:16");
    let forced = server.with(RequestOptions::default().field_manager("other").force());
    assert_eq!(forced.apply(kite("a", "{length: 6}")).unwrap().at(&["spec", "length"]), Some(&6.into()));
    let phase = kite("a", "{}").replace("spec: {}", "status: {phase: Packed}");
    assert_eq!(server.apply_status(phase).unwrap().object.str_at(&["status", "phase"]), Some("Packed"));
}

#[test]
fn a_dry_run_stores_nothing() {
    let server = with_kites();
    let dry = server.with(RequestOptions::default().dry_run());
    assert_eq!(dry.create(kite("a", "{}")).unwrap().code, 201);
    assert_eq!(status(server.get(&name("a"))).code, 404);
    server.create(kite("a", "{}")).unwrap();
    dry.delete(&name("a")).unwrap();
    assert_eq!(server.get(&name("a")).unwrap().code, 200);
}

#[test]
fn errors_have_the_place_of_their_field() {
    let server = with_kites();
    let text = format!("# comment\n---\n{}", kite("a", "\n  length: 0\n  colour: green"));
    let invalid = status(server.create(text.as_str()));
    // The server also says that some rules were not checked, which is about no field.
    let causes = invalid.causes.iter().filter_map(|c| Some((c.field.as_str(), c.position?.to_string())));
    assert_eq!(causes.collect::<Vec<_>>(), [("spec.colour", "9:11".to_owned()), ("spec.length", "8:11".to_owned())]);
    let shown = invalid.to_string();
    assert!(
        shown.contains(
            "\n  8:11: spec.length: Invalid value: 0: spec.length in body should be greater than or equal to 1"
        ),
        "{shown}"
    );

    let strict = server.with(RequestOptions::default().field_validation(FieldValidation::Strict));
    let unknown = status(strict.create(kite("a", "\n  tail: 3")));
    assert_eq!((unknown.code, unknown.causes[0].position.unwrap().to_string()), (400, "6:3".to_owned()));

    let wrong = status(server.create(kite("[]", "{}")));
    assert_eq!((wrong.code, wrong.causes[0].field.as_str()), (400, "metadata.name"));
    assert_eq!(wrong.causes[0].position.unwrap().to_string(), "4:9");

    let crd = CRD.replace("type: integer, minimum: 1", "type: integr, minimum: 1");
    let invalid = status(ApiServer::new().install(crd.as_str()).map(|_| unreachable!()));
    assert_eq!(invalid.causes.last().unwrap().position.unwrap().to_string(), "29:30", "{invalid}");
}

#[test]
fn texts_that_are_no_objects_are_not_sent() {
    let server = with_kites();
    let error = |text: &str| server.create(text).unwrap_err().to_string();
    assert_eq!(error("a: [\n"), "2:1: error converting YAML to JSON: yaml: line 1: did not find expected node content");
    assert_eq!(error("# nothing\n"), "the text has no object");
    assert_eq!(error("kind: Kite"), "1:1: the object has no apiVersion");
    assert_eq!(error("{}"), "1:1: the object has no apiVersion");
    assert_eq!(error("a: 1\n---\nb: 1\n"), "the text has 2 objects: send one, or install them");
    assert_eq!(
        error("{apiVersion: a.b/v1, kind: C}"),
        r#"no matches for kind "C" in version "a.b/v1": install its CRD first"#
    );
    let unnamed = "{apiVersion: toys.example.com/v1, kind: Kite, metadata: {generateName: a-}}";
    assert_eq!(server.apply(unnamed).unwrap_err().to_string(), "1:57: the object has no name");
    assert!(server.create(unnamed).is_ok());
}

#[test]
fn install_creates_definitions_first_and_applies_what_exists() {
    let server = ApiServer::new();
    let text = format!("{}---\n{CRD}", kite("a", "{}"));
    assert_eq!(server.install(text.as_str()).unwrap().len(), 2);
    assert_eq!(server.install(text.replace("spec: {}", "spec: {length: 7}")).unwrap().len(), 2);
    assert_eq!(server.get(&name("a")).unwrap().at(&["spec", "length"]), Some(&7.into()));
    // As a cluster returns them.
    let list = crdx_value::object([
        ("apiVersion", Value::from("v1")),
        ("kind", "List".into()),
        ("items", vec![server.get(&name("a")).unwrap().object].into()),
    ]);
    let other = with_kites();
    other.install(list).unwrap();
    assert_eq!(other.get(&name("a")).unwrap().at(&["spec", "length"]), Some(&7.into()));
}

#[test]
fn release_clock_and_seed_are_options() {
    use std::time::{Duration, UNIX_EPOCH};
    let build = |seed| {
        let builder = ApiServer::builder().release(Release::OLDEST).seed(seed);
        let server = builder.clock(|| UNIX_EPOCH + Duration::from_mins(1)).build();
        server.install(CRD).unwrap();
        server.create(kite("a", "{}")).unwrap().object
    };
    let object = build(1);
    assert_eq!(object.str_at(&["metadata", "creationTimestamp"]), Some("1970-01-01T00:01:00Z"));
    assert_eq!(object, build(1));
    assert_ne!(object.str_at(&["metadata", "uid"]), build(2).str_at(&["metadata", "uid"]));
}

/// The threads of tests have 2 MiB.
#[test]
fn deep_objects_need_no_large_stack() {
    let server = with_kites();
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let create = |levels| server.create(kite("deep", &format!("{{tail: {}}}", nested(levels))));
    assert_eq!(create(MAX_DEPTH - 2).unwrap().pruned[0].path, "spec.tail");
    assert!(matches!(create(MAX_DEPTH - 1), Err(Error::CannotTell(_))));
    assert!(matches!(create(9000), Err(Error::CannotTell(_))));

    // A kind that keeps everything, and expressions as deep as the server compiles them.
    let open = CRD.replace(
        "type: object\n            default: {length: 10}",
        "type: object\n            x-kubernetes-preserve-unknown-fields: true",
    );
    let rule = format!("{}true{}", "(".repeat(240), ")".repeat(240));
    let server = ApiServer::new();
    server.install(open.replace("self.length <= 100", &rule)).unwrap();
    let stored = server.create(kite("deep", &format!("{{tail: {}}}", nested(MAX_DEPTH - 2)))).unwrap();
    assert_eq!(stored.object.clone(), stored.object);
    // A definition with a schema as deep as objects, and an expression deeper than the server compiles them.
    let nest = |levels: usize| {
        let (open, close) = ("{type: object, properties: {p: ".repeat(levels), "}}".repeat(levels));
        CRD.replace(
            "lines: {type: integer}\n          status",
            &format!("lines: {open}{{type: string}}{close}\n          status"),
        )
    };
    assert!(ApiServer::new().install(nest(110)).is_ok());
    assert!(matches!(ApiServer::new().install(nest(200)), Err(Error::CannotTell(_))));
    let rule = format!("{}true{}", "(".repeat(5000), ")".repeat(5000));
    let refused = status(ApiServer::new().install(CRD.replace("self.length <= 100", &rule)).map(|_| unreachable!()));
    assert!(refused.message.contains("expression recursion limit exceeded: 250"), "{refused}");
    // A patch may not make an object deeper than it may be.
    let add = format!(r#"[{{"op": "add", "path": "/spec/tail{}/-", "value": [[]]}}]"#, "/0".repeat(MAX_DEPTH - 3));
    assert!(matches!(server.patch(&name("deep"), PatchType::Json, add), Err(Error::CannotTell(_))));
}

#[test]
fn handles_share_the_objects_and_cross_threads() {
    let server = with_kites();
    let other = server.clone();
    std::thread::spawn(move || other.create(kite("a", "{}")).unwrap()).join().unwrap();
    assert_eq!(server.get(&name("a")).unwrap().code, 200);
    let in_park = server.with(RequestOptions::default().namespace("park"));
    assert_eq!(status(in_park.get(&name("a"))).code, 404);
}

#[cfg(any(feature = "builtin", feature = "policies"))]
#[test]
fn namespaces_exist_if_they_are_served() {
    let server = ApiServer::builder().namespaces(["park"]).build();
    server.install(CRD).unwrap();
    let create = |namespace: &str| server.with(RequestOptions::default().namespace(namespace)).create(kite("a", "{}"));
    assert_eq!(create("park").unwrap().code, 201);
    assert_eq!(status(create("beach")).message, r#"namespaces "beach" not found"#);
}

#[test]
fn costs_of_rules_have_the_limit_that_would_fix_them() {
    let rule = "self.tails.all(t, t.contains('x'))";
    let crd = CRD.replace("self.length <= 100", &format!("{rule:?}"));
    let crd = crd.replace(
        "lines: {type: integer}\n          status",
        "tails: {type: array, items: {type: string}}\n          status",
    );
    let server = ApiServer::new();
    assert!(server.install(crd.as_str()).is_err());
    let costs = server.rule_costs(crd.as_str()).unwrap();
    assert!(costs[0].is_too_high(), "{costs:?}");
    assert_eq!((costs[0].expression.as_str(), costs[0].path.as_str()), (rule, "spec"));
    assert_eq!(costs[0].position.unwrap().line, 26);
    let limit = &costs[0].sufficient_limits[0];
    assert_eq!((limit.path.as_str(), limit.keyword), ("spec.tails", "maxItems"), "{costs:?}");
    assert!(server.rule_costs(kite("a", "{}")).is_err());
}

#[cfg(feature = "serde")]
mod serialized {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_type_that_serde_serializes_is_an_object() {
        let server = with_kites();
        let given = json!({"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": "a"}, "spec": {"length": 5}});
        let created = server.create(&given).unwrap();
        let read: serde_json::Value = created.to().unwrap();
        assert_eq!(read["spec"], json!({"colour": "blue", "length": 5}));
        let mut again = created.object.clone();
        again.insert_at(&["spec", "length"], 6.into());
        assert_eq!(server.update(&again).unwrap().at(&["spec", "length"]), Some(&6.into()));
        // A text is still a text.
        let text = kite("b", "{}");
        assert_eq!(server.create(&text).unwrap().code, 201);
        assert_eq!(
            server.patch(&name("a"), PatchType::Json, &json!([{"op": "remove", "path": "/spec/colour"}])).unwrap().code,
            200
        );
    }

    #[test]
    fn numbers_stay_what_they_are() {
        let value =
            crdx_value::object([("int", Value::Int(1)), ("float", Value::Float(1.0)), ("big", Value::Int(i64::MAX))]);
        let sent = (&value).into_manifest().unwrap().document().unwrap().value;
        assert_eq!(sent, value);
    }
}

#[cfg(feature = "policies")]
#[test]
fn policies_change_and_refuse_objects() {
    let server = ApiServer::builder().policies().build();
    server.install(CRD).unwrap();
    server.install(include_str!("../../tests/policies.yaml")).unwrap();
    let refused = status(server.create(kite("a", "{length: 50}")));
    assert_eq!((refused.code, refused.reason.as_str()), (422, "Invalid"));
    assert!(refused.message.contains("a kite of this park has at most 20 metres"), "{refused}");
    let created = server.create(kite("b", "{colour: blue}")).unwrap();
    let mutated: Vec<_> = created.mutated.iter().map(|m| (m.path.as_str(), m.after.clone())).collect();
    assert_eq!(mutated, [("spec.colour", Some("red".into()))]);
    assert_eq!(created.mutated[0].policy, "red-kites.example.com");
    let as_guest = server.with(RequestOptions::default().user("guest", ["guests"]));
    let refused = status(as_guest.create(kite("c", "{}")));
    assert!(refused.message.contains("guests fly no kites"), "{refused}");
}

#[cfg(feature = "builtin")]
#[test]
fn built_in_kinds_are_defaulted_and_validated() {
    let server = ApiServer::builder().built_in_kinds().build();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {\"a b\": c}\n";
    let refused = status(server.create(map));
    assert_eq!((refused.code, refused.causes[0].field.as_str()), (422, "data[a b]"));
    assert_eq!(server.create(map.replace("a b", "a.b")).unwrap().row.unwrap().get("Data"), Some(&1.into()));
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
";
    let created = server.create(deployment).unwrap();
    assert_eq!(created.at(&["spec", "replicas"]), Some(&1.into()));
    let scaled = server.scale(&ObjectRef::from_object(&created.object), 3).unwrap();
    assert_eq!(scaled.at(&["spec", "replicas"]), Some(&3.into()));
}
