//! The HTML page of `rehearse` about an operator: the counts of each CRD, its policies and webhooks, the steps of the upgrade, and the
//! affected objects.

use super::admission::{self, AdmissionCounts};
use super::definition::{EffectCounts, plural};
use super::deleted_counts::DeletedCounts;
use super::rehearsed_object::RehearsedObject;
use super::{page, policies};
use crate::commands::rehearse::admission::AdmissionEffect;
use crate::commands::rehearse::planned::{DeletedObject, Upgraded};
use crate::commands::rehearse::steps::UpgradeSteps;
use crate::commands::sink::{ItemGroup, PageItem};
use crdx_engine::report::{Identity, SourceLocation, Verdict};
use crdx_output::TableStyle;
use crdx_output::html::{Colour, Page, badge, escaped, number, problems};
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The upgrade with its effects on objects.
pub struct OperatorPage<'a> {
    pub upgraded: Upgraded<'a>,
    pub counts: &'a [EffectCounts],
    /// The objects of each CRD that disappears.
    pub lost: &'a [DeletedCounts],
    pub admission: &'a AdmissionCounts,
    /// The number of inputs for which the effect is unknown.
    pub unknown: usize,
    pub steps: UpgradeSteps,
}

impl OperatorPage<'_> {
    /// Formats the head of the page.
    pub fn head(&self, releases: &ReleaseSet) -> String {
        let sum = |of: fn(&EffectCounts) -> usize| self.counts.iter().map(of).sum::<usize>();
        let Upgraded { planned, .. } = self.upgraded;
        let deleted: usize = self.lost.iter().map(|one| one.objects).sum();
        let refused =
            planned.iter().filter(|one| one.item.verdict != Verdict::Accepted && !one.item.is_known()).count();
        let refused_policies = self.upgraded.admission.refused.iter().filter(|item| !item.is_known()).count();
        let policies = &self.admission.policies;
        let unknown = self.unknown + sum(EffectCounts::unknown) + policies.unknown();
        let breaks = self.lost.iter().any(DeletedCounts::breaks)
            || policies.denies()
            || self.counts.iter().any(EffectCounts::breaks);
        let (headline, colour) = if refused > 0 {
            (format!("The server would not accept {refused} of {}", plural(planned.len(), "CRD")), Colour::Bad)
        } else if refused_policies > 0 {
            let words = plural(refused_policies, "policy object");
            (format!("The server would not accept {words}"), Colour::Bad)
        } else if breaks {
            ("The upgrade breaks some objects".to_owned(), Colour::Bad)
        } else if unknown > 0 {
            ("The effect on some objects is unknown".to_owned(), Colour::Unsure)
        } else {
            let known = sum(EffectCounts::known) + self.lost.iter().map(|one| one.known).sum::<usize>();
            let except = if known > 0 { ", except as in the baseline" } else { "" };
            (format!("Nothing breaks in {}{except}", plural(sum(EffectCounts::objects), "object")), Colour::Good)
        };
        let facts = [
            (sum(EffectCounts::untouched), "untouched", Colour::Good),
            (deleted, "deleted with their CRD", Colour::Bad),
            (sum(EffectCounts::losing), "losing fields", Colour::Bad),
            (sum(EffectCounts::invalid), "invalid", Colour::Bad),
            (sum(EffectCounts::blocked), "blocked at the next write", Colour::Bad),
            (policies.all_denied(), "denied by new policies", Colour::Bad),
            (sum(EffectCounts::unreadable), "unreadable", Colour::Bad),
            (sum(EffectCounts::already_invalid), "already invalid", Colour::Plain),
            (
                sum(|counts| counts.moved().map_or(0, |(count, _)| count)),
                "in a version that is no longer served",
                Colour::Unsure,
            ),
            (sum(EffectCounts::to_migrate), "to rewrite before the upgrade", Colour::Unsure),
            (unknown, "cannot tell", Colour::Unsure),
        ];
        let mut text =
            Page { command: "rehearse", releases, headline: &headline, colour, shares: &[], facts: &facts }.head();
        text.push_str(&self.upgraded.matrix.html());
        text.push_str(&steps_html(&self.steps));
        text.push_str(&self.policies());
        text.push_str(&self.definitions());
        text
    }

    /// Formats the policies and webhooks that change.
    fn policies(&self) -> String {
        let admission = self.upgraded.admission;
        let changes = admission::changes(admission, self.admission, TableStyle::default());
        let mut text = String::new();
        if !changes.is_empty() {
            let _ = writeln!(text, "<h2>Policies and webhooks</h2>\n<pre>{}</pre>", escaped(&changes));
        }
        for item in &admission.refused {
            let (name, words) =
                (escaped(&item.called()), badge(item.verdict.text(), Colour::for_verdict(item.verdict)));
            let class = Colour::for_verdict(item.verdict).class();
            let _ = writeln!(
                text,
                "<section class=\"object {class}\">\n<h3>{name} {words}</h3>\n{}</section>",
                problems(item)
            );
        }
        text
    }

    fn definitions(&self) -> String {
        let Upgraded { planned, deleted, .. } = self.upgraded;
        let mut text = String::new();
        for (one, counts) in planned.iter().zip(self.counts) {
            let line = format!("<p>{}</p>\n", escaped(&counts.line()));
            text.push_str(&page::definition(&one.item, (&one.plan.columns, &one.possible), &line));
        }
        for (one, count) in deleted.iter().zip(self.lost) {
            let (name, location) = (escaped(&one.name), escaped(&one.location.to_string()));
            let (words, count) = (badge("removed", Colour::Bad), count.line());
            let _ = writeln!(
                text,
                "<section class=\"object {}\">\n<h3>{name} {words}</h3>\n<p class=\"place\">{location}</p>\n<p>{count}</p>\n</section>",
                Colour::Bad.class()
            );
        }
        text
    }
}

/// Formats the steps of an upgrade.
pub fn steps_html(steps: &UpgradeSteps) -> String {
    let mut text = String::new();
    for (title, steps) in steps.parts().into_iter().filter(|(_, steps)| !steps.is_empty()) {
        let _ = writeln!(text, "<h2>{title} the upgrade</h2>\n<ol>");
        for step in steps {
            let command = step.command.iter().map(|command| format!("<pre>{}</pre>", escaped(command)));
            let _ = writeln!(text, "<li>{}{}</li>", escaped(&step.text), command.collect::<String>());
        }
        text.push_str("</ol>\n");
    }
    text
}

/// Formats the `n`th object, whose CRD disappears.
pub fn deleted_item(deleted: &DeletedObject, n: usize) -> PageItem {
    let DeletedObject { identity, location, known, .. } = deleted;
    let known = known.as_ref().map_or_else(String::new, |known| format!(" ({})", escaped(&known.text())));
    let details = format!("<p>Its CRD disappears, and deleting the CRD deletes the object.{known}</p>\n");
    plain_item((identity, location), n, ("deleted", Colour::Bad), &details)
}

/// Formats the `n`th object, which only policies affect.
pub fn policy_item(effect: &AdmissionEffect, n: usize) -> PageItem {
    let next = effect.next_write().map_or(("fine", Colour::Good), next_write);
    plain_item((&effect.item.identity, &effect.item.location), n, next, &policy_details(effect))
}

/// Formats the `n`th object, which its CRD and policies affect.
pub fn item_with_policies(entry: &RehearsedObject, effect: &AdmissionEffect, n: usize) -> PageItem {
    let details = policy_details(effect);
    let next = effect.next_write().map_or_else(|| page::next_write(entry), next_write);
    page::item_with(entry, n, next, &details)
}

fn next_write(words: &'static str) -> (&'static str, Colour) {
    (words, if words == "denied" { Colour::Bad } else { Colour::Unsure })
}

fn policy_details(effect: &AdmissionEffect) -> String {
    let changes = policies::changes(&effect.item);
    let changes = if changes.is_empty() { changes } else { format!("<pre>{}</pre>\n", escaped(&changes)) };
    format!("<p>{}</p>\n{}{changes}", escaped(&effect.note()), problems(&effect.item))
}

/// Formats the `n`th object without the effects of a CRD.
fn plain_item(
    (identity, location): (&Identity, &SourceLocation),
    n: usize,
    (verdict, colour): (&'static str, Colour),
    more: &str,
) -> PageItem {
    let (name, kind, place) = (escaped(&identity.full_name()), escaped(&identity.kind), escaped(&location.to_string()));
    let words = badge(verdict, colour);
    let row = format!(
        "<tr data-object=\"{n}\" data-verdict=\"{verdict}\"><td>{words}</td><td class=\"name\"><a href=\"#o{n}\">{name}</a></td>{}<td class=\"place\">{place}</td></tr>\n",
        number(0).repeat(5)
    );
    let details = format!(
        "<section class=\"object {}\" id=\"o{n}\" data-object=\"{n}\" data-verdict=\"{verdict}\">\n<h3>{kind} {name} {words}</h3>\n\
         <p class=\"place\">{place}</p>\n{more}</section>\n",
        colour.class()
    );
    let group = ItemGroup { label: identity.kind.clone(), verdict, colour, is_problem: true };
    PageItem { rank: page::rank(colour), group: Some(group), row, details }
}
