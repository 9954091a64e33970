//! The state of the cluster for one object of the input: what earlier inputs create, what files give, and what a live cluster
//! has, in this order.

pub(crate) mod created;
pub mod given;
pub mod live;

use crate::kubectl::send::Sender;
use crdx_builtin::service_account;
use crdx_server::cluster_state::{
    ClusterState, GroupVersionResource, LIMIT_RANGES, Listed, Lookup, NAMESPACES, PRIORITY_CLASSES, RUNTIME_CLASSES,
    SERVICE_ACCOUNTS, STORAGE_CLASSES, Unread, Wanted, is_terminating,
};
use crdx_server::server::{Request, Response, Server};
use crdx_value::{Value, names};
use created::Created;
use given::{GivenObjects, replace};
use live::LiveObjects;
use std::sync::Arc;

/// The kinds that have few objects in a namespace, so that one list answers for all of them.
const LISTED: [GroupVersionResource<'static>; 4] =
    [PRIORITY_CLASSES, RUNTIME_CLASSES, STORAGE_CLASSES, SERVICE_ACCOUNTS];

/// The state of the cluster for one object of the input.
#[derive(Clone, Debug, Default)]
pub struct KnownCluster {
    created: Created,
    given: Arc<GivenObjects>,
    live: Option<Arc<LiveObjects>>,
    /// True if nothing is known of Namespaces, to see the errors that come after that of the Namespace.
    ignores_namespaces: bool,
}

impl KnownCluster {
    /// Creates the state from what is known.
    pub fn new(created: Created, given: Arc<GivenObjects>, live: Option<Arc<LiveObjects>>) -> Self {
        Self { created, given, live, ignores_namespaces: false }
    }

    /// Returns the same state without Namespaces.
    #[must_use]
    pub(crate) fn without_namespaces(&self) -> Self {
        Self { ignores_namespaces: true, ..self.clone() }
    }

    /// Returns an object, which is read first if necessary.
    pub(crate) fn read_object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Lookup<Arc<Value>> {
        let wanted = Wanted::new(of, namespace, Some(name));
        self.read(&wanted, || self.object(of, namespace, name)).unwrap_or(Lookup::Unknown)
    }

    /// Returns an answer, after reading what it needs if that was not read yet.
    fn read<T>(&self, wanted: &Wanted, answer: impl Fn() -> Result<T, Unread>) -> Option<T> {
        if let Ok(known) = answer() {
            return Some(known);
        }
        self.live.as_ref()?.read(&[read_as(wanted)]);
        answer().ok()
    }

    fn created_or_given(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.created.object(of, namespace, name).or_else(|| self.given.object(of, namespace, name).cloned())
    }

    /// Returns true if the limit ranges of a namespace count. Without a cluster, they do so only in a namespace that inputs or
    /// files define, or if they are given with policies.
    fn has_limits(&self, namespace: &str) -> bool {
        self.live.is_some()
            || self.created.object(NAMESPACES, "", namespace).is_some()
            || self.given.tells_limits(namespace)
    }

    /// Returns the message of the error with which objects could not be read.
    pub fn error(&self, wanted: &Wanted) -> Option<String> {
        self.live.as_ref()?.error(&read_as(wanted))
    }

    /// Reports for the run that objects could not be read.
    pub(crate) fn report_unreadable(&self, wanted: &Wanted) {
        if let Some(live) = &self.live {
            live.report_unreadable(&read_as(wanted));
        }
    }

    /// Returns true if a live cluster answers what the inputs and files do not tell.
    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Returns true if a namespace is known not to accept new objects.
    pub(crate) fn refuses_objects_in(&self, namespace: &str) -> bool {
        match self.read_object(NAMESPACES, "", namespace) {
            Lookup::Found(namespace) => is_terminating(&namespace),
            Lookup::Absent => true,
            Lookup::Unknown => false,
        }
    }
}

/// The reads from the cluster that find an object: a list of few objects answers for all of them.
fn read_as(wanted: &Wanted) -> Wanted {
    let name = wanted.name.clone().filter(|_| !LISTED.contains(&wanted.of()));
    Wanted { name, ..wanted.clone() }
}

impl ClusterState for KnownCluster {
    fn object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Result<Lookup<Arc<Value>>, Unread> {
        if of == NAMESPACES && self.ignores_namespaces {
            return Ok(Lookup::Unknown);
        }
        if let Some(known) = self.created_or_given(of, namespace, name) {
            return Ok(Lookup::Found(known));
        }
        // No namespace can have such a name.
        if of == NAMESPACES && !names::dns1123_label(name.as_bytes()).is_empty() {
            return Ok(Lookup::Absent);
        }
        // A controller creates it in a new namespace.
        let is_new = |name: &str| self.created.object(NAMESPACES, "", name).is_some();
        if of == SERVICE_ACCOUNTS && name == service_account::DEFAULT && is_new(namespace) {
            return Ok(Lookup::Found(Arc::default()));
        }
        let Some(live) = &self.live else { return Ok(Lookup::Unknown) };
        if !LISTED.contains(&of) {
            return live.object(of, namespace, name);
        }
        let Listed { objects, is_complete } = live.list(of, namespace)?;
        let is_it = |object: &Arc<Value>| object.str_at(&["metadata", "name"]) == Some(name);
        Ok(match objects.into_iter().find(is_it) {
            Some(found) => Lookup::Found(found),
            None if is_complete => Lookup::Absent,
            None => Lookup::Unknown,
        })
    }

    fn list(&self, of: GroupVersionResource<'_>, namespace: &str) -> Result<Listed, Unread> {
        if of == LIMIT_RANGES && !self.has_limits(namespace) {
            return Ok(Listed::default());
        }
        let mut listed = Listed::default();
        if let Some(live) = &self.live {
            listed = live.list(of, namespace)?;
        }
        replace(&mut listed, self.given.objects(of, namespace).cloned().collect());
        // As in a dry run, no class of an input is the default class.
        if of == LIMIT_RANGES {
            replace(&mut listed, self.created.objects(of, namespace));
        }
        Ok(listed)
    }
}

impl Sender for Arc<KnownCluster> {
    /// Sends a request, again after what the server needs of the cluster has been read.
    fn send(&self, server: &Server, mut request: Request) -> Response {
        request.cluster_state = Some(Arc::clone(self) as Arc<dyn ClusterState>);
        let Some(live) = &self.live else { return server.handle_owned(request) };
        loop {
            let mut response = server.handle_owned(request.clone());
            let unread = response.trace.take_unread();
            if unread.is_empty() {
                return response;
            }
            let wanted: Vec<Wanted> = unread.iter().map(read_as).collect();
            live.read(&wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, Error, PendingResponse, Resource};
    use crdx_server::cluster_state::UnknownCluster;
    use crdx_server::server::{AdmissionPlugins, Method, Namespaces};
    use crdx_text::json::read;
    use crdx_value::release::Release;
    use std::sync::Mutex;

    /// A cluster with one namespace `work`, whose service accounts are `default`. It records the paths that are read.
    #[derive(Debug, Default)]
    struct Fake {
        asked: Mutex<Vec<String>>,
    }

    #[derive(Debug)]
    struct Answered(Option<&'static str>);

    impl PendingResponse for Answered {
        fn wait(self: Box<Self>) -> Result<Option<Value>, Error> {
            Ok(self.0.map(|text| read(text.as_bytes()).unwrap()))
        }
    }

    impl Cluster for Fake {
        fn is_configured(&self) -> bool {
            true
        }

        fn resources(&self) -> Result<Arc<Vec<Resource>>, Error> {
            Ok(Arc::new(vec![Resource::namespaces()]))
        }

        fn resource_where(&self, fits: &dyn Fn(&Resource) -> bool) -> Result<Option<Resource>, Error> {
            Ok(Some(Resource::namespaces()).filter(fits))
        }

        fn ask(&self, path: &str) -> Result<Box<dyn PendingResponse>, Error> {
            self.asked.lock().unwrap().push(path.to_owned());
            Ok(Box::new(Answered(match path {
                "/api/v1/namespaces/work" => Some(r#"{"metadata":{"name":"work"}}"#),
                "/api/v1/namespaces/work/serviceaccounts" => {
                    Some(r#"{"apiVersion":"v1","kind":"ServiceAccountList","items":[{"metadata":{"name":"default"}}]}"#)
                }
                _ => None,
            })))
        }

        fn list(&self, _: &str) -> Result<Arc<Value>, Error> {
            panic!("the state asks for lists itself")
        }

        fn record_unreadable(&self, _: &str, _: &Error) {}
    }

    /// The code and the message of the answer to a new Pod with a service account.
    fn create_pod(cluster: &Arc<KnownCluster>, namespace: &str, account: &str) -> (u16, String) {
        let builder =
            crdx_kinds::builder(Release::NEWEST, 0).with_built_in_kinds().with_cluster_state(Arc::new(UnknownCluster));
        let builder = builder.with_admission_plugins(AdmissionPlugins::all());
        let server = builder.with_namespaces(Namespaces::Unchecked, &[]).build();
        let pod = format!(
            r#"{{"metadata":{{"name":"p"}},"spec":{{"serviceAccountName":"{account}","containers":[{{"name":"c","image":"i"}}]}}}}"#
        );
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let response = cluster.send(&server, Request::new(Method::Post, &path, &*pod));
        (response.code, response.body.message().to_owned())
    }

    fn known(fake: &Arc<Fake>) -> Arc<KnownCluster> {
        let live = LiveObjects::new(Arc::clone(fake) as Arc<dyn Cluster>);
        Arc::new(KnownCluster::new(Created::default(), Arc::default(), Some(Arc::new(live))))
    }

    #[test]
    fn a_request_is_sent_again_after_what_it_needs_was_read() {
        let fake = Arc::new(Fake::default());
        let cluster = known(&fake);
        assert_eq!(create_pod(&cluster, "work", "default").0, 201);
        let (code, message) = create_pod(&cluster, "work", "other");
        assert_eq!(code, 403);
        assert!(message.contains("serviceaccount \"other\" not found"), "{message}");
        let asked = fake.asked.lock().unwrap();
        let count = |path: &str| asked.iter().filter(|asked| *asked == path).count();
        // Everything is read once, and one list answers for all service accounts.
        assert_eq!(count("/api/v1/namespaces/work"), 1, "{asked:?}");
        assert_eq!(count("/api/v1/namespaces/work/serviceaccounts"), 1, "{asked:?}");
    }

    #[test]
    fn a_namespace_that_the_cluster_does_not_have_accepts_no_objects() {
        let cluster = known(&Arc::new(Fake::default()));
        assert_eq!(create_pod(&cluster, "gone", "default"), (404, "namespaces \"gone\" not found".to_owned()));
        assert!(cluster.refuses_objects_in("gone") && !cluster.refuses_objects_in("work"));
        assert!(!cluster.without_namespaces().refuses_objects_in("gone"));
    }

    #[test]
    fn without_a_cluster_every_namespace_with_a_valid_name_may_exist() {
        let cluster = Arc::new(KnownCluster::default());
        assert_eq!(create_pod(&cluster, "any", "other").0, 201);
        assert_eq!(create_pod(&cluster, "No", "other").0, 404);
    }
}
