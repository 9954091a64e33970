//! Content negotiation: `Accept` and `Content-Type` (`endpoints/handlers/negotiation/negotiate.go`,
//! `munnerz/goautoneg`).
//!
//! The server has three peculiarities: it sorts clauses by a comparison that is not a strict weak order (`q`, then
//! `*`); it skips a clause with unusable parameters; and it writes errors as JSON if no accepted media type is
//! supported.

use crate::server::http::query::Query;
use crate::server::http::response::Format;
use crate::server::http::status::Refusal;

/// The representations an endpoint offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Endpoint {
    /// An endpoint for objects, which can also be returned as Table or partial metadata.
    Object,
    /// An endpoint for objects without a Table, as that of most subresources is (`scope.TableConvertor` is nil).
    Untabled,
    /// A discovery endpoint for groups, which has an aggregated form.
    Groups,
    /// An endpoint with one representation: an error response, or the resources of one group version.
    Plain,
}

/// A representation of the object, requested with `as=…;g=…;v=…`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct Conversion {
    /// `as`
    pub kind: String,
    /// `g`
    pub group: String,
    /// `v`
    pub version: String,
}

/// The negotiated response format.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct Output {
    /// The encoding.
    pub format: Format,
    /// The requested representation of the object, if not the object itself.
    pub convert: Option<Conversion>,
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// The media types that the real server supports and lists in its messages.
const MEDIA_TYPES: [&str; 3] = [JSON, YAML, PROTOBUF];
/// The media types supported here; clients that accept Protobuf also accept JSON.
const SUPPORTED: [&str; 2] = [JSON, YAML];

#[derive(Debug)]
struct Clause<'a> {
    kind: &'a str,
    sub: &'a str,
    quality: f64,
    parameters: Vec<(&'a str, &'a str)>,
}

/// Negotiates the response format.
pub(in crate::server) fn output(
    accept: Option<&str>,
    user_agent: Option<&str>,
    query: &Query,
    endpoint: Endpoint,
) -> Result<Output, Refusal> {
    let accept = accept.unwrap_or_default();
    let (media_type, convert, pretty) = if accept.is_empty() {
        (JSON, None, false)
    } else {
        choose(accept, endpoint).ok_or_else(|| {
            let accepted = MEDIA_TYPES.join(", ");
            Refusal::not_acceptable(format!("only the following media types are accepted: {accepted}"))
        })?
    };
    let format = match media_type {
        YAML => Format::Yaml,
        _ if pretty || wants_pretty(query, user_agent) => Format::PrettyJson,
        _ => Format::Json,
    };
    Ok(Output { format, convert })
}

/// Returns true if any accepted media type is supported, ignoring parameters; the router checks this before a handler
/// does.
pub(in crate::server) fn supports_any(accept: Option<&str>) -> bool {
    let accept = accept.unwrap_or_default();
    accept.is_empty()
        || clauses(accept).iter().any(|c| {
            matches!((c.kind, c.sub), ("*", _) | ("application", "*" | "json" | "yaml" | "vnd.kubernetes.protobuf"))
        })
}

/// Returns true if JSON is accepted, ignoring parameters, as the OpenAPI handlers check.
pub(in crate::server) fn accepts_json(accept: Option<&str>) -> bool {
    let accept = accept.filter(|a| !a.is_empty()).unwrap_or("*/*");
    clauses(accept).iter().any(|c| matches!(c.kind, "*" | "application") && matches!(c.sub, "*" | "json"))
}

fn choose(accept: &str, endpoint: Endpoint) -> Option<(&'static str, Option<Conversion>, bool)> {
    for clause in clauses(accept) {
        for media_type in SUPPORTED {
            let sub = media_type.strip_prefix("application/").unwrap_or(media_type);
            let fits = match (clause.kind, clause.sub) {
                ("*" | "application", "*") => true,
                ("application", asked) => asked == sub,
                _ => false,
            };
            if fits && let Some((convert, pretty)) = accept_parameters(&clause.parameters, media_type, endpoint) {
                return Some((media_type, convert, pretty));
            }
        }
    }
    None
}

/// `acceptMediaTypeOptions`; `None` skips the clause.
fn accept_parameters(
    parameters: &[(&str, &str)],
    media_type: &str,
    endpoint: Endpoint,
) -> Option<(Option<Conversion>, bool)> {
    let mut convert: Option<Conversion> = None;
    let mut pretty = false;
    for (key, value) in parameters {
        match *key {
            "as" => (*value).clone_into(&mut convert.get_or_insert_default().kind),
            "g" => (*value).clone_into(&mut convert.get_or_insert_default().group),
            "v" => (*value).clone_into(&mut convert.get_or_insert_default().version),
            "stream" if !value.is_empty() && (media_type == YAML || *value != "watch") => return None,
            "sv" if !value.is_empty() && *value != "v1" => return None,
            "pretty" => pretty = *value == "1",
            _ => {}
        }
    }
    let allowed = match &convert {
        None => true,
        Some(_) if endpoint == Endpoint::Plain => false,
        Some(c) if endpoint == Endpoint::Groups => {
            c.group == "apidiscovery.k8s.io" && c.version == "v2" && c.kind == "APIGroupDiscoveryList"
        }
        Some(c) if c.group == "meta.k8s.io" && matches!(c.version.as_str(), "v1" | "v1beta1") => {
            match c.kind.as_str() {
                "Table" => media_type != PROTOBUF && endpoint != Endpoint::Untabled,
                "PartialObjectMetadata" | "PartialObjectMetadataList" => true,
                _ => false,
            }
        }
        Some(_) => false,
    };
    allowed.then_some((convert, pretty))
}

/// `goautoneg.ParseAccept`
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut out = Vec::new();
    for part in accept.split(',') {
        let part = part.trim_matches(' ');
        let (types, parameters) = part.split_once(';').unwrap_or((part, ""));
        let (kind, sub) = types.split_once('/').unwrap_or((types, ""));
        let (kind, mut sub) = (kind.trim_matches(' '), sub);
        if sub.is_empty() {
            if kind != "*" {
                continue;
            }
            sub = "*";
        } else if let Some((first, more)) = sub.split_once('/') {
            if !more.is_empty() {
                continue;
            }
            sub = first;
        }
        let mut clause = Clause { kind, sub: sub.trim_matches(' '), quality: 1.0, parameters: Vec::new() };
        for parameter in parameters.split(';') {
            let Some((key, value)) = parameter.split_once('=') else { continue };
            let (value, more) = value.split_once('=').unwrap_or((value, ""));
            if value.is_empty() && more.is_empty() || !more.is_empty() {
                continue;
            }
            match key.trim_matches(' ') {
                "q" => clause.quality = value.parse().unwrap_or(0.0),
                key => clause.parameters.push((key, value.trim_matches(' '))),
            }
        }
        out.push(clause);
    }
    sort(&mut out);
    out
}

fn less(a: &Clause<'_>, b: &Clause<'_>) -> bool {
    a.quality > b.quality || a.kind != "*" && b.kind == "*" || a.sub != "*" && b.sub == "*"
}

/// An insertion sort, as Go uses for up to twelve items; the result of other algorithms would differ because the
/// comparison is not a strict weak order.
fn sort(clauses: &mut [Clause<'_>]) {
    for i in 1..clauses.len() {
        let mut j = i;
        while j > 0 {
            match clauses.get(j - 1..=j) {
                Some([before, after]) if less(after, before) => clauses.swap(j - 1, j),
                _ => break,
            }
            j -= 1;
        }
    }
}

fn wants_pretty(query: &Query, user_agent: Option<&str>) -> bool {
    if let Some(text) = query.first("pretty")
        && !text.is_empty()
    {
        return matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True");
    }
    user_agent.is_some_and(|agent| ["curl", "Wget", "Mozilla/5.0"].iter().any(|p| agent.starts_with(p)))
}

/// The encoding of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Input {
    Json,
    Yaml,
    Protobuf,
}

/// Chooses the decoder from `Content-Type`.
pub(in crate::server) fn input(content_type: Option<&str>) -> Result<Input, Refusal> {
    let text = content_type.unwrap_or_default();
    if matches!(text, "" | JSON) {
        return Ok(Input::Json);
    }
    match media_type(text).as_deref() {
        Some(JSON) => Ok(Input::Json),
        Some(YAML) => Ok(Input::Yaml),
        Some(PROTOBUF) => Ok(Input::Protobuf),
        _ => Err(Refusal::unsupported_media_type(&MEDIA_TYPES)),
    }
}

/// Chooses the decoder of an object. The real server lists Protobuf as supported for custom resources but aborts such a
/// request; here it is rejected.
pub(in crate::server) fn input_of_objects(content_type: Option<&str>, custom: bool) -> Result<Input, Refusal> {
    match input(content_type)? {
        Input::Protobuf if custom => Err(Refusal::unsupported_media_type(&MEDIA_TYPES)),
        input => Ok(input),
    }
}

/// `mime.ParseMediaType` without the parameters; `None` if they are malformed.
fn media_type(text: &str) -> Option<String> {
    let mut parts = text.split(';');
    let base = parts.next()?.trim().to_ascii_lowercase();
    let token = |t: &str| !t.is_empty() && t.chars().all(|c| c.is_ascii_graphic() && !r#"()<>@,;:\"/[]?="#.contains(c));
    let (kind, sub) = base.split_once('/').unwrap_or((&base, "x"));
    if !token(kind) || !token(sub) {
        return None;
    }
    let mut seen = Vec::new();
    let mut rest = parts.peekable();
    while let Some(part) = rest.next() {
        let part = part.trim();
        if part.is_empty() && rest.peek().is_none() {
            break;
        }
        // The server ignores a malformed parameter list.
        let (key, value) = part.split_once('=')?;
        let key = key.trim().to_ascii_lowercase();
        if !token(&key) || value.trim().is_empty() || seen.contains(&key) {
            return None;
        }
        seen.push(key);
    }
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> Option<Output> {
        output(Some(accept), None, &Query::default(), Endpoint::Object).ok()
    }

    #[test]
    fn the_first_usable_clause_is_chosen() {
        assert_eq!(chosen("application/json"), Some(Output::default()));
        assert_eq!(chosen("*/*").map(|o| o.format), Some(Format::Json));
        assert_eq!(chosen("application/yaml").map(|o| o.format), Some(Format::Yaml));
        assert_eq!(chosen("application/vnd.kubernetes.protobuf, application/json"), Some(Output::default()));
        assert_eq!(chosen("text/html"), None);
        assert_eq!(chosen("application/json;q=0.1, application/yaml").map(|o| o.format), Some(Format::Yaml));
        let table = chosen("application/json;as=Table;v=v1;g=meta.k8s.io,application/json").unwrap();
        assert_eq!(table.convert.map(|c| c.kind), Some("Table".to_owned()));
        assert_eq!(chosen("application/json;as=Table;v=v2;g=meta.k8s.io,application/json"), Some(Output::default()));
    }

    #[test]
    fn content_types() {
        assert_eq!(input(Some("application/json; charset=utf-8")), Ok(Input::Json));
        assert_eq!(input(Some("Application/YAML")), Ok(Input::Yaml));
        assert!(input(Some("text/plain")).is_err());
        assert_eq!(input(None), Ok(Input::Json));
    }
}
