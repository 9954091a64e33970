//! Parses tokens into events: the grammar of YAML 1.1 as a state machine with an explicit stack (`parserc.go`), so that
//! nesting cannot overflow the call stack.
//!
//! As in Go, errors name the line before the actual one, and `[? , a]` drops the comma.

use super::scanner::Scanner;
use super::source::CheckedText;
use super::token::{Mark, Style, Tag, TagDirective, TokenKind};
use crate::{Error, Position};
use std::borrow::Cow;
use std::collections::HashMap;

/// A parser event.
#[derive(Debug)]
pub enum Event<'a> {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    /// `*name`
    Alias(&'a str),
    Scalar {
        /// Its text.
        value: Cow<'a, str>,
        /// The tag with its handle resolved.
        tag: Option<Box<str>>,
        /// True if the type is determined from the text.
        implicit: bool,
    },
    SequenceStart,
    SequenceEnd,
    /// The start of a mapping; keys and values alternate.
    MappingStart,
    MappingEnd,
}

/// An event with its anchor and position.
#[derive(Debug)]
pub struct Located<'a> {
    pub event: Event<'a>,
    /// The anchor `&name` before the event.
    pub anchor: Option<&'a str>,
    /// The start, including tag and anchor.
    pub start: Mark,
    pub end: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserState {
    FirstDocument,
    Document,
    DocumentContent,
    DocumentEnd,
    BlockSequence,
    IndentlessSequence,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirst,
    FlowSequence,
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMappingFirst,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
    BlockNode,
    End,
}

/// The context of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParseContext {
    /// Inside `[]` or `{}`.
    Flow,
    /// In a block collection.
    Block,
    /// Like `Block`, but a sequence need not be indented, as in the value of a key.
    BlockOrIndentless,
}

/// The position of an entry in a flow collection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlowEntry {
    First,
    Next,
}

pub struct Parser<'a> {
    scanner: Scanner<'a>,
    text: &'a str,
    state: ParserState,
    states: Vec<ParserState>,
    /// The prefixes of tag handles.
    directives: HashMap<String, String>,
}

impl<'a> Parser<'a> {
    /// Creates a parser at the start of `source`.
    pub fn new(source: &'a CheckedText<'a>) -> Self {
        let (state, states) = (ParserState::FirstDocument, Vec::new());
        Self { scanner: Scanner::new(source), text: &source.text, state, states, directives: HashMap::new() }
    }

    /// The next event.
    pub fn next(&mut self) -> Result<Located<'a>, Error> {
        match self.state {
            ParserState::FirstDocument => {
                self.scanner.peek()?;
                self.scanner.take();
                self.document_start()
            }
            ParserState::Document => {
                while self.scanner.peek()?.kind == TokenKind::DocumentEnd {
                    self.take();
                }
                self.document_start()
            }
            ParserState::DocumentContent => self.document_content(),
            ParserState::DocumentEnd => self.document_end(),
            ParserState::BlockNode => self.node(ParseContext::Block),
            ParserState::BlockSequence => self.block_sequence(),
            ParserState::IndentlessSequence => self.indentless_sequence(),
            ParserState::BlockMappingKey => self.block_mapping_key(),
            ParserState::BlockMappingValue => self.block_mapping_value(),
            ParserState::FlowSequenceFirst => self.flow_sequence(FlowEntry::First),
            ParserState::FlowSequence => self.flow_sequence(FlowEntry::Next),
            ParserState::FlowPairKey => self.flow_pair_key(),
            ParserState::FlowPairValue => self.flow_pair_value(),
            ParserState::FlowPairEnd => {
                let start = self.scanner.peek()?.start;
                self.state = ParserState::FlowSequence;
                Ok(located(Event::MappingEnd, start, start))
            }
            ParserState::FlowMappingFirst => self.flow_mapping_key(FlowEntry::First),
            ParserState::FlowMappingKey => self.flow_mapping_key(FlowEntry::Next),
            ParserState::FlowMappingValue => self.flow_mapping_value(),
            ParserState::FlowMappingEmptyValue => {
                let start = self.scanner.peek()?.start;
                self.state = ParserState::FlowMappingKey;
                Ok(empty(start))
            }
            ParserState::End => Ok(located(Event::StreamEnd, Mark::default(), Mark::default())),
        }
    }

    #[cold]
    fn error(&self, problem: &str, mark: Mark) -> Error {
        let location = if mark.line > 0 { format!("line {}: ", mark.line) } else { String::new() };
        Error::new(
            format!("yaml: {location}{problem}"),
            Some(Position::at_offset(self.text.as_bytes(), mark.at as usize)),
        )
    }

    /// Returns to the state of the enclosing node.
    fn leave(&mut self) {
        self.state = self.states.pop().unwrap_or(ParserState::End);
    }

    /// Consumes the current token and returns its end.
    fn take(&mut self) -> Mark {
        self.scanner.take().map_or(Mark::default(), |t| t.end)
    }

    /// Parses a node and continues in state `then`.
    fn node_then(&mut self, context: ParseContext, then: ParserState) -> Result<Located<'a>, Error> {
        self.states.push(then);
        self.node(context)
    }

    fn empty_scalar(&mut self, at: Mark, then: ParserState) -> Located<'a> {
        self.state = then;
        empty(at)
    }

    /// Ends the innermost collection at the current token.
    fn end_collection(&mut self, event: Event<'a>) -> Located<'a> {
        self.leave();
        let (start, end) = self.scanner.take().map_or_else(Default::default, |t| (t.start, t.end));
        located(event, start, end)
    }

    fn document_start(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::StreamEnd => {
                self.take();
                self.state = ParserState::End;
                Ok(located(Event::StreamEnd, start, start))
            }
            TokenKind::Version(..) | TokenKind::TagDirective(_) | TokenKind::DocumentStart => {
                self.explicit_document(start)
            }
            _ if self.state == ParserState::FirstDocument => {
                self.default_directives();
                self.states.push(ParserState::DocumentEnd);
                self.state = ParserState::BlockNode;
                Ok(located(Event::DocumentStart, start, start))
            }
            _ => self.explicit_document(start),
        }
    }

    fn explicit_document(&mut self, start: Mark) -> Result<Located<'a>, Error> {
        self.process_directives()?;
        let token = self.scanner.peek()?;
        let (is_start, at) = (token.kind == TokenKind::DocumentStart, token.start);
        if !is_start {
            return Err(self.error("did not find expected <document start>", at));
        }
        let end = self.take();
        self.states.push(ParserState::DocumentEnd);
        self.state = ParserState::DocumentContent;
        Ok(located(Event::DocumentStart, start, end))
    }

    fn process_directives(&mut self) -> Result<(), Error> {
        let mut version_seen = false;
        loop {
            let token = self.scanner.peek()?;
            let start = token.start;
            match &token.kind {
                TokenKind::Version(major, minor) => {
                    let supported = (*major, *minor) == (1, 1);
                    if version_seen {
                        return Err(self.error("found duplicate %YAML directive", start));
                    }
                    if !supported {
                        return Err(self.error("found incompatible YAML document", start));
                    }
                    version_seen = true;
                }
                TokenKind::TagDirective(directive) => {
                    let TagDirective { handle, prefix } = (**directive).clone();
                    if self.directives.insert(handle, prefix).is_some() {
                        return Err(self.error("found duplicate %TAG directive", start));
                    }
                }
                _ => break,
            }
            self.take();
        }
        self.default_directives();
        Ok(())
    }

    fn default_directives(&mut self) {
        for (handle, prefix) in [("!", "!"), ("!!", super::TAG_PREFIX)] {
            self.directives.entry(handle.to_owned()).or_insert_with(|| prefix.to_owned());
        }
    }

    fn document_content(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::Version(..)
            | TokenKind::TagDirective(_)
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                self.leave();
                Ok(empty(start))
            }
            _ => self.node(ParseContext::Block),
        }
    }

    fn document_end(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        let mut end = start;
        if token.kind == TokenKind::DocumentEnd {
            end = self.take();
        }
        self.directives.clear();
        self.state = ParserState::Document;
        Ok(located(Event::DocumentEnd, start, end))
    }

    fn node(&mut self, context: ParseContext) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let (start, mut end) = (token.start, token.start);
        if let TokenKind::Alias(name) = token.kind {
            let end = token.end;
            self.take();
            self.leave();
            return Ok(located(Event::Alias(name), start, end));
        }
        // Anchor and tag may be in either order.
        let mut anchor = None;
        let mut tag: Option<(Box<Tag>, Mark)> = None;
        loop {
            match self.scanner.peek()?.kind {
                TokenKind::Anchor(name) if anchor.is_none() => {
                    anchor = Some(name);
                    end = self.take();
                }
                TokenKind::Tag(_) if tag.is_none() => {
                    if let Some(token) = self.scanner.take()
                        && let TokenKind::Tag(written) = token.kind
                    {
                        end = token.end;
                        tag = Some((written, token.start));
                    }
                }
                _ => break,
            }
        }
        let tag = match tag {
            None => None,
            Some((tag, at)) => Some(self.resolve_tag(*tag, at)?.into_boxed_str()),
        };
        let token = self.scanner.peek()?;
        let (token_start, content_end) = (token.start, token.end);
        let located = |event, end| Ok(Located { event, anchor, start, end });
        match &token.kind {
            TokenKind::BlockEntry if context == ParseContext::BlockOrIndentless => {
                self.state = ParserState::IndentlessSequence;
                located(Event::SequenceStart, content_end)
            }
            TokenKind::Scalar(_, style) => {
                let implicit = tag.as_deref().map_or(*style == Style::Plain, |tag| tag == "!");
                self.leave();
                let value = match self.scanner.take().map(|t| t.kind) {
                    Some(TokenKind::Scalar(value, _)) => value,
                    _ => Cow::Borrowed(""),
                };
                located(Event::Scalar { value, tag, implicit }, content_end)
            }
            TokenKind::FlowSequenceStart => {
                self.state = ParserState::FlowSequenceFirst;
                located(Event::SequenceStart, content_end)
            }
            TokenKind::FlowMappingStart => {
                self.state = ParserState::FlowMappingFirst;
                located(Event::MappingStart, content_end)
            }
            TokenKind::BlockSequenceStart if context != ParseContext::Flow => {
                self.take();
                self.state = ParserState::BlockSequence;
                located(Event::SequenceStart, content_end)
            }
            TokenKind::BlockMappingStart if context != ParseContext::Flow => {
                self.take();
                self.state = ParserState::BlockMappingKey;
                located(Event::MappingStart, content_end)
            }
            _ if anchor.is_some() || tag.is_some() => {
                self.leave();
                let implicit = tag.is_none();
                located(Event::Scalar { value: Cow::Borrowed(""), tag, implicit }, end)
            }
            _ => Err(self.error("did not find expected node content", token_start)),
        }
    }

    fn resolve_tag(&self, tag: Tag, at: Mark) -> Result<String, Error> {
        if tag.handle.is_empty() {
            return Ok(tag.suffix);
        }
        let found = self.directives.get(&tag.handle);
        let full = found.map_or(String::new(), |prefix| format!("{prefix}{}", tag.suffix));
        if full.is_empty() { Err(self.error("found undefined tag handle", at)) } else { Ok(full) }
    }

    fn block_sequence(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::BlockEntry => {
                let at = self.take();
                match self.scanner.peek()?.kind {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => {
                        Ok(self.empty_scalar(at, ParserState::BlockSequence))
                    }
                    _ => self.node_then(ParseContext::Block, ParserState::BlockSequence),
                }
            }
            TokenKind::BlockEnd => Ok(self.end_collection(Event::SequenceEnd)),
            _ => Err(self.error("did not find expected '-' indicator", start)),
        }
    }

    fn indentless_sequence(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if token.kind != TokenKind::BlockEntry {
            self.leave();
            return Ok(located(Event::SequenceEnd, start, start));
        }
        let at = self.take();
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.empty_scalar(at, ParserState::IndentlessSequence))
            }
            _ => self.node_then(ParseContext::Block, ParserState::IndentlessSequence),
        }
    }

    fn block_mapping_key(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        match token.kind {
            TokenKind::Key => {
                let at = self.take();
                self.block_mapping_node(at, ParserState::BlockMappingValue)
            }
            TokenKind::BlockEnd => Ok(self.end_collection(Event::MappingEnd)),
            _ => Err(self.error("did not find expected key", start)),
        }
    }

    fn block_mapping_value(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if token.kind != TokenKind::Value {
            return Ok(self.empty_scalar(start, ParserState::BlockMappingKey));
        }
        let at = self.take();
        self.block_mapping_node(at, ParserState::BlockMappingKey)
    }

    /// Parses the node after `?` or `:`, which may be empty.
    fn block_mapping_node(&mut self, at: Mark, then: ParserState) -> Result<Located<'a>, Error> {
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => Ok(self.empty_scalar(at, then)),
            _ => self.node_then(ParseContext::BlockOrIndentless, then),
        }
    }

    /// Parses the `,` between two entries of a flow collection.
    /// Reads the comma before an entry.
    fn comma(&mut self, problem: &str) -> Result<(), Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if token.kind != TokenKind::FlowEntry {
            return Err(self.error(problem, start));
        }
        self.take();
        Ok(())
    }

    fn flow_sequence(&mut self, entry: FlowEntry) -> Result<Located<'a>, Error> {
        if entry == FlowEntry::First {
            self.take();
        }
        if self.scanner.peek()?.kind != TokenKind::FlowSequenceEnd {
            if entry == FlowEntry::Next {
                self.comma("did not find expected ',' or ']'")?;
            }
            let token = self.scanner.peek()?;
            let start = token.start;
            match token.kind {
                TokenKind::Key => {
                    let end = self.take();
                    self.state = ParserState::FlowPairKey;
                    return Ok(located(Event::MappingStart, start, end));
                }
                TokenKind::FlowSequenceEnd => {}
                _ => return self.node_then(ParseContext::Flow, ParserState::FlowSequence),
            }
        }
        Ok(self.end_collection(Event::SequenceEnd))
    }

    fn flow_pair_key(&mut self) -> Result<Located<'a>, Error> {
        match self.scanner.peek()?.kind {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                let at = self.take();
                Ok(self.empty_scalar(at, ParserState::FlowPairValue))
            }
            _ => self.node_then(ParseContext::Flow, ParserState::FlowPairValue),
        }
    }

    fn flow_pair_value(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        // The position of an empty value is that of the `:`.
        let start = token.start;
        if token.kind == TokenKind::Value {
            self.take();
            match self.scanner.peek()?.kind {
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {}
                _ => return self.node_then(ParseContext::Flow, ParserState::FlowPairEnd),
            }
        }
        Ok(self.empty_scalar(start, ParserState::FlowPairEnd))
    }

    fn flow_mapping_key(&mut self, entry: FlowEntry) -> Result<Located<'a>, Error> {
        if entry == FlowEntry::First {
            self.take();
        }
        if self.scanner.peek()?.kind != TokenKind::FlowMappingEnd {
            if entry == FlowEntry::Next {
                self.comma("did not find expected ',' or '}'")?;
            }
            match self.scanner.peek()?.kind {
                TokenKind::Key => {
                    self.take();
                    let token = self.scanner.peek()?;
                    let start = token.start;
                    return match token.kind {
                        TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                            Ok(self.empty_scalar(start, ParserState::FlowMappingValue))
                        }
                        _ => self.node_then(ParseContext::Flow, ParserState::FlowMappingValue),
                    };
                }
                TokenKind::FlowMappingEnd => {}
                _ => return self.node_then(ParseContext::Flow, ParserState::FlowMappingEmptyValue),
            }
        }
        Ok(self.end_collection(Event::MappingEnd))
    }

    fn flow_mapping_value(&mut self) -> Result<Located<'a>, Error> {
        let mut start = self.scanner.peek()?.start;
        if self.scanner.peek()?.kind == TokenKind::Value {
            self.take();
            let token = self.scanner.peek()?;
            start = token.start;
            match token.kind {
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {}
                _ => return self.node_then(ParseContext::Flow, ParserState::FlowMappingKey),
            }
        }
        Ok(self.empty_scalar(start, ParserState::FlowMappingKey))
    }
}

fn located(event: Event<'_>, start: Mark, end: Mark) -> Located<'_> {
    Located { event, anchor: None, start, end }
}

/// The event of an empty scalar.
fn empty<'a>(at: Mark) -> Located<'a> {
    located(Event::Scalar { value: Cow::Borrowed(""), tag: None, implicit: true }, at, at)
}
