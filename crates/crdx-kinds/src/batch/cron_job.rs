//! `CronJob`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, bool_text, column, containers, label_selector, list, since, text, wide};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::{Gate, Minor};

/// The strategy.
pub(crate) static CRON_JOB: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { name: NameRule::CronJob, relaxes_prefix_since: Minor::ALWAYS, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    features: Features {
        template: Some(&["spec", "jobTemplate", "spec", "template"]),
        fields: FEATURES,
        ..Features::NONE
    },
    ..DeclaredKind::MOST
};

const FEATURES: &[Feature] = &[feature(&[Gate::WorkloadWithJob], &[&["spec", "jobTemplate", "spec", "scheduling"]])];

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Schedule", "", |o, _| text(o, &["spec", "schedule"]).into()),
    column("Timezone", "", |o, _| o.str_at(&["spec", "timeZone"]).unwrap_or("<none>").into()),
    column("Suspend", "", |o, _| bool_text(o, &["spec", "suspend"]).into()),
    column("Active", "", |o, _| (list(o, &["status", "active"]).len() as i64).into()),
    column("Last Schedule", "", |o, now| match o.at(&["status", "lastScheduleTime"]) {
        Some(_) => since(o, &["status", "lastScheduleTime"], now).into(),
        None => "<none>".into(),
    }),
    AGE,
    wide("Containers", "Names of each container in the template.", |o, _| of_job_template(o, "name").into()),
    wide("Images", "Images referenced by each container in the template.", |o, _| of_job_template(o, "image").into()),
    wide("Selector", "", |o, _| label_selector(o, &["spec", "jobTemplate", "spec", "selector"]).into()),
];

fn of_job_template(object: &Value, key: &str) -> String {
    containers(object, &["spec", "jobTemplate", "spec", "template", "spec", "containers"], key)
}
