//! Reads the user from impersonation headers (`endpoints/filters/impersonation`).

use super::address;
use super::user::UserInfo;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the impersonated user, if any. The names of headers are in lower case. Every client may impersonate any user.
pub fn impersonated<'a>(headers: impl IntoIterator<Item = (&'a str, Cow<'a, str>)>) -> Option<UserInfo> {
    let (mut username, mut uid, mut groups) = (None, None, Vec::new());
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        match name {
            "impersonate-user" => username = username.or(Some(value)),
            "impersonate-uid" => uid = uid.or(Some(value)),
            "impersonate-group" => groups.push(value.into_owned()),
            _ => {
                if let Some(key) = name.strip_prefix("impersonate-extra-") {
                    let key = address::decoded(key, false).unwrap_or_else(|| key.to_owned());
                    extra.entry(key).or_default().push(value.into_owned());
                }
            }
        }
    }
    let username = username.filter(|name| !name.is_empty())?.into_owned();
    let uid = uid.map(Cow::into_owned).unwrap_or_default();
    Some(UserInfo { uid, extra, ..UserInfo::authenticated(username, groups) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTHENTICATED: &str = "system:authenticated";

    fn user(headers: &[(&str, &str)]) -> Option<UserInfo> {
        impersonated(headers.iter().map(|(name, value)| (*name, Cow::from(*value))))
    }

    #[test]
    fn an_impersonated_user_is_authenticated() {
        assert_eq!(user(&[]), None);
        assert_eq!(user(&[("impersonate-user", "")]), None);
        assert_eq!(user(&[("impersonate-user", "jane")]).unwrap().groups, [AUTHENTICATED]);
        let jane = user(&[("impersonate-user", "jane"), ("impersonate-group", "dev")]).unwrap();
        assert_eq!(jane.groups, ["dev", AUTHENTICATED]);
        let robot = user(&[("impersonate-user", "system:serviceaccount:ns:robot")]).unwrap();
        assert_eq!(robot.groups, ["system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED]);
    }

    #[test]
    fn extra_attributes_have_several_values() {
        let headers = [
            ("impersonate-user", "jane"),
            ("impersonate-uid", "7"),
            ("impersonate-extra-example.com%2fscopes", "a"),
            ("impersonate-extra-example.com%2Fscopes", "b"),
            ("impersonate-extra-a%3ab", "c"),
        ];
        let jane = user(&headers).unwrap();
        assert_eq!(jane.uid, "7");
        assert_eq!(jane.extra["example.com/scopes"], ["a", "b"]);
        assert_eq!(jane.extra["a:b"], ["c"]);
    }
}
