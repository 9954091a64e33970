//! The view of a collection in a watch: selectors, version, and representation (object, Table, partial metadata).

use crate::server::http::negotiate::Conversion;
use crate::server::http::options::{IncludeObject, ListOptions};
use crate::server::http::status::Refusal;
use crate::server::http::table;
use crate::server::http::wire;
use crate::server::metadata;
use crate::server::registry::list::Scope;
use crate::server::registry::store::{Event, StoredObject};
use crate::server::registry::strategy::ReadStrategy;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// The view of a collection for one client.
#[derive(Debug)]
pub(super) struct View {
    strategy: Box<dyn ReadStrategy>,
    options: ListOptions,
    scope: Scope,
    convert: Option<Conversion>,
    include: IncludeObject,
    /// Identifies the representation; watches with the same key share serialized events.
    text_key: String,
    /// True once a Table with column definitions was sent; later Tables omit them.
    sent_columns: bool,
}

impl View {
    pub fn new(
        strategy: Box<dyn ReadStrategy>,
        options: ListOptions,
        scope: Scope,
        convert: Option<Conversion>,
        include: IncludeObject,
    ) -> Self {
        let text_key = format!("{} {convert:?} {include:?}", strategy.tag());
        Self { strategy, options, scope, convert, include, text_key, sent_columns: false }
    }

    /// Returns true if the CRD was replaced or deleted, so that no more events will follow.
    pub fn is_over(&self) -> bool {
        self.strategy.is_retired()
    }

    /// The ADDED event for an object that existed when the watch started; `None` if the selectors do not match it.
    pub fn initial(&mut self, stored: &StoredObject, now: Timestamp) -> Result<Option<Arc<[u8]>>, Refusal> {
        let Some(shown) = self.visible(Some(stored))? else { return Ok(None) };
        let text = line("ADDED", &self.shape(&shown, now));
        self.sent_columns = true;
        Ok(Some(text.into()))
    }

    /// Converts a write to the event that this client sees; `None` if the client does not see the object.
    pub fn event(&mut self, event: &Event, now: Timestamp) -> Result<Option<Arc<[u8]>>, Refusal> {
        if !self.scope.contains(&event.key) {
            return Ok(None);
        }
        if let Some(after) = event.after.as_deref().filter(|_| self.selects_all()) {
            let type_ = if event.before.is_some() { "MODIFIED" } else { "ADDED" };
            let write = || Ok::<_, Refusal>(line(type_, &self.shape(&*self.strategy.read(after)?, now)));
            let text = event.text(&self.text_key(type_), write)?;
            self.sent_columns = true;
            return Ok(Some(text));
        }
        let (before, after) = (self.visible(event.before.as_deref())?, self.visible(event.after.as_deref())?);
        let (type_, shown) = match (before, after) {
            (None, None) => return Ok(None),
            (None, Some(after)) => ("ADDED", after),
            (Some(_), Some(after)) => ("MODIFIED", after),
            (Some(before), None) => {
                let mut deleted = Arc::unwrap_or_clone(before);
                metadata::set_text(&mut deleted, "resourceVersion", &event.revision.to_string());
                ("DELETED", Arc::new(deleted))
            }
        };
        let text = event.text(&self.text_key(type_), || Ok::<_, Refusal>(line(type_, &self.shape(&shown, now))))?;
        self.sent_columns = true;
        Ok(Some(text))
    }

    /// A bookmark event; with `end_of_initial`, it marks the end of the initial objects.
    pub fn bookmark(&mut self, revision: u64, end_of_initial: bool, now: Timestamp) -> Arc<[u8]> {
        let mut members = Map::from([("resourceVersion".to_owned(), Value::from(revision.to_string()))]);
        if end_of_initial {
            let annotations = object([("k8s.io/initial-events-end", "true")]);
            members.insert("annotations".to_owned(), annotations);
        }
        let bookmark = self.strategy.bookmark(members);
        let text = line("BOOKMARK", &self.shape(&bookmark, now));
        self.sent_columns = true;
        text.into()
    }

    /// An ERROR event, which ends the stream.
    pub fn error(refusal: Refusal) -> Arc<[u8]> {
        line("ERROR", &refusal.into_value()).into()
    }

    /// Returns true if the client sees every object in its scope. Then the object before a write is not needed, as in
    /// `transform` of `etcd3/watcher.go`, and the one after it only for the first watch of its representation.
    fn selects_all(&self) -> bool {
        self.options.labels.is_empty() && self.options.fields.is_empty() && self.options.shards.is_empty()
    }

    /// Identifies the text of an event of this type.
    fn text_key(&self, type_: &str) -> String {
        format!("{type_} {} {}", self.includes_columns(), self.text_key)
    }

    /// Decodes an object; `None` if the selectors do not match it.
    fn visible(&self, stored: Option<&StoredObject>) -> Result<Option<Arc<Value>>, Refusal> {
        let Some(stored) = stored else { return Ok(None) };
        let shown = self.strategy.read(stored)?;
        let is_selected = self.strategy.selects(&shown, &self.options)? && self.options.shards.selects(&shown);
        Ok(is_selected.then_some(shown))
    }

    /// Returns true if the next Table includes column definitions.
    fn includes_columns(&self) -> bool {
        !self.sent_columns && self.convert.as_ref().is_some_and(|c| c.kind == "Table")
    }

    /// Converts the object to the requested representation.
    fn shape(&self, shown: &Value, now: Timestamp) -> Value {
        let Some(convert) = &self.convert else { return shown.clone() };
        if convert.kind != "Table" {
            return table::partial(shown, &convert.version);
        }
        let columns = self.strategy.columns();
        let revision = shown.at(&["metadata", "resourceVersion"]).cloned();
        let list = revision.map(|v| ("resourceVersion".to_owned(), v)).into_iter().collect();
        let mut table = table::table(columns, std::iter::once(shown), list, &convert.version, self.include, now);
        if !self.includes_columns()
            && let Some(columns) = table.as_object_mut().and_then(|t| t.get_mut("columnDefinitions"))
        {
            *columns = Value::Null;
        }
        table
    }
}

/// Serializes an event as one line.
fn line(type_: &str, shown: &Value) -> Vec<u8> {
    format!("{{\"type\":\"{type_}\",\"object\":{}}}\n", wire::compact(shown)).into_bytes()
}
