//! The resources that a cluster serves, as its discovery lists them.

use crdx_server::server::http::address::encoded;
use crdx_value::{Value, object};

/// A resource that is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core.
    pub group: String,
    /// The version; the server's preferred version comes first.
    pub version: String,
    /// The plural name.
    pub plural: String,
    /// The singular name.
    pub singular: String,
    /// The kind.
    pub kind: String,
    /// The short names.
    pub short_names: Vec<String>,
    /// The categories, such as `all`.
    pub categories: Vec<String>,
    /// The verbs, such as `list`.
    pub verbs: Vec<String>,
    /// True if its objects are namespaced.
    pub namespaced: bool,
}

impl Resource {
    /// Returns true if its objects have a verb.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| own == verb)
    }

    /// The resource `namespaces` of the core group, which needs no discovery.
    pub fn namespaces() -> Self {
        let word = str::to_owned;
        Self { version: word("v1"), plural: word("namespaces"), kind: word("Namespace"), ..Self::default() }
    }

    /// Returns the value to store.
    pub fn to_value(&self) -> Value {
        let text = |text: &String| Value::from(text.as_str());
        let texts = |texts: &[String]| Value::Array(texts.iter().map(text).collect());
        object([
            ("group", text(&self.group)),
            ("version", text(&self.version)),
            ("plural", text(&self.plural)),
            ("singular", text(&self.singular)),
            ("kind", text(&self.kind)),
            ("shortNames", texts(&self.short_names)),
            ("categories", texts(&self.categories)),
            ("verbs", texts(&self.verbs)),
            ("namespaced", Value::Bool(self.namespaced)),
        ])
    }

    /// Decodes what [`Self::to_value`] returns; `None` if a member is missing or has another type.
    pub fn from_value(value: &Value) -> Option<Self> {
        let member = |key: &str| value.get(key).filter(|member| !member.is_null());
        let text = |key: &str| member(key).map_or(Some(String::new()), |text| text.as_str().map(str::to_owned));
        let texts = |key: &str| {
            let Some(items) = member(key) else { return Some(Vec::new()) };
            items.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let resource = Self {
            group: text("group")?,
            version: text("version")?,
            plural: text("plural")?,
            singular: text("singular")?,
            kind: text("kind")?,
            short_names: texts("shortNames")?,
            categories: texts("categories")?,
            verbs: texts("verbs")?,
            namespaced: member("namespaced").map_or(Some(false), Value::as_bool)?,
        };
        let is_whole = !resource.version.is_empty() && !resource.plural.is_empty() && !resource.kind.is_empty();
        is_whole.then_some(resource)
    }

    /// The path of the collection, in one namespace or in all.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let (version, plural) = (encoded(&self.version), encoded(&self.plural));
        let root = match self.group.as_str() {
            "" => format!("/api/{version}"),
            group => format!("/apis/{}/{version}", encoded(group)),
        };
        match namespace.filter(|_| self.namespaced) {
            Some(ns) => format!("{root}/namespaces/{}/{plural}", encoded(ns)),
            None => format!("{root}/{plural}"),
        }
    }

    /// The plural name with the group, as the server writes it.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The path of one object.
    pub fn object_path(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{}", self.path(namespace), encoded(name))
    }
}
