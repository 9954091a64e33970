//! The HTML page of `rehearse` about all CRDs of an operator: the counts of each CRD, the steps of the upgrade, and the affected
//! objects.

use super::definition::{EffectCounts, plural};
use super::deleted_counts::DeletedCounts;
use super::page;
use crate::commands::rehearse::planned::{DeletedDefinition, DeletedObject, PlannedDefinition};
use crate::commands::rehearse::steps::UpgradeSteps;
use crate::commands::sink::{ItemGroup, PageItem};
use crdx_engine::report::Verdict;
use crdx_output::html::{Colour, Page, badge, escaped, number};
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The CRDs with the effects on their objects.
pub struct OperatorPage<'a> {
    pub planned: &'a [PlannedDefinition],
    pub counts: &'a [EffectCounts],
    pub deleted: &'a [DeletedDefinition],
    /// The objects of each CRD that disappears.
    pub lost: &'a [DeletedCounts],
    /// The number of inputs for which the effect is unknown.
    pub unknown: usize,
    pub steps: UpgradeSteps,
}

impl OperatorPage<'_> {
    /// Formats the head of the page.
    pub fn head(&self, releases: &ReleaseSet) -> String {
        let sum = |of: fn(&EffectCounts) -> usize| self.counts.iter().map(of).sum::<usize>();
        let deleted: usize = self.lost.iter().map(|one| one.objects).sum();
        let refused =
            self.planned.iter().filter(|one| one.item.verdict != Verdict::Accepted && !one.item.is_known()).count();
        let unknown = self.unknown + sum(EffectCounts::unknown);
        let breaks = self.lost.iter().any(DeletedCounts::breaks) || self.counts.iter().any(EffectCounts::breaks);
        let (headline, colour) = if refused > 0 {
            (format!("The server would not accept {refused} of {}", plural(self.planned.len(), "CRD")), Colour::Bad)
        } else if breaks {
            ("The upgrade breaks some objects".to_owned(), Colour::Bad)
        } else if unknown > 0 {
            ("The effect on some objects is unknown".to_owned(), Colour::Unsure)
        } else {
            (format!("Nothing breaks in {}", plural(sum(EffectCounts::objects), "object")), Colour::Good)
        };
        let facts = [
            (sum(EffectCounts::untouched), "untouched", Colour::Good),
            (deleted, "deleted with their CRD", Colour::Bad),
            (sum(EffectCounts::losing), "losing fields", Colour::Bad),
            (sum(EffectCounts::invalid), "invalid", Colour::Bad),
            (sum(EffectCounts::blocked), "blocked at the next write", Colour::Bad),
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
        text.push_str(&steps_html(&self.steps));
        for (one, counts) in self.planned.iter().zip(self.counts) {
            let line = format!("<p>{}</p>\n", escaped(&counts.line()));
            text.push_str(&page::definition(&one.item, (&one.plan.columns, &one.possible), &line));
        }
        for (one, count) in self.deleted.iter().zip(self.lost) {
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
    let (name, kind, place) = (escaped(&identity.full_name()), escaped(&identity.kind), escaped(&location.to_string()));
    let words = badge("deleted", Colour::Bad);
    let row = format!(
        "<tr data-object=\"{n}\" data-verdict=\"deleted\"><td>{words}</td><td class=\"name\"><a href=\"#o{n}\">{name}</a></td>{}<td class=\"place\">{place}</td></tr>\n",
        number(0).repeat(5)
    );
    let details = format!(
        "<section class=\"object {}\" id=\"o{n}\" data-object=\"{n}\" data-verdict=\"deleted\">\n<h3>{kind} {name} {words}</h3>\n\
         <p class=\"place\">{place}</p>\n<p>Its CRD disappears, and deleting the CRD deletes the object.{}</p>\n</section>\n",
        Colour::Bad.class(),
        known.as_ref().map_or_else(String::new, |known| format!(" ({})", escaped(&known.text())))
    );
    let group = ItemGroup { label: identity.kind.clone(), verdict: "deleted", colour: Colour::Bad, is_problem: true };
    PageItem { rank: 0, group: Some(group), row, details }
}
