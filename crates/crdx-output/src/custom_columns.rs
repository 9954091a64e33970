//! `-o custom-columns`, as `kubectl get` prints it (`kubectl/pkg/cmd/get/customcolumn.go`).

use super::tabs::Tabs;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::jsonpath::{self, JsonPath};

/// The requested columns.
#[derive(Clone, Debug)]
pub struct CustomColumns {
    columns: Vec<(String, JsonPath)>,
    headers: bool,
}

impl CustomColumns {
    /// Parses columns such as `NAME:.metadata.name,IMAGE:.spec.image`.
    pub fn parse(spec: &str, no_headers: bool) -> Result<Self, GoError> {
        if spec.is_empty() {
            return Err("custom-columns format specified but no custom columns given".into());
        }
        let pair = |part: &str| match part.split_once(':') {
            Some((header, path)) => Ok((header.to_owned(), path.to_owned())),
            None => Err(GoError::from(format!(
                "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
            ))),
        };
        Self::new(spec.split(',').map(pair), !no_headers)
    }

    /// Parses a file of two lines: the titles, and the paths.
    pub fn parse_file(text: &str) -> Result<Self, GoError> {
        let format =
            "Expected format is one line of space separated headers, one line of space separated column specs.";
        let mut lines = text.lines();
        let headers = lines.next().ok_or_else(|| format!("invalid template, missing header line. {format}"))?;
        let paths = lines.next().ok_or_else(|| format!("invalid template, missing spec line. {format}"))?;
        let (headers, paths): (Vec<_>, Vec<_>) =
            (headers.split_whitespace().collect(), paths.split_whitespace().collect());
        if headers.len() != paths.len() {
            let (headers, paths) = (headers.len(), paths.len());
            return Err(format!("number of headers ({headers}) and field specifications ({paths}) don't match").into());
        }
        Self::new(headers.into_iter().zip(paths).map(|(h, p)| Ok((h.to_owned(), p.to_owned()))), true)
    }

    fn new(columns: impl Iterator<Item = Result<(String, String), GoError>>, headers: bool) -> Result<Self, GoError> {
        let parsed = columns.map(|column| {
            let (header, path) = column?;
            Ok((header, JsonPath::parse(&jsonpath::relaxed(&path)?)?.allow_missing_keys(true)))
        });
        Ok(Self { columns: parsed.collect::<Result<_, GoError>>()?, headers })
    }

    /// Omits the titles.
    pub fn no_titles(&mut self) {
        self.headers = false;
    }

    /// Writes the titles, unless they are omitted.
    pub fn head(&self, tabs: &mut Tabs) {
        if self.headers {
            let titles: Vec<&str> = self.columns.iter().map(|(title, _)| title.as_str()).collect();
            tabs.write(&(titles.join("\t") + "\n"));
        }
    }

    /// Writes the line of one object.
    pub fn row(&self, object: &Value, tabs: &mut Tabs) -> Result<(), GoError> {
        let mut cells = Vec::new();
        for (_, path) in &self.columns {
            let found = path.find(object)?;
            let mut texts: Vec<String> = found.iter().flatten().map(|item| jsonpath::go_value(*item)).collect();
            if found.first().is_none_or(Vec::is_empty) {
                texts.insert(0, "<none>".to_owned());
            }
            cells.push(texts.join(",").replace('\x1b', "^[").replace('\r', "\\r"));
        }
        tabs.write(&(cells.join("\t") + "\n"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn values_are_printed_as_go_prints_them() {
        let list: Value = vec![Value::Int(1), "x".into()].into();
        let spec = object([("n", Value::Float(1.5)), ("list", list), ("nil", Value::Null)]);
        let object = object([("metadata", object([("name", "a")])), ("spec", spec)]);
        let columns =
            CustomColumns::parse("NAME:.metadata.name,ALL:spec,EACH:{.spec.list[*]},NIL:.spec.nil,NO:.no", false);
        let mut tabs = Tabs::default();
        let columns = columns.unwrap();
        columns.head(&mut tabs);
        columns.row(&object, &mut tabs).unwrap();
        assert_eq!(
            tabs.flush(),
            "NAME   ALL                             EACH   NIL     NO\n\
             a      map[list:[1 x] n:1.5 nil:<nil>]   1,x    <nil>   <none>\n"
                .replace("ALL                             ", "ALL                               ")
        );
    }

    #[test]
    fn errors_are_those_of_kubectl() {
        let error = |spec| CustomColumns::parse(spec, false).unwrap_err();
        assert_eq!(error("NAME"), "unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>".into());
        assert_eq!(error(""), "custom-columns format specified but no custom columns given".into());
        assert!(error("NAME:{a}{b}").as_str().starts_with("unexpected path string"));
        assert_eq!(
            CustomColumns::parse_file("A B\n.a\n").unwrap_err(),
            "number of headers (2) and field specifications (1) don't match".into()
        );
        assert!(CustomColumns::parse_file("A B\n.a .b\n").is_ok());
    }
}
