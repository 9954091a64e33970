//! Parses tokens into events: the grammar of YAML 1.1 as a state machine with an explicit stack (`parserc.go`), so that
//! nesting cannot overflow the call stack.
//!
//! As in Go, errors name the line before the actual one, and `[? , a]` drops the comma.

use super::scanner::Scanner;
use super::source::Source;
use super::token::{Kind, Mark, Style, Tag, TagDirective};
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
enum State {
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
enum Context {
    /// Inside `[]` or `{}`.
    Flow,
    /// In a block collection.
    Block,
    /// Like `Block`, but a sequence need not be indented, as in the value of a key.
    BlockOrIndentless,
}

pub struct Parser<'a> {
    scanner: Scanner<'a>,
    text: &'a str,
    state: State,
    states: Vec<State>,
    /// The prefixes of tag handles.
    directives: HashMap<String, String>,
}

impl<'a> Parser<'a> {
    /// Creates a parser at the start of `source`.
    pub fn new(source: &'a Source<'a>) -> Self {
        let (state, states) = (State::FirstDocument, Vec::new());
        Self { scanner: Scanner::new(source), text: &source.text, state, states, directives: HashMap::new() }
    }

    /// The next event.
    pub fn next(&mut self) -> Result<Located<'a>, Error> {
        match self.state {
            State::FirstDocument => {
                self.scanner.peek()?;
                self.scanner.take();
                self.document_start(true)
            }
            State::Document => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(Context::Block),
            State::BlockSequence => self.block_sequence(),
            State::IndentlessSequence => self.indentless_sequence(),
            State::BlockMappingKey => self.block_mapping_key(),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirst => self.flow_sequence(true),
            State::FlowSequence => self.flow_sequence(false),
            State::FlowPairKey => self.flow_pair_key(),
            State::FlowPairValue => self.flow_pair_value(),
            State::FlowPairEnd => {
                let start = self.scanner.peek()?.start;
                self.state = State::FlowSequence;
                Ok(located(Event::MappingEnd, start, start))
            }
            State::FlowMappingFirst => self.flow_mapping_key(true),
            State::FlowMappingKey => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(),
            State::FlowMappingEmptyValue => {
                let start = self.scanner.peek()?.start;
                self.state = State::FlowMappingKey;
                Ok(empty(start))
            }
            State::End => Ok(located(Event::StreamEnd, Mark::default(), Mark::default())),
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
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// Consumes the current token and returns its end.
    fn take(&mut self) -> Mark {
        self.scanner.take().map_or(Mark::default(), |t| t.end)
    }

    /// Parses a node and continues in state `then`.
    fn node_then(&mut self, context: Context, then: State) -> Result<Located<'a>, Error> {
        self.states.push(then);
        self.node(context)
    }

    fn empty_scalar(&mut self, at: Mark, then: State) -> Located<'a> {
        self.state = then;
        empty(at)
    }

    /// Ends the innermost collection at the current token.
    fn end_collection(&mut self, event: Event<'a>) -> Located<'a> {
        self.leave();
        let (start, end) = self.scanner.take().map_or_else(Default::default, |t| (t.start, t.end));
        located(event, start, end)
    }

    fn document_start(&mut self, first: bool) -> Result<Located<'a>, Error> {
        if !first {
            while self.scanner.peek()?.kind == Kind::DocumentEnd {
                self.take();
            }
        }
        let token = self.scanner.peek()?;
        let start = token.start;
        match token.kind {
            Kind::StreamEnd => {
                self.take();
                self.state = State::End;
                Ok(located(Event::StreamEnd, start, start))
            }
            Kind::Version(..) | Kind::TagDirective(_) | Kind::DocumentStart => self.explicit_document(start),
            _ if first => {
                self.default_directives();
                self.states.push(State::DocumentEnd);
                self.state = State::BlockNode;
                Ok(located(Event::DocumentStart, start, start))
            }
            _ => self.explicit_document(start),
        }
    }

    fn explicit_document(&mut self, start: Mark) -> Result<Located<'a>, Error> {
        self.process_directives()?;
        let token = self.scanner.peek()?;
        let (is_start, at) = (token.kind == Kind::DocumentStart, token.start);
        if !is_start {
            return Err(self.error("did not find expected <document start>", at));
        }
        let end = self.take();
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        Ok(located(Event::DocumentStart, start, end))
    }

    fn process_directives(&mut self) -> Result<(), Error> {
        let mut version_seen = false;
        loop {
            let token = self.scanner.peek()?;
            let start = token.start;
            match &token.kind {
                Kind::Version(major, minor) => {
                    let supported = (*major, *minor) == (1, 1);
                    if version_seen {
                        return Err(self.error("found duplicate %YAML directive", start));
                    }
                    if !supported {
                        return Err(self.error("found incompatible YAML document", start));
                    }
                    version_seen = true;
                }
                Kind::TagDirective(directive) => {
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
            Kind::Version(..) | Kind::TagDirective(_) | Kind::DocumentStart | Kind::DocumentEnd | Kind::StreamEnd => {
                self.leave();
                Ok(empty(start))
            }
            _ => self.node(Context::Block),
        }
    }

    fn document_end(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        let mut end = start;
        if token.kind == Kind::DocumentEnd {
            end = self.take();
        }
        self.directives.clear();
        self.state = State::Document;
        Ok(located(Event::DocumentEnd, start, end))
    }

    fn node(&mut self, context: Context) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let (start, mut end) = (token.start, token.start);
        if let Kind::Alias(name) = token.kind {
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
                Kind::Anchor(name) if anchor.is_none() => {
                    anchor = Some(name);
                    end = self.take();
                }
                Kind::Tag(_) if tag.is_none() => {
                    if let Some(token) = self.scanner.take()
                        && let Kind::Tag(written) = token.kind
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
            Kind::BlockEntry if context == Context::BlockOrIndentless => {
                self.state = State::IndentlessSequence;
                located(Event::SequenceStart, content_end)
            }
            Kind::Scalar(_, style) => {
                let implicit = tag.as_deref().map_or(*style == Style::Plain, |tag| tag == "!");
                self.leave();
                let value = match self.scanner.take().map(|t| t.kind) {
                    Some(Kind::Scalar(value, _)) => value,
                    _ => Cow::Borrowed(""),
                };
                located(Event::Scalar { value, tag, implicit }, content_end)
            }
            Kind::FlowSequenceStart => {
                self.state = State::FlowSequenceFirst;
                located(Event::SequenceStart, content_end)
            }
            Kind::FlowMappingStart => {
                self.state = State::FlowMappingFirst;
                located(Event::MappingStart, content_end)
            }
            Kind::BlockSequenceStart if context != Context::Flow => {
                self.take();
                self.state = State::BlockSequence;
                located(Event::SequenceStart, content_end)
            }
            Kind::BlockMappingStart if context != Context::Flow => {
                self.take();
                self.state = State::BlockMappingKey;
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
            Kind::BlockEntry => {
                let at = self.take();
                match self.scanner.peek()?.kind {
                    Kind::BlockEntry | Kind::BlockEnd => Ok(self.empty_scalar(at, State::BlockSequence)),
                    _ => self.node_then(Context::Block, State::BlockSequence),
                }
            }
            Kind::BlockEnd => Ok(self.end_collection(Event::SequenceEnd)),
            _ => Err(self.error("did not find expected '-' indicator", start)),
        }
    }

    fn indentless_sequence(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if token.kind != Kind::BlockEntry {
            self.leave();
            return Ok(located(Event::SequenceEnd, start, start));
        }
        let at = self.take();
        match self.scanner.peek()?.kind {
            Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd => {
                Ok(self.empty_scalar(at, State::IndentlessSequence))
            }
            _ => self.node_then(Context::Block, State::IndentlessSequence),
        }
    }

    fn block_mapping_key(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        match token.kind {
            Kind::Key => {
                let at = self.take();
                self.block_mapping_node(at, State::BlockMappingValue)
            }
            Kind::BlockEnd => Ok(self.end_collection(Event::MappingEnd)),
            _ => Err(self.error("did not find expected key", start)),
        }
    }

    fn block_mapping_value(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if token.kind != Kind::Value {
            return Ok(self.empty_scalar(start, State::BlockMappingKey));
        }
        let at = self.take();
        self.block_mapping_node(at, State::BlockMappingKey)
    }

    /// Parses the node after `?` or `:`, which may be empty.
    fn block_mapping_node(&mut self, at: Mark, then: State) -> Result<Located<'a>, Error> {
        match self.scanner.peek()?.kind {
            Kind::Key | Kind::Value | Kind::BlockEnd => Ok(self.empty_scalar(at, then)),
            _ => self.node_then(Context::BlockOrIndentless, then),
        }
    }

    /// Parses the `,` between two entries of a flow collection.
    fn flow_entry(&mut self, first: bool, problem: &str) -> Result<(), Error> {
        if first {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        let start = token.start;
        if token.kind != Kind::FlowEntry {
            return Err(self.error(problem, start));
        }
        self.take();
        Ok(())
    }

    fn flow_sequence(&mut self, first: bool) -> Result<Located<'a>, Error> {
        if first {
            self.take();
        }
        if self.scanner.peek()?.kind != Kind::FlowSequenceEnd {
            self.flow_entry(first, "did not find expected ',' or ']'")?;
            let token = self.scanner.peek()?;
            let start = token.start;
            match token.kind {
                Kind::Key => {
                    let end = self.take();
                    self.state = State::FlowPairKey;
                    return Ok(located(Event::MappingStart, start, end));
                }
                Kind::FlowSequenceEnd => {}
                _ => return self.node_then(Context::Flow, State::FlowSequence),
            }
        }
        Ok(self.end_collection(Event::SequenceEnd))
    }

    fn flow_pair_key(&mut self) -> Result<Located<'a>, Error> {
        match self.scanner.peek()?.kind {
            Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd => {
                let at = self.take();
                Ok(self.empty_scalar(at, State::FlowPairValue))
            }
            _ => self.node_then(Context::Flow, State::FlowPairValue),
        }
    }

    fn flow_pair_value(&mut self) -> Result<Located<'a>, Error> {
        let token = self.scanner.peek()?;
        // The position of an empty value is that of the `:`.
        let start = token.start;
        if token.kind == Kind::Value {
            self.take();
            match self.scanner.peek()?.kind {
                Kind::FlowEntry | Kind::FlowSequenceEnd => {}
                _ => return self.node_then(Context::Flow, State::FlowPairEnd),
            }
        }
        Ok(self.empty_scalar(start, State::FlowPairEnd))
    }

    fn flow_mapping_key(&mut self, first: bool) -> Result<Located<'a>, Error> {
        if first {
            self.take();
        }
        if self.scanner.peek()?.kind != Kind::FlowMappingEnd {
            self.flow_entry(first, "did not find expected ',' or '}'")?;
            match self.scanner.peek()?.kind {
                Kind::Key => {
                    self.take();
                    let token = self.scanner.peek()?;
                    let start = token.start;
                    return match token.kind {
                        Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd => {
                            Ok(self.empty_scalar(start, State::FlowMappingValue))
                        }
                        _ => self.node_then(Context::Flow, State::FlowMappingValue),
                    };
                }
                Kind::FlowMappingEnd => {}
                _ => return self.node_then(Context::Flow, State::FlowMappingEmptyValue),
            }
        }
        Ok(self.end_collection(Event::MappingEnd))
    }

    fn flow_mapping_value(&mut self) -> Result<Located<'a>, Error> {
        let mut start = self.scanner.peek()?.start;
        if self.scanner.peek()?.kind == Kind::Value {
            self.take();
            let token = self.scanner.peek()?;
            start = token.start;
            match token.kind {
                Kind::FlowEntry | Kind::FlowMappingEnd => {}
                _ => return self.node_then(Context::Flow, State::FlowMappingKey),
            }
        }
        Ok(self.empty_scalar(start, State::FlowMappingKey))
    }
}

fn located(event: Event<'_>, start: Mark, end: Mark) -> Located<'_> {
    Located { event, anchor: None, start, end }
}

/// The event of an empty scalar.
fn empty<'a>(at: Mark) -> Located<'a> {
    located(Event::Scalar { value: Cow::Borrowed(""), tag: None, implicit: true }, at, at)
}
