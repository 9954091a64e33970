//! Scans directives, anchors, aliases and tags.

use super::Scanner;
use crate::yaml::token::{Tag, TagDirective, TokenKind};
use crate::{Error, lossy};

/// Returns true for a letter, digit, `_` or `-`.
fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-')
}

impl<'a> Scanner<'a> {
    fn skip_blanks(&mut self) -> Result<(), Error> {
        self.demand(1)?;
        while self.is_blank(0) {
            self.at += 1;
            self.demand(1)?;
        }
        Ok(())
    }

    fn word(&mut self) -> Result<&'a str, Error> {
        self.demand(1)?;
        let start = self.at;
        while is_word(self.byte(0)) {
            self.at += 1;
            self.demand(1)?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Skips blanks, a comment and the line break.
    pub(super) fn rest_of_line(&mut self) -> Result<(), Error> {
        self.skip_blanks()?;
        if self.byte(0) == b'#' {
            self.skip_line()?;
        }
        let width = self.line_break(0);
        if width > 0 {
            self.demand(2)?;
            self.skip_break(width);
        } else if self.at < self.bytes.len() {
            return Err(self.error("did not find expected comment or line break"));
        }
        Ok(())
    }

    pub(super) fn scan_directive(&mut self) -> Result<(), Error> {
        let start = self.mark();
        self.at += 1;
        let name = self.word()?;
        if name.is_empty() {
            return Err(self.error("could not find expected directive name"));
        }
        if !self.is_blankz(0) {
            return Err(self.error("found unexpected non-alphabetical character"));
        }
        let kind = match name {
            "YAML" => {
                self.skip_blanks()?;
                let major = self.version_number()?;
                if self.byte(0) != b'.' {
                    return Err(self.error("did not find expected digit or '.' character"));
                }
                self.at += 1;
                TokenKind::Version(major, self.version_number()?)
            }
            "TAG" => {
                self.skip_blanks()?;
                let handle = self.tag_handle()?;
                if handle.len() > 1 && !handle.ends_with('!') {
                    return Err(self.error("did not find expected '!'"));
                }
                self.demand(1)?;
                if !self.is_blank(0) {
                    return Err(self.error("did not find expected whitespace"));
                }
                self.skip_blanks()?;
                let prefix = self.tag_uri("")?;
                self.demand(1)?;
                if !self.is_blankz(0) {
                    return Err(self.error("did not find expected whitespace or line break"));
                }
                TokenKind::TagDirective(Box::new(TagDirective { handle: handle.to_owned(), prefix }))
            }
            _ => return Err(self.error("found unknown directive name")),
        };
        self.push(kind, start);
        self.rest_of_line()
    }

    fn version_number(&mut self) -> Result<u8, Error> {
        self.demand(1)?;
        let mut value = 0;
        let mut length = 0;
        while self.byte(0).is_ascii_digit() {
            length += 1;
            if length > 2 {
                return Err(self.error("found extremely long version number"));
            }
            value = value * 10 + (self.byte(0) - b'0');
            self.at += 1;
            self.demand(1)?;
        }
        if length == 0 { Err(self.error("did not find expected version number")) } else { Ok(value) }
    }

    pub(super) fn scan_anchor(&mut self, kind: fn(&'a str) -> TokenKind<'a>) -> Result<(), Error> {
        let start = self.mark();
        self.at += 1;
        let name = self.word()?;
        let ends = self.is_blankz(0) || matches!(self.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return Err(self.error("did not find expected alphabetic or numeric character"));
        }
        self.push(kind(name), start);
        Ok(())
    }

    pub(super) fn scan_tag(&mut self) -> Result<(), Error> {
        let start = self.mark();
        self.demand(2)?;
        let tag = if self.byte(1) == b'<' {
            self.at += 2;
            let suffix = self.tag_uri("")?;
            if self.byte(0) != b'>' {
                return Err(self.error("did not find the expected '>'"));
            }
            self.at += 1;
            Tag { handle: String::new(), suffix }
        } else {
            let handle = self.tag_handle()?;
            if handle.len() > 1 && handle.ends_with('!') {
                Tag { handle: handle.to_owned(), suffix: self.tag_uri("")? }
            } else {
                // This is not a handle but the start of the tag.
                let suffix = self.tag_uri(handle)?;
                if suffix.is_empty() {
                    Tag { handle: suffix, suffix: "!".to_owned() }
                } else {
                    Tag { handle: "!".to_owned(), suffix }
                }
            }
        };
        self.demand(1)?;
        if !self.is_blankz(0) {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        self.push(TokenKind::Tag(Box::new(tag)), start);
        Ok(())
    }

    /// Scans `!`, `!name` or `!name!`.
    fn tag_handle(&mut self) -> Result<&'a str, Error> {
        self.demand(1)?;
        if self.byte(0) != b'!' {
            return Err(self.error("did not find expected '!'"));
        }
        let start = self.at;
        self.at += 1;
        self.word()?;
        if self.byte(0) == b'!' {
            self.at += 1;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Scans the rest of a tag after `head`, which has been scanned and whose first `!` is not part of the tag.
    fn tag_uri(&mut self, head: &str) -> Result<String, Error> {
        let mut uri = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let mut found = !head.is_empty();
        self.demand(1)?;
        loop {
            let c = self.byte(0);
            if c == b'%' {
                self.tag_escape(&mut uri)?;
            } else if is_word(c) || b";/?:@&=+$,.!~*'()[]".contains(&c) {
                uri.push(c);
                self.at += 1;
            } else {
                break;
            }
            found = true;
            self.demand(1)?;
        }
        if found { Ok(lossy(&uri)) } else { Err(self.error("did not find expected tag URI")) }
    }

    /// Scans a character written as `%C3%A9`.
    fn tag_escape(&mut self, uri: &mut Vec<u8>) -> Result<(), Error> {
        let mut left = None;
        while left != Some(0) {
            self.demand(3)?;
            let digit = |c: u8| char::from(c).to_digit(16);
            let octet = match (self.byte(0), digit(self.byte(1)), digit(self.byte(2))) {
                (b'%', Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => return Err(self.error("did not find URI escaped octet")),
            };
            left = Some(match (left, octet) {
                (None, 0..=0x7f) => 0,
                (None, 0xc0..=0xdf) => 1,
                (None, 0xe0..=0xef) => 2,
                (None, 0xf0..=0xf7) => 3,
                (None, _) => return Err(self.error("found an incorrect leading UTF-8 octet")),
                (Some(n), 0x80..=0xbf) => n - 1,
                (Some(_), _) => return Err(self.error("found an incorrect trailing UTF-8 octet")),
            });
            uri.push(octet);
            self.at += 3;
        }
        Ok(())
    }
}
