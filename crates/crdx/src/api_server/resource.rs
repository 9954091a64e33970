//! The resource that serves a kind, found by discovery, as clients do.

use super::manifest::Document;
use super::{ApiServer, Error};
use crdx_server::server::http::address;
use crdx_server::server::{Response as Answer, ResponseBody};
use crdx_value::Value;
use crdx_value::group_version::{self, GroupVersionKind};

/// The resource that serves a kind.
pub(super) struct Resource {
    /// The path of the group and the version: `/api/v1` or `/apis/GROUP/VERSION`.
    root: String,
    plural: String,
    is_namespaced: bool,
}

impl Resource {
    /// Finds the resource of an object.
    pub fn for_document(server: &ApiServer, document: &Document) -> Result<Self, Error> {
        Self::find_in(server, document.text(&["apiVersion"]), document.kind()?.borrowed())
    }

    /// Finds the resource of a kind.
    pub fn find(server: &ApiServer, api_version: &str, kind: &str) -> Result<Self, Error> {
        let (group, version) = group_version::split(api_version);
        Self::find_in(server, api_version, GroupVersionKind { group, version, kind })
    }

    fn find_in(
        server: &ApiServer,
        api_version: &str,
        GroupVersionKind { group, version, kind }: GroupVersionKind<&str>,
    ) -> Result<Self, Error> {
        let root = if group.is_empty() {
            address::object("/api", version)
        } else {
            address::object(&address::object("/apis", group), version)
        };
        let unknown = || Error::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() };
        let Answer { code: 200, body: ResponseBody::Json(list), .. } = server.read(&root) else {
            return Err(unknown());
        };
        let resources = list.get("resources").and_then(Value::as_array).unwrap_or_default();
        // The names of subresources have a slash, and the kind of some is that of the resource.
        let is_wanted = |resource: &&Value| {
            resource.str_at(&["kind"]) == Some(kind) && resource.str_at(&["name"]).is_some_and(|n| !n.contains('/'))
        };
        let resource = resources.iter().find(is_wanted).ok_or_else(unknown)?;
        Ok(Self {
            root,
            plural: resource.str_at(&["name"]).unwrap_or_default().to_owned(),
            is_namespaced: resource.get("namespaced").and_then(Value::as_bool).unwrap_or_default(),
        })
    }

    /// The path of the objects of a namespace, or of all namespaces.
    pub fn collection(&self, namespace: Option<&str>) -> String {
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => {
                let namespace = address::object(&address::object(&self.root, "namespaces"), namespace);
                address::object(&namespace, &self.plural)
            }
            None => address::object(&self.root, &self.plural),
        }
    }
}
