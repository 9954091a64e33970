//! Reads bearer tokens (`authentication/request/bearertoken`).

/// Returns the token of an `Authorization` header, if it has one.
pub fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    let token = token.split(' ').next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_credentials_are_not_tokens() {
        assert_eq!(bearer_token("Bearer a.b.c"), Some("a.b.c"));
        assert_eq!(bearer_token(" bearer a b"), Some("a"));
        for none in ["", "Bearer", "Bearer ", "Bearer  a", "Basic a"] {
            assert_eq!(bearer_token(none), None, "{none}");
        }
    }
}
