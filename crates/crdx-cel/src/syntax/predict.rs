//! Chooses alternatives by adaptive prediction over the grammar's states (ALL(*)), like the generated parser.
//!
//! Prediction first ignores callers: a rule that ends may continue wherever any of its callers continues (SLL). Only if
//! this leaves two alternatives in the same state is prediction repeated with the actual callers (LL). The difference
//! determines which token a "no viable alternative" error names. SLL steps are cached for the whole parse.

use super::{
    grammar::{Edge, Grammar, StateId, StateKind},
    kind_set::KindSet,
    token::TokenKind,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A stack of callers, as a node of a graph in which equal stacks share one node.
pub(super) type Stack = u32;
/// The empty stack: the callers are unknown.
pub(super) const EMPTY_STACK: Stack = 0;
const UNKNOWN_CALLER: StateId = StateId::MAX;

/// A state that an alternative may have reached, with its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Config {
    state: StateId,
    alternative: u8,
    stack: Stack,
    /// True once the configuration has left the rule of the decision.
    outside: bool,
    /// True after a return from a left-recursive rule; precedence then does not exclude the configuration.
    exempt: bool,
}

/// Configurations by state and alternative; the stacks of equal configurations are merged.
type Configs = BTreeMap<(StateId, u8), Config>;

/// A cached prediction step.
#[derive(Clone, Copy, Debug)]
enum DfaEdge {
    Nowhere,
    To(usize),
}

#[derive(Debug)]
struct Known {
    configs: Configs,
    steps: HashMap<TokenKind, DfaEdge>,
    verdict: Prediction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prediction {
    Undecided,
    Decided(u8),
    NeedsCallers,
}

/// No alternative is viable; the error is at the token this far ahead.
pub(super) struct NoViable(pub usize);

/// Parameters of a closure computation.
#[derive(Clone, Copy)]
struct Mode {
    with_callers: bool,
    /// True at the start of a decision, where precedence applies.
    at_start: bool,
    precedence: u32,
    /// The left-recursive rule whose loop is being decided, if any.
    recursive: Option<super::grammar::GrammarRule>,
    at_end: bool,
}

/// Predicts alternatives and caches the steps.
pub(super) struct Predictor {
    grammar: &'static Grammar,
    stacks: Vec<Box<[(StateId, Stack)]>>,
    by_entries: HashMap<Box<[(StateId, Stack)]>, Stack>,
    merged: HashMap<(Stack, Stack, bool), Stack>,
    known: Vec<Known>,
    known_by_configs: HashMap<Vec<Config>, usize>,
    started: HashMap<(StateId, u32), usize>,
}

impl Predictor {
    pub fn new(grammar: &'static Grammar) -> Self {
        let unknown_caller: Box<[(StateId, Stack)]> = Box::new([(UNKNOWN_CALLER, EMPTY_STACK)]);
        Self {
            grammar,
            stacks: vec![unknown_caller.clone()],
            by_entries: HashMap::from([(unknown_caller, EMPTY_STACK)]),
            merged: HashMap::new(),
            known: Vec::new(),
            known_by_configs: HashMap::new(),
            started: HashMap::new(),
        }
    }

    /// Pushes a caller onto a stack.
    pub fn push(&mut self, stack: Stack, follow: StateId) -> Stack {
        self.intern(Box::new([(follow, stack)]))
    }

    fn intern(&mut self, entries: Box<[(StateId, Stack)]>) -> Stack {
        if let Some(&stack) = self.by_entries.get(&entries) {
            return stack;
        }
        let stack = self.stacks.len() as Stack;
        self.stacks.push(entries.clone());
        self.by_entries.insert(entries, stack);
        stack
    }

    fn entries(&self, stack: Stack) -> Box<[(StateId, Stack)]> {
        self.stacks.get(stack as usize).cloned().unwrap_or_default()
    }

    fn merge(&mut self, a: Stack, b: Stack, with_callers: bool) -> Stack {
        if a == b {
            return a;
        }
        if !with_callers && (a == EMPTY_STACK || b == EMPTY_STACK) {
            return EMPTY_STACK;
        }
        let key = (a.min(b), a.max(b), with_callers);
        if let Some(&merged) = self.merged.get(&key) {
            return merged;
        }
        let mut union: BTreeMap<StateId, Stack> = self.entries(a).iter().copied().collect();
        for (follow, below) in self.entries(b) {
            let below = match union.get(&follow) {
                Some(&other) if follow != UNKNOWN_CALLER => self.merge(other, below, with_callers),
                _ => below,
            };
            union.insert(follow, below);
        }
        let merged = self.intern(union.into_iter().collect());
        self.merged.insert(key, merged);
        merged
    }

    /// Chooses an alternative at `decision`; alternatives are the transitions of the state, numbered from 1.
    /// `precedence` is that of the current rule, `callers` is the actual stack, and `look` returns the kind of the n-th
    /// next token.
    pub(crate) fn predict(
        &mut self,
        decision: StateId,
        precedence: u32,
        callers: Stack,
        mut look: impl FnMut(usize) -> TokenKind,
    ) -> Result<u8, NoViable> {
        let state = self.grammar.states.get(decision as usize);
        let recursive = state.filter(|state| state.precedence_choice).map(|state| state.rule);
        let mut current = self.begin(decision, precedence, recursive);
        let mode = Mode { with_callers: false, at_start: false, precedence, recursive, at_end: false };
        let mut ahead = 0;
        loop {
            let kind = look(ahead);
            let known = self.known.get(current);
            let step = known.and_then(|known| known.steps.get(&kind).copied());
            let step = match step {
                Some(step) => step,
                None => self.learn(current, kind, mode),
            };
            let DfaEdge::To(next) = step else {
                let configs = self.known.get(current).map(|known| &known.configs);
                return configs.and_then(|configs| self.finished(configs)).ok_or(NoViable(ahead));
            };
            match self.known.get(next).map_or(Prediction::Undecided, |known| known.verdict) {
                Prediction::Decided(alternative) => return Ok(alternative),
                Prediction::NeedsCallers => return self.predict_with_callers(decision, precedence, callers, look),
                Prediction::Undecided => current = next,
            }
            if kind != TokenKind::Eof {
                ahead += 1;
            }
        }
    }

    fn begin(&mut self, decision: StateId, precedence: u32, recursive: Option<super::grammar::GrammarRule>) -> usize {
        let key = (decision, if recursive.is_some() { precedence } else { 0 });
        if let Some(&known) = self.started.get(&key) {
            return known;
        }
        let mode = Mode { with_callers: false, at_start: true, precedence, recursive, at_end: false };
        let mut configs = self.start(decision, EMPTY_STACK, mode);
        if recursive.is_some() {
            let stays: HashMap<StateId, Stack> =
                configs.values().filter(|config| config.alternative == 1).map(|c| (c.state, c.stack)).collect();
            configs.retain(|_, config| {
                config.alternative == 1 || config.exempt || stays.get(&config.state) != Some(&config.stack)
            });
        }
        let known = self.remember(configs, Prediction::Undecided);
        self.started.insert(key, known);
        known
    }

    fn remember(&mut self, configs: Configs, verdict: Prediction) -> usize {
        let key: Vec<Config> = configs.values().copied().collect();
        *self.known_by_configs.entry(key).or_insert_with(|| {
            self.known.push(Known { configs, steps: HashMap::new(), verdict });
            self.known.len() - 1
        })
    }

    fn learn(&mut self, current: usize, kind: TokenKind, mode: Mode) -> DfaEdge {
        let configs = self.known.get(current).map(|known| known.configs.clone()).unwrap_or_default();
        let reached = self.reach(&configs, kind, mode);
        let step = if reached.is_empty() {
            DfaEdge::Nowhere
        } else {
            let verdict = match only_alternative(&reached) {
                Some(alternative) => Prediction::Decided(alternative),
                None if self.conflicts(&reached) => Prediction::NeedsCallers,
                None => Prediction::Undecided,
            };
            DfaEdge::To(self.remember(reached, verdict))
        };
        if let Some(known) = self.known.get_mut(current) {
            known.steps.insert(kind, step);
        }
        step
    }

    fn predict_with_callers(
        &mut self,
        decision: StateId,
        precedence: u32,
        callers: Stack,
        mut look: impl FnMut(usize) -> TokenKind,
    ) -> Result<u8, NoViable> {
        let recursive = None;
        let start = Mode { with_callers: true, at_start: true, precedence, recursive, at_end: false };
        let mut configs = self.start(decision, callers, start);
        let mut ahead = 0;
        loop {
            let kind = look(ahead);
            let reached = self.reach(&configs, kind, Mode { at_start: false, ..start });
            if reached.is_empty() {
                return self.finished(&configs).ok_or(NoViable(ahead));
            }
            if let Some(alternative) = only_alternative(&reached) {
                return Ok(alternative);
            }
            let mut least = by_place(&reached).into_values().filter_map(|alternatives| alternatives.first().copied());
            if let Some(first) = least.next()
                && least.all(|other| other == first)
            {
                return Ok(first);
            }
            configs = reached;
            if kind != TokenKind::Eof {
                ahead += 1;
            }
        }
    }

    fn start(&mut self, decision: StateId, stack: Stack, mode: Mode) -> Configs {
        let mut configs = Configs::new();
        for (alternative, edge) in (1..).zip(self.grammar.edges(decision)) {
            if let Edge::Free(state) = *edge {
                let config = Config { state, alternative, stack, outside: false, exempt: false };
                self.closure(config, &mut configs, &mut HashSet::new(), mode);
            }
        }
        configs
    }

    fn reach(&mut self, from: &Configs, kind: TokenKind, mode: Mode) -> Configs {
        let mut moved = Configs::new();
        let mut stopped = Vec::new();
        for config in from.values() {
            if self.grammar.kind(config.state) == StateKind::RuleStop {
                if mode.with_callers || kind == TokenKind::Eof {
                    stopped.push(*config);
                }
                continue;
            }
            for edge in self.grammar.edges(config.state) {
                if let Edge::Token(set, state) = *edge
                    && set.has(kind.bit())
                {
                    self.add(&mut moved, Config { state, ..*config }, mode.with_callers);
                }
            }
        }
        let mut reached;
        if stopped.is_empty() && kind != TokenKind::Eof && only_alternative(&moved).is_some() {
            reached = moved;
        } else {
            reached = Configs::new();
            let mut busy = HashSet::new();
            for config in moved.values() {
                self.closure(*config, &mut reached, &mut busy, Mode { at_end: kind == TokenKind::Eof, ..mode });
            }
            if kind == TokenKind::Eof {
                reached = self.ends_of_rules(&reached, &moved, mode);
            }
        }
        let at_stop = |config: &Config| self.grammar.kind(config.state) == StateKind::RuleStop;
        if !mode.with_callers || !reached.values().any(at_stop) {
            for config in stopped {
                self.add(&mut reached, config, mode.with_callers);
            }
        }
        reached
    }

    /// At the end of the input, keeps only configurations in which the rule has ended.
    fn ends_of_rules(&mut self, reached: &Configs, moved: &Configs, mode: Mode) -> Configs {
        let look_to_end = reached == moved;
        let mut ends = Configs::new();
        for config in reached.values() {
            let done = self.grammar.kind(config.state) == StateKind::RuleStop;
            if done {
                self.add(&mut ends, *config, mode.with_callers);
            } else if look_to_end
                && self.only_free(config.state)
                && self.grammar.next(config.state).has(KindSet::END_OF_RULE)
                && let Some(state) = self.grammar.states.get(config.state as usize)
            {
                let stop = self.grammar.stop(state.rule);
                self.add(&mut ends, Config { state: stop, ..*config }, mode.with_callers);
            }
        }
        ends
    }

    fn only_free(&self, state: StateId) -> bool {
        !self.grammar.edges(state).iter().any(|edge| matches!(edge, Edge::Token(..)))
    }

    fn add(&mut self, configs: &mut Configs, config: Config, with_callers: bool) {
        let key = (config.state, config.alternative);
        let Some(present) = configs.get(&key).copied() else {
            configs.insert(key, config);
            return;
        };
        let stack = self.merge(present.stack, config.stack, with_callers);
        let (outside, exempt) = (present.outside || config.outside, present.exempt || config.exempt);
        configs.insert(key, Config { stack, outside, exempt, ..config });
    }

    /// Adds all states reachable without consuming a token.
    fn closure(&mut self, config: Config, into: &mut Configs, busy: &mut HashSet<Config>, mode: Mode) {
        let mut todo = vec![(config, 0i32)];
        while let Some((config, depth)) = todo.pop() {
            let at_stop = self.grammar.kind(config.state) == StateKind::RuleStop;
            if at_stop && (config.stack != EMPTY_STACK || mode.with_callers) {
                let mut unknown_caller = false;
                for (follow, below) in self.entries(config.stack) {
                    if follow == UNKNOWN_CALLER {
                        unknown_caller = true;
                    } else {
                        todo.push((Config { state: follow, stack: below, exempt: false, ..config }, depth));
                    }
                }
                if !unknown_caller {
                    continue;
                }
                if mode.with_callers {
                    self.add(into, Config { stack: EMPTY_STACK, ..config }, true);
                    continue;
                }
            }
            if !self.only_free(config.state) || (at_stop && self.grammar.edges(config.state).is_empty()) {
                self.add(into, config, mode.with_callers);
            }
            for edge in self.grammar.edges(config.state) {
                match *edge {
                    Edge::Free(state) => todo.push((Config { state, ..config }, depth)),
                    Edge::Precedence(precedence, state) => {
                        // Precedence applies only to the decision of the recursive loop itself.
                        let counts = mode.at_start && depth == 0 && (mode.recursive.is_some() || mode.with_callers);
                        if !counts || precedence >= mode.precedence {
                            todo.push((Config { state, ..config }, depth));
                        }
                    }
                    Edge::Call { rule, follow } => {
                        let stack = self.push(config.stack, follow);
                        let depth = if depth >= 0 { depth + 1 } else { depth };
                        todo.push((Config { state: self.grammar.start(rule), stack, ..config }, depth));
                    }
                    Edge::Return { to, outermost } => {
                        let rule = self.grammar.states.get(config.state as usize).map(|state| state.rule);
                        let exempt = config.exempt || outermost && mode.recursive.is_some() && mode.recursive == rule;
                        let next = Config { state: to, outside: true, exempt, ..config };
                        if busy.insert(next) {
                            todo.push((next, depth - 1));
                        }
                    }
                    Edge::Token(set, state) => {
                        if mode.at_end && set.has(TokenKind::Eof.bit()) {
                            let next = Config { state, ..config };
                            if busy.insert(next) {
                                todo.push((next, depth));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns true if alternatives share a state and every state belongs to more than one alternative.
    fn conflicts(&self, configs: &Configs) -> bool {
        if configs.values().all(|config| self.grammar.kind(config.state) == StateKind::RuleStop) {
            return true;
        }
        let mut by_state: BTreeMap<StateId, BTreeSet<u8>> = BTreeMap::new();
        for config in configs.values() {
            by_state.entry(config.state).or_default().insert(config.alternative);
        }
        by_place(configs).values().any(|alternatives| alternatives.len() > 1)
            && by_state.values().all(|alternatives| alternatives.len() > 1)
    }

    /// The lowest alternative that has already left the rule of the decision.
    fn finished(&self, configs: &Configs) -> Option<u8> {
        let done = |config: &&Config| {
            let at_stop = self.grammar.kind(config.state) == StateKind::RuleStop;
            config.outside || at_stop && self.entries(config.stack).iter().any(|(follow, _)| *follow == UNKNOWN_CALLER)
        };
        configs.values().filter(done).map(|config| config.alternative).min()
    }
}

fn only_alternative(configs: &Configs) -> Option<u8> {
    let mut alternatives = configs.values().map(|config| config.alternative);
    let first = alternatives.next()?;
    alternatives.all(|other| other == first).then_some(first)
}

fn by_place(configs: &Configs) -> BTreeMap<(StateId, Stack), BTreeSet<u8>> {
    let mut by_state: BTreeMap<(StateId, Stack), BTreeSet<u8>> = BTreeMap::new();
    for config in configs.values() {
        by_state.entry((config.state, config.stack)).or_default().insert(config.alternative);
    }
    by_state
}
