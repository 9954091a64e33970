//! The HTML page of `rehearse` about an upgrade of Kubernetes: the steps, the feature gates, and the affected objects.

use super::kubernetes_counts::KubernetesCounts;
use super::kubernetes_request::{RehearsedRequest, difference_lines};
use super::operator_page::steps_html;
use crate::commands::rehearse::steps::UpgradeSteps;
use crate::commands::sink::{ItemGroup, Page as SinkPage, PageItem};
use crdx_engine::rehearsal::kubernetes::{KubernetesEffect, ReleaseOutcome};
use crdx_output::html::{Colour, Page, badge, by_release, escaped, plural, problems};
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The titles of the table.
const TITLES: [&str; 5] = ["Verdict", "Request", "Name", "Note", "Location"];

/// Formats the head of the page.
pub fn head(counts: &KubernetesCounts, steps: &UpgradeSteps, gates: &str, releases: &ReleaseSet) -> String {
    let total = plural(counts.objects(), "object");
    let (headline, colour) = if counts.breaks() {
        (format!("The upgrade breaks some of {total}"), Colour::Bad)
    } else if counts.is_unsure() {
        (format!("The effect on some of {total} is unknown"), Colour::Unsure)
    } else {
        (format!("Nothing breaks in {total}"), Colour::Good)
    };
    let facts = counts.counts();
    let page = Page { command: "rehearse", releases, headline: &headline, colour, shares: &[], facts: &facts };
    let mut text = page.head() + &steps_html(steps);
    if !gates.is_empty() {
        let _ = writeln!(text, "<details><summary>Feature gates</summary><pre>{}</pre></details>", escaped(gates));
    }
    text
}

/// Returns what the page has around the objects, without the head.
pub fn objects() -> SinkPage {
    let table = ("<h2>Affected objects</h2>\n", &TITLES[..]);
    SinkPage { table: Some(table), empty: "No stored object is affected.", ..SinkPage::default() }
}

fn verdict(effect: &KubernetesEffect) -> (&'static str, Colour) {
    match effect.outcome {
        ReleaseOutcome::NotServed => ("not served", Colour::Bad),
        ReleaseOutcome::Rejected => ("rejected", Colour::Bad),
        ReleaseOutcome::CannotTell => ("cannot tell", Colour::Unsure),
        ReleaseOutcome::AlreadyRejected => ("already rejected", Colour::Plain),
        ReleaseOutcome::Accepted => ("accepted", Colour::Unsure),
    }
}

/// Formats the `n`th request.
pub fn item(done: &RehearsedRequest, effect: &KubernetesEffect, note: &str, n: usize) -> PageItem {
    let item = &done.item;
    let (words, colour) = verdict(effect);
    let (request, place) = (done.request.as_str(), escaped(&item.location.to_string()));
    let (name, kind, note) = (escaped(&item.identity.full_name()), escaped(&item.identity.kind), escaped(note));
    let badge = badge(words, colour);
    let row = format!(
        "<tr data-object=\"{n}\" data-verdict=\"{words}\"><td>{badge}</td><td>{request}</td><td class=\"name\"><a href=\"#o{n}\">{name}</a></td>\
         <td>{note}</td><td class=\"place\">{place}</td></tr>\n"
    );
    let mut details = format!(
        "<section class=\"object {}\" id=\"o{n}\" data-object=\"{n}\" data-verdict=\"{words}\">\n<h3>{request} of {kind} {name} {badge}</h3>\n\
         <p class=\"place\">{place}</p>\n{}{}",
        colour.class(),
        by_release(item),
        problems(item)
    );
    if let Some(difference) = &item.release_difference {
        details.push_str("<h4>Stored differently</h4>\n<ul class=\"paths\">");
        for (_, line) in difference_lines(difference) {
            let _ = write!(details, "<li class=\"changed\">{}</li>", escaped(&line));
        }
        details.push_str("</ul>\n");
    }
    details.push_str("</section>\n");
    let group = ItemGroup { label: item.identity.kind.clone(), verdict: words, colour, is_problem: true };
    let rank = match colour {
        Colour::Bad => 0,
        Colour::Unsure => 1,
        _ => 2,
    };
    PageItem { rank, group: Some(group), row, details }
}
