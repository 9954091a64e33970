//! CEL's grammar as data, used to parse sources with syntax errors: the rules, and their state network (ATN) in the
//! layout of ANTLR, which generates cel-go's parser. The tokens that an error message lists as expected depend on these
//! states.

use super::ParserVersion;
use super::kind_set::KindSet;
use super::token::TokenKind;
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum GrammarRule {
    Start,
    Expr,
    ConditionalOr,
    ConditionalAnd,
    Relation,
    Calc,
    Unary,
    Member,
    Primary,
    ExprList,
    ListInit,
    FieldInitializerList,
    OptField,
    MapInitializerList,
    EscapeIdent,
    OptExpr,
    Literal,
}

/// The number of rules.
pub(super) const RULES: usize = 17;

/// The label of a part of a rule in the syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    None,
    Operand,
    Op,
    Second,
    Third,
    Opt,
    Id,
    Open,
    Args,
    Index,
    LeadingDot,
    Elements,
    Key,
    Colon,
    Value,
    Sign,
    Token,
}

/// The method by which the parser decides to enter or skip an optional part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// By the next token.
    OneToken,
    /// By adaptive prediction with any number of tokens.
    Lookahead,
}

/// The index of a state.
pub(super) type StateId = u16;

/// A part of a rule.
#[derive(Clone, Debug)]
pub(super) enum RuleElement {
    /// One token out of a set.
    Token { state: StateId, set: KindSet, label: Label },
    /// A call of another rule.
    Rule { state: StateId, rule: GrammarRule, precedence: u32, label: Label },
    /// `(…)?`
    Optional { state: StateId, body: StateId, choice: Choice, parts: Vec<RuleElement> },
    /// `(…)*`
    Star { entry: StateId, body: StateId, back: StateId, choice: Choice, parts: Vec<RuleElement> },
    /// `(…)+`
    Plus { state: StateId, back: StateId, choice: Choice, parts: Vec<RuleElement> },
}

/// A suffix of a left-recursive rule: `rule op rule`.
#[derive(Clone, Debug)]
pub(super) struct Suffix {
    /// The suffix applies if the rule was called with at most this precedence.
    pub precedence: u32,
    /// The state before the suffix.
    pub state: StateId,
    /// The parts of the suffix.
    pub parts: Vec<RuleElement>,
}

/// The body of a rule.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// A sequence of parts.
    Sequence(Vec<RuleElement>),
    /// Alternatives, numbered from 1.
    Alternatives { state: StateId, choice: Choice, alternatives: Vec<Vec<RuleElement>> },
    /// A prefix followed by any number of suffixes.
    LeftRecursive { prefix: Vec<RuleElement>, entry: StateId, block: StateId, back: StateId, suffixes: Vec<Suffix> },
}

/// The kind of a state, which determines how the parser resynchronizes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateKind {
    Plain,
    RuleStop,
    BlockStart,
    LoopEntry,
    LoopBack,
}

/// A transition between states.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    /// A transition that consumes no token (epsilon).
    Free(StateId),
    /// A return from a rule to one of its callers; `outermost` is true if the call was one of a left-recursive rule
    /// with precedence 0.
    Return { to: StateId, outermost: bool },
    /// Consumes one token of the set.
    Token(KindSet, StateId),
    /// Calls a rule; parsing continues at `follow` when the rule ends.
    Call { rule: GrammarRule, follow: StateId },
    /// A transition that consumes no token, allowed if the rule was called with at most this precedence.
    Precedence(u32, StateId),
}

#[derive(Clone, Debug)]
pub(super) struct AtnState {
    pub kind: StateKind,
    pub rule: GrammarRule,
    pub edges: Vec<Edge>,
    /// True if the state decides whether a left-recursive rule continues.
    pub precedence_choice: bool,
    /// The tokens that can come next within the rule.
    pub next: KindSet,
}

#[derive(Debug)]
pub(super) struct Grammar {
    pub states: Vec<AtnState>,
    pub bodies: Vec<Body>,
    start: [StateId; RULES],
    stop: [StateId; RULES],
}

enum Spec {
    T(KindSet, Label),
    R(GrammarRule, u32, Label),
    Opt(Choice, Vec<Spec>),
    Star(Choice, Vec<Spec>),
    Plus(Choice, Vec<Spec>),
}

use Choice::{Lookahead, OneToken};
use Spec::{Opt, Plus, R, Star, T};

const fn k(kind: TokenKind) -> KindSet {
    kind.bit()
}

/// The grammar of a version, built on first use.
pub(super) fn grammar(version: ParserVersion) -> &'static Grammar {
    static WITHOUT_BACKQUOTES: OnceLock<Grammar> = OnceLock::new();
    static WITH_BACKQUOTES: OnceLock<Grammar> = OnceLock::new();
    let has_backquotes = version.has_backquotes();
    let grammar = if has_backquotes { &WITH_BACKQUOTES } else { &WITHOUT_BACKQUOTES };
    grammar.get_or_init(|| lay_out(has_backquotes))
}

const ALL_RULES: [GrammarRule; RULES] = [
    GrammarRule::Start,
    GrammarRule::Expr,
    GrammarRule::ConditionalOr,
    GrammarRule::ConditionalAnd,
    GrammarRule::Relation,
    GrammarRule::Calc,
    GrammarRule::Unary,
    GrammarRule::Member,
    GrammarRule::Primary,
    GrammarRule::ExprList,
    GrammarRule::ListInit,
    GrammarRule::FieldInitializerList,
    GrammarRule::OptField,
    GrammarRule::MapInitializerList,
    GrammarRule::EscapeIdent,
    GrammarRule::OptExpr,
    GrammarRule::Literal,
];

fn lay_out(has_backquotes: bool) -> Grammar {
    let mut layout = Layout {
        has_backquotes,
        states: Vec::new(),
        calls: Vec::new(),
        rule: GrammarRule::Start,
        start: [0; RULES],
        stop: [0; RULES],
    };
    for (index, rule) in ALL_RULES.into_iter().enumerate() {
        layout.rule = rule;
        let (start, stop) = (layout.state(StateKind::Plain), layout.state(StateKind::RuleStop));
        if let (Some(s), Some(e)) = (layout.start.get_mut(index), layout.stop.get_mut(index)) {
            (*s, *e) = (start, stop);
        }
    }
    let bodies = ALL_RULES.into_iter().map(|rule| layout.body(rule)).collect();
    layout.shorten();
    let calls = std::mem::take(&mut layout.calls);
    for (state, rule, precedence) in calls {
        let Some(follow) = layout.target(state) else { continue };
        let outermost =
            precedence == 0 && matches!(rule, GrammarRule::Relation | GrammarRule::Calc | GrammarRule::Member);
        let stop = layout.stop.get(rule as usize).copied().unwrap_or_default();
        layout.edge(stop, Edge::Return { to: follow, outermost });
    }
    let mut grammar = Grammar { states: layout.states, bodies, start: layout.start, stop: layout.stop };
    for state in 0..grammar.states.len() as StateId {
        let next = grammar.tokens_from(state);
        if let Some(state) = grammar.states.get_mut(state as usize) {
            state.next = next;
        }
    }
    grammar
}

impl Grammar {
    /// The first state of a rule.
    pub fn start(&self, rule: GrammarRule) -> StateId {
        self.start.get(rule as usize).copied().unwrap_or_default()
    }

    /// The last state of a rule.
    pub fn stop(&self, rule: GrammarRule) -> StateId {
        self.stop.get(rule as usize).copied().unwrap_or_default()
    }

    /// The transitions out of a state.
    pub fn edges(&self, state: StateId) -> &[Edge] {
        self.states.get(state as usize).map_or(&[], |state| state.edges.as_slice())
    }

    /// The tokens that can come next within the rule, and [`KindSet::END_OF_RULE`] if the rule may end.
    pub fn next(&self, state: StateId) -> KindSet {
        self.states.get(state as usize).map_or(KindSet::EMPTY, |state| state.next)
    }

    pub fn kind(&self, state: StateId) -> StateKind {
        self.states.get(state as usize).map_or(StateKind::Plain, |state| state.kind)
    }

    /// The state in which the parser continues after a call from this state.
    pub fn follow(&self, state: StateId) -> Option<StateId> {
        self.edges(state).iter().find_map(|edge| match edge {
            Edge::Call { follow, .. } => Some(*follow),
            _ => None,
        })
    }

    fn tokens_from(&self, state: StateId) -> KindSet {
        let mut found = KindSet::EMPTY;
        let mut seen = vec![false; self.states.len()];
        let mut todo = vec![(state, false)];
        while let Some((state, inner)) = todo.pop() {
            match seen.get_mut(state as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            if self.kind(state) == StateKind::RuleStop {
                // No rule matches the empty input, so only the rule that contains the state can end.
                if !inner {
                    found = found.union(KindSet::END_OF_RULE);
                }
                continue;
            }
            for edge in self.edges(state) {
                match *edge {
                    Edge::Free(to) | Edge::Precedence(_, to) | Edge::Return { to, .. } => todo.push((to, inner)),
                    Edge::Token(set, _) => found = found.union(set),
                    Edge::Call { rule, .. } => todo.push((self.start(rule), true)),
                }
            }
        }
        found
    }
}

struct Layout {
    has_backquotes: bool,
    states: Vec<AtnState>,
    /// The calls of rules with their precedence.
    calls: Vec<(StateId, GrammarRule, u32)>,
    rule: GrammarRule,
    start: [StateId; RULES],
    stop: [StateId; RULES],
}

impl Layout {
    fn state(&mut self, kind: StateKind) -> StateId {
        let state =
            AtnState { kind, rule: self.rule, edges: Vec::new(), precedence_choice: false, next: KindSet::EMPTY };
        self.states.push(state);
        (self.states.len() - 1) as StateId
    }

    fn edge(&mut self, from: StateId, edge: Edge) {
        if let Some(state) = self.states.get_mut(from as usize) {
            state.edges.push(edge);
        }
    }

    fn free(&mut self, from: StateId, to: StateId) {
        self.edge(from, Edge::Free(to));
    }

    /// The state after the token or call of a state.
    fn target(&self, state: StateId) -> Option<StateId> {
        self.states.get(state as usize)?.edges.iter().find_map(|edge| match edge {
            Edge::Token(_, to) | Edge::Call { follow: to, .. } => Some(*to),
            _ => None,
        })
    }

    /// Redirects tokens and calls past states that have only one epsilon transition, except at the end of a rule.
    /// Prediction identifies callers by the state in which they continue, so this determines whether two alternatives
    /// have the same configuration.
    fn shorten(&mut self) {
        for state in 0..self.states.len() as StateId {
            let Some(mut target) = self.target(state) else { continue };
            while let Some(AtnState { kind: StateKind::Plain, edges, .. }) = self.states.get(target as usize)
                && let [Edge::Free(next)] = edges.as_slice()
                && self.states.get(*next as usize).is_some_and(|next| next.kind != StateKind::RuleStop)
            {
                target = *next;
            }
            for edge in self.states.get_mut(state as usize).into_iter().flat_map(|state| &mut state.edges) {
                if let Edge::Token(_, to) | Edge::Call { follow: to, .. } = edge {
                    *to = target;
                }
            }
        }
    }

    /// Adds parts in sequence; returns the state before the first part and the state after the last.
    fn sequence(&mut self, specs: Vec<Spec>) -> (StateId, StateId, Vec<RuleElement>) {
        let first = self.state(StateKind::Plain);
        let mut last = first;
        let mut parts = Vec::with_capacity(specs.len());
        for spec in specs {
            let (part, begin, end) = self.part(spec);
            self.free(last, begin);
            last = end;
            parts.push(part);
        }
        (first, last, parts)
    }

    fn part(&mut self, spec: Spec) -> (RuleElement, StateId, StateId) {
        match spec {
            T(set, label) => {
                let (state, end) = (self.state(StateKind::Plain), self.state(StateKind::Plain));
                self.edge(state, Edge::Token(set, end));
                (RuleElement::Token { state, set, label }, state, end)
            }
            R(rule, precedence, label) => {
                let (state, end) = (self.state(StateKind::Plain), self.state(StateKind::Plain));
                self.edge(state, Edge::Call { rule, follow: end });
                self.calls.push((state, rule, precedence));
                (RuleElement::Rule { state, rule, precedence, label }, state, end)
            }
            Opt(choice, specs) => {
                let (state, end) = (self.state(StateKind::BlockStart), self.state(StateKind::Plain));
                let (body, last, parts) = self.sequence(specs);
                self.free(state, body);
                self.free(state, end);
                self.free(last, end);
                (RuleElement::Optional { state, body, choice, parts }, state, end)
            }
            Star(choice, specs) => {
                let (entry, back) = (self.state(StateKind::LoopEntry), self.state(StateKind::LoopBack));
                let end = self.state(StateKind::Plain);
                let (body, last, parts) = self.sequence(specs);
                self.free(entry, body);
                self.free(entry, end);
                self.free(last, back);
                self.free(back, entry);
                (RuleElement::Star { entry, body, back, choice, parts }, entry, end)
            }
            Plus(choice, specs) => {
                let (state, back) = (self.state(StateKind::BlockStart), self.state(StateKind::LoopBack));
                let end = self.state(StateKind::Plain);
                let (body, last, parts) = self.sequence(specs);
                self.free(state, body);
                self.free(last, back);
                self.free(back, state);
                self.free(back, end);
                (RuleElement::Plus { state, back, choice, parts }, state, end)
            }
        }
    }

    fn body(&mut self, rule: GrammarRule) -> Body {
        self.rule = rule;
        let start = self.start.get(rule as usize).copied().unwrap_or_default();
        let stop = self.stop.get(rule as usize).copied().unwrap_or_default();
        match rule_spec(rule, self.has_backquotes) {
            RuleSpec::Sequence(specs) => {
                let (first, last, parts) = self.sequence(specs);
                self.free(start, first);
                self.free(last, stop);
                Body::Sequence(parts)
            }
            RuleSpec::Alternatives(choice, specs) => {
                let (state, end) = (self.state(StateKind::BlockStart), self.state(StateKind::Plain));
                self.free(start, state);
                self.free(end, stop);
                let alternatives = specs
                    .into_iter()
                    .map(|specs| {
                        let (first, last, parts) = self.sequence(specs);
                        self.free(state, first);
                        self.free(last, end);
                        parts
                    })
                    .collect();
                Body::Alternatives { state, choice, alternatives }
            }
            RuleSpec::LeftRecursive(prefix, suffixes) => {
                let (entry, back) = (self.state(StateKind::LoopEntry), self.state(StateKind::LoopBack));
                let (block, end) = (self.state(StateKind::BlockStart), self.state(StateKind::Plain));
                if let Some(entry) = self.states.get_mut(entry as usize) {
                    entry.precedence_choice = true;
                }
                let (first, last, prefix) = self.sequence(prefix);
                self.free(start, first);
                self.free(last, entry);
                self.free(entry, block);
                self.free(entry, end);
                self.free(end, stop);
                self.free(back, entry);
                let suffixes = suffixes
                    .into_iter()
                    .map(|(precedence, specs)| {
                        let state = self.state(StateKind::Plain);
                        let (first, last, parts) = self.sequence(specs);
                        self.free(block, state);
                        self.edge(state, Edge::Precedence(precedence, first));
                        self.free(last, back);
                        Suffix { precedence, state, parts }
                    })
                    .collect();
                Body::LeftRecursive { prefix, entry, block, back, suffixes }
            }
        }
    }
}

enum RuleSpec {
    Sequence(Vec<Spec>),
    Alternatives(Choice, Vec<Vec<Spec>>),
    LeftRecursive(Vec<Spec>, Vec<(u32, Vec<Spec>)>),
}

/// The parts of a rule. Without backquotes, a field is named by a token instead of the rule [`GrammarRule::EscapeIdent`], and
/// identifiers and calls of global functions are one alternative.
fn rule_spec(rule: GrammarRule, has_backquotes: bool) -> RuleSpec {
    use TokenKind as K;
    let t = |kind: TokenKind, label: Label| T(k(kind), label);
    let plain = |kind: TokenKind| T(k(kind), Label::None);
    let maybe = |kind: TokenKind, label: Label| Opt(OneToken, vec![T(k(kind), label)]);
    let one = |spec: Spec| vec![spec];
    let field = || if has_backquotes { R(GrammarRule::EscapeIdent, 0, Label::Id) } else { t(K::Identifier, Label::Id) };
    let chain = |of: GrammarRule, precedence: u32, operator: TokenKind| {
        RuleSpec::Sequence(vec![
            R(of, precedence, Label::Operand),
            Star(OneToken, vec![T(k(operator), Label::Op), R(of, precedence, Label::Second)]),
        ])
    };
    let comma_list = |choice: Choice, of: GrammarRule, label: Label| {
        RuleSpec::Sequence(vec![R(of, 0, label), Star(choice, vec![T(k(K::Comma), Label::None), R(of, 0, label)])])
    };
    let pairs = |key: GrammarRule| {
        let pair = || vec![R(key, 0, Label::Key), T(k(K::Colon), Label::Colon), R(GrammarRule::Expr, 0, Label::Value)];
        let more = std::iter::once(T(k(K::Comma), Label::None)).chain(pair()).collect();
        RuleSpec::Sequence(pair().into_iter().chain([Star(Lookahead, more)]).collect())
    };
    match rule {
        GrammarRule::Start => RuleSpec::Sequence(vec![R(GrammarRule::Expr, 0, Label::Operand), plain(K::Eof)]),
        GrammarRule::Expr => RuleSpec::Sequence(vec![
            R(GrammarRule::ConditionalOr, 0, Label::Operand),
            Opt(
                OneToken,
                vec![
                    t(K::QuestionMark, Label::Op),
                    R(GrammarRule::ConditionalOr, 0, Label::Second),
                    plain(K::Colon),
                    R(GrammarRule::Expr, 0, Label::Third),
                ],
            ),
        ]),
        GrammarRule::ConditionalOr => chain(GrammarRule::ConditionalAnd, 0, K::Or),
        GrammarRule::ConditionalAnd => chain(GrammarRule::Relation, 0, K::And),
        GrammarRule::Relation => {
            let operators = [K::Equals, K::NotEquals, K::In, K::Less, K::LessEquals, K::GreaterEquals, K::Greater];
            let set = operators.into_iter().fold(KindSet::EMPTY, |set, kind| set.union(k(kind)));
            RuleSpec::LeftRecursive(
                one(R(GrammarRule::Calc, 0, Label::None)),
                vec![(1, vec![T(set, Label::Op), R(GrammarRule::Relation, 2, Label::None)])],
            )
        }
        GrammarRule::Calc => {
            let strong = k(K::Star).union(k(K::Slash)).union(k(K::Percent));
            let weak = k(K::Plus).union(k(K::Minus));
            RuleSpec::LeftRecursive(
                one(R(GrammarRule::Unary, 0, Label::None)),
                vec![
                    (2, vec![T(strong, Label::Op), R(GrammarRule::Calc, 3, Label::None)]),
                    (1, vec![T(weak, Label::Op), R(GrammarRule::Calc, 2, Label::None)]),
                ],
            )
        }
        GrammarRule::Unary => RuleSpec::Alternatives(
            Lookahead,
            vec![
                one(R(GrammarRule::Member, 0, Label::None)),
                vec![Plus(OneToken, one(t(K::Exclamation, Label::Op))), R(GrammarRule::Member, 0, Label::None)],
                vec![Plus(Lookahead, one(t(K::Minus, Label::Op))), R(GrammarRule::Member, 0, Label::None)],
            ],
        ),
        GrammarRule::Member => RuleSpec::LeftRecursive(
            one(R(GrammarRule::Primary, 0, Label::None)),
            vec![
                (3, vec![t(K::Dot, Label::Op), maybe(K::QuestionMark, Label::Opt), field()]),
                (
                    2,
                    vec![
                        t(K::Dot, Label::Op),
                        t(K::Identifier, Label::Id),
                        t(K::LeftParen, Label::Open),
                        Opt(OneToken, one(R(GrammarRule::ExprList, 0, Label::Args))),
                        plain(K::RightParen),
                    ],
                ),
                (
                    1,
                    vec![
                        t(K::LeftBracket, Label::Op),
                        maybe(K::QuestionMark, Label::Opt),
                        R(GrammarRule::Expr, 0, Label::Index),
                        plain(K::RightBracket),
                    ],
                ),
            ],
        ),
        GrammarRule::Primary => {
            let name = || vec![maybe(K::Dot, Label::LeadingDot), t(K::Identifier, Label::Id)];
            let call = vec![
                t(K::LeftParen, Label::Op),
                Opt(OneToken, one(R(GrammarRule::ExprList, 0, Label::Args))),
                plain(K::RightParen),
            ];
            let identifier_or_call = if has_backquotes {
                vec![name(), name().into_iter().chain(call).collect()]
            } else {
                vec![name().into_iter().chain([Opt(OneToken, call)]).collect()]
            };
            let others = vec![
                vec![plain(K::LeftParen), R(GrammarRule::Expr, 0, Label::Operand), plain(K::RightParen)],
                vec![
                    t(K::LeftBracket, Label::Op),
                    Opt(OneToken, one(R(GrammarRule::ListInit, 0, Label::Elements))),
                    maybe(K::Comma, Label::None),
                    plain(K::RightBracket),
                ],
                vec![
                    t(K::LeftBrace, Label::Op),
                    Opt(OneToken, one(R(GrammarRule::MapInitializerList, 0, Label::Elements))),
                    maybe(K::Comma, Label::None),
                    plain(K::RightBrace),
                ],
                vec![
                    maybe(K::Dot, Label::LeadingDot),
                    t(K::Identifier, Label::Id),
                    Star(OneToken, vec![plain(K::Dot), t(K::Identifier, Label::Id)]),
                    t(K::LeftBrace, Label::Op),
                    Opt(OneToken, one(R(GrammarRule::FieldInitializerList, 0, Label::Elements))),
                    maybe(K::Comma, Label::None),
                    plain(K::RightBrace),
                ],
                one(R(GrammarRule::Literal, 0, Label::None)),
            ];
            RuleSpec::Alternatives(Lookahead, identifier_or_call.into_iter().chain(others).collect())
        }
        GrammarRule::ExprList => comma_list(OneToken, GrammarRule::Expr, Label::Elements),
        GrammarRule::ListInit => comma_list(Lookahead, GrammarRule::OptExpr, Label::Elements),
        GrammarRule::FieldInitializerList => pairs(GrammarRule::OptField),
        GrammarRule::MapInitializerList => pairs(GrammarRule::OptExpr),
        GrammarRule::OptField => RuleSpec::Sequence(vec![maybe(K::QuestionMark, Label::Opt), field()]),
        GrammarRule::EscapeIdent => RuleSpec::Alternatives(
            OneToken,
            vec![one(t(K::Identifier, Label::Id)), one(t(K::EscapedIdentifier, Label::Id))],
        ),
        GrammarRule::OptExpr => {
            RuleSpec::Sequence(vec![maybe(K::QuestionMark, Label::Opt), R(GrammarRule::Expr, 0, Label::Operand)])
        }
        GrammarRule::Literal => RuleSpec::Alternatives(
            Lookahead,
            vec![
                vec![maybe(K::Minus, Label::Sign), t(K::Int, Label::Token)],
                one(t(K::Uint, Label::Token)),
                vec![maybe(K::Minus, Label::Sign), t(K::Float, Label::Token)],
                one(t(K::String, Label::Token)),
                one(t(K::Bytes, Label::Token)),
                one(t(K::True, Label::Token)),
                one(t(K::False, Label::Token)),
                one(t(K::Null, Label::Token)),
            ],
        ),
    }
}
