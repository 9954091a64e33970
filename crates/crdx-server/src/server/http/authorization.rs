//! Authorization: every user may do everything, except `system:anonymous`, who may do what the cluster role
//! `system:public-info-viewer` allows.

use crate::server::http::request::{Method, Request};
use crate::server::http::route::Route;
use crate::server::http::status::Refusal;
use crate::server::scope::GroupResource;

/// The paths that everybody may read.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// The refusal of a request without credentials (`endpoints/handlers/responsewriters/errors.go`).
pub(in crate::server) fn refuse_anonymous(request: &Request, route: &Route) -> Option<Refusal> {
    let user = request.user.as_ref().filter(|user| user.is_anonymous())?;
    let verb = match request.method {
        Method::Get => "get",
        Method::Head => "head",
        Method::Post => "post",
        Method::Put => "put",
        Method::Patch => "patch",
        Method::Delete => "delete",
        Method::Other => "options",
    };
    let (of, name, description) = if let Route::Resource(target) = route {
        let slash = if target.subresource.is_empty() { "" } else { "/" };
        let scope = match target.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let description = format!(
            "{} resource \"{}{slash}{}\" in API group \"{}\" {scope}",
            target.verb, target.resource, target.subresource, target.group
        );
        (GroupResource { group: &target.group, resource: &target.resource }, target.name.as_str(), description)
    } else {
        let path = request.path.split('?').next().unwrap_or_default();
        if verb == "get" && PUBLIC.contains(&path) {
            return None;
        }
        (GroupResource { group: "", resource: "" }, "", format!("{verb} path \"{path}\""))
    };
    let sanitized = description.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Some(Refusal::forbidden(of, name, &format!("User \"{}\" cannot {sanitized}", user.username)))
}

#[cfg(test)]
mod tests {
    use crate::server::{Method, Request, Server, UserInfo};
    use crdx_value::release::Release;

    #[test]
    fn anonymous_requests_may_see_whether_the_server_runs() {
        let server = Server::builder(Release::NEWEST, 1).with_authorization().build();
        let send = |path: &str, user: UserInfo| {
            let response = server.handle(&Request { user: Some(user), ..Request::new(Method::Get, path, "") });
            (response.code, response.body.message().to_owned())
        };
        assert_eq!(send("/healthz", UserInfo::anonymous()).0, 200);
        assert_eq!(send("/version?timeout=32s", UserInfo::anonymous()).0, 200);
        let (code, message) = send("/apis", UserInfo::anonymous());
        assert_eq!((code, message.as_str()), (403, "forbidden: User \"system:anonymous\" cannot get path \"/apis\""));
        let (code, message) = send("/apis/example.com/v1/namespaces/ns/foos/a/status", UserInfo::anonymous());
        assert_eq!(code, 403);
        assert_eq!(
            message,
            "foos.example.com \"a\" is forbidden: User \"system:anonymous\" cannot get resource \"foos/status\" in API group \"example.com\" in the namespace \"ns\""
        );
        assert_eq!(send("/apis", UserInfo::authenticated("jane".to_owned(), Vec::new())).0, 200);
    }
}
