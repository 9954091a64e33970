//! The output of the commands that report objects. A [`Sink`] has what all of them share, whatever the format: standard
//! output and standard error, the progress line, the first write error, and the frame of each format around its items. A
//! [`Report`] has what one command prints.

mod page;

use super::flags::{Color, ReportFormat};
use super::progress::Progress;
use super::terminal::{Content, Stream, Writer};
use crdx_engine::report::RunNote;
use crdx_input::buffered_text::BufferedText;
use crdx_input::{InputOptions, ReadBytes, files};
use crdx_output::bounded::{self, Bounded};
use crdx_output::report::case::Case;
use crdx_output::report::{json, pipeline};
use crdx_output::{Columns, html};
use crdx_value::Value;
use crdx_value::json::to_string;
use crdx_value::release::ReleaseSet;
use page::PageItems;
pub use page::{ItemGroup, Page, PageItem};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// The output of a command for each of its items, in every format.
pub trait Report {
    /// A result.
    type Item: ?Sized;
    const COMMAND: &'static str;
    /// `kind` of the JSON report.
    const KIND: &'static str;

    /// Counts an item, whether or not it is printed.
    fn count(&mut self, item: &Self::Item);

    fn json(&mut self, item: &Self::Item) -> impl IntoIterator<Item = String>;

    /// Returns the cases of a report for pipelines.
    fn cases(&mut self, item: &Self::Item) -> impl IntoIterator<Item = Case>;

    /// Returns the text before the items.
    fn begin_text(&mut self) -> String {
        String::new()
    }

    /// Returns the cases before those of the items.
    fn begin_cases(&mut self) -> Vec<Case> {
        Vec::new()
    }

    /// Prints an item as text, or in a format that only this command has.
    ///
    /// # Errors
    /// Returns an error if output cannot be written.
    fn text(&mut self, item: &Self::Item, out: &mut Output) -> io::Result<()>;

    /// Returns the part of an HTML page about an item, which is the `n`th on the page.
    fn page_item(&mut self, _item: &Self::Item, _n: usize) -> Option<PageItem> {
        None
    }

    /// Returns what is printed to standard error, except in reports for pipelines.
    fn message(&mut self, _item: &Self::Item) -> String {
        String::new()
    }

    /// Returns true if text is printed at the end only.
    fn buffers_text(&self) -> bool {
        true
    }

    /// Returns the line of counts of a report in Markdown.
    fn counts_line(&self, end: &Ending) -> String;

    /// Returns the members of the JSON report after its items.
    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)>;

    /// Returns what an HTML page has around its items.
    fn page(&mut self, _end: &Ending) -> Page {
        Page::default()
    }

    /// Prints the end of the text.
    ///
    /// # Errors
    /// Returns an error if output cannot be written.
    fn end_text(&mut self, end: &Ending, out: &mut Output) -> io::Result<()>;

    /// Prints the last messages to standard error, in every format.
    ///
    /// # Errors
    /// Returns an error if output cannot be written.
    fn end_messages(&mut self, end: &Ending, out: &mut Output) -> io::Result<()> {
        out.notes(end.notes)
    }
}

/// The notes and releases that a report shows after its last item.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// Notes about the run as a whole.
    pub notes: &'a [RunNote],
    /// The simulated releases.
    pub releases: &'a ReleaseSet,
}

/// Standard output, standard error, and the text of the table and the details that is printed at the end.
pub struct Output {
    out: Box<Writer>,
    messages: Box<Writer>,
    progress: Progress,
    rows: BufferedText,
    details: BufferedText,
    details_bound: Bounded,
    shown_bound: Bounded,
    messages_bound: Bounded,
}

impl Output {
    /// Writes to standard output.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Writes text for people to standard output, which is bounded. Call [`end_of_text`](Self::end_of_text) after it.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        let text = self.shown_bound.take(text);
        self.out.write_all(text.as_bytes())
    }

    /// Says how much of the text was left out.
    pub fn end_of_text(&mut self) -> io::Result<()> {
        let note = self.shown_bound.note();
        self.print(&note)
    }

    /// Writes to standard error, which is bounded.
    pub fn message(&mut self, text: &str) -> io::Result<()> {
        let text = self.messages_bound.take(text);
        self.write_message(&text)
    }

    /// Says how many messages were left out. What follows is always written.
    fn end_of_messages(&mut self) -> io::Result<()> {
        let note = self.messages_bound.note();
        self.messages_bound = Bounded::new(bounded::MESSAGES);
        self.write_message(&note)
    }

    fn write_message(&mut self, text: &str) -> io::Result<()> {
        let messages = &mut self.messages;
        if text.is_empty() { Ok(()) } else { self.progress.suspend(|| messages.write_all(text.as_bytes())) }
    }

    /// Writes notes to standard error.
    pub fn notes(&mut self, notes: &[RunNote]) -> io::Result<()> {
        notes.iter().try_for_each(|note| self.message(&format!("note: {}\n", note.message)))
    }

    /// Adds a row, as [`Columns::row`] returns it.
    pub fn row(&mut self, row: String) -> io::Result<()> {
        self.rows.push(&(row + "\n"))
    }

    /// Adds details, which follow the table.
    pub fn details(&mut self, text: &str) -> io::Result<()> {
        let text = self.details_bound.take(text);
        self.details.push(&text)
    }

    pub fn print_table(&mut self, table: &Columns) -> io::Result<()> {
        table.write(std::mem::take(&mut self.rows).lines()?, &mut self.out)
    }

    pub fn print_details(&mut self) -> io::Result<()> {
        std::mem::take(&mut self.details).write_to(&mut self.out)?;
        let note = self.details_bound.note();
        self.print(&note)
    }

    /// Flushes standard output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Standard output and standard error of a command.
pub struct Streams {
    /// Standard output.
    pub out: Stream,
    /// Standard error.
    pub messages: Stream,
}

impl Streams {
    /// Returns the streams for a report in this format.
    pub fn new(format: Option<ReportFormat>, color: Color) -> Self {
        let content = match format {
            Some(ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Gitlab | ReportFormat::Rdjson) => {
                Content::Json
            }
            // Commands of GitHub are meant to be such; XML and HTML are escaped, and YAML is what kubectl writes.
            Some(ReportFormat::Github | ReportFormat::Junit | ReportFormat::Html | ReportFormat::Yaml) => Content::Data,
            _ => Content::Text,
        };
        Self { out: Stream::stdout(color, content), messages: Stream::stderr(color) }
    }
}

/// The form of the output.
enum SinkForm {
    /// What [`Report::text`] prints.
    Text,
    Json,
    Page(Box<PageItems>),
    /// A report for pipelines. The cases are buffered, because the head of the report contains their counts.
    Cases {
        report: Box<pipeline::PipelineReport>,
        buffered: BufferedText,
    },
}

/// Prints the items of a command.
pub struct Sink<R: Report> {
    /// What the command prints.
    pub report: R,
    form: SinkForm,
    output: Output,
    /// The number of items that were written.
    written: usize,
    /// The first write error; after it, nothing is written.
    failed: Option<io::Error>,
}

impl<R: Report> Sink<R> {
    /// Creates a sink without items.
    pub fn new(report: R, format: Option<ReportFormat>, streams: Streams) -> Self {
        let form = match format.map(|format| (format, format.pipeline())) {
            Some((ReportFormat::Json, _)) => SinkForm::Json,
            Some((ReportFormat::Html, _)) => SinkForm::Page(Box::new(PageItems::new())),
            Some((_, Some(pipeline))) => {
                let report = Box::new(pipeline::PipelineReport::new(pipeline, R::COMMAND));
                SinkForm::Cases { report, buffered: BufferedText::default() }
            }
            None | Some((_, None)) => SinkForm::Text,
        };
        let buffers_output = match form {
            SinkForm::Text => report.buffers_text(),
            SinkForm::Json => false,
            SinkForm::Page(_) | SinkForm::Cases { .. } => true,
        };
        let output = Output {
            out: Box::new(BufWriter::with_capacity(1 << 16, streams.out.write)),
            messages: Box::new(BufWriter::new(streams.messages.write)),
            progress: Progress::new(buffers_output),
            rows: BufferedText::default(),
            details: BufferedText::default(),
            details_bound: Bounded::new(bounded::MESSAGES),
            shown_bound: Bounded::new(bounded::MESSAGES),
            messages_bound: Bounded::new(bounded::MESSAGES),
        };
        Self { report, form, output, written: 0, failed: None }
    }

    /// Returns the progress line.
    pub fn progress(&self) -> Progress {
        self.output.progress.clone()
    }

    /// Returns the counter for the bytes of the objects' files, for the progress line.
    pub fn measure(&self, paths: &[String], kustomize: &[PathBuf], options: &InputOptions) -> Option<ReadBytes> {
        let (paths, options) = (paths.to_vec(), options.clone());
        let is_known = kustomize.is_empty();
        self.output.progress.measure(move || if is_known { files::size(&paths, &options) } else { None })
    }

    /// Prints what comes before the items.
    ///
    /// # Errors
    /// Returns an error if output cannot be written.
    pub fn begin(&mut self) -> io::Result<()> {
        match &mut self.form {
            SinkForm::Text => self.output.print(&self.report.begin_text()),
            SinkForm::Json | SinkForm::Page(_) => Ok(()),
            SinkForm::Cases { report, buffered } => {
                self.report.begin_cases().iter().try_for_each(|case| buffered.push(&report.case(case)))
            }
        }
    }

    /// Prints the next item. [`finish`](Self::finish) returns the first error.
    pub fn add(&mut self, item: &R::Item) {
        self.output.progress.add();
        self.report.count(item);
        if self.failed.is_none()
            && let Err(error) = self.write(item)
        {
            self.failed = Some(error);
        }
    }

    fn write(&mut self, item: &R::Item) -> io::Result<()> {
        match &mut self.form {
            SinkForm::Text => self.report.text(item, &mut self.output)?,
            SinkForm::Json => {
                for text in self.report.json(item) {
                    let head = if self.written == 0 { json::head(R::KIND) } else { ",".to_owned() };
                    self.written += 1;
                    self.output.print(&(head + "\n"))?;
                    self.output.print(&text)?;
                }
            }
            SinkForm::Page(items) => {
                if let Some(item) = self.report.page_item(item, self.written + 1) {
                    self.written += 1;
                    items.add(&item)?;
                }
            }
            SinkForm::Cases { report, buffered } => {
                let mut cases = self.report.cases(item).into_iter();
                return cases.try_for_each(|case| buffered.push(&report.case(&case)));
            }
        }
        let message = self.report.message(item);
        self.output.message(&message)
    }

    /// Prints the end of the report.
    ///
    /// # Errors
    /// Returns the first error of writing the report.
    pub fn finish(mut self, end: &Ending) -> io::Result<R> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let output = &mut self.output;
        output.progress.clear();
        output.end_of_messages()?;
        match self.form {
            SinkForm::Text => {
                self.report.end_text(end, output)?;
                output.end_of_text()?;
            }
            SinkForm::Json => {
                let head = if self.written == 0 { json::head(R::KIND) } else { String::new() };
                let member = |(key, value): (&str, Value)| format!(",\"{key}\":{}", to_string(&value));
                let members: String = self.report.members(end).into_iter().map(member).collect();
                output.print(&format!("{head}\n]{members}}}\n"))?;
            }
            SinkForm::Page(items) => {
                items.write_to(self.report.page(end), &html::notes(end.notes), &mut output.out)?;
            }
            SinkForm::Cases { report, buffered } => {
                output.print(&report.head())?;
                buffered.write_to(&mut output.out)?;
                output.print(&report.tail(&self.report.counts_line(end), end.notes))?;
            }
        }
        self.report.end_messages(end, output)?;
        output.end_of_messages()?;
        output.flush()?;
        output.messages.flush()?;
        Ok(self.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Counts and prints numbers.
    struct Numbers(usize);

    impl Report for Numbers {
        type Item = str;
        const COMMAND: &'static str = "count";
        const KIND: &'static str = "CountReport";

        fn count(&mut self, _: &str) {
            self.0 += 1;
        }

        fn json(&mut self, item: &str) -> impl IntoIterator<Item = String> {
            item.split(' ').map(str::to_owned).collect::<Vec<_>>()
        }

        fn cases(&mut self, _: &str) -> impl IntoIterator<Item = Case> {
            None::<Case>
        }

        fn text(&mut self, item: &str, out: &mut Output) -> io::Result<()> {
            out.print(item)
        }

        fn counts_line(&self, _: &Ending) -> String {
            format!("{} items", self.0)
        }

        fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
            vec![("summary", json::counts([("items", self.0)])), ("notes", json::notes(end.notes))]
        }

        fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
            out.print(&format!(" ({})\n", self.0))
        }
    }

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns standard output and standard error.
    fn printed(format: Option<ReportFormat>, items: &[&str]) -> [String; 2] {
        let buffers = [Buffer::default(), Buffer::default()];
        let [out, messages] =
            buffers.clone().map(|buffer| Stream { write: Box::new(buffer), color: false, width: None });
        let mut sink = Sink::new(Numbers(0), format, Streams { out, messages });
        for item in items {
            sink.add(item);
        }
        let notes = [RunNote { kind: "a", message: "b".to_owned() }];
        sink.finish(&Ending { notes: &notes, releases: &crdx_value::release::Release::NEWEST.into() }).unwrap();
        buffers.map(|buffer| String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap())
    }

    #[test]
    fn text_and_messages_are_separate() {
        assert_eq!(printed(None, &["1", "2"]), ["12 (2)\n".to_owned(), "note: b\n".to_owned()]);
    }

    #[test]
    fn a_json_report_is_one_document() {
        for (items, numbers) in [(&["1 2", "3"][..], 3), (&[], 0)] {
            let [text, _] = printed(Some(ReportFormat::Json), items);
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&read["kind"], read["items"].as_array().unwrap().len()), (&"CountReport".into(), numbers));
            assert_eq!(read["summary"]["items"], items.len());
        }
    }

    #[test]
    fn the_first_write_error_is_returned() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::Other.into())
            }
        }
        let stream = || Stream { write: Box::new(Full), color: false, width: None };
        let mut sink = Sink::new(Numbers(0), None, Streams { out: stream(), messages: stream() });
        let long = "x".repeat(1 << 17);
        (0..3).for_each(|_| sink.add(&long));
        let end = Ending { notes: &[], releases: &crdx_value::release::Release::NEWEST.into() };
        assert_eq!(sink.finish(&end).err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }
}
