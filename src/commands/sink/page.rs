//! An HTML page that is made of items. Problems are on the page in full. Other items are compressed data in groups, which
//! the page's script reads when a group is opened, unless they are few.

use crdx_input::buffered_text::RankedText;
use crdx_input::compressed_groups::CompressedGroups;
use crdx_output::html::{self, Colour, Group};
use crdx_value::sort::sort_by;
use crdx_value::{Value, json};
use std::io::{self, Write};

/// The length of the problems that are on the page in full, and not compressed.
const PROBLEMS: usize = 1_200_000;
/// The length of other items that are not compressed, if all of them together are not longer.
const FEW: usize = 150_000;
/// The length of compressed data from which the details of items are left out.
const DETAILS: usize = 3_300_000;
/// The length of compressed data from which items are only counted.
const ROWS: usize = 4_300_000;
/// The length of the items of a page without groups.
const UNGROUPED: usize = 5_000_000;
/// The maximum number of groups; further items are in the last one.
const GROUPS: usize = 200;

/// The part of an HTML page about an item.
#[derive(Debug)]
pub struct PageItem {
    /// Items of a lower rank come first.
    pub rank: usize,
    /// The group, if the item may be compressed.
    pub group: Option<ItemGroup>,
    /// The row of the table.
    pub row: String,
    /// The details, below the table.
    pub details: String,
}

#[derive(Clone, Debug)]
pub struct ItemGroup {
    /// The properties that the items of the group share besides the verdict.
    pub label: String,
    pub verdict: &'static str,
    /// The severity of the verdict.
    pub colour: Colour,
    /// True if the items need attention.
    pub is_problem: bool,
}

/// The parts of an HTML page around its items.
#[derive(Debug, Default)]
pub struct Page {
    /// The start, with the counts.
    pub head: String,
    /// The heading and the titles of the table, if there is one.
    pub table: Option<(&'static str, &'static [&'static str])>,
    /// The text instead of a table without rows.
    pub empty: &'static str,
}

/// Rows and details that are on the page in full.
#[derive(Debug, Default)]
struct Shown {
    rows: RankedText,
    details: RankedText,
    count: usize,
    length: usize,
}

impl Shown {
    fn add(&mut self, item: &PageItem) -> io::Result<()> {
        self.count += 1;
        self.length += item.row.len() + item.details.len();
        self.rows.push(item.rank, &item.row)?;
        self.details.push(item.rank, &item.details)
    }
}

/// Items in compressed groups.
#[derive(Debug, Default)]
struct Compressed {
    groups: CompressedGroups,
    /// The rank and the heading of each group.
    headings: Vec<(usize, Group)>,
    /// The number of items whose details are left out.
    without_details: usize,
    /// The number of items that are left out.
    left_out: usize,
}

impl Compressed {
    fn add(&mut self, item: &PageItem, group: &ItemGroup) -> io::Result<()> {
        let ItemGroup { label, verdict, colour, .. } = group;
        let label = if self.groups.count() < GROUPS { label } else { "other kinds" };
        let index = self.groups.index(&format!("{} {verdict} {label}", item.rank));
        if index == self.headings.len() {
            self.headings.push((item.rank, Group::new(label, verdict, *colour)));
        }
        if let Some((_, heading)) = self.headings.get_mut(index) {
            heading.count += 1;
        }
        if self.groups.compressed_length() >= ROWS {
            self.left_out += 1;
            return Ok(());
        }
        let mut parts = vec![Value::from(item.row.as_str())];
        if self.groups.compressed_length() < DETAILS {
            parts.push(item.details.as_str().into());
        } else {
            self.without_details += usize::from(!item.details.is_empty());
        }
        self.groups.push(index, &json::to_string(&parts.into()))
    }

    fn write_to(self, titles: &[&str], offset: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut order: Vec<(usize, &(usize, Group))> = self.headings.iter().enumerate().collect();
        sort_by(&mut order, |(_, (a, one)), (_, (b, other))| (a, &one.label).cmp(&(b, &other.label)));
        for (index, (_, group)) in order {
            out.write_all(group.heading(offset + index, titles).as_bytes())?;
        }
        out.write_all(html::left_out(self.without_details, self.left_out).as_bytes())?;
        self.groups.write_to(&mut |index, block| out.write_all(html::block(offset + index, block).as_bytes()))
    }
}

#[derive(Debug, Default)]
pub struct PageItems {
    problems: Shown,
    /// Problems that are compressed, because there are too many.
    more_problems: Compressed,
    /// Other items, while they are few.
    few: Option<Shown>,
    others: Compressed,
    /// The number of items that are left out of a page without groups.
    left_out: usize,
}

impl PageItems {
    /// Returns a page without items.
    pub fn new() -> Self {
        Self { few: Some(Shown::default()), ..Self::default() }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn add(&mut self, item: &PageItem) -> io::Result<()> {
        let group = match &item.group {
            None if self.problems.length < UNGROUPED => return self.problems.add(item),
            None => {
                self.left_out += 1;
                return Ok(());
            }
            Some(group) if group.is_problem && self.problems.length < PROBLEMS => return self.problems.add(item),
            Some(group) if group.is_problem => return self.more_problems.add(item, group),
            Some(group) => group,
        };
        if let Some(few) = &mut self.few {
            few.add(item)?;
            if few.length > FEW {
                self.few = None;
            }
        }
        self.others.add(item, group)
    }

    /// Writes the page.
    ///
    /// # Errors
    /// A temporary file cannot be read, or `out` cannot be written.
    pub fn write_to(self, page: Page, notes: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut print = |text: &str| out.write_all(text.as_bytes());
        let Page { head, table, empty } = page;
        print(&(head + notes))?;
        let few = self.few.unwrap_or_default();
        let is_compressed = |items: &Compressed| !items.headings.is_empty();
        // Few items are on the page, and not compressed.
        let others = if few.count > 0 { Compressed::default() } else { self.others };
        let titles = table.map_or(&[][..], |(_, titles)| titles);
        if let Some((heading, _)) = table {
            let has_items = self.problems.count + few.count > 0 || is_compressed(&others);
            print(heading)?;
            print(&if has_items { html::FILTER.to_owned() } else { html::empty(empty) })?;
        }
        if table.is_some() && self.problems.count + few.count > 0 {
            print(&html::table_head(titles))?;
            self.problems.rows.write_to(out)?;
            few.rows.write_to(out)?;
            out.write_all(html::TABLE_TAIL.as_bytes())?;
        }
        self.problems.details.write_to(out)?;
        out.write_all(html::left_out(0, self.left_out).as_bytes())?;
        few.details.write_to(out)?;
        let offset = self.more_problems.headings.len();
        self.more_problems.write_to(titles, 0, out)?;
        others.write_to(titles, offset, out)?;
        out.write_all(html::TAIL.as_bytes())
    }
}
