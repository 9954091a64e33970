//! `--token-auth-file` (`k8s.io/apiserver/pkg/authentication/token/tokenfile`).

use crdx_server::server::UserInfo;
use std::collections::HashMap;

/// The reason why a token file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFileError {
    /// A quote does not end.
    #[error("line {line} has a quote that does not end")]
    OpenQuote { line: usize },
    /// A line has fewer than three columns.
    #[error("line {line} has {columns} columns and needs at least 3: token, user name and user UID")]
    TooFewColumns {
        line: usize,
        /// The number of columns.
        columns: usize,
    },
}

/// Reads lines of `token,user,uid` and optionally `"group1,group2"`. Lines without a token are left out.
///
/// # Errors
/// Names the first line that has fewer than three columns or an open quote.
pub(super) fn read(text: &str) -> Result<HashMap<String, UserInfo>, TokenFileError> {
    let mut tokens = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let columns = columns(line).ok_or(TokenFileError::OpenQuote { line: at + 1 })?;
        let [token, user, uid, rest @ ..] = columns.as_slice() else {
            return Err(TokenFileError::TooFewColumns { line: at + 1, columns: columns.len() });
        };
        let groups = rest.first().map_or("", String::as_str).split(',').filter(|group| !group.is_empty());
        let groups = groups.map(str::to_owned).collect();
        if !token.is_empty() {
            let user = UserInfo { uid: uid.clone(), ..UserInfo::authenticated(user.clone(), groups) };
            tokens.insert(token.clone(), user);
        }
    }
    Ok(tokens)
}

/// The columns of a line of CSV; `None` if a quote does not end.
fn columns(line: &str) -> Option<Vec<String>> {
    let mut columns = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let column = columns.last_mut()?;
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                column.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => columns.push(String::new()),
            ' ' if column.is_empty() && !quoted => {}
            letter => column.push(letter),
        }
    }
    (!quoted).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_token_a_user_and_groups() {
        let tokens = read("a,jane,1\n\nb, \"joe, \"\"j\"\"\",2,\"x,y\"\n,nobody,3\n").unwrap();
        assert_eq!(tokens.len(), 2);
        assert_eq!(tokens.get("a").unwrap().groups, ["system:authenticated"]);
        let joe = tokens.get("b").unwrap();
        assert_eq!((joe.username.as_str(), joe.uid.as_str()), ("joe, \"j\"", "2"));
        assert_eq!(joe.groups, ["x", "y", "system:authenticated"]);
    }

    #[test]
    fn a_short_line_is_an_error() {
        let short = read("a,jane,1\nb,joe\n").unwrap_err();
        assert_eq!(short.to_string(), "line 2 has 2 columns and needs at least 3: token, user name and user UID");
        assert_eq!(read("a,\"jane,1\n").unwrap_err().to_string(), "line 1 has a quote that does not end");
    }
}
