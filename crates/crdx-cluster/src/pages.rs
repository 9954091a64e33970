//! Lists, page by page: one page is in memory while the next is being requested, unless pages are read on demand.

use super::answer::Answer;
use super::connection::PendingResponse;
use super::limits::{self, PageCounter};
use super::{Connection, Error};
use crdx_server::server::http::address::encoded;
use crdx_value::Value;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The page size that kubectl uses.
const PAGE: usize = 500;
/// If a page is too long, pages of this fraction of its size are requested instead.
const SMALLER: usize = 8;

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

    /// The number of objects after this page, at least 1; `None` for the last page.
    pub fn rest(&self) -> Option<u64> {
        self.list.str_at(&["metadata", "continue"]).filter(|token| !token.is_empty())?;
        Some(self.remaining().unwrap_or(1).max(1))
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
    /// True if a page is requested when the caller asks for it, and an error ends the list.
    on_demand: bool,
    /// The token of the next page, if it is not requested yet.
    following: Option<String>,
    /// The tokens of earlier pages, hashed.
    seen: HashSet<u64>,
    counter: PageCounter,
    inconsistent: bool,
}

impl Connection {
    /// Reads the collection at `path` (without a query).
    pub fn pages(&self, path: &str, query: Query, accept: &'static str) -> Pages<'_> {
        self.all_pages(path, query, accept, false)
    }

    /// Reads pages of the collection at `path`, for a caller that can do without them: only the first one is requested ahead. A
    /// page that is too long, and a list that changes while it is read, are errors.
    pub fn pages_on_demand(&self, path: &str, query: Query, accept: &'static str) -> Pages<'_> {
        self.all_pages(path, query, accept, true)
    }

    fn all_pages(&self, path: &str, query: Query, accept: &'static str, on_demand: bool) -> Pages<'_> {
        let mut pages = Pages {
            connection: self,
            path: path.to_owned(),
            query,
            accept,
            next: None,
            token: String::new(),
            on_demand,
            following: None,
            seen: HashSet::new(),
            counter: PageCounter::default(),
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

    /// Sets the size of pages that are not requested yet.
    pub fn set_limit(&mut self, limit: usize) {
        self.query.limit = Some(limit);
    }

    fn ask(&mut self, token: &str) {
        let limit = self.query.limit.unwrap_or(PAGE).to_string();
        let more = [("limit", limit.as_str()), ("continue", token)];
        let more: Vec<_> = more.into_iter().filter(|(_, value)| !matches!(*value, "" | "0")).collect();
        self.next = Some(self.connection.ask(&self.query.of(&self.path, &more), self.accept));
        token.clone_into(&mut self.token);
    }

    /// Waits for the page at the current token.
    fn list(&mut self, pending: PendingResponse) -> Result<Value, Error> {
        let mut answer = pending.answer()?;
        if !self.on_demand
            && let Some(token) = newer(&answer)
        {
            self.inconsistent = true;
            self.ask(&token);
            if let Some(pending) = self.next.take() {
                answer = pending.answer()?;
            }
        }
        answer.read(&self.path)?.ok_or_else(|| self.unserved(&answer))
    }

    /// Requests smaller pages, from the current token on; false if they cannot be smaller.
    fn shrink(&mut self) -> bool {
        let limit = match self.query.limit.unwrap_or(PAGE) {
            0 => PAGE,
            1 => return false,
            limit => (limit / SMALLER).max(1),
        };
        self.query.limit = Some(limit);
        self.ask(&self.token.clone());
        true
    }

    fn read(&mut self, mut pending: PendingResponse) -> Result<Page, Error> {
        let list = loop {
            match self.list(pending) {
                Err(error) if error.too_long && !self.on_demand && self.shrink() => {
                    let Some(next) = self.next.take() else { return Err(error) };
                    pending = next;
                }
                list => break list?,
            }
        };
        let items = list.get("items").or_else(|| list.get("rows"));
        let Some(items) = items else {
            let message = format!("the cluster's answer to GET {} is not a list", self.path);
            let help = Some("is it a Kubernetes API server? check --server and the proxy".to_owned());
            return Err(Error { message, help, code: Some(200), ..Error::default() });
        };
        limits::check_items(items.as_array().unwrap_or_default().len(), &self.path)?;
        let token = list.str_at(&["metadata", "continue"]).unwrap_or_default().to_owned();
        if !token.is_empty() {
            let items = items.as_array().unwrap_or_default().len();
            let reason = match self.counter.add(items, self.query.limit.unwrap_or(PAGE)) {
                _ if token == self.token => Some("a page has its own continue token"),
                _ if !self.seen.insert(hash(&token)) => Some("a page has the continue token of an earlier one"),
                reason => reason,
            };
            if let Some(reason) = reason {
                let message = format!("the list {} does not end: {reason}", self.path);
                let help = Some("check the server of this API and the proxy".to_owned());
                return Err(Error { message, help, code: Some(200), ..Error::default() });
            }
            if self.on_demand {
                self.following = Some(token);
            } else {
                self.ask(&token);
            }
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

fn hash(token: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    token.hash(&mut hasher);
    hasher.finish()
}

/// The token of an "expired" answer with which the list continues in a newer state.
fn newer(answer: &Answer) -> Option<String> {
    let status = Some(answer).filter(|a| a.code == 410).and_then(Answer::status)?;
    status.str_at(&["metadata", "continue"]).filter(|t| !t.is_empty()).map(str::to_owned)
}

impl Iterator for Pages<'_> {
    type Item = Result<Page, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(token) = self.following.take() {
            self.ask(&token);
        }
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
