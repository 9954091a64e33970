//! The paths of requests for objects and lists.

use crdx_server::server::http::address::decoded;

/// The objects that a request reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    pub group: String,
    pub version: String,
    pub plural: String,
    pub namespace: Option<String>,
    /// The name of the object; `None` for a list.
    pub name: Option<String>,
}

impl RequestPath {
    /// Parses a path, whose query is ignored; `None` for subresources and anything else.
    pub fn parse(path: &str) -> Option<Self> {
        let path = path.split('?').next()?.strip_prefix('/')?;
        let parts: Vec<String> = path.split('/').map(|part| decoded(part, false)).collect::<Option<_>>()?;
        let (group, version, rest) = match parts.as_slice() {
            [api, version, rest @ ..] if api == "api" => (String::new(), version, rest),
            [apis, group, version, rest @ ..] if apis == "apis" => (group.clone(), version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            [namespaces, namespace, rest @ ..] if namespaces == "namespaces" && !rest.is_empty() => {
                (Some(namespace.clone()), rest)
            }
            rest => (None, rest),
        };
        let (plural, name) = match rest {
            [plural] => (plural, None),
            [plural, name] => (plural, Some(name.clone())),
            _ => return None,
        };
        Some(Self { group, version: version.clone(), plural: plural.clone(), namespace, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(group: &str, plural: &str, namespace: Option<&str>, name: Option<&str>) -> RequestPath {
        RequestPath {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
        }
    }

    #[test]
    fn a_path_names_a_list_or_an_object() {
        let parsed = |path: &str| RequestPath::parse(path).unwrap();
        assert_eq!(parsed("/api/v1/namespaces/a"), expected("", "namespaces", None, Some("a")));
        assert_eq!(parsed("/api/v1/namespaces/a/limitranges?limit=500"), expected("", "limitranges", Some("a"), None));
        assert_eq!(
            parsed("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode"),
            expected("rbac.authorization.k8s.io", "clusterroles", None, Some("system:node"))
        );
        for other in ["/version", "/api", "/apis/apps/v1", "/api/v1/namespaces/a/pods/p/log", "/metrics"] {
            assert_eq!(RequestPath::parse(other), None, "{other}");
        }
    }
}
