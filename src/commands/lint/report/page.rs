//! The HTML page of `lint`: for each CRD or policy the server's response, the cost of its expressions as bars, and its
//! breaking changes.

use super::evidence;
use crdx_cel::eval::PER_CALL_LIMIT;
use crdx_engine::lint::bounds::Bound;
use crdx_engine::lint::breaking::evidence::LocatedChange;
use crdx_engine::lint::costs::{ExpressionCost, SchemaCost};
use crdx_engine::lint::policies;
use crdx_engine::report::{ObjectReport, SourceLocation, Verdict};
use crdx_output::cost;
use crdx_output::excerpt::MessageSeverity;
use crdx_output::html::{Colour, Page, badge, by_release, dedented, escaped, message, plural, problems};
use crdx_server::crd::validation::rules::{EXPRESSION_COST_LIMIT, SCHEMA_COST_LIMIT};
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The number of CRDs by result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Accepted, without breaking changes.
    pub accepted: usize,
    /// Accepted, with breaking changes.
    pub breaking: usize,
    /// Those of the others whose findings are all in the baseline.
    pub known: usize,
    pub rejected: usize,
    /// Not validated.
    pub cannot_tell: usize,
}

impl Counts {
    /// Counts a CRD with its breaking changes.
    pub fn add(&mut self, item: &ObjectReport, breaking: &[LocatedChange]) {
        let is_known = breaking.iter().all(|change| change.known.is_some()) && !item.fails();
        let has_known = item.is_known() || !breaking.is_empty();
        self.known += usize::from(item.verdict != Verdict::CannotTell && is_known && has_known);
        let count = match item.verdict {
            Verdict::CannotTell => &mut self.cannot_tell,
            Verdict::Rejected => &mut self.rejected,
            _ if !breaking.is_empty() => &mut self.breaking,
            _ => &mut self.accepted,
        };
        *count += 1;
    }

    /// Formats the counts that are not 0.
    pub fn line(self) -> String {
        let Self { accepted, breaking, rejected, cannot_tell, known } = self;
        let named = [
            (accepted, "accepted"),
            (breaking, "with breaking changes"),
            (rejected, "rejected"),
            (cannot_tell, "cannot tell"),
        ];
        let named: Vec<String> =
            named.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
        let total = plural(accepted + breaking + rejected + cannot_tell, "object");
        let known = if known > 0 { format!("; {known} as in the baseline") } else { String::new() };
        if named.is_empty() { total } else { format!("{total}: {}{known}", named.join(", ")) }
    }
}

/// Formats the head of the page.
pub fn head(counts: &Counts, releases: &ReleaseSet) -> String {
    let Counts { accepted, breaking, rejected, cannot_tell, .. } = *counts;
    let total = plural(accepted + breaking + rejected + cannot_tell, "object");
    let (headline, colour) = match counts {
        Counts { rejected: n @ 1.., .. } => (format!("The server would reject {n} of {total}"), Colour::Bad),
        Counts { breaking: n @ 1.., .. } => (format!("{n} of {total} would break stored objects"), Colour::Unsure),
        Counts { cannot_tell: n @ 1.., .. } => (format!("No verdict for {n} of {total}"), Colour::Unsure),
        _ => ("Nothing is wrong".to_owned(), Colour::Good),
    };
    let shares = [
        (accepted, "fine", Colour::Good),
        (rejected, "refused", Colour::Bad),
        (breaking, "breaking", Colour::Unsure),
        (cannot_tell, "cannot tell", Colour::Plain),
    ];
    Page { command: "lint", releases, headline: &headline, colour, shares: &shares, facts: &[] }.head()
}

/// Formats the section of a CRD.
pub fn details(
    item: &ObjectReport,
    costs: &[(SchemaCost, Vec<SourceLocation>)],
    breaking: &[LocatedChange],
    expressions: &[(policies::ExpressionCost, SourceLocation)],
) -> String {
    let name = match (&*item.identity.kind, &*item.identity.name) {
        ("" | "CustomResourceDefinition", "") => "A CRD".to_owned(),
        ("" | "CustomResourceDefinition", name) => name.to_owned(),
        _ => item.called(),
    };
    let colour = if item.verdict == Verdict::Accepted && !breaking.is_empty() {
        Colour::Unsure
    } else {
        Colour::for_verdict(item.verdict)
    };
    let breaks = if breaking.is_empty() {
        String::new()
    } else {
        badge(&plural(breaking.len(), "breaking change"), Colour::Unsure)
    };
    let mut text = format!(
        "<section class=\"object {}\">\n<h3>{} {} {breaks}</h3>\n<p class=\"place\">{}</p>\n{}",
        colour.class(),
        escaped(&name),
        badge(item.verdict.text(), Colour::for_verdict(item.verdict)),
        escaped(&item.location.to_string()),
        by_release(item),
    );
    text.push_str(&problems(item));
    for (schema, locations) in costs {
        let (versions, limit) = (escaped(&schema.versions.join(", ")), cost::count(EXPRESSION_COST_LIMIT));
        let _ = writeln!(
            text,
            "<h4>Rules of {versions}: share of the limit of {limit} for one rule</h4>\n<div class=\"bars\">"
        );
        text.extend(schema.expressions.iter().zip(locations).map(|(cost, location)| bar(cost, location)));
        text.push_str("</div>\n");
        text.push_str(&together(schema));
    }
    if !breaking.is_empty() {
        text.push_str("<h4>What breaks for stored objects</h4>\n");
    }
    for located in breaking {
        let LocatedChange { change, location, evidence, known } = located;
        let help = located.help_text();
        let severity = if known.is_some() { MessageSeverity::Note } else { MessageSeverity::Warning };
        let words = format!("{}: {}", change.path, change.detail);
        text.push_str(&message(severity, &words, Some(location), Some(&help)));
        let shown = evidence::text(evidence);
        if !shown.is_empty() {
            let _ = writeln!(text, "<pre>{}</pre>", escaped(&shown));
        }
    }
    if !expressions.is_empty() {
        let limit = cost::count(PER_CALL_LIMIT);
        let _ = writeln!(
            text,
            "<h4>Expressions: share of the limit of {limit} for one evaluation</h4>\n<div class=\"bars\">"
        );
        text.extend(expressions.iter().map(|(expression, location)| expression_bar(expression, location)));
        text.push_str("</div>\n");
    }
    text.push_str("</section>\n");
    text
}

/// Formats the cost of an expression of a policy.
fn expression_bar(expression: &policies::ExpressionCost, location: &SourceLocation) -> String {
    let words = format!("<code>{}</code>", escaped(&dedented(expression.text.trim())));
    match (expression.cost, expression.percent()) {
        (Some(cost), Some(share)) => {
            track(&words, share, &[cost::count(cost), expression.field.clone(), location.to_string()], &[])
        }
        _ => format!(
            "<div class=\"bar\">{words}<p><b>no estimate</b><span>{}</span><span>{}</span></p></div>\n",
            escaped(&expression.field),
            escaped(&location.to_string())
        ),
    }
}

/// Formats the total cost of the rules of a schema.
fn together(schema: &SchemaCost) -> String {
    let (share, limit) = (schema.percent(), cost::count(SCHEMA_COST_LIMIT));
    let words = format!("All rules together, share of the limit of {limit} for a schema");
    let facts = [cost::count(schema.total())];
    format!("<div class=\"bars together\">\n{}</div>\n", track(&words, share, &facts, &schema.bounds))
}

/// Formats the cost of an expression of a CRD.
fn bar(rule: &ExpressionCost, location: &SourceLocation) -> String {
    let kind = if rule.message { "messageExpression: " } else { "" };
    let words = format!("<code>{kind}{}</code>", escaped(&dedented(rule.text.trim())));
    let labels = [rule.path.clone(), location.to_string()];
    if let Some(error) = &rule.error {
        let [path, location] = labels.map(|text| escaped(&text));
        let error = escaped(error);
        return format!(
            "<div class=\"bar\">{words}<p><b>no estimate</b><span>{error}</span><span>{path}</span><span>{location}</span></p></div>\n"
        );
    }
    let [path, location] = labels;
    let product = format!("{} × {} = {}", cost::count(rule.each), cost::count(rule.times), cost::count(rule.total));
    let mut facts = vec![product, path, location];
    let estimates = rule.estimates();
    if estimates.len() > 1 {
        facts.extend(estimates.iter().map(|(total, releases)| match total {
            Some(total) => format!("{} on {releases}", cost::count(*total)),
            None => format!("does not compile on {releases}"),
        }));
    }
    track(&words, rule.percent(), &facts, &rule.bounds)
}

/// Formats a bar for a share in percent; `words` is markup.
fn track(words: &str, share: f64, facts: &[String], bounds: &[Bound]) -> String {
    let colour = match share {
        p if p > 100.0 => Colour::Bad,
        p if p > 50.0 => Colour::Unsure,
        _ => Colour::Good,
    };
    let facts: Vec<String> = facts.iter().map(|fact| format!("<span>{}</span>", escaped(fact))).collect();
    let mut text = format!(
        "<div class=\"bar {0}\">{words}<div class=\"track\"><i class=\"{0}\" style=\"width:{1:.2}%\"></i></div><p><b>{2}</b>{3}</p>",
        colour.class(),
        share.min(100.0),
        escaped(&cost::percent(share)),
        facts.concat(),
    );
    if !bounds.is_empty() {
        let bounds: Vec<String> =
            bounds.iter().map(|b| format!("{}: {} on {}", b.keyword, b.limit, b.path())).collect();
        let _ = write!(text, "<p>Cheap enough with {}</p>", escaped(&bounds.join(" and ")));
    }
    text.push_str("</div>\n");
    text
}
