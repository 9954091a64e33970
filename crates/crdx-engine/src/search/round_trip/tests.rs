use super::webhook::{ConversionWebhook, NoWebhook, WebhookAddress, WebhookCaller};
use super::*;
use crate::fixture::kites;
use crdx_server::server::{Call, CallOutcome};
use crdx_text::yaml;
use crdx_value::json;
use std::sync::Arc;

/// A webhook whose converted objects a function makes of the given ones, in the form `(object, version)`.
struct Webhook(fn(Value, &str) -> Value);

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Webhook")
    }
}

impl WebhookCaller for Webhook {
    fn call(&self, call: &Call) -> CallOutcome {
        let review = crdx_text::json::read(call.body.as_bytes()).unwrap();
        let desired = review.str_at(&["request", "desiredAPIVersion"]).unwrap();
        let objects = review.at(&["request", "objects"]).and_then(Value::as_array).unwrap();
        let converted = objects.iter().map(|object| {
            let mut object = object.clone();
            object.as_object_mut().unwrap().insert("apiVersion".to_owned(), desired.into());
            json::to_string(&(self.0)(object, desired.rsplit('/').next().unwrap()))
        });
        let uid = review.str_at(&["request", "uid"]).unwrap();
        let body = format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{{"uid":"{uid}","result":{{"status":"Success"}},"convertedObjects":[{}]}}}}"#,
            converted.collect::<Vec<_>>().join(",")
        );
        CallOutcome::Answered { code: 200, is_text: false, body: body.into_bytes() }
    }
}

const CONVERSION: &str = "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: system, name: hook, path: /convert}}}}";
const FIELDS: &str = "{length: {type: integer}, colour: {type: string, enum: [red, blue]}, tail: {type: object, properties: {bows: {type: integer}, silk: {type: boolean}}}}";

fn crd(first: &str, second: &str, conversion: Option<&str>) -> Value {
    let version = |name: &str, storage: bool, spec: &str| {
        format!(
            "{{name: {name}, served: true, storage: {storage}, subresources: {{status: {{}}}}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {spec}}}, status: {{type: object, properties: {{ready: {{type: boolean}}}}}}}}}}}}}}"
        )
    };
    let mut crd = kites("        {type: object}");
    let spec = crd.get_mut("spec").unwrap().as_object_mut().unwrap();
    let versions = format!("[{}, {}]", version("v1", true, first), version("v1beta1", false, second));
    spec.insert("versions".to_owned(), yaml::read(versions.as_bytes()).unwrap());
    spec.extend(conversion.map(|text| ("conversion".to_owned(), yaml::read(text.as_bytes()).unwrap())));
    crd
}

fn tried(definition: &Value, webhook: &ConversionWebhook, exact: bool) -> Result<Vec<TripReport>, RoundTripError> {
    let options = RoundTripOptions { effort: Effort { objects: 60, seed: 0 }, exact };
    let setup = TripSetup { webhook, release: Release::NEWEST, now: Timestamp::default() };
    round_trips(definition, options, setup)
}

fn converted(convert: fn(Value, &str) -> Value) -> Vec<TripReport> {
    let address = WebhookAddress::Host("127.0.0.1:9443".to_owned());
    let webhook = ConversionWebhook { called: Some((address, Arc::new(Webhook(convert)))), authorities: None };
    tried(&crd(FIELDS, FIELDS, Some(CONVERSION)), &webhook, false).unwrap()
}

/// Returns the trip and the fields of each report.
fn fields(reports: &[TripReport]) -> Vec<(String, Vec<String>)> {
    let paths = |report: &'_ TripReport| report.fields.iter().map(|field| field.path.clone()).collect();
    reports.iter().map(|report| (report.trip.to_string(), paths(report))).collect()
}

fn without(mut object: Value, path: &[&str]) -> Value {
    let (last, above) = path.split_last().unwrap();
    let parent = above.iter().try_fold(&mut object, |value, name| value.get_mut(name));
    if let Some(Value::Object(members)) = parent {
        members.remove(last);
    }
    object
}

#[test]
fn versions_with_the_same_schema_lose_nothing() {
    let reports = tried(&crd(FIELDS, FIELDS, None), &ConversionWebhook::default(), true).unwrap();
    assert_eq!(
        fields(&reports),
        [("v1 -> v1beta1 -> v1".to_owned(), vec![]), ("v1beta1 -> v1 -> v1beta1".to_owned(), vec![])]
    );
    assert!(reports.iter().all(|report| report.objects > 10 && !report.has_changes() && report.rewritten.is_empty()));
}

#[test]
fn without_a_webhook_pruned_fields_are_lost() {
    let fewer = "{length: {type: integer}, tail: {type: object, properties: {bows: {type: integer}}}}";
    let reports = tried(&crd(FIELDS, fewer, None), &ConversionWebhook::default(), false).unwrap();
    let lost = vec!["spec.colour".to_owned(), "spec.tail.silk".to_owned()];
    assert_eq!(
        fields(&reports),
        [("v1 -> v1beta1 -> v1".to_owned(), lost), ("v1beta1 -> v1 -> v1beta1".to_owned(), vec![])]
    );
    let changed = reports[0].changed.as_ref().unwrap();
    assert_eq!(json::to_string(changed.before.get("spec").unwrap()), r#"{"colour":"red"}"#);
    assert_eq!(changed.after.get("spec").map(json::to_string).as_deref(), Some("{}"));
}

#[test]
fn what_a_webhook_loses_is_found_with_the_smallest_object() {
    let reports = converted(
        |object, version| {
            if version == "v1beta1" { without(object, &["spec", "tail", "silk"]) } else { object }
        },
    );
    assert_eq!(fields(&reports)[0].1, ["spec.tail.silk"]);
    assert_eq!(fields(&reports)[1].1, ["spec.tail.silk"], "{reports:?}");
    let object = &reports[0].changed.as_ref().unwrap().object;
    assert_eq!(json::to_string(object.get("spec").unwrap()), r#"{"tail":{"silk":true}}"#);
}

#[test]
fn a_lost_status_is_found() {
    let reports = converted(|object, version| if version == "v1beta1" { without(object, &["status"]) } else { object });
    assert_eq!(fields(&reports)[0].1, ["status.ready"]);
}

#[test]
fn a_value_that_depends_on_another_one_changes() {
    let reports = converted(|object, version| {
        let is_blue = object.str_at(&["spec", "colour"]) == Some("blue");
        if version == "v1beta1" && is_blue { without(object, &["spec", "length"]) } else { object }
    });
    assert_eq!(fields(&reports)[0].1, ["spec.length"]);
    let object = &reports[0].changed.as_ref().unwrap().object;
    assert_eq!(object.str_at(&["spec", "colour"]), Some("blue"));
}

#[test]
fn an_answer_that_the_server_refuses_is_a_failure() {
    let reports = converted(|mut object, version| {
        if version == "v1beta1" {
            object.get_mut("metadata").unwrap().as_object_mut().unwrap().insert("name".to_owned(), "b".into());
        }
        object
    });
    let failure = &reports[0].failures[0];
    assert_eq!(failure.step, TripStep::Read);
    assert!(
        failure.message.contains("returned invalid object: must have the same name: example != b"),
        "{}",
        failure.message
    );
    // The object itself is stored; the answer to its create is what fails.
    assert_eq!(reports[1].failures[0].step, TripStep::Create);
}

#[test]
fn an_update_that_the_other_version_rejects_is_a_failure() {
    let rule = "!has(oldSelf.colour) || oldSelf.colour != 'red'";
    let second = format!("{FIELDS}, x-kubernetes-validations: [{{rule: \"{rule}\", message: red stays}}]");
    let reports = tried(&crd(FIELDS, &second, None), &ConversionWebhook::default(), false).unwrap();
    let failure = &reports[0].failures[0];
    assert_eq!((failure.step, failure.object.str_at(&["spec", "colour"])), (TripStep::Update, Some("red")));
    assert!(failure.message.contains("spec: Invalid value: red stays"), "{}", failure.message);
}

#[test]
fn a_webhook_is_called_only_if_asked() {
    let definition = crd(FIELDS, FIELDS, Some(CONVERSION));
    let error = tried(&definition, &ConversionWebhook::default(), false).unwrap_err();
    assert!(matches!(error, RoundTripError::Webhook(NoWebhook::NotCalled { .. })), "{error}");
    assert!(error.to_string().contains("Service system/hook"), "{error}");
}

#[test]
fn a_call_without_an_answer_ends_the_search() {
    #[derive(Debug)]
    struct Closed;
    impl WebhookCaller for Closed {
        fn call(&self, _: &Call) -> CallOutcome {
            CallOutcome::unsent("https://h/c?timeout=30s", "connection refused")
        }
    }
    let called = Some((WebhookAddress::Url("https://h/c".to_owned()), Arc::new(Closed) as Arc<dyn WebhookCaller>));
    let webhook = ConversionWebhook { called, authorities: None };
    let error = tried(&crd(FIELDS, FIELDS, Some(CONVERSION)), &webhook, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the conversion webhook cannot be called: Post \"https://h/c?timeout=30s\": connection refused"
    );
}
