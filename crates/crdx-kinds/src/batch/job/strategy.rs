//! The strategy of Jobs (`pkg/registry/batch/job/strategy.go`).

use crate::batch::job::printer::COLUMNS;
use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::server::behaviour;
use crdx_server::server::{Behaviour, FieldLabel, KindRequest, KindStrategy};
use crdx_value::release::{Gate, V1_37};
use crdx_value::{Map, Value};

/// The strategy.
#[derive(Debug)]
pub(crate) struct Job;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        fields: Some(&[
            behaviour::NAMESPACE,
            FieldLabel { label: "status.successful", paths: &[&["status", "succeeded"]], absent: "0" },
        ]),
        relaxes_prefix_since: V1_37,
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, of_new: FEATURES_OF_NEW, ..Features::TEMPLATE },
    ..DeclaredKind::MOST
};

impl KindStrategy for Job {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    /// The default of the labels is the map of the template itself (`SetDefaults_Job`), so labels that are added to the
    /// template are also labels of the Job.
    fn shares_labels(&self, object: &Value) -> bool {
        let is_empty = |path: &[&str]| object.at(path).and_then(Value::as_object).is_none_or(Map::is_empty);
        is_empty(&["metadata", "labels"]) && !is_empty(&["spec", "template", "metadata", "labels"])
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        FACTS.prepare_create(object, request);
        let is_manual = object.at(&["spec", "manualSelector"]) == Some(&Value::Bool(true));
        if request.generates_fields && !is_manual {
            generate_selector(object);
            if request.shares_labels {
                let labels = object.at(&["spec", "template", "metadata", "labels"]).cloned();
                object.insert_at(&["metadata", "labels"], labels.unwrap_or_default());
            }
            // The labels of a Job without labels are those of its template.
            *object = request.kind.complete(object);
        }
    }
}

const FEATURES: &[Feature] = &[
    feature(&[Gate::JobSuccessPolicy], &[&["spec", "successPolicy"]]),
    feature(&[Gate::WorkloadWithJob], &[&["spec", "scheduling"]]),
];

const FEATURES_OF_NEW: &[Feature] = &[feature(&[Gate::JobManagedBy], &[&["spec", "managedBy"]])];

/// The labels of a Job's Pods with its name, and those with its UID.
const NAME_LABELS: [&str; 2] = ["batch.kubernetes.io/job-name", "job-name"];
const UID_LABELS: [&str; 2] = [CONTROLLER_UID, "controller-uid"];
const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

/// `generateSelector` in `pkg/registry/batch/job/strategy.go`
fn generate_selector(job: &mut Value) {
    let (name, uid) = (
        job.str_at(&["metadata", "name"]).unwrap_or_default().to_owned(),
        job.str_at(&["metadata", "uid"]).unwrap_or_default().to_owned(),
    );
    let names = NAME_LABELS.map(|label| (label, &name));
    let uids = UID_LABELS.map(|label| (label, &uid));
    let mut add = |path: &[&str], label: &str, value: &str| {
        let path = [path, &[label]].concat();
        if job.at(&path).is_none() {
            job.insert_at(&path, value.into());
        }
    };
    for (label, value) in names.into_iter().chain(uids) {
        add(&["spec", "template", "metadata", "labels"], label, value);
    }
    add(&["spec", "selector", "matchLabels"], CONTROLLER_UID, &uid);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn the_manager_of_a_job_is_dropped_on_create_only() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let job = read(r#"{"spec":{"managedBy":"example.com/a"}}"#);
        let release = "1.31".parse().unwrap();
        let (mut created, mut updated) = (job.clone(), job.clone());
        FACTS.features.drop_disabled(&mut created, None, release);
        FACTS.features.drop_disabled(&mut updated, Some(&read(r#"{"spec":{}}"#)), release);
        assert_eq!((created, updated), (read(r#"{"spec":{}}"#), job));
    }
}
