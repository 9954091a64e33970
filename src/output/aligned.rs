//! Columns aligned as kubectl aligns them: three spaces between, at least six wide, no padding behind the last.
//!
//! kubectl counts characters, not the width they take on a terminal, and what it prints is what scripts compare with;
//! so this does the same. Rows may be let go in batches, with widths remembered from batch to batch, so that a table of
//! a million rows needs no memory and starts at once.

use std::fmt::Write as _;

/// How many rows decide widths together.
const BATCH: usize = 500;
/// The narrowest column, with its padding.
const MIN_WIDTH: usize = 6;
/// Spaces between columns.
const PADDING: usize = 3;

/// A colour, for a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// As it is.
    #[default]
    None,
    /// Fine.
    Green,
    /// Wrong.
    Red,
    /// Worth a look.
    Yellow,
    /// Of no concern.
    Dim,
    /// A heading.
    Bold,
    /// A place.
    Cyan,
}

impl Paint {
    /// `text`, between the escapes that colour it if `color` says so.
    pub fn when(self, color: bool, text: &str) -> String {
        let code = match self {
            _ if !color => return text.to_owned(),
            Self::None => return text.to_owned(),
            Self::Green => "32",
            Self::Red => "1;31",
            Self::Yellow => "33",
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Cyan => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell in a colour.
    pub fn painted(text: impl AsRef<str>, paint: Paint) -> Self {
        Self { text: one_line(text.as_ref()), paint }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text, Paint::None)
    }
}

/// What a cell shows of a text: up to its first line break, with control characters made visible.
fn one_line(text: &str) -> String {
    let (head, cut) = match text.split_once(['\n', '\r', '\x0c']) {
        Some((head, _)) => (head, true),
        None => (text, false),
    };
    let mut shown = String::with_capacity(text.len());
    for c in head.chars() {
        match c {
            '\t' => shown.push(' '),
            // As `cat -v`, so that no object can move a reader's cursor.
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

/// Aligns rows as they come.
#[derive(Debug, Default)]
pub struct Aligned {
    color: bool,
    widths: Vec<usize>,
    rows: Vec<Vec<Cell>>,
}

impl Aligned {
    /// A table; `color` lets cells be painted.
    pub fn new(color: bool) -> Self {
        Self { color, ..Self::default() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The text of a batch, when enough rows wait to make one.
    pub fn batch(&mut self) -> Option<String> {
        (self.rows.len() >= BATCH).then(|| self.flush())
    }

    /// The text of the rows that wait.
    pub fn flush(&mut self) -> String {
        for row in &self.rows {
            // The last cell of a row ends it and takes no part in the width of its column.
            for (i, cell) in row.iter().enumerate().take(row.len().saturating_sub(1)) {
                let width = (cell.text.chars().count() + PADDING).max(MIN_WIDTH);
                match self.widths.get_mut(i) {
                    Some(known) => *known = width.max(*known),
                    None => self.widths.push(width),
                }
            }
        }
        let mut text = String::new();
        for row in self.rows.drain(..) {
            let last = row.len().saturating_sub(1);
            for (i, cell) in row.iter().enumerate() {
                text.push_str(&cell.paint.when(self.color, &cell.text));
                if i < last {
                    let width = self.widths.get(i).copied().unwrap_or(MIN_WIDTH);
                    let fill = width.saturating_sub(cell.text.chars().count());
                    // Writing to a String cannot fail.
                    let _ = write!(text, "{:fill$}", "");
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<Cell> {
        cells.iter().map(Cell::from).collect()
    }

    #[test]
    fn columns_align_as_kubectl_aligns_them() {
        let mut table = Aligned::new(false);
        table.push(row(&["NAME", "A", "AGE"]));
        table.push(row(&["my-crontab", "", "5d"]));
        assert_eq!(table.batch(), None);
        assert_eq!(table.flush(), "NAME         A     AGE\nmy-crontab         5d\n");
        // Widths are remembered.
        table.push(row(&["x", "y", "z"]));
        assert_eq!(table.flush(), "x            y     z\n");
    }

    #[test]
    fn no_cell_breaks_its_line_or_moves_the_cursor() {
        assert_eq!(one_line("a\x1b[2Jb\tc"), "a^[[2Jb c");
        assert_eq!(one_line("first\nsecond"), "first...");
    }

    #[test]
    fn colour_takes_no_width() {
        let mut table = Aligned::new(true);
        table.push(vec![Cell::painted("ok", Paint::Green), Cell::from("x")]);
        assert_eq!(table.flush(), "\x1b[32mok\x1b[0m    x\n");
    }
}
