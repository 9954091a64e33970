//! Lists, page by page: one page is in memory while the next is being requested.

use super::answer::Answer;
use super::connection::PendingResponse;
use super::{Connection, Error};
use crate::server::http::address::encoded;
use crate::text::json;
use crate::value::Value;
use std::fmt::Write as _;

/// The page size that kubectl uses.
const PAGE: usize = 500;

/// Selects objects of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// `labelSelector`
    pub labels: Option<String>,
    /// `fieldSelector`
    pub fields: Option<String>,
    /// The page size; 0 for one page with everything, `None` for kubectl's.
    pub limit: Option<usize>,
}

impl Query {
    /// The query string, followed by `more`.
    pub fn of(&self, path: &str, more: &[(&str, &str)]) -> String {
        let own = [("labelSelector", self.labels.as_deref()), ("fieldSelector", self.fields.as_deref())];
        let own = own.into_iter().filter_map(|(key, value)| Some((key, value.filter(|v| !v.is_empty())?)));
        let mut text = path.to_owned();
        for (i, (key, value)) in own.chain(more.iter().copied()).enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}{key}={}", if i == 0 { '?' } else { '&' }, encoded(value));
        }
        text
    }
}

/// One page: a `…List` or a Table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The document.
    pub list: Value,
}

impl Page {
    /// The objects of a list (not of a Table).
    pub fn take_items(&mut self) -> Vec<Value> {
        match self.list.get_mut("items").map(std::mem::take) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        }
    }

    /// The resource version of the list, from which a watch may start.
    pub fn resource_version(&self) -> &str {
        self.list.str_at(&["metadata", "resourceVersion"]).unwrap_or_default()
    }

    /// The number of objects after this page; unknown with a selector.
    pub fn remaining(&self) -> Option<u64> {
        self.list.at(&["metadata", "remainingItemCount"]).and_then(Value::as_int).and_then(|n| u64::try_from(n).ok())
    }
}

/// The pages of a list. After an error the iterator ends, and the list is incomplete.
pub struct Pages<'a> {
    connection: &'a Connection,
    path: String,
    query: Query,
    accept: &'static str,
    next: Option<PendingResponse>,
    /// The continue token of `next`; empty for the first page.
    token: String,
    inconsistent: bool,
}

impl Connection {
    /// Reads the collection at `path` (without a query).
    pub fn pages(&self, path: &str, query: Query, accept: &'static str) -> Pages<'_> {
        let mut pages = Pages {
            connection: self,
            path: path.to_owned(),
            query,
            accept,
            next: None,
            token: String::new(),
            inconsistent: false,
        };
        pages.ask("");
        pages
    }
}

impl Pages<'_> {
    /// Returns true if the continue token expired and the server continued with a newer state. Objects that were
    /// created or deleted in the meantime may be missing or included.
    pub fn is_inconsistent(&self) -> bool {
        self.inconsistent
    }

    fn ask(&mut self, token: &str) {
        let limit = self.query.limit.unwrap_or(PAGE).to_string();
        let more = [("limit", limit.as_str()), ("continue", token)];
        let more: Vec<_> = more.into_iter().filter(|(_, value)| !matches!(*value, "" | "0")).collect();
        self.next = Some(self.connection.ask(&self.query.of(&self.path, &more), self.accept));
        token.clone_into(&mut self.token);
    }

    fn read(&mut self, pending: PendingResponse) -> Result<Page, Error> {
        let mut answer = pending.answer()?;
        if let Some(token) = newer(&answer) {
            self.inconsistent = true;
            self.ask(&token);
            if let Some(pending) = self.next.take() {
                answer = pending.answer()?;
            }
        }
        let Some(list) = answer.read(&self.path)? else { return Err(self.unserved(&answer)) };
        if list.get("items").is_none() && list.get("rows").is_none() {
            let message = format!("the cluster's answer to GET {} is not a list", self.path);
            let help = Some("is it a Kubernetes API server? check --server and the proxy".to_owned());
            return Err(Error { message, help, code: Some(200), ..Error::default() });
        }
        let token = list.str_at(&["metadata", "continue"]).unwrap_or_default().to_owned();
        if !token.is_empty() && token == self.token {
            let message = format!("the list {} does not end: a page has its own continue token", self.path);
            let help = Some("check the server of this API and the proxy".to_owned());
            return Err(Error { message, help, code: Some(200), ..Error::default() });
        }
        if !token.is_empty() {
            self.ask(&token);
        }
        Ok(Page { list })
    }

    /// The error for an answer 404.
    fn unserved(&self, answer: &Answer) -> Error {
        let (message, help) = if self.token.is_empty() {
            (format!("the cluster does not serve {}", self.path), "kubectl api-resources lists what it serves")
        } else {
            (format!("the cluster stopped serving {} while the list was read", self.path), "run it again")
        };
        Error { message, help: Some(help.to_owned()), ..answer.refusal(&self.path) }
    }
}

/// The token of an "expired" answer with which the list continues in a newer state.
fn newer(answer: &Answer) -> Option<String> {
    let status = Some(answer).filter(|a| a.code == 410).and_then(|a| json::read(&a.body).ok())?;
    status.str_at(&["metadata", "continue"]).filter(|t| !t.is_empty()).map(str::to_owned)
}

impl Iterator for Pages<'_> {
    type Item = Result<Page, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let pending = self.next.take()?;
        Some(self.read(pending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_encoded() {
        let query = Query { labels: Some("a in (b,c)".to_owned()), fields: Some(String::new()), limit: None };
        assert_eq!(query.of("/apis/x", &[("limit", "5")]), "/apis/x?labelSelector=a%20in%20%28b%2Cc%29&limit=5");
        assert_eq!(Query::default().of("/apis/x", &[]), "/apis/x");
    }
}
