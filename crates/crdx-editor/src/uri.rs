//! `file:` URIs and paths.

use crdx_server::server::http::address;

/// The path of a `file:` URI; any other URI is its own name, and nothing is read from it.
pub fn path(uri: &str) -> String {
    let Some(rest) = uri.strip_prefix("file://") else { return uri.to_owned() };
    // An authority, usually empty, comes before the path.
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest);
    let path = address::decoded(path, false).unwrap_or_else(|| path.to_owned());
    // `/C:/x` on Windows.
    let drive = path.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) && path.as_bytes().get(2) == Some(&b':');
    if drive { path.get(1..).unwrap_or_default().to_owned() } else { path }
}

/// The `file:` URI of an absolute path.
pub fn of_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let segments: Vec<String> = path.split('/').map(address::encoded).collect();
    let path = segments.join("/");
    if path.starts_with('/') { format!("file://{path}") } else { format!("file:///{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded() {
        assert_eq!(path("file:///a/b%20c/%C3%BC.yaml"), "/a/b c/ü.yaml");
        assert_eq!(path("file:///c%3A/x.yaml"), "c:/x.yaml");
        assert_eq!(path("file://host/x%"), "/x%");
        assert_eq!(path("untitled:Untitled-1"), "untitled:Untitled-1");
        assert_eq!(of_path("/a/b c/ü.yaml"), "file:///a/b%20c/%C3%BC.yaml");
        assert_eq!(path(&of_path("C:\\a b\\x.yaml")), "C:/a b/x.yaml");
    }
}
