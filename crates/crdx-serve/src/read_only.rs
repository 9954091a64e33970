//! `--read-only`: requests that would change an object are refused. A dry run changes nothing, so `kubectl diff` and
//! `kubectl apply --dry-run=server` still work.

use crdx_server::server::Method;

/// The message for a refused request.
pub(super) const REFUSAL: &str = "kubectl crdx serve was started with --read-only and stores nothing: start it without, or add dryRun=All to the request";

/// Returns true if a request could change an object.
pub(super) fn writes(method: Method, path: &str) -> bool {
    match method {
        Method::Get | Method::Head | Method::Other => false,
        // The options in the body take precedence over those in the query.
        Method::Delete => true,
        Method::Post | Method::Put | Method::Patch => {
            let query = path.split_once('?').map_or("", |(_, query)| query);
            !query.split('&').any(|pair| pair == "dryRun=All")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dry_run_may_be_written() {
        assert!(!writes(Method::Get, "/apis"));
        assert!(writes(Method::Post, "/apis/g.io/v1/foos"));
        assert!(writes(Method::Post, "/apis/g.io/v1/foos?dryRun="));
        assert!(!writes(Method::Patch, "/apis/g.io/v1/foos/a?fieldManager=x&dryRun=All"));
        assert!(writes(Method::Delete, "/apis/g.io/v1/foos/a?dryRun=All"));
    }
}
