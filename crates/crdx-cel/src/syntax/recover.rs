//! Parses sources with syntax errors. It recovers from errors like the generated parser, so it finds the same errors at
//! the same positions and produces the same tree.
//!
//! After an error, no further error is reported until a token matches. The parser deletes one token if the next token
//! matches, or inserts one if the current token matches after it; otherwise it leaves the rule and skips to a token
//! that may follow.

use super::{
    ParserVersion,
    build::AstBuilder,
    grammar::{Body, Choice, Grammar, GrammarRule, Label, RULES, RuleElement, StateId, StateKind, Suffix, grammar},
    kind_set::KindSet,
    lexer::Lexer,
    parser::MAX_DEPTH,
    predict::{EMPTY_STACK, NoViable, Predictor, Stack},
    sprintf::without_arguments,
    token::{Token, TokenKind},
};
use crate::issues::Location;
use std::collections::BTreeSet;

/// The maximum number of reported syntax errors.
const MAX_REPORTS: usize = 100;
/// The maximum number of recoveries.
const MAX_RECOVERIES: usize = 30;
/// The maximum number of tokens that one recovery may skip.
const MAX_SKIPPED: usize = 256;

/// A node of the recovered parse tree.
#[derive(Debug)]
pub(super) struct ParseTreeNode {
    pub rule: GrammarRule,
    /// The number of the chosen alternative, starting at 1; 0 if none was chosen.
    pub alternative: u8,
    /// The code point offset of the first token.
    pub start: i32,
    /// The child rules.
    pub children: Vec<NodeId>,
    /// The labelled parts.
    pub labels: Vec<(Label, Piece)>,
}

/// The index of a node.
pub(super) type NodeId = usize;

/// A labelled part of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Token(Word),
    Node(NodeId),
}

/// A token of the tree; an inserted token has no span in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub kind: TokenKind,
    /// The code point offset of the token, or of the position where it was inserted.
    pub offset: i32,
    /// The byte offsets of the first and last byte; `None` for an inserted token.
    pub span: Option<(usize, usize)>,
}

/// The recovered parse tree.
pub(super) struct Recovered {
    pub nodes: Vec<ParseTreeNode>,
    pub root: NodeId,
}

/// Parsing stopped after all errors were reported.
pub(super) struct Abort;

/// An error while parsing a rule.
enum Exception {
    Mismatch,
    NoViable { start: usize, offending: usize },
}

enum RuleFailure {
    Abort,
    Exception(Exception),
}

impl From<Abort> for RuleFailure {
    fn from(_: Abort) -> Self {
        Self::Abort
    }
}

struct Frame {
    /// The state in which the rule was called.
    invoking: Option<StateId>,
    node: NodeId,
    stack: Option<Stack>,
}

struct Recovery<'b, 's> {
    builder: &'b mut AstBuilder<'s>,
    grammar: &'static Grammar,
    predictor: Predictor,
    lexer: Lexer<'s>,
    /// All tokens read so far, including hidden ones.
    tokens: Vec<Token>,
    /// The indices of the visible tokens.
    visible: Vec<usize>,
    at: usize,
    state: StateId,
    frames: Vec<Frame>,
    precedences: Vec<u32>,
    depths: [u32; RULES],
    nodes: Vec<ParseTreeNode>,
    quiet: bool,
    last_error: Option<usize>,
    last_error_states: BTreeSet<StateId>,
    recoveries: usize,
    reports: usize,
}

/// Parses the builder's source and reports its errors.
pub(super) fn recover(builder: &mut AstBuilder) -> Result<Recovered, Abort> {
    let grammar = grammar(builder.options.version);
    let mut recovery = Recovery {
        lexer: Lexer::new(builder.source, builder.options.version),
        builder,
        grammar,
        predictor: Predictor::new(grammar),
        tokens: Vec::new(),
        visible: Vec::new(),
        at: 0,
        state: 0,
        frames: Vec::new(),
        precedences: Vec::new(),
        depths: [0; RULES],
        nodes: Vec::new(),
        quiet: false,
        last_error: None,
        last_error_states: BTreeSet::new(),
        recoveries: 0,
        reports: 0,
    };
    let root = recovery.rule(GrammarRule::Start, 0, None)?;
    Ok(Recovered { nodes: recovery.nodes, root })
}

impl Recovery<'_, '_> {
    // Tokens

    /// Reads tokens until there are more than `index` visible ones. Returns `index`, or the index of the last visible token
    /// if the source has fewer.
    fn fill(&mut self, index: usize) -> Result<usize, Abort> {
        while self.visible.len() <= index {
            if let Some(last) = self.visible.last()
                && self.tokens.get(*last).is_some_and(|token| token.kind == TokenKind::Eof)
            {
                return Ok(self.visible.len() - 1);
            }
            match self.lexer.next_token() {
                Ok(token) => {
                    self.tokens.push(token);
                    if !matches!(token.kind, TokenKind::Whitespace | TokenKind::Comment) {
                        self.visible.push(self.tokens.len() - 1);
                    }
                }
                Err(bad) => {
                    let text = self.builder.source.get(bad.start..bad.end).unwrap_or_default();
                    let message = format!("token recognition error at: '{text}'");
                    self.syntax_error(bad.offset as i32, &message)?;
                }
            }
        }
        Ok(index)
    }

    fn token(&mut self, index: usize) -> Result<Token, Abort> {
        let index = self.fill(index)?;
        let token = self.visible.get(index).and_then(|at| self.tokens.get(*at)).copied();
        token.ok_or(Abort)
    }

    fn current(&mut self) -> Result<Token, Abort> {
        self.token(self.at)
    }

    fn look(&mut self, ahead: usize) -> Result<TokenKind, Abort> {
        Ok(self.token(self.at + ahead)?.kind)
    }

    fn consume(&mut self) -> Result<(), Abort> {
        if self.current()?.kind != TokenKind::Eof {
            self.at += 1;
            self.fill(self.at)?;
        }
        Ok(())
    }

    fn show(&self, token: Token) -> String {
        if token.kind == TokenKind::Eof {
            return "'<EOF>'".to_owned();
        }
        quote(self.builder.source.get(token.start as usize..token.end as usize).unwrap_or_default())
    }

    // Error reports

    fn syntax_error(&mut self, offset: i32, message: &str) -> Result<(), Abort> {
        let offset = if self.builder.source.is_empty() { -1 } else { offset };
        if self.reports < MAX_REPORTS {
            self.reports += 1;
            let message = format!("Syntax error: {message}");
            // Before cel-go 0.23, the message is a format.
            let is_format = self.builder.options.version < ParserVersion::V0_23;
            self.builder.issues.report(offset, if is_format { without_arguments(&message) } else { message });
            return Ok(());
        }
        self.builder.issues.report(offset, format!("Syntax error: More than {MAX_REPORTS} syntax errors"));
        Err(Abort)
    }

    fn internal_error(&mut self, message: String) -> Abort {
        self.builder.issues.report_at(Location::NONE, message);
        Abort
    }

    fn fits(&mut self) {
        self.quiet = false;
        self.last_error = None;
        self.last_error_states.clear();
    }

    fn report(&mut self, exception: &Exception) -> Result<(), Abort> {
        if std::mem::replace(&mut self.quiet, true) {
            return Ok(());
        }
        match *exception {
            Exception::Mismatch => {
                let token = self.current()?;
                let message = format!("mismatched input {} expecting {}", self.show(token), self.expected().names());
                self.syntax_error(token.offset as i32, &message)
            }
            Exception::NoViable { start, offending } => {
                let (first, last) = (self.token(start)?, self.token(offending)?);
                let text =
                    if first.kind == TokenKind::Eof { "<EOF>".to_owned() } else { self.text_between(start, offending) };
                let reserved = ["true", "false", "null"].into_iter().find(|word| {
                    text.strip_suffix(word).is_some_and(|before| before.chars().count() == 1 && !text.contains('\n'))
                });
                let message = match reserved {
                    Some(word) => format!("mismatched input '{word}' expecting IDENTIFIER"),
                    None => format!("no viable alternative at input {}", quote(&text)),
                };
                self.syntax_error(last.offset as i32, &message)
            }
        }
    }

    /// The source text from one visible token to another, including hidden tokens.
    fn text_between(&self, first: usize, last: usize) -> String {
        let (Some(&first), Some(&last)) = (self.visible.get(first), self.visible.get(last)) else {
            return String::new();
        };
        let tokens = self.tokens.get(first..=last).unwrap_or_default();
        let texts = tokens.iter().take_while(|token| token.kind != TokenKind::Eof);
        texts.filter_map(|token| self.builder.source.get(token.start as usize..token.end as usize)).collect()
    }

    fn report_unwanted(&mut self) -> Result<(), Abort> {
        if std::mem::replace(&mut self.quiet, true) {
            return Ok(());
        }
        let token = self.current()?;
        let message = format!("extraneous input {} expecting {}", self.show(token), self.expected().names());
        self.syntax_error(token.offset as i32, &message)
    }

    fn report_missing(&mut self) -> Result<(), Abort> {
        if std::mem::replace(&mut self.quiet, true) {
            return Ok(());
        }
        let token = self.current()?;
        let message = format!("missing {} at {}", self.expected().names(), self.show(token));
        self.syntax_error(token.offset as i32, &message)
    }

    // Expected tokens

    /// The tokens that may come next, in this rule or, if it may end, in its callers.
    fn expected(&self) -> KindSet {
        self.expected_from(self.state)
    }

    fn expected_from(&self, state: StateId) -> KindSet {
        let mut found = KindSet::EMPTY;
        let mut following = self.grammar.next(state);
        for frame in self.frames.iter().rev() {
            found = found.union(following.without(KindSet::END_OF_RULE));
            if !following.has(KindSet::END_OF_RULE) {
                return found;
            }
            let Some(follow) = frame.invoking.and_then(|state| self.grammar.follow(state)) else { break };
            following = self.grammar.next(follow);
        }
        found.union(TokenKind::Eof.bit())
    }

    /// The tokens at which a caller can continue.
    fn recovery_set(&self) -> KindSet {
        let follows = self.frames.iter().filter_map(|frame| self.grammar.follow(frame.invoking?));
        follows.fold(KindSet::EMPTY, |set, follow| set.union(self.grammar.next(follow))).without(KindSet::END_OF_RULE)
    }

    // Recovery

    fn check_attempts(&mut self) -> Result<(), Abort> {
        if self.recoveries == MAX_RECOVERIES {
            self.recoveries += 1;
            let token = self.current()?;
            let message = format!("error recovery attempt limit exceeded: {MAX_RECOVERIES}");
            self.syntax_error(token.offset as i32, &message)?;
            return Err(Abort);
        }
        self.recoveries += 1;
        Ok(())
    }

    fn skip_one(&mut self, skipped: &mut usize) -> Result<(), Abort> {
        if *skipped >= MAX_SKIPPED {
            return Err(self.internal_error(format!("error recovery token lookahead limit exceeded: {MAX_SKIPPED}")));
        }
        *skipped += 1;
        self.consume()
    }

    /// Leaves the rule: skips to a token that may follow it.
    fn leave(&mut self) -> Result<(), Abort> {
        self.check_attempts()?;
        let mut skipped = 0;
        if self.last_error == Some(self.at) && self.last_error_states.contains(&self.state) {
            // The same error occurred again at this position: skip at least one token.
            self.skip_one(&mut skipped)?;
        }
        self.last_error = Some(self.at);
        self.last_error_states.insert(self.state);
        let follow = self.recovery_set();
        loop {
            let kind = self.look(0)?;
            if kind == TokenKind::Eof || follow.has(kind.bit()) {
                return Ok(());
            }
            self.skip_one(&mut skipped)?;
        }
    }

    /// Deletes the current token if the next one matches.
    fn drop_one(&mut self) -> Result<bool, Abort> {
        let next = self.look(1)?;
        if !self.expected().has(next.bit()) {
            return Ok(false);
        }
        self.report_unwanted()?;
        self.consume()?;
        self.fits();
        Ok(true)
    }

    fn recover_inline(&mut self) -> Result<Word, RuleFailure> {
        self.check_attempts()?;
        if self.drop_one()? {
            let token = self.current()?;
            self.consume()?;
            return Ok(word(token));
        }
        let after = self.grammar.edges(self.state).iter().find_map(|edge| match edge {
            super::grammar::Edge::Token(_, to) => Some(*to),
            _ => None,
        });
        let kind = self.look(0)?;
        if after.is_some_and(|after| self.expected_from(after).has(kind.bit())) {
            self.report_missing()?;
            return Ok(self.insert_token()?);
        }
        Err(RuleFailure::Exception(Exception::Mismatch))
    }

    fn insert_token(&mut self) -> Result<Word, Abort> {
        let mut token = self.current()?;
        if token.kind == TokenKind::Eof && self.at > 0 {
            token = self.token(self.at - 1)?;
        }
        Ok(Word { kind: TokenKind::Eof, offset: token.offset as i32, span: None })
    }

    /// Checks that the current token matches a block or loop that is about to start or continue, and recovers if it
    /// does not.
    fn sync(&mut self) -> Result<(), RuleFailure> {
        if self.quiet {
            return Ok(());
        }
        let next = self.grammar.next(self.state);
        let kind = self.look(0)?;
        if next.has(KindSet::END_OF_RULE.union(kind.bit())) {
            return Ok(());
        }
        match self.grammar.kind(self.state) {
            StateKind::BlockStart | StateKind::LoopEntry => {
                if self.drop_one()? {
                    Ok(())
                } else {
                    Err(RuleFailure::Exception(Exception::Mismatch))
                }
            }
            StateKind::LoopBack => {
                self.report_unwanted()?;
                let wanted = self.expected().union(self.recovery_set());
                loop {
                    let kind = self.look(0)?;
                    if kind == TokenKind::Eof || wanted.has(kind.bit()) {
                        return Ok(());
                    }
                    self.consume()?;
                }
            }
            StateKind::Plain | StateKind::RuleStop => Ok(()),
        }
    }

    // Rules

    fn rule(&mut self, rule: GrammarRule, precedence: u32, invoking: Option<StateId>) -> Result<NodeId, Abort> {
        let start = self.current()?.offset as i32;
        let node = self.nodes.len();
        self.nodes.push(ParseTreeNode { rule, alternative: 0, start, children: Vec::new(), labels: Vec::new() });
        self.frames.push(Frame { invoking, node, stack: None });
        self.state = self.grammar.start(rule);
        self.enter(rule)?;
        let grammar = self.grammar;
        let outcome = match grammar.bodies.get(rule as usize) {
            Some(Body::Sequence(parts)) => self.parts(parts),
            Some(Body::Alternatives { state, choice, alternatives }) => {
                self.alternatives(*state, *choice, alternatives)
            }
            Some(Body::LeftRecursive { prefix, entry, block, back, suffixes }) => {
                self.precedences.push(precedence);
                let outcome = self.left_recursive(prefix, (*entry, *block, *back), suffixes, start);
                self.precedences.pop();
                outcome
            }
            None => Err(RuleFailure::Abort),
        };
        match outcome {
            Ok(()) => {}
            Err(RuleFailure::Abort) => return Err(Abort),
            Err(RuleFailure::Exception(exception)) => {
                self.report(&exception)?;
                self.leave()?;
            }
        }
        self.exit(rule);
        let frame = self.frames.pop().ok_or(Abort)?;
        if let Some(invoking) = frame.invoking {
            self.state = invoking;
        }
        Ok(frame.node)
    }

    fn enter(&mut self, rule: GrammarRule) -> Result<(), Abort> {
        let Some(depth) = self.depths.get_mut(rule as usize) else { return Ok(()) };
        *depth += 1;
        if *depth > MAX_DEPTH {
            return Err(self.internal_error(format!("expression recursion limit exceeded: {MAX_DEPTH}")));
        }
        Ok(())
    }

    fn exit(&mut self, rule: GrammarRule) {
        if let Some(depth) = self.depths.get_mut(rule as usize) {
            *depth = depth.saturating_sub(1);
        }
    }

    fn node(&mut self) -> Option<&mut ParseTreeNode> {
        let frame = self.frames.last()?;
        self.nodes.get_mut(frame.node)
    }

    fn label(&mut self, label: Label, piece: Piece) {
        if label != Label::None
            && let Some(node) = self.node()
        {
            node.labels.push((label, piece));
        }
    }

    fn parts(&mut self, parts: &'static [RuleElement]) -> Result<(), RuleFailure> {
        for part in parts {
            self.part(part)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &'static RuleElement) -> Result<(), RuleFailure> {
        match part {
            RuleElement::Token { state, set, label } => {
                self.state = *state;
                let token = self.current()?;
                let found = if set.has(token.kind.bit()) {
                    self.fits();
                    self.consume()?;
                    word(token)
                } else {
                    self.recover_inline()?
                };
                self.label(*label, Piece::Token(found));
            }
            RuleElement::Rule { state, rule, precedence, label } => {
                self.state = *state;
                let child = self.rule(*rule, *precedence, Some(*state))?;
                if let Some(node) = self.node() {
                    node.children.push(child);
                }
                self.label(*label, Piece::Node(child));
            }
            RuleElement::Optional { state, body, choice, parts } => {
                self.state = *state;
                self.sync()?;
                if self.enters(*choice, *state, *body)? {
                    self.parts(parts)?;
                }
            }
            RuleElement::Star { entry, body, back, choice, parts } => {
                self.state = *entry;
                self.sync()?;
                while self.enters(*choice, *entry, *body)? {
                    self.parts(parts)?;
                    self.state = *back;
                    self.sync()?;
                }
            }
            RuleElement::Plus { state, back, choice, parts } => {
                self.state = *state;
                self.sync()?;
                loop {
                    self.parts(parts)?;
                    self.state = *back;
                    self.sync()?;
                    if !self.enters(*choice, *back, *state)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if an optional part or a loop is entered.
    fn enters(&mut self, choice: Choice, decision: StateId, body: StateId) -> Result<bool, RuleFailure> {
        match choice {
            Choice::OneToken => {
                let kind = self.look(0)?;
                Ok(self.grammar.next(body).has(kind.bit()))
            }
            Choice::Lookahead => Ok(self.predict(decision)? == 1),
        }
    }

    fn predict(&mut self, decision: StateId) -> Result<u8, RuleFailure> {
        let callers = self.callers();
        let precedence = self.precedences.last().copied().unwrap_or(0);
        // Prediction reads ahead, and errors of the lexer on the way are reported.
        let (mut aborted, at) = (false, self.at);
        let mut predictor = std::mem::replace(&mut self.predictor, Predictor::new(self.grammar));
        let result = predictor.predict(decision, precedence, callers, |ahead| {
            self.look(ahead).unwrap_or_else(|_| {
                aborted = true;
                TokenKind::Eof
            })
        });
        self.predictor = predictor;
        if aborted {
            return Err(RuleFailure::Abort);
        }
        result.map_err(|NoViable(ahead)| {
            let offending = (at + ahead).min(self.visible.len().saturating_sub(1));
            RuleFailure::Exception(Exception::NoViable { start: at, offending })
        })
    }

    /// The stack of actual callers, for prediction.
    fn callers(&mut self) -> Stack {
        let mut stack = EMPTY_STACK;
        let mut from = 0;
        for (index, frame) in self.frames.iter().enumerate().rev() {
            if let Some(known) = frame.stack {
                (stack, from) = (known, index + 1);
                break;
            }
        }
        for frame in self.frames.iter_mut().skip(from) {
            if let Some(follow) = frame.invoking.and_then(|state| self.grammar.follow(state)) {
                stack = self.predictor.push(stack, follow);
            }
            frame.stack = Some(stack);
        }
        stack
    }

    fn alternatives(
        &mut self,
        state: StateId,
        choice: Choice,
        alternatives: &'static [Vec<RuleElement>],
    ) -> Result<(), RuleFailure> {
        self.state = state;
        self.sync()?;
        let alternative = match choice {
            Choice::Lookahead => self.predict(state)?,
            Choice::OneToken => {
                let kind = self.look(0)?;
                let fits = |parts: &Vec<RuleElement>| matches!(parts.first(), Some(RuleElement::Token { set, .. }) if set.has(kind.bit()));
                let Some(index) = alternatives.iter().position(fits) else {
                    return Err(RuleFailure::Exception(Exception::NoViable { start: self.at, offending: self.at }));
                };
                index as u8 + 1
            }
        };
        if let Some(node) = self.node() {
            node.alternative = alternative;
        }
        match alternatives.get(usize::from(alternative).wrapping_sub(1)) {
            Some(parts) => self.parts(parts),
            None => Ok(()),
        }
    }

    fn left_recursive(
        &mut self,
        prefix: &'static [RuleElement],
        (entry, block, back): (StateId, StateId, StateId),
        suffixes: &'static [Suffix],
        start: i32,
    ) -> Result<(), RuleFailure> {
        if let Some(node) = self.node() {
            node.alternative = 1;
        }
        self.parts(prefix)?;
        self.state = entry;
        self.sync()?;
        while self.predict(entry)? == 1 {
            let which = if suffixes.len() > 1 {
                self.state = block;
                self.sync()?;
                self.predict(block)?
            } else {
                1
            };
            let Some(suffix) = suffixes.get(usize::from(which).wrapping_sub(1)) else { return Err(RuleFailure::Abort) };
            // The node parsed so far becomes the first child of a new node.
            let frame = self.frames.last_mut().ok_or(RuleFailure::Abort)?;
            let previous = std::mem::replace(&mut frame.node, self.nodes.len());
            let rule = self.nodes.get(previous).map_or(GrammarRule::Member, |node| node.rule);
            let children = vec![previous];
            self.nodes.push(ParseTreeNode { rule, alternative: which + 1, start, children, labels: Vec::new() });
            self.state = suffix.state;
            if suffix.precedence < self.precedences.last().copied().unwrap_or(0) {
                return Err(RuleFailure::Abort);
            }
            self.parts(&suffix.parts)?;
            self.state = back;
            self.sync()?;
        }
        Ok(())
    }
}

fn word(token: Token) -> Word {
    Word { kind: token.kind, offset: token.offset as i32, span: Some((token.start as usize, token.end as usize)) }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
}
