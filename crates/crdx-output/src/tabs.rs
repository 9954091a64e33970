//! Elastic tab stops as kubectl prints them (`github.com/liggitt/tabwriter`): columns are at least six characters wide,
//! with three spaces between them, and widths are kept for subsequent lines.
//!
//! Note its behaviour: the last cell of a line belongs to no column; a column is a run of adjacent lines that have it,
//! so a tab inside a value starts separate columns; a line with a single cell flushes all buffered lines; widths never
//! decrease.

/// The minimum width of a column, including its padding.
const MIN_WIDTH: usize = 6;
/// Spaces between columns.
const PADDING: usize = 3;

/// Aligns text with tabs. Lines are buffered until they are flushed.
#[derive(Debug, Default)]
pub struct Tabs {
    buffered: String,
    ready: String,
    /// True if the current line has a tab.
    columns: bool,
    last_widths: Vec<usize>,
}

impl Tabs {
    /// Adds text. A tab (or vertical tab) ends a cell, a line break (or form feed) ends a line.
    pub fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['\t', '\x0b', '\n', '\x0c']) {
            let (cell, more) = rest.split_at(at);
            let (stop, more) = more.split_at(1);
            self.buffered.push_str(cell);
            rest = more;
            if matches!(stop, "\t" | "\x0b") {
                self.buffered.push('\t');
                self.columns = true;
                continue;
            }
            self.buffered.push('\n');
            if stop == "\x0c" || !self.columns {
                self.align();
            }
            self.columns = false;
        }
        self.buffered.push_str(rest);
    }

    /// Returns the text of all lines so far.
    pub fn flush(&mut self) -> String {
        self.align();
        std::mem::take(&mut self.ready)
    }

    /// Aligns the buffered lines; subsequent lines have at least their widths.
    pub(crate) fn align(&mut self) {
        let buffered = std::mem::take(&mut self.buffered);
        let lines: Vec<&str> = buffered.split_inclusive('\n').collect();
        let widths = self.widths(&lines);
        for (line, widths) in lines.iter().zip(widths) {
            let mut widths = widths.into_iter();
            for cell in line.split('\t') {
                self.ready.push_str(cell);
                if let Some(width) = widths.next() {
                    pad(&mut self.ready, cell.chars().count(), width);
                }
            }
        }
    }

    /// Returns the widths of the cells of each line, except the last cell.
    fn widths(&mut self, lines: &[&str]) -> Vec<Vec<usize>> {
        let cell = |cell: &str| (cell.chars().count() + PADDING).max(MIN_WIDTH);
        let mut widths: Vec<Vec<usize>> = lines
            .iter()
            .map(|line| {
                let mut cells: Vec<usize> = line.split('\t').map(cell).collect();
                cells.pop();
                cells
            })
            .collect();
        let mut with_column: Vec<usize> = (0..lines.len()).collect();
        for column in 0.. {
            with_column.retain(|line| widths.get(*line).is_some_and(|w| w.len() > column));
            if with_column.is_empty() {
                break;
            }
            for run in with_column.chunk_by(|a, b| a + 1 == *b) {
                let widest = run.iter().filter_map(|line| widths.get(*line)?.get(column)).max();
                let mut width = widest.copied().unwrap_or(MIN_WIDTH);
                match self.last_widths.get_mut(column) {
                    Some(known) => {
                        width = width.max(*known);
                        *known = width;
                    }
                    None => self.last_widths.push(width),
                }
                for line in run {
                    if let Some(cell) = widths.get_mut(*line).and_then(|w| w.get_mut(column)) {
                        *cell = width;
                    }
                }
            }
        }
        widths
    }
}

/// Adds the spaces that pad a cell of `length` to `width`.
pub fn pad(text: &mut String, length: usize, width: usize) {
    text.extend(std::iter::repeat_n(' ', width.saturating_sub(length)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(texts: &[&str]) -> String {
        let mut tabs = Tabs::default();
        texts
            .iter()
            .map(|text| {
                tabs.write(text);
                tabs.flush()
            })
            .collect()
    }

    #[test]
    fn columns_are_six_wide_at_least_and_the_last_is_not_padded() {
        assert_eq!(aligned(&["NAME\tA\tAGE\nmy-crontab\t\t5d\n"]), "NAME         A     AGE\nmy-crontab         5d\n");
        assert_eq!(
            aligned(&["a\tb\n", "longer-than-that\tb\n", "c\td\n"]).lines().last(),
            Some("c                  d")
        );
    }

    #[test]
    fn a_tab_in_a_value_is_a_column_of_its_own() {
        // Output of kubectl for a value with a tab in the last and in the first column.
        assert_eq!(aligned(&["A\tB\nx\ty\tz\nx\tyyyyyyyy\n"]), "A     B\nx     y     z\nx     yyyyyyyy\n");
        assert_eq!(aligned(&["A\tB\nx\ty\tz\nx\tlong\tz\n"]), "A     B\nx     y      z\nx     long   z\n");
    }

    #[test]
    fn a_cell_may_be_longer_than_65535_characters() {
        let long = "x".repeat(70_000);
        let text = aligned(&[&format!("{long}\tb\nx\tb\n")]);
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [70_004, 70_004]);
    }

    #[test]
    fn a_line_of_one_cell_ends_the_alignment() {
        assert_eq!(aligned(&["a\tb\nalone\nlonger-cell\tb\n"]), "a     b\nalone\nlonger-cell   b\n");
        let many = format!("{}\n", "\t".repeat(10_000));
        assert_eq!(aligned(&[&many]).len(), 60_001);
    }
}
