//! The templates of a chart, to which findings about its rendered objects belong.

use super::lines::{Language, Lines};
use super::output::Output;
use super::{lines, place};
use crdx_engine::report::SourceLocation;
use crdx_files::open::read_small;
use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The largest template in which lines are searched for, in bytes.
const LARGEST: u64 = 1 << 20;

/// The templates that are kept at once, in bytes.
const KEPT: u64 = 32 << 20;

/// The templates for others that are searched.
const HELPERS: usize = 64;

/// The number of lines between a position and Helm's comment above it that are searched.
const SEARCHED: usize = 500;

/// The templates of one chart.
#[derive(Debug)]
pub struct Templates {
    chart: PathBuf,
    /// The lines of templates, by their path as Helm prints it.
    lines: HashMap<Arc<str>, Option<Lines>>,
    /// The templates that others include, when they were needed.
    helpers: Option<Vec<(Arc<str>, Lines)>>,
    size: u64,
}

impl Templates {
    /// Returns the templates of the chart in a directory.
    pub fn new(chart: &Path) -> Self {
        Self { chart: chart.to_owned(), lines: HashMap::new(), helpers: None, size: 0 }
    }

    /// Returns the location in a template for one in the rendered text.
    pub fn map(&mut self, rendered: &SourceLocation, output: &Output) -> SourceLocation {
        let origin = rendered.origin.clone().or_else(|| origin_above(rendered.line, output));
        let Some(origin) = origin else { return SourceLocation::source(&name(&self.chart.join("Chart.yaml"))) };
        let path = self.file(&origin);
        let file = name(&path);
        let lines = self.lines(&origin, &path);
        let (at, context) = (rendered.line, lines::CONTEXT);
        let found = lines.and_then(|lines| match rendered.column {
            // The beginning of an object.
            0 => lines.find_start(&output.lines_from(at, context)),
            _ => lines.find(&output.lines(at, context), 0..usize::MAX),
        });
        if let Some(line) = found {
            return place::in_line(&file, line, rendered);
        }
        let lines = output.lines(at, context);
        let helper = if rendered.column == 0 { None } else { self.helper(&lines, rendered) };
        helper.unwrap_or_else(|| SourceLocation::source(&file).rendered_as(rendered))
    }

    /// Returns the only line of the templates that others include, such as `_helpers.tpl`.
    fn helper(&mut self, lines: &[String], rendered: &SourceLocation) -> Option<SourceLocation> {
        let helpers = self.helpers.get_or_insert_with(|| helpers(&self.chart));
        let found = helpers
            .iter()
            .filter_map(|(file, of_file)| Some(place::in_line(file, of_file.find(lines, 0..usize::MAX)?, rendered)));
        let found: Vec<SourceLocation> = found.take(2).collect();
        <[SourceLocation; 1]>::try_from(found).ok().map(|[only]| only)
    }

    /// Returns the file with the template that Helm calls `origin`: the packed chart that contains it, if it is in one.
    fn file(&self, origin: &str) -> PathBuf {
        let Some(inner) = inner(origin) else { return self.chart.join("Chart.yaml") };
        let file = self.chart.join(&inner);
        if file.is_file() {
            return file;
        }
        let mut parts = inner.iter();
        let packed = match (parts.next().and_then(|part| part.to_str()), parts.next().and_then(|part| part.to_str())) {
            (Some("charts"), Some(name)) => packed(&self.chart.join("charts"), name),
            _ => None,
        };
        packed.unwrap_or_else(|| self.chart.join("Chart.yaml"))
    }

    fn lines(&mut self, origin: &Arc<str>, path: &Path) -> Option<&Lines> {
        if !self.lines.contains_key(origin) {
            let is_template = inner(origin).is_some_and(|inner| path.ends_with(inner));
            let text = if is_template { read_small(path, LARGEST).ok() } else { None };
            let size = text.as_ref().map_or(0, |text| text.len() as u64);
            if self.size + size > KEPT {
                self.lines.clear();
                self.size = 0;
            }
            self.size += size;
            let lines = text.map(|text| Lines::new(&String::from_utf8_lossy(&text), Language::Template));
            self.lines.insert(Arc::clone(origin), lines);
        }
        self.lines.get(origin)?.as_ref()
    }
}

/// Reads the templates of a chart that others include.
fn helpers(chart: &Path) -> Vec<(Arc<str>, Lines)> {
    let entries = fs::read_dir(chart.join("templates")).into_iter().flatten().filter_map(Result::ok);
    let is_helper = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_helper).collect();
    files.sort();
    let mut left = KEPT;
    let read = |path: &PathBuf| {
        let text = read_small(path, LARGEST.min(left)).ok()?;
        left -= text.len() as u64;
        Some((name(path), Lines::new(&String::from_utf8_lossy(&text), Language::Template)))
    };
    files.iter().take(HELPERS).filter_map(read).collect()
}

/// Returns the name of a file for messages.
fn name(path: &Path) -> Arc<str> {
    path.display().to_string().into()
}

/// Returns the path in the chart of a template that Helm calls `CHART/templates/x.yaml`. A template can print such a comment,
/// too, so the path must not lead out of the chart.
fn inner(origin: &str) -> Option<PathBuf> {
    let (_, inner) = origin.split_once('/')?;
    let path = PathBuf::from(inner);
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

/// Returns the only archive `NAME-….tgz` in a directory.
fn packed(directory: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let is_packed = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        let version = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".tgz"));
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut found = entries.filter(is_packed);
    found.next().filter(|_| found.next().is_none())
}

/// Returns the template in Helm's comment above a line.
fn origin_above(line: usize, output: &Output) -> Option<Arc<str>> {
    let lines = output.lines(line, SEARCHED);
    let comment = lines.iter().rev().find_map(|line| line.strip_prefix("# Source: "));
    comment.map(|origin| origin.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::Position;

    #[test]
    fn paths_stay_in_the_chart() {
        assert_eq!(inner("app/templates/a.yaml").as_deref(), Some(Path::new("templates/a.yaml")));
        for origin in ["app", "app/../../etc/passwd", "app//etc/passwd", "app/templates/../../b"] {
            assert_eq!(inner(origin), None, "{origin}");
        }
    }

    #[test]
    fn findings_are_in_templates_and_packed_charts() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("templates")).unwrap();
        fs::create_dir_all(dir.path().join("charts")).unwrap();
        fs::write(dir.path().join("templates/a.yaml"), "kind: A\nreplicas: {{ .Values.replicas }}\n").unwrap();
        fs::write(dir.path().join("charts/sub-1.2.tgz"), "").unwrap();
        let helpers = "{{ define \"labels\" }}\nBad Label: x\n{{ end }}\n";
        fs::write(dir.path().join("templates/_helpers.tpl"), helpers).unwrap();
        let mut output = Output::default();
        output
            .append(b"---\n# Source: app/templates/a.yaml\nkind: A\nreplicas: many\nmore: 1\n  Bad Label: x\n")
            .unwrap();
        let mut templates = Templates::new(dir.path());
        let base = format!("{}/", dir.path().display());
        let mut map = |line: usize, origin: Option<&str>| {
            let location = SourceLocation::line(&"app".into(), line).made_from(origin.map(Into::into).as_ref());
            templates.map(&location, &output).to_string().replace(&base, "")
        };
        assert_eq!(map(4, Some("app/templates/a.yaml")), "templates/a.yaml:2");
        assert_eq!(map(3, None), "templates/a.yaml:1", "the comment is found");
        assert_eq!(map(5, None), "templates/a.yaml", "no line of the template can be this one");
        assert_eq!(map(5, Some("app/charts/sub/templates/b.yaml")), "charts/sub-1.2.tgz");
        assert_eq!(map(5, Some("app/../b.yaml")), "Chart.yaml");
        assert_eq!(map(1, None), "Chart.yaml");
        let part = SourceLocation::part(
            &"app".into(),
            b"  Bad Label: x",
            Position { line: 6, column: 1 },
            Position { line: 6, column: 3 },
            2..11,
        );
        let part = part.made_from(Some(&"app/templates/a.yaml".into()));
        assert_eq!(templates.map(&part, &output).to_string().replace(&base, ""), "templates/_helpers.tpl:2:1");
    }
}
