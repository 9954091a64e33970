//! Reads the user from impersonation headers (`endpoints/filters/impersonation`).

use crdx_server::server::UserInfo;
use http::HeaderMap;
use std::collections::BTreeMap;

/// Returns the impersonated user, if any. Every client may impersonate any user.
pub(super) fn user(headers: &HeaderMap) -> Option<UserInfo> {
    let text = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let username = text("impersonate-user").filter(|name| !name.is_empty())?;
    let groups = headers.get_all("impersonate-group").iter();
    let groups = groups.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix("impersonate-extra-") {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            extra.entry(key.replace("%2f", "/").replace("%2F", "/")).or_default().push(value);
        }
    }
    let uid = text("impersonate-uid").unwrap_or_default();
    Some(UserInfo { uid, extra, ..UserInfo::authenticated(username, groups) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const AUTHENTICATED: &str = "system:authenticated";

    #[test]
    fn an_impersonated_user_is_authenticated() {
        let mut headers = HeaderMap::new();
        assert_eq!(user(&headers), None);
        headers.insert("impersonate-user", HeaderValue::from_static("jane"));
        assert_eq!(user(&headers).unwrap().groups, [AUTHENTICATED]);
        headers.append("impersonate-group", HeaderValue::from_static("dev"));
        assert_eq!(user(&headers).unwrap().groups, ["dev", AUTHENTICATED]);
        headers.insert("impersonate-user", HeaderValue::from_static("system:serviceaccount:ns:robot"));
        headers.remove("impersonate-group");
        let groups = ["system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED];
        assert_eq!(user(&headers).unwrap().groups, groups);
    }
}
