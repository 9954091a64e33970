//! Escape sequences and named classes.

use super::class::{self, AsciiClass};
use super::parse::{BAD_ESCAPE, BAD_RANGE, Error, Parser, TRAILING_BACKSLASH};
use crdx_value::unicode::{self as tables, MAX, Ranges};
use std::collections::hash_map::Entry;

impl Parser<'_> {
    /// Parses an escaped character; returns it and the offset after it.
    pub(super) fn escape(&self, at: usize) -> Result<(u32, usize), Error> {
        let Some((c, mut end)) = self.next(at + 1)? else { return Err(Error::new(TRAILING_BACKSLASH, "")) };
        let octal = |at: usize| self.byte(at).filter(|b| (b'0'..=b'7').contains(b)).map(|b| u32::from(b - b'0'));
        match c {
            'a' => Ok((0x7, end)),
            'f' => Ok((0xC, end)),
            'n' => Ok((0xA, end)),
            'r' => Ok((0xD, end)),
            't' => Ok((0x9, end)),
            'v' => Ok((0xB, end)),
            'x' => self.hex_escape(at, end),
            // A single digit except 0 would be a back reference.
            '0'..='7' if c == '0' || octal(end).is_some() => {
                let mut value = c as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = octal(end) else { break };
                    value = value * 8 + digit;
                    end += 1;
                }
                Ok((value, end))
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok((c as u32, end)),
            _ => Err(Error::new(BAD_ESCAPE, self.slice(at, end))),
        }
    }

    /// Parses `\x7F` or `\x{10FFFF}`; `end` is the offset after the x.
    fn hex_escape(&self, at: usize, mut end: usize) -> Result<(u32, usize), Error> {
        let mut value = 0;
        let mut digits = 0;
        let braces = self.byte(end) == Some(b'{');
        end += usize::from(braces);
        while let Some((c, after)) = self.next(end)? {
            end = after;
            match (c, c.to_digit(16)) {
                ('}', _) if braces && digits > 0 => return Ok((value, end)),
                (_, Some(digit)) => {
                    value = value * 16 + digit;
                    digits += 1;
                    if value > MAX {
                        break;
                    }
                    if !braces && digits == 2 {
                        return Ok((value, end));
                    }
                }
                // Go has consumed two characters before it checks the first.
                _ if !braces && digits == 0 => {
                    end = self.next(end)?.map_or(end, |(_, after)| after);
                    break;
                }
                _ => break,
            }
        }
        Err(Error::new(BAD_ESCAPE, self.slice(at, end)))
    }

    /// Adds a named class to `ranges`, unless the class in brackets has it: it may name the same large class many times.
    fn add_named(&mut self, name: String, ranges: &mut Ranges, class: impl FnOnce() -> Option<Ranges>) -> Option<()> {
        if self.in_brackets.contains(&name) {
            return Some(());
        }
        let found = match self.classes.entry((name.clone(), self.flags.fold)) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => place.insert(class()?),
        };
        class::add_class(ranges, found);
        self.in_brackets.insert(name);
        Some(())
    }

    fn add_group(&mut self, name: &str, ranges: &mut Ranges, class: &AsciiClass) {
        let folds = self.flags.fold;
        self.add_named(name.to_owned(), ranges, || {
            let found = if folds { class::folded(class.ranges) } else { class.ranges.to_owned() };
            Some(if class.negated { class::negate(&found) } else { found })
        });
    }

    /// Parses `\d`, `\s`, `\w` or a complement.
    pub(super) fn perl_class(&mut self, at: usize, ranges: &mut Ranges) -> Option<usize> {
        if self.byte(at) != Some(b'\\') {
            return None;
        }
        let class = class::perl(char::from(self.byte(at + 1)?))?;
        self.add_group(self.slice(at, at + 2), ranges, &class);
        Some(at + 2)
    }

    /// Parses a POSIX class such as `[:alpha:]`.
    pub(super) fn posix_class(&mut self, at: usize, ranges: &mut Ranges) -> Result<Option<usize>, Error> {
        let text = self.rest(at);
        if !text.starts_with("[:") {
            return Ok(None);
        }
        let Some(length) = self.rest(at + 2).find(":]") else { return Ok(None) };
        let end = at + 2 + length + 2;
        let name = self.slice(at, end);
        let Some(class) = class::posix(name) else { return Err(Error::new(BAD_RANGE, name)) };
        self.add_group(name, ranges, &class);
        Ok(Some(end))
    }

    /// Parses a Unicode class such as `\pL`, `\p{Greek}` or `\P{^Lu}`.
    pub(super) fn unicode_class(&mut self, at: usize, ranges: &mut Ranges) -> Result<Option<usize>, Error> {
        let mut negated = match (self.byte(at), self.byte(at + 1)) {
            (Some(b'\\'), Some(b'p')) => false,
            (Some(b'\\'), Some(b'P')) => true,
            _ => return Ok(None),
        };
        let (name, end) = match self.next(at + 2)? {
            None => ("", at + 2),
            Some(('{', start)) => match self.rest(at).find('}') {
                None => {
                    self.check_utf8(start, at + self.rest(at).len())?;
                    return Err(Error::new(BAD_RANGE, self.rest(at)));
                }
                Some(length) => {
                    self.check_utf8(start, at + length)?;
                    (self.slice(start, at + length), at + length + 1)
                }
            },
            Some((_, end)) => (self.slice(at + 2, end), end),
        };
        let name = match name.strip_prefix('^') {
            None => name,
            Some(name) => {
                negated = !negated;
                name
            }
        };
        let folds = self.flags.fold;
        let key = format!("\\p{negated}{}", tables::canonical(name));
        let added = self.add_named(key, ranges, || {
            let named = tables::named(name)?;
            let mut class = named.ranges;
            if let (true, Some(fold)) = (folds, named.fold) {
                class.extend(fold);
                class::clean(&mut class);
            }
            Some(if negated ^ named.negated { class::negate(&class) } else { class })
        });
        if added.is_none() {
            return Err(Error::new(BAD_RANGE, self.slice(at, end)));
        }
        Ok(Some(end))
    }
}
