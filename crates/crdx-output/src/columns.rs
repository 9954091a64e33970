//! The table of objects of `validate` and `rehearse`. Tables of bounded size are printed by [`super::bounded_table`], and
//! those of `get`, which are kubectl's, by [`super::table`].
//!
//! The table is printed in two passes, because every row may decide which columns are shown and how wide they are.
//! [`Columns::row`] measures a row and returns it as one line of text, which the caller keeps (in a temporary file if
//! there are many). [`Columns::write`] reads those lines back and prints them, so memory does not grow with the number
//! of rows.

use super::bounded;
use super::paint::Paint;
use super::printable;
use crdx_value::release::Release;
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Spaces between columns.
pub(super) const PADDING: usize = 3;
/// Spaces between columns if the terminal is narrow.
const NARROW_PADDING: usize = 2;
/// The indentation of what belongs to the line above.
const INDENT: usize = 2;
/// A column is not made narrower than this to fit a terminal.
const NARROWEST: usize = 10;
/// A text column is made narrower than this only if no other layout fits the terminal.
const COMFORTABLE: usize = 24;
/// The maximum width of an aligned cell, in terminal columns. A longer cell would move the other columns off the
/// screen, so it does not widen its column.
const WIDEST: usize = 1000;
/// Separates the cells of a stored row. Cells contain no control characters.
const SEPARATOR: char = '\x1f';

/// The appearance of tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableStyle {
    /// True to colour cells.
    pub color: bool,
    /// The width of the terminal in columns; `None` if the output is not a terminal, and cells are never shortened.
    pub width: Option<u16>,
}

/// One cell: a line of text and its colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// Creates a cell with a colour.
    pub fn painted(text: impl Into<String>, paint: Paint) -> Self {
        Self { text: one_line(text.into()), paint }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the colour.
    pub(super) fn paint(&self) -> Paint {
        self.paint
    }

    /// Creates a cell with a number, which is coloured unless it is 0.
    pub fn count(n: usize, paint: Paint) -> Self {
        Self { text: n.to_string(), paint: if n > 0 { paint } else { Paint::None } }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text, Paint::None)
    }
}

/// Returns the first line of `text`, without characters that control the terminal.
fn one_line(text: String) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text;
    }
    let (head, cut) = match text.split_once(['\n', '\r', '\x0c']) {
        Some((head, _)) => (head, true),
        None => (text.as_str(), false),
    };
    let mut shown = printable::line(&head.replace('\t', " ")).into_owned();
    if cut {
        shown.push_str("...");
    }
    shown
}

/// Returns the width of text without control characters, in terminal columns.
fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// A column: its title, and how cells are shortened.
#[derive(Clone, Debug)]
pub struct Column {
    title: Cow<'static, str>,
    fit: Fit,
}

/// The rules for showing and shortening a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Always shown, never shortened.
    Always,
    /// Omitted when all its cells are empty, `0`, `-` or `create`.
    Optional,
    /// Long text, shortened at the end; omitted when all cells are empty.
    Start,
    /// Long text, shortened at the beginning, because the end of a path is more specific.
    End,
    /// Text that is shown nowhere else: never shortened, but on a line of its own if it is too long; omitted when all
    /// cells are empty.
    Note,
}

impl Column {
    /// A column that is always shown and never shortened.
    pub const fn always(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::Always }
    }

    /// A column that is omitted when all its cells are empty, `0`, `-` or `create`.
    pub const fn optional(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::Optional }
    }

    /// A column of long text, which is shortened at the end; omitted when all cells are empty. At the start of a table,
    /// text columns and locations are not shortened, but move to a line above the others.
    pub const fn text(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::Start }
    }

    /// A column of text that is never shortened, but moves to a line of its own; omitted when all cells are empty.
    pub const fn note(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::Note }
    }

    /// A column of source locations, which are shortened at the beginning.
    pub const fn location(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::End }
    }

    /// A column for the verdicts of one release; always shown, never shortened.
    pub fn of_release(release: Release) -> Self {
        Self { title: Cow::Owned(release.to_string()), fit: Fit::Always }
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Returns true if the cells may be long.
    pub(super) fn is_long(&self) -> bool {
        !matches!(self.fit, Fit::Always | Fit::Optional)
    }

    /// Returns true if the column must be shown because of this cell.
    pub(super) fn shows(&self, text: &str) -> bool {
        match self.fit {
            Fit::Always | Fit::End => true,
            Fit::Start | Fit::Note => !text.is_empty(),
            Fit::Optional => !matches!(text, "" | "0" | "-" | "create"),
        }
    }
}

/// The arrangement of a table on a terminal.
#[derive(Clone, Debug)]
struct Layout {
    /// Spaces between columns.
    padding: usize,
    /// The number of columns on a line of their own, above the others.
    above: usize,
    /// True if notes are on a line of their own, below the others.
    note_below: bool,
    /// The width of each column.
    widths: Vec<usize>,
}

/// A table.
#[derive(Debug)]
pub struct Columns {
    layout: Vec<Column>,
    look: TableStyle,
    /// The width of the widest cell of each column so far, in terminal columns, up to [`WIDEST`].
    widths: Vec<usize>,
    /// True for each column that is shown.
    shown: Vec<bool>,
    rows: usize,
}

impl Columns {
    /// Creates a table without rows.
    pub fn new(columns: &[Column], look: TableStyle) -> Self {
        Self {
            layout: columns.to_vec(),
            look,
            widths: columns.iter().map(|column| width(&column.title)).collect(),
            shown: vec![false; columns.len()],
            rows: 0,
        }
    }

    /// Formats a table of few rows; empty without rows.
    pub fn text(columns: &[Column], look: TableStyle, rows: &[Vec<Cell>]) -> String {
        let mut table = Self::new(columns, look);
        let rows: Vec<String> = rows.iter().map(|row| table.row(row)).collect();
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = table.write(rows.into_iter().map(Ok), &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Returns true if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Measures a row and returns it as a line for [`write`](Self::write), without the line break.
    pub fn row(&mut self, cells: &[Cell]) -> String {
        self.rows += 1;
        let mut line = String::with_capacity(cells.iter().map(|cell| cell.text.len() + 2).sum());
        let state = self.widths.iter_mut().zip(&mut self.shown).zip(&self.layout);
        for (cell, ((widest, shown), column)) in cells.iter().zip(state) {
            *widest = Some(width(&cell.text)).filter(|width| *width <= WIDEST).unwrap_or_default().max(*widest);
            *shown |= column.shows(&cell.text);
            if !line.is_empty() {
                line.push(SEPARATOR);
            }
            line.push(code(cell.paint));
            line.push_str(&cell.text);
        }
        line
    }

    /// Prints the titles and the rows, given as the lines that [`row`](Self::row) returned: all rows of a table of at most
    /// [`bounded::TABLE`] bytes. A table without rows prints nothing.
    ///
    /// # Errors
    /// Returns an error if a line cannot be read or the table cannot be written.
    pub fn write(&self, rows: impl Iterator<Item = io::Result<String>>, out: &mut dyn Write) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let layout = self.arrange();
        let titles = self.layout.iter().map(|column| (Paint::Bold, column.title.as_ref()));
        let mut line = String::new();
        self.format(titles, &layout, true, &mut line);
        out.write_all(line.as_bytes())?;
        let (mut length, mut left_out) = (0, 0);
        for row in rows {
            let row = row?;
            if length > bounded::TABLE {
                left_out += 1;
                continue;
            }
            self.format(row.split(SEPARATOR).map(decoded), &layout, false, &mut line);
            length += line.len();
            // The first row is always shown.
            if length > bounded::TABLE && length > line.len() {
                left_out += 1;
                continue;
            }
            out.write_all(line.as_bytes())?;
        }
        match left_out {
            0 => Ok(()),
            1 => writeln!(out, "and 1 more row: -o json has everything"),
            n => writeln!(out, "and {n} more rows: -o json has everything"),
        }
    }

    /// Returns the first layout that fits the terminal.
    fn arrange(&self) -> Layout {
        let whole = Layout { padding: PADDING, above: 0, note_below: false, widths: self.widths.clone() };
        let Some(terminal) = self.look.width.map(usize::from) else { return whole };
        let is_shown = |i: usize, fit: Fit| {
            self.shown.get(i) == Some(&true) && self.layout.get(i).is_some_and(|column| column.fit == fit)
        };
        let place = usize::from(is_shown(0, Fit::End));
        let note = (0..self.layout.len()).any(|i| is_shown(i, Fit::Note));
        let choices = [(0, false), (0, note), (place, note), (self.names(), note)];
        let mut chosen = whole;
        for (above, note_below) in choices {
            chosen = Layout { padding: PADDING, above, note_below, ..chosen };
            if self.needed(&chosen) <= terminal {
                break;
            }
            if note_below == note {
                chosen.padding = NARROW_PADDING;
                if self.needed(&chosen) <= terminal {
                    break;
                }
            }
        }
        self.fit(&mut chosen, terminal);
        chosen
    }

    /// Returns the number of text columns at the start, which name the subject of a row. They are never shortened: two
    /// names could become the same.
    fn names(&self) -> usize {
        self.layout.iter().take_while(|column| matches!(column.fit, Fit::Start | Fit::End)).count()
    }

    /// Returns the columns on the main line of a row, and which of them may be shortened.
    fn inline(&self, layout: &Layout) -> impl Iterator<Item = (usize, bool)> {
        let columns = self.layout.iter().zip(&self.shown).enumerate().filter(|(_, (_, shown))| **shown);
        let names = self.names();
        columns.filter(|(i, _)| *i >= layout.above).filter_map(move |(i, (column, _))| match column.fit {
            Fit::Note => (!layout.note_below).then_some((i, false)),
            _ if i < names => Some((i, false)),
            Fit::Start | Fit::End => Some((i, true)),
            Fit::Always | Fit::Optional => Some((i, false)),
        })
    }

    /// Returns the width of a line with text columns of a comfortable width.
    fn needed(&self, layout: &Layout) -> usize {
        let mut needed = if layout.above > 0 { INDENT } else { 0 };
        for (n, (i, is_text)) in self.inline(layout).enumerate() {
            let width = self.widths.get(i).copied().unwrap_or_default();
            needed += if is_text { width.min(COMFORTABLE) } else { width };
            needed += if n > 0 { layout.padding } else { 0 };
        }
        needed
    }

    /// Narrows the text columns. They share the space that other columns leave; a column that needs less than an equal
    /// share gets the width it needs.
    fn fit(&self, layout: &mut Layout, terminal: usize) {
        let mut left = terminal.saturating_sub(if layout.above > 0 { INDENT } else { 0 });
        left = left.saturating_sub(self.inline(layout).count().saturating_sub(1) * layout.padding);
        let mut texts: Vec<(usize, usize)> = Vec::new();
        for (i, is_text) in self.inline(layout) {
            let width = self.widths.get(i).copied().unwrap_or_default();
            if is_text {
                texts.push((width, i));
            } else {
                left = left.saturating_sub(width);
            }
        }
        texts.sort_unstable();
        let mut sharing = texts.len();
        for (needed, i) in texts {
            let share = (left / sharing.max(1)).max(NARROWEST).min(needed);
            left = left.saturating_sub(share);
            sharing -= 1;
            if let Some(width) = layout.widths.get_mut(i) {
                *width = share;
            }
        }
    }

    /// Formats a row: the cells of the columns that are shown, shortened to their widths and aligned.
    fn format<'a>(
        &self,
        cells: impl Iterator<Item = (Paint, &'a str)>,
        layout: &Layout,
        is_title: bool,
        line: &mut String,
    ) {
        line.clear();
        // The spaces before the next cell.
        let mut gap = 0;
        let (mut note, mut is_below, names) = (None, false, self.names());
        let columns = self.layout.iter().zip(&self.shown).zip(&layout.widths).enumerate();
        for ((paint, text), (i, ((column, shown), widest))) in cells.zip(columns) {
            if !shown {
                continue;
            }
            if column.fit == Fit::Note && layout.note_below {
                note = Some((paint, text));
                continue;
            }
            if i < layout.above {
                line.extend(std::iter::repeat_n(' ', if line.is_empty() { 0 } else { layout.padding }));
                paint.push(self.look.color, text, line);
                continue;
            }
            if layout.above > 0 && !std::mem::replace(&mut is_below, true) {
                line.push('\n');
                gap = INDENT;
            }
            let text = match (self.look.width, column.fit) {
                (Some(_), Fit::Start | Fit::End) if i >= names => shortened(text, *widest, column.fit == Fit::End),
                _ => Cow::Borrowed(text),
            };
            if text.is_empty() {
                gap += widest + layout.padding;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', gap));
            paint.push(self.look.color, &text, line);
            gap = widest.saturating_sub(width(&text)) + layout.padding;
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        if let Some((paint, text)) = note.filter(|(_, text)| !is_title && !text.is_empty()) {
            line.extend(std::iter::repeat_n(' ', INDENT * if layout.above > 0 { 2 } else { 1 }));
            let title =
                self.layout.iter().find(|column| column.fit == Fit::Note).map(|column| column.title.to_lowercase());
            line.extend([title.as_deref().unwrap_or_default(), ": "]);
            paint.push(self.look.color, text, line);
            line.push('\n');
        }
    }
}

/// Returns `text`, or the part of its beginning or end that fits, with an ellipsis.
fn shortened(text: &str, limit: usize, end: bool) -> Cow<'_, str> {
    if width(text) <= limit {
        return Cow::Borrowed(text);
    }
    let mut left = limit.saturating_sub(1);
    let mut fits = |c: &char| {
        let fits = c.width().unwrap_or_default() <= left;
        left = left.saturating_sub(c.width().unwrap_or_default());
        fits
    };
    if end {
        let kept: Vec<char> = text.chars().rev().take_while(&mut fits).collect();
        std::iter::once('…').chain(kept.into_iter().rev()).collect()
    } else {
        text.chars().take_while(&mut fits).chain(['…']).collect()
    }
}

/// The colours by their code.
pub(super) const PAINTS: [Paint; 7] =
    [Paint::None, Paint::Green, Paint::Red, Paint::Yellow, Paint::Dim, Paint::Bold, Paint::Cyan];

/// Encodes a colour in a stored row.
fn code(paint: Paint) -> char {
    let position = PAINTS.iter().position(|known| *known == paint).unwrap_or_default();
    char::from_digit(position as u32, 10).unwrap_or('0')
}

/// Decodes a cell of a stored row.
fn decoded(cell: &str) -> (Paint, &str) {
    let mut chars = cell.chars();
    let position = chars.next().and_then(|c| c.to_digit(10)).unwrap_or_default();
    (PAINTS.get(position as usize).copied().unwrap_or_default(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[Column], look: TableStyle, rows: &[Vec<Cell>]) -> String {
        let mut table = Columns::new(columns, look);
        let lines: Vec<String> = rows.iter().map(|row| table.row(row)).collect();
        let mut text = Vec::new();
        // Writing to a Vec cannot fail.
        let _ = table.write(lines.into_iter().map(Ok), &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    const COLUMNS: &[Column] = &[Column::text("NAME"), Column::optional("N"), Column::always("VERDICT")];

    fn row(cells: &[&str]) -> Vec<Cell> {
        cells.iter().copied().map(Cell::from).collect()
    }

    fn print(look: TableStyle, rows: &[Vec<Cell>]) -> String {
        table(COLUMNS, look, rows)
    }

    #[test]
    fn a_column_without_content_is_left_out() {
        let rows = [row(&["my-crontab", "0", "accepted"]), row(&["x", "-", "skipped"])];
        assert_eq!(
            print(TableStyle::default(), &rows),
            "NAME         VERDICT\nmy-crontab   accepted\nx            skipped\n"
        );
        let rows = [row(&["x", "2", "accepted"])];
        assert_eq!(print(TableStyle::default(), &rows), "NAME   N   VERDICT\nx      2   accepted\n");
        assert_eq!(print(TableStyle::default(), &[]), "");
    }

    #[test]
    fn long_names_are_not_shortened_on_a_terminal() {
        let long = "a".repeat(300);
        let rows = [row(&[&long, "0", "accepted"])];
        let text = print(TableStyle { width: Some(40), color: false }, &rows);
        assert_eq!(text, format!("NAME\n  VERDICT\n{long}\n  accepted\n"));
        assert!(print(TableStyle::default(), &rows).contains(&format!("{long}   accepted\n")));
    }

    #[test]
    fn other_long_text_is_shortened_on_a_terminal_only() {
        const COLUMNS: &[Column] = &[Column::always("COST"), Column::text("RULE")];
        let long = "a".repeat(300);
        let rows = [row(&["1", &long])];
        let text = table(COLUMNS, TableStyle { width: Some(40), color: false }, &rows);
        assert!(text.lines().all(|line| line.chars().count() <= 40) && text.ends_with("…\n"), "{text}");
        assert!(table(COLUMNS, TableStyle::default(), &rows).contains(&long));
    }

    #[test]
    fn text_columns_share_a_narrow_terminal() {
        const COLUMNS: &[Column] = &[Column::location("LOCATION"), Column::text("NAME"), Column::always("VERDICT")];
        let rows = [row(&["some/long/directory/file.yaml:12", "short-name", "accepted"])];
        let text = table(COLUMNS, TableStyle { width: Some(40), color: false }, &rows);
        // Two paths could be shortened to the same text, so a path has a line of its own.
        assert_eq!(
            text,
            "LOCATION\n  NAME         VERDICT\n\
             some/long/directory/file.yaml:12\n  short-name   accepted\n"
        );
        let wide = table(COLUMNS, TableStyle { width: Some(60), color: false }, &rows);
        assert!(wide.ends_with("\nsome/long/directory/file.yaml:12   short-name   accepted\n"), "{wide}");
    }

    #[test]
    fn a_note_is_never_shortened() {
        const COLUMNS: &[Column] = &[Column::location("LOCATION"), Column::always("VERDICT"), Column::note("NOTE")];
        let rows = [row(&["a.yaml:1", "skipped", "there is no CRD for it"]), row(&["b.yaml:1", "accepted", ""])];
        let print = |width| table(COLUMNS, TableStyle { width, color: false }, &rows);
        let one_line =
            "LOCATION   VERDICT    NOTE\na.yaml:1   skipped    there is no CRD for it\nb.yaml:1   accepted\n";
        assert_eq!(print(None), one_line);
        assert_eq!(print(Some(80)), one_line);
        let below = "LOCATION   VERDICT\na.yaml:1   skipped\n  note: there is no CRD for it\nb.yaml:1   accepted\n";
        assert_eq!(print(Some(30)), below);
    }

    #[test]
    fn no_header_is_wider_than_the_terminal() {
        let titles = ["ACTION", "ERRORS", "PRUNED", "DEFAULTED", "WARNINGS"].map(Column::always);
        let identity =
            [Column::location("LOCATION"), Column::text("KIND"), Column::text("NAME"), Column::always("VERDICT")];
        let columns = [identity.as_slice(), &titles].concat();
        let cells = [
            "config/samples/a/object.yaml:12",
            "CronTab",
            "default/nightly-backup",
            "rejected",
            "update",
            "1",
            "2",
            "3",
            "4",
        ];
        let text = table(&columns, TableStyle { width: Some(80), color: false }, &[row(&cells)]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("config/samples/a/object.yaml:12   CronTab   default/nightly-backup\n  rejected "),
            "{text}"
        );
    }

    #[test]
    fn every_row_of_a_long_table_is_aligned() {
        let name = |i: usize| format!("name {}", "x".repeat(i % 70));
        let rows: Vec<_> = (0..1500).map(|i| row(&[&name(i), "1", "accepted"])).collect();
        for width in [None, Some(30)] {
            let text = print(TableStyle { width, color: false }, &rows);
            let mut starts: Vec<_> = text.lines().filter_map(|line| line.find("accepted")).collect();
            assert_eq!(starts.len(), rows.len());
            starts.dedup();
            assert_eq!(starts.len(), 1);
        }
    }

    #[test]
    fn a_cell_of_any_length_is_printed_whole() {
        let long = "é".repeat(70_000);
        let text = print(TableStyle::default(), &[row(&["x", "0", "accepted"]), row(&[&long, "0", "accepted"])]);
        assert_eq!(text, format!("NAME   VERDICT\nx      accepted\n{long}   accepted\n"));
    }

    #[test]
    fn no_cell_breaks_its_line_or_moves_the_cursor() {
        assert_eq!(one_line("a\x1b[2Jb\tc\x1fd".to_owned()), "a\\u001b[2Jb c\\u001fd");
        assert_eq!(one_line("first\nsecond".to_owned()), "first...");
    }

    #[test]
    fn colour_takes_no_width() {
        let cells = vec![Cell::painted("ok", Paint::Green), Cell::from("1"), Cell::from("x")];
        let text = print(TableStyle { color: true, width: None }, &[cells]);
        let line = text.lines().nth(1).unwrap();
        assert!(line.contains("ok") && line.contains('\x1b') && line.ends_with("     1   x"), "{line:?}");
    }
}
