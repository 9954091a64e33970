//! Tables of bounded size, such as the rules of a CRD, printed by comfy-table without borders. Its widths have 16 bits and
//! it holds every row, so the table of objects, which is as long as the input, has a writer of its own ([`super::columns`]).

use super::columns::{Cell, Column, PADDING, PAINTS};
use super::{Paint, TableStyle};
use comfy_table::{ColumnConstraint, ContentArrangement, Table};

/// Encloses a painted cell. The characters have no width, and are removed from the text of cells.
const START: char = '\u{2061}';
const END: char = '\u{2064}';
/// The bits of a colour.
const BITS: [char; 2] = ['\u{2062}', '\u{2063}'];

/// Formats a table. On a terminal, long text is wrapped, and cells of columns without long text are not.
pub fn table(columns: &[Column], look: TableStyle, rows: &[Vec<Cell>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(columns.iter().map(|column| marked(Paint::Bold, column.title(), look.color)));
    for row in rows {
        table.add_row(row.iter().map(|cell| marked(cell.paint(), cell.text(), look.color)));
    }
    match look.width {
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    for (index, (column, shown)) in columns.iter().zip(table.column_iter_mut()).enumerate() {
        shown.set_padding((0, PADDING as u16));
        if !rows.iter().filter_map(|row| row.get(index)).any(|cell| column.shows(cell.text())) {
            shown.set_constraint(ColumnConstraint::Hidden);
        } else if !column.is_long() {
            shown.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let mut text = String::new();
    for line in table.lines() {
        painted(line.trim_end(), look.color, &mut text);
        text.push('\n');
    }
    text
}

fn marked(paint: Paint, text: &str, color: bool) -> String {
    let text = text.replace([START, END, BITS[0], BITS[1]], "");
    let Some(code) = PAINTS.iter().position(|known| *known == paint).filter(|_| color && paint != Paint::None) else {
        return text;
    };
    let bits = [4, 2, 1].map(|bit| if code & bit == 0 { BITS[0] } else { BITS[1] });
    [START].into_iter().chain(bits).chain(text.chars()).chain([END]).collect()
}

/// Appends a line, with the marked cells in their colours. A cell that was wrapped has its colour on the first line only.
fn painted(line: &str, color: bool, out: &mut String) {
    let without_end = |text: &str| text.replace(END, "");
    let mut parts = line.split(START);
    out.push_str(&without_end(parts.next().unwrap_or_default()));
    for part in parts {
        let is_bit = |c: &char| BITS.contains(c);
        let code = part.chars().take_while(is_bit).fold(0, |code, bit| code * 2 + usize::from(bit == BITS[1]));
        let text = part.trim_start_matches(BITS);
        let (cell, rest) = text.split_once(END).unwrap_or((text, ""));
        PAINTS.get(code).copied().unwrap_or_default().push(color, cell, out);
        out.push_str(&without_end(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] =
        &[Column::location("LOCATION"), Column::optional("N"), Column::always("COST"), Column::text("RULE")];

    fn row(cells: &[&str]) -> Vec<Cell> {
        cells.iter().copied().map(Cell::from).collect()
    }

    #[test]
    fn columns_have_three_spaces_between_them_and_empty_ones_are_left_out() {
        let rows = [row(&["a.yaml:1", "0", "12", "self.x"]), row(&["b.yaml:10", "-", "3", ""])];
        assert_eq!(
            table(COLUMNS, TableStyle::default(), &rows),
            "LOCATION    COST   RULE\na.yaml:1    12     self.x\nb.yaml:10   3\n"
        );
        assert_eq!(table(COLUMNS, TableStyle::default(), &[]), "");
    }

    #[test]
    fn long_text_is_wrapped_on_a_terminal_only() {
        let rule = "self.all(x, x > 1) && ".repeat(10);
        let rows = [row(&["a.yaml:1", "1", "12", &rule])];
        let text = table(COLUMNS, TableStyle { width: Some(60), color: false }, &rows);
        assert!(text.lines().all(|line| line.chars().count() <= 60) && text.lines().count() > 4, "{text}");
        assert_eq!(table(COLUMNS, TableStyle::default(), &rows).lines().count(), 2);
    }

    #[test]
    fn colour_takes_no_width() {
        let cells = |paint| vec![Cell::from("a"), Cell::from("1"), Cell::painted("12\u{2061}", paint), Cell::from("x")];
        let look = TableStyle { color: true, width: Some(60) };
        let text = table(COLUMNS, look, &[cells(Paint::Red), cells(Paint::None)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "a          1   \x1b[1;31m12\x1b[0m     x");
        assert_eq!(lines[2], "a          1   12     x");
        assert!(lines[0].starts_with("\x1b[1mLOCATION\x1b[0m   \x1b[1mN\x1b[0m"), "{text:?}");
    }

    #[test]
    fn wide_characters_are_aligned() {
        let rows = [row(&["é漢字", "0", "1", "x"]), row(&["abcde", "0", "1", "x"])];
        let text = table(COLUMNS, TableStyle::default(), &rows);
        assert_eq!(text, "LOCATION   COST   RULE\né漢字      1      x\nabcde      1      x\n");
    }
}
