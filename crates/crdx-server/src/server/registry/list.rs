//! GET of a collection: selectors and pagination (`endpoints/handlers/get.go`, `storage/etcd3/store.go`,
//! `storage/continue.go`).
//!
//! A list at an old revision, as needed for every page but the first, is computed by undoing the events of the
//! collection's log.

use super::{Registry, corrupt};
use crate::server::http::answer::{Answer, Content, List};
use crate::server::http::context::Context;
use crate::server::http::options::{ListOptions, list_options};
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::revision::{check_not_ahead, invalid_revision, parse_revision};
use crate::server::registry::store::{Collection, Entries, Revision};
use crate::server::registry::strategy::{ListType, ReadStrategy};
use crdx_text as text;
use crdx_value::GoError;
use crdx_value::base64::Encoding;
use crdx_value::field::names::{self, NameForm};
use crdx_value::release::{Release, V1_31, V1_33, V1_34};
use crdx_value::{Value, json};
use std::sync::Arc;

impl<S: ReadStrategy + ?Sized> Registry<'_, S> {
    /// Handles a list.
    pub(super) fn list(&self, ctx: &Context<'_>) -> Result<Answer, Refusal> {
        let options = self.list_options(ctx)?;
        let page = self.select(ctx, &options)?;
        Ok(Answer { code: 200, content: Content::List(page) })
    }

    /// The list options, with the name in the URL as a field selector.
    pub(super) fn list_options(&self, ctx: &Context<'_>) -> Result<ListOptions, Refusal> {
        let mut options = list_options(&ctx.query, ctx.release())?;
        self.strategy.check_fields(&options.fields)?;
        let name = &ctx.target.name;
        if !name.is_empty() {
            if options.fields.is_empty() {
                options.fields = FieldSelector::name(name);
            } else if options.fields.required_value("metadata.name") != Some(name) {
                return Err(Refusal::bad_request("fieldSelector metadata.name doesn't match requested name"));
            }
        }
        Ok(options)
    }

    /// The selected objects of one page.
    pub(super) fn select(&self, ctx: &Context<'_>, options: &ListOptions) -> Result<List, Refusal> {
        let strategy = &*self.strategy;
        let scope = Scope::new(ctx, strategy.is_namespaced(), options);
        let pages = Pages::read(ctx, &self.storage.revision, options)?;
        let (found, resource_version) = pages.objects(&self.storage.revision, strategy.objects(), &scope.prefix)?;
        let mut page = Page::new(pages.limit);
        let mut undecodable = Vec::new();
        let selects = !options.labels.is_empty() || !options.fields.is_empty() || !options.shards.is_empty();
        for (key, stored) in found {
            if !scope.contains(&key) {
                continue;
            }
            if page.is_full() {
                page.skipped += 1;
                if selects {
                    break;
                }
                continue;
            }
            let object = match strategy.read(&stored) {
                // The conversions of all objects are requested together.
                Err(_) if ctx.calls.is_waiting() => continue,
                Err(refusal) if refusal.reason == Reason::Undecodable => {
                    undecodable.push((strategy.shown_key(&key, false), refusal));
                    continue;
                }
                read => read?,
            };
            if strategy.selects(&object, options)? && options.shards.selects(&object) {
                page.items.push(object);
                page.last = key;
            }
        }
        ctx.calls.check()?;
        if let Some(refusal) = corrupt::of_list(&undecodable, strategy.resource()) {
            return Err(refusal);
        }
        let more = page.skipped > 0;
        let ListType { api_version, kind, go_type } = strategy.list_type();
        Ok(List {
            api_version: api_version.into_owned(),
            kind: kind.to_owned(),
            resource_version: resource_version.to_string(),
            continue_: if more { token(resource_version, scope.relative(&page.last)) } else { String::new() },
            remaining: (more && !selects).then_some(page.skipped),
            shards: options.shards.text(),
            items: page.items,
            go_type,
        })
    }
}

/// The range of keys that a list covers.
#[derive(Debug)]
pub(in crate::server) struct Scope {
    prefix: String,
    /// The only key, if the field selector names one object.
    name: Option<String>,
}

impl Scope {
    /// The keys that a request lists or watches.
    pub fn new(ctx: &Context<'_>, namespaced: bool, options: &ListOptions) -> Self {
        let mut namespace = ctx.target.namespace.as_str();
        if namespace.is_empty()
            && let Some(selected) = options.fields.required_value("metadata.namespace")
            && names::dns1123_label(selected.as_bytes()).is_empty()
        {
            namespace = selected;
        }
        let prefix = if namespaced && !namespace.is_empty() { format!("{namespace}/") } else { String::new() };
        let name = options
            .fields
            .required_value("metadata.name")
            .filter(|name| {
                (!namespaced || !namespace.is_empty()) && names::path_segment(name, NameForm::Whole).is_empty()
            })
            .map(|name| format!("{prefix}{name}"));
        Self { prefix, name }
    }

    /// The common prefix of the keys.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns true if the list includes a key.
    pub fn contains(&self, key: &str) -> bool {
        self.name.as_ref().map_or_else(|| key.starts_with(&self.prefix), |name| name == key)
    }

    /// The key in the form used in continue tokens.
    fn relative<'k>(&self, key: &'k str) -> &'k str {
        key.strip_prefix(self.prefix.as_str()).unwrap_or(key)
    }
}

struct Page {
    limit: Option<usize>,
    items: Vec<Arc<Value>>,
    last: String,
    skipped: i64,
}

impl Page {
    fn new(limit: Option<usize>) -> Self {
        Self { limit, items: Vec::new(), last: String::new(), skipped: 0 }
    }
    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.items.len() >= limit)
    }
}

/// The start, revision and size of a page.
struct Pages {
    /// The first key that may be on the page, without the prefix.
    start: String,
    /// The revision of the list if it is not the current one.
    at: Option<u64>,
    /// The maximum number of objects on the page.
    pub limit: Option<usize>,
}

impl Pages {
    /// Parses and validates the options for pagination and revisions (`storage.ValidateListOptions`,
    /// `shouldDelegateList`).
    pub fn read(ctx: &Context<'_>, revision: &Revision, options: &ListOptions) -> Result<Self, Refusal> {
        let limit = usize::try_from(options.limit).ok().filter(|l| *l > 0);
        if !options.continue_.is_empty() {
            let (start, at) = read_token(&options.continue_)
                .map_err(|e| Refusal::bad_request(format!("invalid continue token: {e}")))?;
            if !matches!(options.resource_version.as_str(), "" | "0") {
                let text = "specifying resource version is not allowed when using continue";
                return Err(Refusal::bad_request(text));
            }
            // A negative revision continues with the current objects.
            let at = u64::try_from(at).ok();
            check_not_ahead(revision, at.unwrap_or_default()).map_err(|refusal| {
                // Before 1.34, pages are read from etcd.
                let of_etcd = "etcdserver: mvcc: required revision is a future revision";
                if ctx.release().since(V1_34) { refusal } else { Refusal::unclassified(of_etcd) }
            })?;
            return Ok(Self { start, at, limit });
        }
        let wanted = parse_revision(&options.resource_version).map_err(|e| {
            let text = invalid_revision(&options.resource_version, &e);
            // Before 1.33, the watch cache does not validate the options of the lists that it answers.
            if is_cached(options, limit, ctx.release()) && !ctx.release().since(V1_33) {
                Refusal::unclassified(text)
            } else {
                Refusal::bad_request(format!("invalid resource version: {text}"))
            }
        })?;
        check_not_ahead(revision, wanted)?;
        // Without `resourceVersionMatch`, a page request with a resourceVersion expects exactly that revision.
        let exactly = match options.resource_version_match.as_str() {
            "Exact" => true,
            "" => wanted > 0 && limit.is_some(),
            _ => false,
        };
        // The real server answers this request from its watch cache, which returns all objects at once.
        let limit = limit.filter(|_| options.resource_version != "0");
        Ok(Self { start: String::new(), at: exactly.then_some(wanted), limit })
    }

    /// The objects from the start of the page onwards, and their revision.
    pub fn objects(&self, revision: &Revision, objects: &Collection, prefix: &str) -> Result<(Entries, u64), Refusal> {
        let start = format!("{prefix}{}", self.start);
        match self.at {
            None => Ok(objects.list(prefix, &start, revision)),
            Some(at) => match objects.list_at(prefix, &start, at) {
                Some(found) => Ok((found, at)),
                None if self.start.is_empty() => {
                    Err(Refusal::expired("The resourceVersion for the provided list is too old."))
                }
                None => Err(Refusal::expired_page(encode_token(-1, &self.start))),
            },
        }
    }
}

/// Returns true if the watch cache answers a list with a resourceVersion (`shouldDelegateList`): lists with a limit only
/// since 1.31, and only with `resourceVersionMatch=NotOlderThan`.
fn is_cached(options: &ListOptions, limit: Option<usize>, release: Release) -> bool {
    match options.resource_version_match.as_str() {
        "Exact" => false,
        "NotOlderThan" if release.since(V1_31) => true,
        _ => limit.is_none(),
    }
}

/// A continue token: unpadded URL-safe base64 of JSON.
fn token(revision: u64, last: &str) -> String {
    encode_token(i64::try_from(revision).unwrap_or(i64::MAX), &format!("{last}\0"))
}

/// The continue token of a key, with its fields in Go's order.
fn encode_token(revision: i64, start: &str) -> String {
    let mut body = format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":{revision},\"start\":");
    json::write_string(&mut body, &format!("/{start}"));
    body.push('}');
    Encoding::RawUrlSafe.encode(body.as_bytes())
}

/// Parses a continue token into its key, without the leading slash, and its revision.
fn read_token(text: &str) -> Result<(String, i64), GoError> {
    let bytes = Encoding::RawUrlSafe
        .decode(text)
        .map_err(|at| format!("continue key is not valid: illegal base64 data at input byte {at}"))?;
    let value = text::json::read(&bytes).map_err(|e| format!("continue key is not valid: {}", e.message))?;
    match value.str_at(&["v"]) {
        Some("meta.k8s.io/v1") => {}
        version => {
            return Err(format!(
                "continue key is not valid: server does not recognize this encoded version {}",
                crdx_value::quote::go_quote(version.unwrap_or_default())
            )
            .into());
        }
    }
    let revision = value.get("rv").and_then(Value::as_int).unwrap_or_default();
    if revision == 0 {
        return Err(
            "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)".into()
        );
    }
    let start = value.str_at(&["start"]).unwrap_or_default();
    if start.is_empty() {
        return Err("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)".into());
    }
    let start = start.strip_prefix('/').unwrap_or(start);
    if start.split('/').any(|part| part == "..") {
        return Err(format!("continue key is not valid: {start}").into());
    }
    Ok((start.to_owned(), revision))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_server() {
        assert_eq!(token(24, "c"), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjQsInN0YXJ0IjoiL2NcdTAwMDAifQ");
        assert_eq!(
            read_token("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTMsInN0YXJ0IjoiL2FcdTAwMDAifQ"),
            Ok(("a\0".to_owned(), 13))
        );
        assert_eq!(read_token(&token(7, "ns/x")), Ok(("ns/x\0".to_owned(), 7)));
        assert_eq!(
            read_token("abc"),
            Err("continue key is not valid: invalid character 'i' looking for beginning of value".into())
        );
        assert!(read_token("a!").is_err());
    }
}
