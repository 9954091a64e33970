//! The HTML page of `validate`: a table of the objects, and for each object its errors, its changes and the stored
//! object.

use crdx_engine::report::{Action, ObjectReport, Summary, Verdict};
use crdx_output::html::{Colour, Page, badge, by_release, diff, escaped, number, plural, problems};
use crdx_value::json;
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The titles of the table.
pub const TITLES: [&str; 7] = ["Verdict", "Kind", "Name", "Action", "Pruned", "Defaulted", "Location"];

/// Formats the head of the page.
pub fn head(summary: &Summary, releases: &ReleaseSet) -> String {
    let Summary { accepted, rejected, decode, skipped, cannot_tell, warnings, known, failed } = *summary;
    let total = accepted + rejected + decode + skipped + cannot_tell;
    let (headline, colour) = match (rejected - known, cannot_tell) {
        (0, 0) if total == 0 => ("There is no object".to_owned(), Colour::Plain),
        (0, 0) if failed > 0 => (format!("{failed} of {} fail by severity", plural(total, "object")), Colour::Bad),
        (0, 0) if known > 0 => {
            (format!("{known} of {} would be rejected as in the baseline", plural(total, "object")), Colour::Good)
        }
        (0, 0) if decode > 0 => ("The server would decode everything".to_owned(), Colour::Good),
        (0, 0) => ("The server would accept everything".to_owned(), Colour::Good),
        (0, n) => (format!("No verdict for {n} of {}", plural(total, "object")), Colour::Unsure),
        (n, _) => (format!("{n} of {} would be rejected", plural(total, "object")), Colour::Bad),
    };
    let shares = [
        (accepted, Verdict::Accepted),
        (rejected, Verdict::Rejected),
        (cannot_tell, Verdict::CannotTell),
        (decode, Verdict::Decodes),
        (skipped, Verdict::Skipped),
    ]
    .map(|(n, verdict)| (n, verdict.text(), Colour::for_verdict(verdict)));
    let facts = [(warnings, if warnings == 1 { "warning" } else { "warnings" }, Colour::Unsure)];
    Page { command: "validate", releases, headline: &headline, colour, shares: &shares, facts: &facts }.head()
}

/// Formats the row of the `n`th item.
pub fn row(item: &ObjectReport, n: usize) -> String {
    let answered = matches!(item.verdict, Verdict::Accepted | Verdict::Rejected);
    let or_dash = |text: &str| if text.is_empty() { "–".to_owned() } else { escaped(text) };
    let name = or_dash(&item.identity.full_name());
    let count = |n: usize| if answered { number(n) } else { "<td class=\"number none extra\">–</td>".to_owned() };
    let name = if has_details(item) { format!("<a href=\"#o{n}\">{name}</a>") } else { name };
    format!(
        "<tr data-object=\"{n}\" data-verdict=\"{}\"><td>{}</td><td class=\"extra\">{}</td><td class=\"name\">{name}</td>\
         <td class=\"extra\">{}</td>{}{}<td class=\"place\">{}</td></tr>\n",
        item.verdict.text(),
        badge(item.verdict.text(), Colour::for_verdict(item.verdict)),
        or_dash(&item.identity.kind),
        if answered { item.action.as_str() } else { "–" },
        count(item.pruned.len()),
        count(item.defaulted.len()),
        escaped(&place(item)),
    )
}

/// Returns the location of an item, with its target if there are several.
fn place(item: &ObjectReport) -> String {
    match &item.target {
        Some(target) => format!("{target}: {}", item.location),
        None => item.location.to_string(),
    }
}

/// Returns true if an item has details in addition to its row.
fn has_details(item: &ObjectReport) -> bool {
    item.verdict != Verdict::Skipped || !item.warnings.is_empty()
}

/// Formats the details of the `n`th item; `change` is the unified diff of the stored object.
pub fn details(item: &ObjectReport, n: usize, change: Option<&str>) -> String {
    if !has_details(item) {
        return String::new();
    }
    let called = item.called();
    let mut text = format!(
        "<section class=\"object {}\" id=\"o{n}\" data-object=\"{n}\" data-verdict=\"{}\">\n<h3>{} {}</h3>\n\
         <p class=\"place\">{}</p>\n",
        Colour::for_verdict(item.verdict).class(),
        item.verdict.text(),
        escaped(if called.is_empty() { "An object" } else { &called }),
        badge(item.verdict.text(), Colour::for_verdict(item.verdict)),
        escaped(&item.location.to_string()),
    );
    text.push_str(&by_release(item));
    if let Some(answer) = item.answer.as_ref().filter(|_| item.verdict == Verdict::Rejected) {
        let _ = writeln!(text, "<p class=\"about\">The server answers {} {}</p>", answer.code, escaped(&answer.reason));
    }
    for remark in &item.remarks {
        let _ = writeln!(text, "<p class=\"about\">{}</p>", escaped(&remark.message()));
    }
    text.push_str(&problems(item));
    text.push_str(&paths(item));
    if let Some(change) = change {
        let (words, class) = match item.action {
            Action::Create => ("What would be stored, defaults marked", " class=\"stored\""),
            _ => ("What would change", ""),
        };
        // With a diff, the whole object is not shown.
        let open = if item.action == Action::Create { "" } else { " open=\"open\"" };
        let _ = writeln!(text, "<details{open}{class}><summary>{words}</summary>{}</details>", diff(change));
    }
    text.push_str("</section>\n");
    text
}

/// Formats the pruned and the defaulted fields.
fn paths(item: &ObjectReport) -> String {
    let mut lines = String::new();
    for pruned in &item.pruned {
        let help = pruned.help().map_or_else(String::new, |help| format!(": {help}"));
        let _ = write!(lines, "<li class=\"lost\"><b>−</b>{} (dropped{})</li>", escaped(&pruned.path), escaped(&help));
    }
    for (path, value) in &item.defaulted {
        let value = escaped(&json::to_string(value));
        let _ = write!(lines, "<li class=\"added\"><b>+</b>{}: {value} (default)</li>", escaped(path));
    }
    if lines.is_empty() { lines } else { format!("<ul class=\"paths\">{lines}</ul>\n") }
}
