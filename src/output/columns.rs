//! Human-readable tables of `validate`, `rehearse`, `lint` and `scale`. The tables of `get` are kubectl's and printed
//! by [`super::table`].
//!
//! A table is printed in two passes, because every row may decide which columns are shown and how wide they are.
//! [`Columns::row`] measures a row and returns it as one line of text, which the caller keeps (in a temporary file if
//! there are many). [`Columns::write`] reads those lines back and prints them, so memory does not grow with the number
//! of rows.

use super::paint::Paint;
use crate::release::Release;
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Spaces between columns.
const PADDING: usize = 3;
/// A column is not made narrower than this to fit a terminal.
const NARROWEST: usize = 10;
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

/// Returns the first line of `text`. Control characters are made visible as by `cat -v`, so that an object cannot move
/// the terminal's cursor.
fn one_line(text: String) -> String {
    if !text.bytes().any(|byte| byte.is_ascii_control()) {
        return text;
    }
    let (head, cut) = match text.split_once(['\n', '\r', '\x0c']) {
        Some((head, _)) => (head, true),
        None => (text.as_str(), false),
    };
    let mut shown = String::with_capacity(text.len());
    for c in head.chars() {
        match c {
            '\t' => shown.push(' '),
            '\0'..='\x1f' => {
                shown.push('^');
                shown.extend(char::from_u32(u32::from(c) + 0x40));
            }
            '\x7f' => shown.push_str("^?"),
            c => shown.push(c),
        }
    }
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

    /// A column of long text, which is shortened at the end; omitted when all cells are empty.
    pub const fn text(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::Start }
    }

    /// A column of source locations, which are shortened at the beginning.
    pub const fn location(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), fit: Fit::End }
    }

    /// A column for the verdicts of one release; always shown, never shortened.
    pub fn of_release(release: Release) -> Self {
        Self { title: Cow::Owned(release.to_string()), fit: Fit::Always }
    }

    fn is_text(&self) -> bool {
        matches!(self.fit, Fit::Start | Fit::End)
    }

    /// Returns true if the column must be shown because of this cell.
    fn shows(&self, text: &str) -> bool {
        match self.fit {
            Fit::Always | Fit::End => true,
            Fit::Start => !text.is_empty(),
            Fit::Optional => !matches!(text, "" | "0" | "-" | "create"),
        }
    }
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

    /// Prints the titles and all rows, given as the lines that [`row`](Self::row) returned. A table without rows prints
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if a line cannot be read or the table cannot be written.
    pub fn write(&self, rows: impl Iterator<Item = io::Result<String>>, out: &mut dyn Write) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let widths = self.fitted();
        let titles = self.layout.iter().map(|column| (Paint::Bold, column.title.as_ref()));
        let mut line = String::new();
        self.format(titles, &widths, &mut line);
        out.write_all(line.as_bytes())?;
        for row in rows {
            self.format(row?.split(SEPARATOR).map(decoded), &widths, &mut line);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    /// Returns the width of every column. On a terminal, text columns share the space that other columns leave; a
    /// column that needs less than an equal share gets the width it needs.
    fn fitted(&self) -> Vec<usize> {
        let mut widths = self.widths.clone();
        let Some(terminal) = self.look.width else { return widths };
        let shown = || (0..widths.len()).filter(|i| self.shown.get(*i) == Some(&true));
        let mut left = usize::from(terminal).saturating_sub(shown().count().saturating_sub(1) * PADDING);
        let mut texts: Vec<(usize, usize)> = Vec::new();
        for i in shown() {
            let width = widths.get(i).copied().unwrap_or_default();
            if self.layout.get(i).is_some_and(Column::is_text) {
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
            if let Some(width) = widths.get_mut(i) {
                *width = share;
            }
        }
        widths
    }

    /// Formats a row as a line: the cells of the columns that are shown, shortened to their widths and aligned.
    fn format<'a>(&self, cells: impl Iterator<Item = (Paint, &'a str)>, widths: &[usize], line: &mut String) {
        line.clear();
        // The spaces before the next cell.
        let mut gap = 0;
        let columns = self.layout.iter().zip(&self.shown).zip(widths);
        for ((paint, text), ((column, _), widest)) in cells.zip(columns).filter(|(_, ((_, shown), _))| **shown) {
            let text = match self.look.width {
                Some(_) => shortened(text, *widest, column.fit == Fit::End),
                None => Cow::Borrowed(text),
            };
            if text.is_empty() {
                gap += widest + PADDING;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', gap));
            paint.push(self.look.color, &text, line);
            gap = widest.saturating_sub(width(&text)) + PADDING;
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
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

/// Formats a table from rows in memory.
pub fn table(columns: &[Column], look: TableStyle, rows: &[Vec<Cell>]) -> String {
    let mut table = Columns::new(columns, look);
    let lines: Vec<String> = rows.iter().map(|row| table.row(row)).collect();
    let mut text = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = table.write(lines.into_iter().map(Ok), &mut text);
    String::from_utf8(text).unwrap_or_default()
}

const PAINTS: [Paint; 7] = [Paint::None, Paint::Green, Paint::Red, Paint::Yellow, Paint::Dim, Paint::Bold, Paint::Cyan];

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
    fn long_names_are_shortened_on_a_terminal_only() {
        let long = "a".repeat(300);
        let rows = [row(&[&long, "0", "accepted"])];
        let text = print(TableStyle { width: Some(40), color: false }, &rows);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains("…   accepted\n"), "{text}");
        assert!(print(TableStyle::default(), &rows).contains(&long));
    }

    #[test]
    fn text_columns_share_a_narrow_terminal() {
        const COLUMNS: &[Column] = &[Column::location("PLACE"), Column::text("NAME"), Column::always("VERDICT")];
        let rows = [row(&["some/long/directory/file.yaml:12", "short-name", "accepted"])];
        let text = table(COLUMNS, TableStyle { width: Some(40), color: false }, &rows);
        assert_eq!(
            text,
            "PLACE              NAME         VERDICT\n\
             …ry/file.yaml:12   short-name   accepted\n"
        );
    }

    #[test]
    fn every_row_of_a_long_table_is_aligned() {
        let name = |i: usize| format!("name {}", "x".repeat(i % 70));
        let rows: Vec<_> = (0..1500).map(|i| row(&[&name(i), "1", "accepted"])).collect();
        for width in [None, Some(30)] {
            let text = print(TableStyle { width, color: false }, &rows);
            let mut starts: Vec<_> = text.lines().skip(1).map(|line| line.replace('…', ".").find("accepted")).collect();
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
        assert_eq!(one_line("a\x1b[2Jb\tc\x1fd".to_owned()), "a^[[2Jb c^_d");
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
