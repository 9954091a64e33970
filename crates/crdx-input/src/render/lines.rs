//! Finds the line of a source file from which a rendered line was made.

use std::collections::HashMap;
use std::ops::Range;

/// The number of lines above that may decide between equal lines.
pub const CONTEXT: usize = 8;

/// More equal lines than this are not compared.
const MAX_EQUAL: usize = 64;

/// The language of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// YAML, whose comments the renderer may drop.
    Yaml,
    /// A template of Helm.
    Template,
}

impl Language {
    /// Returns the text of a line that stays the same when it is rendered. kustomize may sort the fields of an item, so that
    /// another field is beside its `-`.
    fn content(self, line: &str) -> &str {
        let mut text = line.trim();
        while self == Self::Yaml
            && let Some(rest) = text.strip_prefix("- ")
        {
            text = rest.trim_start();
        }
        text
    }
}

/// The lines of a source file, indexed by their text.
#[derive(Debug)]
pub struct Lines {
    language: Language,
    lines: Vec<String>,
    /// The lines with this text, without indentation.
    equal: HashMap<String, Vec<usize>>,
    /// The lines with template actions that begin with this key.
    with_key: HashMap<String, Vec<usize>>,
    /// The number of the previous line with content, for each line.
    above: Vec<Option<usize>>,
    /// The number of the next line with content, for each line with content.
    below: Vec<Option<usize>>,
}

/// A line that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
}

impl Lines {
    /// Indexes a file.
    pub fn new(text: &str, language: Language) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut equal: HashMap<String, Vec<usize>> = HashMap::new();
        let mut with_key: HashMap<String, Vec<usize>> = HashMap::new();
        let (mut above, mut last) = (Vec::new(), None);
        for (number, line) in lines.iter().enumerate() {
            above.push(last);
            let text = language.content(line);
            let has_action = language == Language::Template && text.contains("{{");
            let is_comment = language == Language::Yaml && text.starts_with('#');
            if text.is_empty() || is_comment {
                continue;
            }
            if !has_action {
                equal.entry(text.to_owned()).or_default().push(number);
            } else if let Some(key) = text.split("{{").next().and_then(key) {
                with_key.entry(key.to_owned()).or_default().push(number);
            } else {
                continue;
            }
            last = Some(number);
        }
        let mut below = vec![None; lines.len()];
        for (number, above) in above.iter().enumerate() {
            if let Some(slot) = above.and_then(|above| below.get_mut(above)) {
                // Every empty line after a line with content has it above, so the last one is the next with content.
                *slot = Some(number);
            }
        }
        Self { language, lines, equal, with_key, above, below }
    }

    pub fn get(&self, number: usize) -> Option<Line<'_>> {
        self.lines.get(number).map(|text| Line { number, text })
    }

    /// Returns the only line in `range` that the last of `rendered` can be made of. The lines before it decide between
    /// several.
    pub fn find(&self, rendered: &[String], range: Range<usize>) -> Option<Line<'_>> {
        let (last, before) = rendered.split_last()?;
        self.only(last, before.iter().rev(), &self.above, range)
    }

    /// Returns the only line that the first of `rendered` can be made of. The lines after it decide between several.
    pub fn find_start(&self, rendered: &[String]) -> Option<Line<'_>> {
        let (first, after) = rendered.split_first()?;
        self.only(first, after.iter(), &self.below, 0..usize::MAX)
    }

    /// Returns the only line for a rendered one; `context` are rendered lines away from it, and `next` leads from a line to the
    /// one that is next in the same direction.
    fn only<'a>(
        &self,
        rendered: &str,
        context: impl Iterator<Item = &'a String>,
        next: &[Option<usize>],
        range: Range<usize>,
    ) -> Option<Line<'_>> {
        let text = self.language.content(rendered);
        let equal = self.equal.get(text).into_iter().flatten();
        let with_key = key(text).and_then(|key| self.with_key.get(key)).into_iter().flatten();
        let with_key = with_key.filter(|number| self.lines.get(**number).is_some_and(|line| may_render(line, text)));
        let numbers = equal.chain(with_key).copied().filter(|number| range.contains(number));
        let mut found: Vec<(usize, usize)> = numbers.take(MAX_EQUAL + 1).map(|number| (number, number)).collect();
        if found.len() > MAX_EQUAL {
            return None;
        }
        for line in context.filter(|line| !line.trim().is_empty()).take(CONTEXT) {
            if found.len() < 2 {
                break;
            }
            found = found
                .into_iter()
                .filter_map(|(number, at)| {
                    let at = next.get(at).copied().flatten()?;
                    self.is_made_of(at, self.language.content(line)).then_some((number, at))
                })
                .collect();
        }
        match found.as_slice() {
            [(number, _)] => self.get(*number),
            _ => None,
        }
    }

    /// Returns the first line in `range` that is neither empty nor a comment nor a separator.
    pub fn first(&self, range: Range<usize>) -> Option<Line<'_>> {
        let mut numbers = range.take_while(|number| *number < self.lines.len());
        let is_content = |line: &str| !(line.is_empty() || line.starts_with('#') || line.starts_with("---"));
        let found = numbers.find(|number| self.lines.get(*number).is_some_and(|line| is_content(line.trim())));
        self.get(found?)
    }

    fn is_made_of(&self, number: usize, rendered: &str) -> bool {
        let Some(line) = self.lines.get(number) else { return false };
        self.language.content(line) == rendered || (self.language == Language::Template && may_render(line, rendered))
    }
}

/// Returns `- name:` of `- name: value`.
fn key(text: &str) -> Option<&str> {
    let end = text.find(':')?;
    let key = text.get(..=end)?;
    key.chars().any(char::is_alphanumeric).then_some(key)
}

/// Returns true if the line of a template, whose actions may render any text, can become `rendered`.
fn may_render(line: &str, rendered: &str) -> bool {
    let mut pieces = Vec::new();
    let mut rest = line.trim();
    while let Some((before, action)) = rest.split_once("{{") {
        let Some((_, after)) = action.split_once("}}") else { return false };
        pieces.push(before.trim());
        rest = after;
    }
    let (last, mut left) = (rest.trim(), rendered.trim());
    for (n, piece) in pieces.iter().enumerate() {
        let found = if n == 0 { left.starts_with(piece).then_some(0) } else { left.find(piece) };
        let Some(rest) = found.and_then(|at| left.get(at + piece.len()..)) else { return false };
        left = rest;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "\
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include \"app.name\" . }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: app
        image: \"{{ .Values.image }}:{{ .Values.tag }}\"
      - name: {{ .Values.sidecar }}
        ports:
        - name: http
          port: 80
        {{- toYaml .Values.more | nindent 8 }}
      volumes:
      - name: http
{{- end }}
";

    fn found(lines: &Lines, rendered: &[&str]) -> Option<usize> {
        let rendered: Vec<String> = rendered.iter().map(|line| (*line).to_owned()).collect();
        lines.find(&rendered, 0..usize::MAX).map(|line| line.number)
    }

    #[test]
    fn a_line_without_actions_is_found_by_its_text() {
        let lines = Lines::new(TEMPLATE, Language::Template);
        assert_eq!(found(&lines, &["kind: Deployment"]), Some(2));
        assert_eq!(found(&lines, &["    port: 80"]), Some(15), "indentation may differ");
        assert_eq!(found(&lines, &["memory: 1Gi"]), None);
    }

    #[test]
    fn a_line_with_actions_is_found_by_the_rest_of_its_text() {
        let lines = Lines::new(TEMPLATE, Language::Template);
        assert_eq!(found(&lines, &["  replicas: many"]), Some(6));
        assert_eq!(found(&lines, &["        image: \"a:1\""]), Some(11));
        assert_eq!(found(&lines, &["        image: a"]), None, "the quotes are missing");
    }

    #[test]
    fn lines_above_decide_between_equal_lines() {
        let lines = Lines::new(TEMPLATE, Language::Template);
        assert_eq!(found(&lines, &["- name: http"]), None, "two lines, and one with an action");
        assert_eq!(found(&lines, &["volumes:", "- name: http"]), Some(18));
        assert_eq!(found(&lines, &["- name: x", "  ports:", "  - name: http"]), Some(14));
        let yaml = Lines::new("a:\n# comment\n  x: 1\nb:\n  x: 1\n", Language::Yaml);
        assert_eq!(found(&yaml, &["a:", "    x: 1"]), Some(2));
        let yaml = Lines::new("- name: a\n  image: b\n", Language::Yaml);
        assert_eq!(found(&yaml, &["- image: b"]), Some(1));
    }

    #[test]
    fn lines_below_decide_where_a_document_begins() {
        let lines = Lines::new("a: 1\n\nkind: {{ .x }}\n---\na: 1\n\nkind: B\n", Language::Template);
        let start = |rendered: &[&str]| {
            let rendered: Vec<String> = rendered.iter().map(|line| (*line).to_owned()).collect();
            lines.find_start(&rendered).map(|line| line.number)
        };
        assert_eq!(start(&["a: 1", "kind: A"]), Some(0));
        assert_eq!(start(&["a: 1", "kind: B"]), None, "both can be B");
        assert_eq!(start(&["a: 1"]), None);
    }

    #[test]
    fn only_the_given_range_is_searched() {
        let lines = Lines::new("x: 1\n---\nx: 1\n", Language::Yaml);
        assert_eq!(lines.find(&["x: 1".to_owned()], 2..3).map(|line| line.number), Some(2));
    }

    #[test]
    fn an_action_without_an_end_renders_nothing() {
        assert!(!may_render("a: {{ b", "a: b"));
        assert!(may_render("{{ .a }}-x: {{ .b }}", "1-x: 2"));
        assert!(!may_render("a: {{ .a }}b", "a: c"));
    }
}
