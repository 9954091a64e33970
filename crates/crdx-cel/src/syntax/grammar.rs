//! CEL's grammar as data, used to parse sources with syntax errors: the rules, and their state network (ATN) in the
//! layout of ANTLR, which generates cel-go's parser. The tokens that an error message lists as expected depend on these
//! states.

use super::ParserVersion;
use super::kind_set::KindSet;
use super::token::Kind;
use std::sync::OnceLock;

/// A rule of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum Rule {
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
pub(super) enum Part {
    /// One token out of a set.
    Token { state: StateId, set: KindSet, label: Label },
    /// A call of another rule.
    Rule { state: StateId, rule: Rule, precedence: u32, label: Label },
    /// `(…)?`
    Optional { state: StateId, body: StateId, choice: Choice, parts: Vec<Part> },
    /// `(…)*`
    Star { entry: StateId, body: StateId, back: StateId, choice: Choice, parts: Vec<Part> },
    /// `(…)+`
    Plus { state: StateId, back: StateId, choice: Choice, parts: Vec<Part> },
}

/// A suffix of a left-recursive rule: `rule op rule`.
#[derive(Clone, Debug)]
pub(super) struct Suffix {
    /// The suffix applies if the rule was called with at most this precedence.
    pub precedence: u32,
    /// The state before the suffix.
    pub state: StateId,
    /// The parts of the suffix.
    pub parts: Vec<Part>,
}

/// The body of a rule.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// A sequence of parts.
    Sequence(Vec<Part>),
    /// Alternatives, numbered from 1.
    Alternatives { state: StateId, choice: Choice, alternatives: Vec<Vec<Part>> },
    /// A prefix followed by any number of suffixes.
    LeftRecursive { prefix: Vec<Part>, entry: StateId, block: StateId, back: StateId, suffixes: Vec<Suffix> },
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
    Call { rule: Rule, follow: StateId },
    /// A transition that consumes no token, allowed if the rule was called with at most this precedence.
    Precedence(u32, StateId),
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub kind: StateKind,
    pub rule: Rule,
    pub edges: Vec<Edge>,
    /// True if the state decides whether a left-recursive rule continues.
    pub precedence_choice: bool,
    /// The tokens that can come next within the rule.
    pub next: KindSet,
}

#[derive(Debug)]
pub(super) struct Grammar {
    pub states: Vec<State>,
    pub bodies: Vec<Body>,
    start: [StateId; RULES],
    stop: [StateId; RULES],
}

enum Spec {
    T(KindSet, Label),
    R(Rule, u32, Label),
    Opt(Choice, Vec<Spec>),
    Star(Choice, Vec<Spec>),
    Plus(Choice, Vec<Spec>),
}

use Choice::{Lookahead, OneToken};
use Spec::{Opt, Plus, R, Star, T};

const fn k(kind: Kind) -> KindSet {
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

const ALL_RULES: [Rule; RULES] = [
    Rule::Start,
    Rule::Expr,
    Rule::ConditionalOr,
    Rule::ConditionalAnd,
    Rule::Relation,
    Rule::Calc,
    Rule::Unary,
    Rule::Member,
    Rule::Primary,
    Rule::ExprList,
    Rule::ListInit,
    Rule::FieldInitializerList,
    Rule::OptField,
    Rule::MapInitializerList,
    Rule::EscapeIdent,
    Rule::OptExpr,
    Rule::Literal,
];

fn lay_out(has_backquotes: bool) -> Grammar {
    let mut layout = Layout {
        has_backquotes,
        states: Vec::new(),
        calls: Vec::new(),
        rule: Rule::Start,
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
        let outermost = precedence == 0 && matches!(rule, Rule::Relation | Rule::Calc | Rule::Member);
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
    pub fn start(&self, rule: Rule) -> StateId {
        self.start.get(rule as usize).copied().unwrap_or_default()
    }

    /// The last state of a rule.
    pub fn stop(&self, rule: Rule) -> StateId {
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

    /// The kind of a state.
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
    states: Vec<State>,
    /// The calls of rules with their precedence.
    calls: Vec<(StateId, Rule, u32)>,
    rule: Rule,
    start: [StateId; RULES],
    stop: [StateId; RULES],
}

impl Layout {
    fn state(&mut self, kind: StateKind) -> StateId {
        let state = State { kind, rule: self.rule, edges: Vec::new(), precedence_choice: false, next: KindSet::EMPTY };
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
            while let Some(State { kind: StateKind::Plain, edges, .. }) = self.states.get(target as usize)
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
    fn sequence(&mut self, specs: Vec<Spec>) -> (StateId, StateId, Vec<Part>) {
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

    fn part(&mut self, spec: Spec) -> (Part, StateId, StateId) {
        match spec {
            T(set, label) => {
                let (state, end) = (self.state(StateKind::Plain), self.state(StateKind::Plain));
                self.edge(state, Edge::Token(set, end));
                (Part::Token { state, set, label }, state, end)
            }
            R(rule, precedence, label) => {
                let (state, end) = (self.state(StateKind::Plain), self.state(StateKind::Plain));
                self.edge(state, Edge::Call { rule, follow: end });
                self.calls.push((state, rule, precedence));
                (Part::Rule { state, rule, precedence, label }, state, end)
            }
            Opt(choice, specs) => {
                let (state, end) = (self.state(StateKind::BlockStart), self.state(StateKind::Plain));
                let (body, last, parts) = self.sequence(specs);
                self.free(state, body);
                self.free(state, end);
                self.free(last, end);
                (Part::Optional { state, body, choice, parts }, state, end)
            }
            Star(choice, specs) => {
                let (entry, back) = (self.state(StateKind::LoopEntry), self.state(StateKind::LoopBack));
                let end = self.state(StateKind::Plain);
                let (body, last, parts) = self.sequence(specs);
                self.free(entry, body);
                self.free(entry, end);
                self.free(last, back);
                self.free(back, entry);
                (Part::Star { entry, body, back, choice, parts }, entry, end)
            }
            Plus(choice, specs) => {
                let (state, back) = (self.state(StateKind::BlockStart), self.state(StateKind::LoopBack));
                let end = self.state(StateKind::Plain);
                let (body, last, parts) = self.sequence(specs);
                self.free(state, body);
                self.free(last, back);
                self.free(back, state);
                self.free(back, end);
                (Part::Plus { state, back, choice, parts }, state, end)
            }
        }
    }

    fn body(&mut self, rule: Rule) -> Body {
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

/// The parts of a rule. Without backquotes, a field is named by a token instead of the rule [`Rule::EscapeIdent`], and
/// identifiers and calls of global functions are one alternative.
fn rule_spec(rule: Rule, has_backquotes: bool) -> RuleSpec {
    use Kind as K;
    let t = |kind: Kind, label: Label| T(k(kind), label);
    let plain = |kind: Kind| T(k(kind), Label::None);
    let maybe = |kind: Kind, label: Label| Opt(OneToken, vec![T(k(kind), label)]);
    let one = |spec: Spec| vec![spec];
    let field = || if has_backquotes { R(Rule::EscapeIdent, 0, Label::Id) } else { t(K::Identifier, Label::Id) };
    let chain = |of: Rule, precedence: u32, operator: Kind| {
        RuleSpec::Sequence(vec![
            R(of, precedence, Label::Operand),
            Star(OneToken, vec![T(k(operator), Label::Op), R(of, precedence, Label::Second)]),
        ])
    };
    let comma_list = |choice: Choice, of: Rule, label: Label| {
        RuleSpec::Sequence(vec![R(of, 0, label), Star(choice, vec![T(k(K::Comma), Label::None), R(of, 0, label)])])
    };
    let pairs = |key: Rule| {
        let pair = || vec![R(key, 0, Label::Key), T(k(K::Colon), Label::Colon), R(Rule::Expr, 0, Label::Value)];
        let more = std::iter::once(T(k(K::Comma), Label::None)).chain(pair()).collect();
        RuleSpec::Sequence(pair().into_iter().chain([Star(Lookahead, more)]).collect())
    };
    match rule {
        Rule::Start => RuleSpec::Sequence(vec![R(Rule::Expr, 0, Label::Operand), plain(K::Eof)]),
        Rule::Expr => RuleSpec::Sequence(vec![
            R(Rule::ConditionalOr, 0, Label::Operand),
            Opt(
                OneToken,
                vec![
                    t(K::QuestionMark, Label::Op),
                    R(Rule::ConditionalOr, 0, Label::Second),
                    plain(K::Colon),
                    R(Rule::Expr, 0, Label::Third),
                ],
            ),
        ]),
        Rule::ConditionalOr => chain(Rule::ConditionalAnd, 0, K::Or),
        Rule::ConditionalAnd => chain(Rule::Relation, 0, K::And),
        Rule::Relation => {
            let operators = [K::Equals, K::NotEquals, K::In, K::Less, K::LessEquals, K::GreaterEquals, K::Greater];
            let set = operators.into_iter().fold(KindSet::EMPTY, |set, kind| set.union(k(kind)));
            RuleSpec::LeftRecursive(
                one(R(Rule::Calc, 0, Label::None)),
                vec![(1, vec![T(set, Label::Op), R(Rule::Relation, 2, Label::None)])],
            )
        }
        Rule::Calc => {
            let strong = k(K::Star).union(k(K::Slash)).union(k(K::Percent));
            let weak = k(K::Plus).union(k(K::Minus));
            RuleSpec::LeftRecursive(
                one(R(Rule::Unary, 0, Label::None)),
                vec![
                    (2, vec![T(strong, Label::Op), R(Rule::Calc, 3, Label::None)]),
                    (1, vec![T(weak, Label::Op), R(Rule::Calc, 2, Label::None)]),
                ],
            )
        }
        Rule::Unary => RuleSpec::Alternatives(
            Lookahead,
            vec![
                one(R(Rule::Member, 0, Label::None)),
                vec![Plus(OneToken, one(t(K::Exclamation, Label::Op))), R(Rule::Member, 0, Label::None)],
                vec![Plus(Lookahead, one(t(K::Minus, Label::Op))), R(Rule::Member, 0, Label::None)],
            ],
        ),
        Rule::Member => RuleSpec::LeftRecursive(
            one(R(Rule::Primary, 0, Label::None)),
            vec![
                (3, vec![t(K::Dot, Label::Op), maybe(K::QuestionMark, Label::Opt), field()]),
                (
                    2,
                    vec![
                        t(K::Dot, Label::Op),
                        t(K::Identifier, Label::Id),
                        t(K::LeftParen, Label::Open),
                        Opt(OneToken, one(R(Rule::ExprList, 0, Label::Args))),
                        plain(K::RightParen),
                    ],
                ),
                (
                    1,
                    vec![
                        t(K::LeftBracket, Label::Op),
                        maybe(K::QuestionMark, Label::Opt),
                        R(Rule::Expr, 0, Label::Index),
                        plain(K::RightBracket),
                    ],
                ),
            ],
        ),
        Rule::Primary => {
            let name = || vec![maybe(K::Dot, Label::LeadingDot), t(K::Identifier, Label::Id)];
            let call = vec![
                t(K::LeftParen, Label::Op),
                Opt(OneToken, one(R(Rule::ExprList, 0, Label::Args))),
                plain(K::RightParen),
            ];
            let identifier_or_call = if has_backquotes {
                vec![name(), name().into_iter().chain(call).collect()]
            } else {
                vec![name().into_iter().chain([Opt(OneToken, call)]).collect()]
            };
            let others = vec![
                vec![plain(K::LeftParen), R(Rule::Expr, 0, Label::Operand), plain(K::RightParen)],
                vec![
                    t(K::LeftBracket, Label::Op),
                    Opt(OneToken, one(R(Rule::ListInit, 0, Label::Elements))),
                    maybe(K::Comma, Label::None),
                    plain(K::RightBracket),
                ],
                vec![
                    t(K::LeftBrace, Label::Op),
                    Opt(OneToken, one(R(Rule::MapInitializerList, 0, Label::Elements))),
                    maybe(K::Comma, Label::None),
                    plain(K::RightBrace),
                ],
                vec![
                    maybe(K::Dot, Label::LeadingDot),
                    t(K::Identifier, Label::Id),
                    Star(OneToken, vec![plain(K::Dot), t(K::Identifier, Label::Id)]),
                    t(K::LeftBrace, Label::Op),
                    Opt(OneToken, one(R(Rule::FieldInitializerList, 0, Label::Elements))),
                    maybe(K::Comma, Label::None),
                    plain(K::RightBrace),
                ],
                one(R(Rule::Literal, 0, Label::None)),
            ];
            RuleSpec::Alternatives(Lookahead, identifier_or_call.into_iter().chain(others).collect())
        }
        Rule::ExprList => comma_list(OneToken, Rule::Expr, Label::Elements),
        Rule::ListInit => comma_list(Lookahead, Rule::OptExpr, Label::Elements),
        Rule::FieldInitializerList => pairs(Rule::OptField),
        Rule::MapInitializerList => pairs(Rule::OptExpr),
        Rule::OptField => RuleSpec::Sequence(vec![maybe(K::QuestionMark, Label::Opt), field()]),
        Rule::EscapeIdent => RuleSpec::Alternatives(
            OneToken,
            vec![one(t(K::Identifier, Label::Id)), one(t(K::EscapedIdentifier, Label::Id))],
        ),
        Rule::OptExpr => RuleSpec::Sequence(vec![maybe(K::QuestionMark, Label::Opt), R(Rule::Expr, 0, Label::Operand)]),
        Rule::Literal => RuleSpec::Alternatives(
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
