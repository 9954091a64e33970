//! The requests that a server for test suites delays before it handles them, because they take time on a real server.

use super::Server;
use super::http::context::Context;
use super::http::query::Query;
use super::http::route::{RequestInfo, Route, route};
use super::registry::consistent_read::ConsistentRead;
use super::registry::store::Collection;
use crate::crd;
use crate::server::http::request::{Method, Request};
use crdx_value::release::V1_31;
use std::sync::Arc;

impl Server {
    /// Reports whether this request stores or removes an object unless it is rejected: a write that is neither a dry run
    /// nor a review of access or a token.
    pub fn may_store(&self, request: &Request) -> bool {
        if matches!(request.method, Method::Get | Method::Head | Method::Other) {
            return false;
        }
        let (path, query) = path_and_query(request);
        let query = Query::parse(query);
        let Route::Resource(target) = route(request.method, path, &query) else { return false };
        let ctx = Context::new(&self.resources().settings, request, query, target);
        if request.method == Method::Delete {
            return ctx.delete_options().is_ok_and(|options| !options.dry_run);
        }
        let issues_token = ctx.target.resource == "serviceaccounts" && ctx.target.subresource == "token";
        ctx.query.first("dryRun").is_none() && !issues_token && !self.endpoints.serves_review(&ctx.target)
    }

    /// Returns the consistent read that a request makes: a list, a deletion of a collection, or a watch that begins with
    /// a list, without a resourceVersion. Before it is handled, a server for test suites waits as long as a real one
    /// does ([`ConsistentRead::wait`]).
    pub fn consistent_read(&self, request: &Request) -> Option<ConsistentRead> {
        let (path, query) = path_and_query(request);
        let query = Query::parse(query);
        let Route::Resource(target) = route(request.method, path, &query) else { return None };
        let given = |key| query.first(key).is_some_and(|value| !value.is_empty());
        let lists = match target.verb {
            "list" | "deletecollection" => true,
            "watch" => query.first("sendInitialEvents") == Some("true"),
            _ => false,
        };
        if !lists || given("resourceVersion") || given("continue") || !self.release().since(V1_31) {
            return None;
        }
        let objects = self.collection_of(&target)?;
        Some(ConsistentRead::new(objects, Arc::clone(&self.resources().storage.revision)))
    }

    /// The collection of a resource that has a watch cache: events have none (`default_storage_factory_builder.go`).
    fn collection_of(&self, target: &RequestInfo) -> Option<Arc<Collection>> {
        match (target.group.as_str(), target.resource.as_str()) {
            ("" | "events.k8s.io", "events") => None,
            (crd::GROUP, _) => Some(Arc::clone(&self.resources().definitions.objects)),
            (group, resource) => Some(Arc::clone(&self.resources().get(&[resource, ".", group].concat())?.objects)),
        }
    }
}

fn path_and_query(request: &Request) -> (&str, &str) {
    request.path.split_once('?').unwrap_or((&request.path, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::Release;
    use std::collections::HashMap;

    #[test]
    fn reads_dry_runs_reviews_and_tokens_store_nothing() {
        let server = Server::builder(Release::NEWEST, 1).with_built_in_kinds().with_reviews(HashMap::new()).build();
        let stores = |method, path: &str, body: &str| server.may_store(&Request::new(method, path, body));
        let (pods, pod) = ("/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/pods/p");
        assert!(stores(Method::Post, pods, "{}"));
        assert!(stores(Method::Post, &format!("{pod}/eviction"), "{}"));
        assert!(stores(Method::Put, &format!("{pod}/status"), "{}"));
        assert!(stores(Method::Patch, &format!("{pod}?fieldManager=m"), "{}"));
        assert!(stores(Method::Delete, pod, ""));
        assert!(stores(Method::Delete, pods, r#"{"kind":"DeleteOptions","apiVersion":"v1"}"#));

        assert!(!stores(Method::Get, pods, ""));
        assert!(!stores(Method::Post, &format!("{pods}?dryRun=All"), "{}"));
        assert!(!stores(Method::Patch, &format!("{pod}?fieldManager=m&dryRun=All"), "{}"));
        assert!(!stores(Method::Delete, &format!("{pod}?dryRun=All"), ""));
        assert!(!stores(Method::Delete, pod, r#"{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}"#));
        // The options in the body take precedence over those in the query.
        assert!(stores(Method::Delete, &format!("{pod}?dryRun=All"), r#"{"kind":"DeleteOptions","apiVersion":"v1"}"#));
        assert!(!stores(Method::Post, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "{}"));
        assert!(!stores(Method::Post, "/api/v1/namespaces/default/serviceaccounts/a/token", "{}"));
        assert!(!stores(Method::Post, "/healthz", ""));
    }

    #[test]
    fn lists_without_a_resource_version_are_consistent_reads() {
        let server = Server::builder(Release::NEWEST, 1).with_built_in_kinds().build();
        let maps = "/api/v1/namespaces/default/configmaps";
        let read = |server: &Server, method, path: &str| server.consistent_read(&Request::new(method, path, ""));
        let get = |path: &str| read(&server, Method::Get, path).is_some();
        assert!(get(maps) && get("/api/v1/configmaps?limit=5&labelSelector=a") && get("/api/v1/namespaces"));
        assert!(get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"));
        assert!(get(&format!("{maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")));
        assert!(get(&format!("{maps}?fieldSelector=metadata.name%3Da")));
        assert!(read(&server, Method::Delete, maps).is_some());

        assert!(!get(&format!("{maps}/a")) && !get(&format!("{maps}?watch=1")));
        assert!(!get(&format!("{maps}?resourceVersion=0")) && !get(&format!("{maps}?limit=5&continue=abc")));
        assert!(!get("/api/v1/events") && !get("/apis/events.k8s.io/v1/events") && !get("/apis/x.example.com/v1/foos"));
        assert!(read(&server, Method::Post, maps).is_none());
        assert!(read(&server, Method::Delete, &format!("{maps}/a")).is_none());
        let older = Server::builder("1.30".parse().unwrap(), 1).with_built_in_kinds().build();
        assert!(read(&older, Method::Get, maps).is_none());
    }
}
