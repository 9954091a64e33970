//! Factors out common prefixes of alternatives: `abc|abd|aef` becomes `a(b[cd]|ef)`.
//!
//! This does not change matches. It is necessary because Go checks its limits on depth and size afterwards.

use super::parse::{Limit, MAX_HEIGHT, Parser};
use super::tree::{Op, RegexpNode};
use super::union::{clean_class, merge_classes};

impl Parser<'_> {
    /// Combines alternatives into one node. `depth` counts levels of common prefixes, each of which becomes a level of
    /// the tree.
    pub(super) fn collapse_alternatives(
        &mut self,
        mut nodes: Vec<RegexpNode>,
        depth: u32,
    ) -> Result<RegexpNode, Limit> {
        if depth > MAX_HEIGHT {
            return Err(Limit::Depth);
        }
        if nodes.len() == 1
            && let Some(node) = nodes.pop()
        {
            return Ok(node);
        }
        let mut subs = Vec::with_capacity(nodes.len());
        let mut whole = self.new_node(Op::Empty);
        for node in nodes {
            self.visit(node.width())?;
            if let Op::Alternate(inner) = node.op {
                subs.extend(inner);
                self.give_back(1);
            } else {
                subs.push(node);
            }
        }
        let subs = self.by_literal(subs, depth)?;
        let subs = self.by_class(subs, depth)?;
        let mut subs = self.classes(subs);
        subs.dedup_by(|next, kept| matches!((&next.op, &kept.op), (Op::Empty, Op::Empty)));
        if subs.len() == 1
            && let Some(node) = subs.pop()
        {
            self.give_back(1);
            return Ok(node);
        }
        whole.op = Op::Alternate(subs);
        Ok(whole)
    }

    fn prefixed(&mut self, prefix: RegexpNode, suffixes: Vec<RegexpNode>, depth: u32) -> Result<RegexpNode, Limit> {
        let suffix = self.collapse_alternatives(suffixes, depth + 1)?;
        Ok(self.new_node(Op::Concat(vec![prefix, suffix])))
    }

    /// Combines adjacent alternatives that begin with the same literal.
    fn by_literal(&mut self, nodes: Vec<RegexpNode>, depth: u32) -> Result<Vec<RegexpNode>, Limit> {
        let mut out = Vec::with_capacity(nodes.len());
        let mut run: Vec<RegexpNode> = Vec::new();
        let (mut text, mut fold): (Vec<u32>, bool) = (Vec::new(), false);
        for node in nodes.into_iter().map(Some).chain([None]) {
            if let Some(node) = &node {
                let (next, next_fold) = leading_text(node);
                let same =
                    if next_fold == fold { text.iter().zip(next).take_while(|(a, b)| a == b).count() } else { 0 };
                if same > 0 {
                    text.truncate(same);
                } else {
                    self.join_run(&mut out, &mut run, &text, fold, depth)?;
                    (text, fold) = (next.to_vec(), next_fold);
                }
            } else {
                self.join_run(&mut out, &mut run, &text, fold, depth)?;
            }
            run.extend(node);
        }
        Ok(out)
    }

    fn join_run(
        &mut self,
        out: &mut Vec<RegexpNode>,
        run: &mut Vec<RegexpNode>,
        text: &[u32],
        fold: bool,
        depth: u32,
    ) -> Result<(), Limit> {
        if run.len() < 2 {
            out.append(run);
            return Ok(());
        }
        let prefix = self.new_node(Op::Literal { runes: text.to_vec(), fold });
        let mut suffixes = Vec::with_capacity(run.len());
        for node in run.drain(..) {
            // Text and nodes after the prefix are moved.
            self.visit(node.width() + leading_text(&node).0.len() / 16)?;
            let mut suffix = self.without_text(node, text.len());
            self.check_limits(&mut suffix)?;
            suffixes.push(suffix);
        }
        out.push(self.prefixed(prefix, suffixes, depth)?);
        Ok(())
    }

    /// Removes the first `count` code points of a node.
    fn without_text(&mut self, mut node: RegexpNode, count: usize) -> RegexpNode {
        node.changed();
        match &mut node.op {
            Op::Concat(subs) if !subs.is_empty() => {
                let rest = self.without_text(subs.remove(0), count);
                if !matches!(rest.op, Op::Empty) {
                    subs.insert(0, rest);
                    return node;
                }
                self.give_back(1);
                if subs.len() == 1
                    && let Some(only) = subs.pop()
                {
                    self.give_back(1);
                    return only;
                }
                node
            }
            Op::Literal { runes, .. } => {
                runes.drain(..count.min(runes.len()));
                if runes.is_empty() {
                    node.op = Op::Empty;
                }
                node
            }
            _ => node,
        }
    }

    /// Combines adjacent alternatives that begin with the same class, or with the same repetition of it.
    fn by_class(&mut self, nodes: Vec<RegexpNode>, depth: u32) -> Result<Vec<RegexpNode>, Limit> {
        let mut out = Vec::with_capacity(nodes.len());
        let mut run: Vec<RegexpNode> = Vec::new();
        for node in nodes.into_iter().map(Some).chain([None]) {
            let first = run.first().and_then(leading_node);
            let continues = match (first, node.as_ref().and_then(leading_node)) {
                (Some(first), Some(next)) => first.same_class(next),
                _ => false,
            };
            if !continues {
                if run.len() < 2 {
                    out.append(&mut run);
                } else {
                    let mut prefix = None;
                    let mut suffixes = Vec::with_capacity(run.len());
                    for node in run.drain(..) {
                        self.visit(node.width())?;
                        let (first, mut suffix) = self.without_first(node);
                        if prefix.is_none() {
                            prefix = first;
                        } else {
                            self.give_back(1);
                        }
                        self.check_limits(&mut suffix)?;
                        suffixes.push(suffix);
                    }
                    if let Some(prefix) = prefix {
                        out.push(self.prefixed(prefix, suffixes, depth)?);
                    }
                }
            }
            run.extend(node);
        }
        Ok(out)
    }

    /// Splits a node into its first piece and the rest.
    fn without_first(&mut self, mut node: RegexpNode) -> (Option<RegexpNode>, RegexpNode) {
        node.changed();
        if let Op::Concat(subs) = &mut node.op
            && !subs.is_empty()
        {
            let first = subs.remove(0);
            let rest = if subs.len() == 1 { subs.pop() } else { None };
            return match rest {
                Some(rest) => {
                    self.give_back(1);
                    (Some(first), rest)
                }
                None => (Some(first), node),
            };
        }
        (Some(node), self.new_node(Op::Empty))
    }

    /// Merges adjacent classes into one.
    fn classes(&mut self, nodes: Vec<RegexpNode>) -> Vec<RegexpNode> {
        let mut out: Vec<RegexpNode> = Vec::with_capacity(nodes.len());
        let mut merged = 0;
        for mut node in nodes {
            match out.last_mut() {
                Some(last) if last.is_class() && node.is_class() => {
                    merge_classes(last, &mut node);
                    merged += 1;
                }
                last => {
                    if let Some(last) = last
                        && merged > 0
                    {
                        clean_class(last);
                    }
                    self.give_back(merged);
                    merged = 0;
                    out.push(node);
                }
            }
        }
        if let Some(last) = out.last_mut()
            && merged > 0
        {
            clean_class(last);
        }
        self.give_back(merged);
        out
    }
}

fn leading_text(node: &RegexpNode) -> (&[u32], bool) {
    let first = match &node.op {
        Op::Concat(subs) => subs.first().unwrap_or(node),
        _ => node,
    };
    match &first.op {
        Op::Literal { runes, fold } => (runes, *fold),
        _ => (&[], false),
    }
}

fn leading_node(node: &RegexpNode) -> Option<&RegexpNode> {
    let first = match &node.op {
        Op::Concat(subs) => subs.first()?,
        _ => node,
    };
    (!matches!(first.op, Op::Empty)).then_some(first)
}
