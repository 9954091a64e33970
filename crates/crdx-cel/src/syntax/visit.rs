//! Converts the recovered parse tree of a source with syntax errors to nodes, in order to report further errors
//! together with the syntax errors: reserved names, invalid literals, wrong macro arguments.

use super::{
    build::{AstBuilder, with_dot},
    grammar::{GrammarRule, Label},
    parser::{MAX_DEPTH, calc_operator, relation_operator},
    recover::{Abort, NodeId, ParseTreeNode, Piece, Recovered, Word},
    token::TokenKind,
};
use crate::{
    ast::{Expr, ExprId, ExprKind, Literal, MapEntry, StructField},
    issues::Location,
};

struct Visitor<'b, 's, 't> {
    builder: &'b mut AstBuilder<'s>,
    tree: &'t Recovered,
    depth: u32,
}

/// Converts the tree as far as possible.
pub(super) fn visit(builder: &mut AstBuilder, tree: &Recovered) -> Result<Expr, Abort> {
    let root = tree.nodes.get(tree.root).ok_or(Abort)?;
    Visitor { builder, tree, depth: 0 }.visit(root.children.first().copied())
}

impl<'t> Visitor<'_, '_, 't> {
    fn text(&self, word: Word) -> String {
        match word.span {
            Some((start, end)) => self.builder.source.get(start..end).unwrap_or_default().to_owned(),
            None => "<missing undefined>".to_owned(),
        }
    }

    fn node(&self, id: NodeId) -> Option<&'t ParseTreeNode> {
        self.tree.nodes.get(id)
    }

    /// The alternative of a node in the grammar with backquotes.
    fn alternative(&self, node: &ParseTreeNode) -> u8 {
        match (node.rule, node.alternative) {
            (GrammarRule::Primary, alternative @ 1..) if !self.has_backquotes() => {
                alternative + u8::from(alternative > 1 || node.word(Label::Op).is_some())
            }
            (_, alternative) => alternative,
        }
    }

    fn has_backquotes(&self) -> bool {
        self.builder.options.version.has_backquotes()
    }

    /// Descends to the first node that has more than a single child.
    fn unnest(&self, mut id: NodeId) -> Option<&'t ParseTreeNode> {
        loop {
            let node = self.node(id)?;
            let down = match node.rule {
                GrammarRule::Expr if node.word(Label::Op).is_none() => node.child(Label::Operand)?,
                GrammarRule::ConditionalOr | GrammarRule::ConditionalAnd if node.word(Label::Op).is_none() => {
                    node.child(Label::Operand)?
                }
                GrammarRule::Relation | GrammarRule::Calc if node.word(Label::Op).is_none() => {
                    *node.children.first()?
                }
                GrammarRule::Unary | GrammarRule::Member if node.alternative == 1 => *node.children.first()?,
                GrammarRule::Primary if self.alternative(node) == 3 => node.child(Label::Operand)?,
                GrammarRule::Primary if self.alternative(node) == 7 => *node.children.first()?,
                _ => return Some(node),
            };
            id = down;
        }
    }

    fn visit(&mut self, id: Option<NodeId>) -> Result<Expr, Abort> {
        if self.builder.too_large {
            return Err(Abort);
        }
        let Some(node) = id.and_then(|id| self.unnest(id)) else { return Ok(self.unknown("<<nil>>")) };
        let counts = match node.rule {
            GrammarRule::Expr | GrammarRule::Relation | GrammarRule::Calc => true,
            GrammarRule::Member => node.alternative > 1,
            _ => false,
        };
        if counts {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                self.builder.issues.report_at(Location::NONE, "max recursion depth exceeded");
                return Err(Abort);
            }
        }
        let expr = self.visit_node(node)?;
        self.depth -= u32::from(counts);
        Ok(expr)
    }

    fn unknown(&mut self, what: &str) -> Expr {
        if self.builder.issues.is_empty() {
            return self.builder.error_without_position(format!("unknown parse element encountered: {what}"));
        }
        self.builder.node(-1, ExprKind::Unspecified)
    }

    fn visit_node(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        match (node.rule, self.alternative(node)) {
            (GrammarRule::Expr, _) => {
                let condition = self.visit(node.child(Label::Operand))?;
                let id = self.id_of(node.word(Label::Op));
                let yes = self.visit(node.child(Label::Second))?;
                let no = self.visit(node.child(Label::Third))?;
                Ok(AstBuilder::operator(id, "_?_:_", vec![condition, yes, no]))
            }
            (GrammarRule::ConditionalOr, _) => self.logic(node, "_||_"),
            (GrammarRule::ConditionalAnd, _) => self.logic(node, "_&&_"),
            (GrammarRule::Relation, _) => self.binary(node, relation_operator),
            (GrammarRule::Calc, _) => self.binary(node, |kind| calc_operator(kind).map(|(function, _)| function)),
            (GrammarRule::Unary, 2) => self.unary(node, "!_"),
            (GrammarRule::Unary, 3) => self.unary(node, "-_"),
            (GrammarRule::Unary, _) => {
                Ok(self.builder.node(node.start, ExprKind::Literal(Literal::String("<<error>>".to_owned()))))
            }
            (GrammarRule::Member, 2) => self.select(node),
            (GrammarRule::Member, 3) => self.member_call(node),
            (GrammarRule::Member, 4) => self.index(node),
            (GrammarRule::Primary, 1) => Ok(self.ident(node)),
            (GrammarRule::Primary, 2) => self.global_call(node),
            (GrammarRule::Primary, 4) => self.list(node),
            (GrammarRule::Primary, 5) => self.map(node),
            (GrammarRule::Primary, 6) => self.message(node),
            (GrammarRule::Literal, alternative) if alternative > 0 => Ok(self.literal(node)),
            _ => Ok(self.unknown("<<unknown>>")),
        }
    }

    fn id_of(&mut self, word: Option<Word>) -> ExprId {
        self.builder.new_id(word.map_or(-1, |word| word.offset))
    }

    fn logic(&mut self, node: &'t ParseTreeNode, function: &str) -> Result<Expr, Abort> {
        let mut terms = vec![self.visit(node.child(Label::Operand))?];
        let mut ops = Vec::new();
        let mut rest = node.children_of(Label::Second);
        for op in node.words(Label::Op) {
            let Some(next) = rest.next() else {
                let operator = if function == "_||_" { "||" } else { "&&" };
                return Ok(self.builder.error(node.start, format!("unexpected character, wanted '{operator}'")));
            };
            terms.push(self.visit(Some(next))?);
            ops.push(self.builder.new_id(op.offset));
        }
        Ok(AstBuilder::balanced(function, terms, &ops))
    }

    fn binary(&mut self, node: &'t ParseTreeNode, find: fn(TokenKind) -> Option<&'static str>) -> Result<Expr, Abort> {
        let op = node.word(Label::Op);
        let Some(function) = op.and_then(|op| find(op.kind)) else {
            return Ok(self.builder.error(node.start, "operator not found"));
        };
        let left = self.visit(node.children.first().copied())?;
        let id = self.id_of(op);
        let right = self.visit(node.children.get(1).copied())?;
        Ok(AstBuilder::operator(id, function, vec![left, right]))
    }

    fn unary(&mut self, node: &'t ParseTreeNode, function: &str) -> Result<Expr, Abort> {
        let operand = node.children.first().copied();
        if node.words(Label::Op).count().is_multiple_of(2) {
            return self.visit(operand);
        }
        let id = self.id_of(node.word(Label::Op));
        let operand = self.visit(operand)?;
        Ok(AstBuilder::operator(id, function, vec![operand]))
    }

    /// The name of a field in the node of a selection or of a field with its value.
    fn field_name(&self, parent: &ParseTreeNode) -> Result<String, &'static str> {
        if !self.has_backquotes() {
            return parent.word(Label::Id).map(|word| self.text(word)).ok_or("no identifier");
        }
        let node = parent.child(Label::Id).and_then(|id| self.node(id));
        match node.map(|node| (node.alternative, node.word(Label::Id))) {
            Some((1, Some(word))) => Ok(self.text(word)),
            Some((2, _)) if !self.builder.options.version.supports_backquotes() => Err("unsupported syntax: '`'"),
            Some((2, Some(word))) => Ok(self.text(word).trim_matches('`').to_owned()),
            _ => Err("unsupported ident kind"),
        }
    }

    fn select(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let operand = self.visit(node.children.first().copied())?;
        let id = if self.has_backquotes() {
            node.child(Label::Id).map(|id| self.node(id).map_or(-1, |id| id.start))
        } else {
            node.word(Label::Id).map(|word| word.offset)
        };
        let (Some(at), Some(op)) = (id, node.word(Label::Op)) else {
            return Ok(self.builder.node(node.start, ExprKind::Unspecified));
        };
        let field = self.field_name(node).unwrap_or_else(|message| {
            self.builder.error(at, message);
            String::new()
        });
        if node.word(Label::Opt).is_some() {
            if !self.builder.options.optional_syntax {
                return Ok(self.builder.error(op.offset, "unsupported syntax '.?'"));
            }
            let field = self.builder.node(at, ExprKind::Literal(Literal::String(field)));
            let id = self.builder.new_id(op.offset);
            return Ok(AstBuilder::operator(id, "_?._", vec![operand, field]));
        }
        let kind = ExprKind::Select { operand: Box::new(operand), field, test_only: false };
        Ok(self.builder.node(op.offset, kind))
    }

    fn arguments(&mut self, node: &'t ParseTreeNode) -> Result<Vec<Expr>, Abort> {
        let list = node.child(Label::Args).and_then(|id| self.node(id));
        list.into_iter().flat_map(|list| list.children_of(Label::Elements)).map(|arg| self.visit(Some(arg))).collect()
    }

    fn member_call(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let operand = self.visit(node.children.first().copied())?;
        let Some(name) = node.word(Label::Id) else {
            return Ok(self.builder.node(node.start, ExprKind::Unspecified));
        };
        let id = self.id_of(node.word(Label::Open));
        let args = self.arguments(node)?;
        Ok(self.builder.call(id, self.text(name), Some(operand), args))
    }

    fn index(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let operand = self.visit(node.children.first().copied())?;
        let Some(op) = node.word(Label::Op) else {
            return Ok(self.builder.node(node.start, ExprKind::Unspecified));
        };
        let id = self.builder.new_id(op.offset);
        let index = self.visit(node.child(Label::Index))?;
        if node.word(Label::Opt).is_none() {
            return Ok(AstBuilder::operator(id, "_[_]", vec![operand, index]));
        }
        if !self.builder.options.optional_syntax {
            return Ok(self.builder.error(op.offset, "unsupported syntax '[?'"));
        }
        Ok(AstBuilder::operator(id, "_[?_]", vec![operand, index]))
    }

    fn ident(&mut self, node: &'t ParseTreeNode) -> Expr {
        let Some(name) = node.word(Label::Id) else {
            return self.builder.node(node.start, ExprKind::Unspecified);
        };
        let text = self.text(name);
        self.builder.ident(node.start, node.word(Label::LeadingDot).is_some(), &text, name.offset)
    }

    fn global_call(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let Some(name) = node.word(Label::Id) else {
            return Ok(self.builder.node(node.start, ExprKind::Unspecified));
        };
        let text = self.text(name);
        if let Some(wrong) = self.builder.reserved(node.start, &text) {
            return Ok(wrong);
        }
        let id = self.id_of(node.word(Label::Op));
        let args = self.arguments(node)?;
        let function = with_dot(node.word(Label::LeadingDot).is_some(), &text);
        Ok(self.builder.call(id, function, None, args))
    }

    fn list(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let id = self.id_of(node.word(Label::Op));
        let (mut elements, mut optional_indices) = (Vec::new(), Vec::new());
        let list = node.child(Label::Elements).and_then(|id| self.node(id));
        for element in list.into_iter().flat_map(|list| list.children_of(Label::Elements)) {
            let Some(element) = self.node(element) else { continue };
            elements.push(self.visit(element.child(Label::Operand))?);
            if let Some(mark) = element.word(Label::Opt) {
                if self.builder.options.optional_syntax {
                    optional_indices.push(elements.len() - 1);
                } else {
                    self.builder.error(mark.offset, "unsupported syntax '?'");
                }
            }
        }
        Ok(Expr { id, kind: ExprKind::List { elements, optional_indices } })
    }

    fn map(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let id = self.id_of(node.word(Label::Op));
        let mut entries = Vec::new();
        if let Some(list) = node.child(Label::Elements).and_then(|id| self.node(id)) {
            let (mut keys, mut values) = (list.children_of(Label::Key), list.children_of(Label::Value));
            for colon in list.words(Label::Colon) {
                let entry = self.builder.new_id(colon.offset);
                let (Some(key), Some(value)) = (keys.next().and_then(|key| self.node(key)), values.next()) else {
                    entries.clear();
                    break;
                };
                let optional = key.word(Label::Opt).is_some();
                if optional && !self.builder.options.optional_syntax {
                    self.builder.error(key.start, "unsupported syntax '?'");
                    continue;
                }
                let key = self.visit(key.child(Label::Operand))?;
                let value = self.visit(Some(value))?;
                entries.push(MapEntry { id: entry, key, value, optional });
            }
        }
        Ok(Expr { id, kind: ExprKind::Map(entries) })
    }

    fn message(&mut self, node: &'t ParseTreeNode) -> Result<Expr, Abort> {
        let names: Vec<String> = node.words(Label::Id).map(|word| self.text(word)).collect();
        let type_name = with_dot(node.word(Label::LeadingDot).is_some(), &names.join("."));
        let id = self.id_of(node.word(Label::Op));
        let mut fields = Vec::new();
        if let Some(list) = node.child(Label::Elements).and_then(|id| self.node(id)) {
            let (mut colons, mut values) = (list.words(Label::Colon), list.children_of(Label::Value));
            let tree = self.tree;
            for field in list.children_of(Label::Key).filter_map(|key| tree.nodes.get(key)) {
                let (Some(colon), Some(value)) = (colons.next(), values.next()) else {
                    fields.clear();
                    break;
                };
                let id = self.builder.new_id(colon.offset);
                let optional = field.word(Label::Opt).is_some();
                if optional && !self.builder.options.optional_syntax {
                    self.builder.error(field.start, "unsupported syntax '?'");
                    continue;
                }
                let name = match self.field_name(field) {
                    Ok(name) => name,
                    Err(_) if !self.has_backquotes() => {
                        fields.clear();
                        break;
                    }
                    Err(message) => {
                        self.builder.error(list.start, message);
                        continue;
                    }
                };
                let value = self.visit(Some(value))?;
                fields.push(StructField { id, name, value, optional });
            }
        }
        Ok(Expr { id, kind: ExprKind::Struct { type_name, fields } })
    }

    fn literal(&mut self, node: &'t ParseTreeNode) -> Expr {
        let Some(token) = node.word(Label::Token) else { return self.unknown("<<literal>>") };
        let sign = if node.word(Label::Sign).is_some() { "-" } else { "" };
        let text = format!("{sign}{}", self.text(token));
        match node.alternative {
            1 => self.builder.int(node.start, &text),
            2 => self.builder.uint(node.start, &text),
            3 => self.builder.double(node.start, &text),
            4 => self.builder.string(node.start, &text),
            5 => self.builder.bytes(node.start, text.get(1..).unwrap_or_default()),
            6 => self.builder.bool(node.start, true),
            7 => self.builder.bool(node.start, false),
            _ => self.builder.null(node.start),
        }
    }
}

impl ParseTreeNode {
    fn words(&self, label: Label) -> impl Iterator<Item = Word> + '_ {
        self.labels.iter().filter_map(move |(named, piece)| match piece {
            Piece::Token(word) if *named == label => Some(*word),
            _ => None,
        })
    }

    fn word(&self, label: Label) -> Option<Word> {
        self.words(label).next()
    }

    fn children_of(&self, label: Label) -> impl Iterator<Item = NodeId> + '_ {
        self.labels.iter().filter_map(move |(named, piece)| match piece {
            Piece::Node(id) if *named == label => Some(*id),
            _ => None,
        })
    }

    fn child(&self, label: Label) -> Option<NodeId> {
        self.children_of(label).next()
    }
}
