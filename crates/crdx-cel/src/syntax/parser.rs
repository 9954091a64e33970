//! The fast parser for valid expressions. It stops at the first error; with the feature `recovery`, [`super::recover`] then
//! parses the source again to report errors.

use super::{
    build::{AstBuilder, with_dot},
    lexer::Lexer,
    token::{Token, TokenKind},
};
use crate::ast::{Expr, ExprKind, MapEntry, StructField};

/// The maximum nesting depth of grammar rules, and of operators, selections and calls.
pub(super) const MAX_DEPTH: u32 = 250;

#[derive(Clone, Copy)]
pub(super) enum InvalidSource {
    /// The parser expects another token, or the lexer none: its code point offset.
    At(#[cfg_attr(feature = "recovery", allow(dead_code, reason = "the recovery finds all errors itself"))] u32),
    TooDeep,
}

type Parsed = Result<Tree, InvalidSource>;

/// A tree with the nesting depth of operators, selections and calls in it.
struct Tree {
    expr: Expr,
    height: u32,
}

struct Parser<'b, 's> {
    builder: &'b mut AstBuilder<'s>,
    tokens: Vec<Token>,
    at: usize,
    /// The number of open `expr` rules.
    exprs: u32,
    /// The number of open `relation` rules.
    relations: u32,
    /// The number of open `calc` rules.
    calcs: u32,
}

/// Parses the builder's source.
pub(super) fn parse(builder: &mut AstBuilder) -> Result<Expr, InvalidSource> {
    let mut tokens = Vec::with_capacity(builder.source.len() / 3 + 2);
    let mut lexer = Lexer::new(builder.source, builder.options.version);
    loop {
        let token = lexer.next_token().map_err(|bad| InvalidSource::At(bad.offset))?;
        if !matches!(token.kind, TokenKind::Whitespace | TokenKind::Comment) {
            tokens.push(token);
        }
        if token.kind == TokenKind::Eof {
            break;
        }
    }
    let mut parser = Parser { builder, tokens, at: 0, exprs: 0, relations: 0, calcs: 0 };
    let tree = parser.expr()?;
    parser.expect(TokenKind::Eof)?;
    if parser.builder.too_large { Err(InvalidSource::TooDeep) } else { Ok(tree.expr) }
}

/// The function of a comparison operator.
pub(super) fn relation_operator(kind: TokenKind) -> Option<&'static str> {
    Some(match kind {
        TokenKind::Equals => "_==_",
        TokenKind::NotEquals => "_!=_",
        TokenKind::In => "@in",
        TokenKind::Less => "_<_",
        TokenKind::LessEquals => "_<=_",
        TokenKind::GreaterEquals => "_>=_",
        TokenKind::Greater => "_>_",
        _ => return None,
    })
}

/// The function of an arithmetic operator, and its precedence.
pub(super) fn calc_operator(kind: TokenKind) -> Option<(&'static str, u32)> {
    Some(match kind {
        TokenKind::Star => ("_*_", 2),
        TokenKind::Slash => ("_/_", 2),
        TokenKind::Percent => ("_%_", 2),
        TokenKind::Plus => ("_+_", 1),
        TokenKind::Minus => ("_-_", 1),
        _ => return None,
    })
}

impl<'s> Parser<'_, 's> {
    fn peek(&self) -> TokenKind {
        self.kind_at(0)
    }

    fn kind_at(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::Eof, |token| token.kind)
    }

    /// The error at the current token.
    fn invalid(&self) -> InvalidSource {
        InvalidSource::At(self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |token| token.offset))
    }

    fn advance(&mut self) -> Result<Token, InvalidSource> {
        let token = *self.tokens.get(self.at).ok_or_else(|| self.invalid())?;
        self.at += 1;
        Ok(token)
    }

    fn expect(&mut self, kind: TokenKind) -> Result<Token, InvalidSource> {
        if self.peek() == kind { self.advance() } else { Err(self.invalid()) }
    }

    fn consume(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        self.at += usize::from(found);
        found
    }

    fn offset(&self) -> i32 {
        self.tokens.get(self.at).map_or(0, |token| token.offset as i32)
    }

    fn text(&self, token: Token) -> &'s str {
        self.builder.source.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    /// The height of an operator, selection or call above subtrees of this height.
    fn above(height: u32) -> Result<u32, InvalidSource> {
        if height < MAX_DEPTH { Ok(height + 1) } else { Err(InvalidSource::TooDeep) }
    }

    fn expr(&mut self) -> Parsed {
        if self.exprs == MAX_DEPTH {
            return Err(InvalidSource::TooDeep);
        }
        self.exprs += 1;
        let condition = self.logic(TokenKind::Or)?;
        let tree = if self.peek() == TokenKind::QuestionMark { self.ternary(condition)? } else { condition };
        self.exprs -= 1;
        Ok(tree)
    }

    fn ternary(&mut self, condition: Tree) -> Parsed {
        let at = self.offset();
        self.at += 1;
        let id = self.builder.new_id(at);
        let yes = self.logic(TokenKind::Or)?;
        self.expect(TokenKind::Colon)?;
        let no = self.expr()?;
        let height = Self::above(condition.height.max(yes.height).max(no.height))?;
        Ok(Tree { expr: AstBuilder::operator(id, "_?_:_", vec![condition.expr, yes.expr, no.expr]), height })
    }

    /// Parses a chain of `||` or of `&&`.
    fn logic(&mut self, operator: TokenKind) -> Parsed {
        let first = if operator == TokenKind::Or { self.logic(TokenKind::And)? } else { self.relation(0)? };
        if self.peek() != operator {
            return Ok(first);
        }
        let mut height = first.height;
        let mut terms = vec![first.expr];
        let mut ops = Vec::new();
        while self.peek() == operator {
            let at = self.offset();
            self.at += 1;
            let term = if operator == TokenKind::Or { self.logic(TokenKind::And)? } else { self.relation(0)? };
            height = height.max(term.height);
            terms.push(term.expr);
            ops.push(self.builder.new_id(at));
        }
        let function = if operator == TokenKind::Or { "_||_" } else { "_&&_" };
        Ok(Tree { expr: AstBuilder::balanced(function, terms, &ops), height })
    }

    fn relation(&mut self, precedence: u32) -> Parsed {
        if self.relations == MAX_DEPTH {
            return Err(InvalidSource::TooDeep);
        }
        self.relations += 1;
        let mut left = self.calc(0)?;
        while precedence <= 1
            && let Some(function) = relation_operator(self.peek())
        {
            let at = self.offset();
            self.at += 1;
            let id = self.builder.new_id(at);
            let right = self.relation(2)?;
            let height = Self::above(left.height.max(right.height))?;
            left = Tree { expr: AstBuilder::operator(id, function, vec![left.expr, right.expr]), height };
        }
        self.relations -= 1;
        Ok(left)
    }

    fn calc(&mut self, precedence: u32) -> Parsed {
        if self.calcs == MAX_DEPTH {
            return Err(InvalidSource::TooDeep);
        }
        self.calcs += 1;
        let mut left = self.unary()?;
        while let Some((function, binds)) = calc_operator(self.peek())
            && binds >= precedence
        {
            let at = self.offset();
            self.at += 1;
            let id = self.builder.new_id(at);
            let right = self.calc(binds + 1)?;
            let height = Self::above(left.height.max(right.height))?;
            left = Tree { expr: AstBuilder::operator(id, function, vec![left.expr, right.expr]), height };
        }
        self.calcs -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let operator = self.peek();
        let function = match operator {
            TokenKind::Exclamation => "!_",
            TokenKind::Minus if !matches!(self.kind_at(1), TokenKind::Int | TokenKind::Float) => "-_",
            _ => return self.member(),
        };
        let at = self.offset();
        let mut count = 0;
        while self.consume(operator) {
            count += 1;
        }
        if count % 2 == 0 {
            return self.member();
        }
        let id = self.builder.new_id(at);
        let operand = self.member()?;
        Ok(Tree { expr: AstBuilder::operator(id, function, vec![operand.expr]), height: operand.height })
    }

    fn member(&mut self) -> Parsed {
        let mut tree = self.primary()?;
        loop {
            tree = match self.peek() {
                TokenKind::Dot => self.select(tree)?,
                TokenKind::LeftBracket => self.index(tree)?,
                _ => return Ok(tree),
            };
        }
    }

    fn supports_backquotes(&self) -> bool {
        self.builder.options.version.supports_backquotes()
    }

    fn select(&mut self, operand: Tree) -> Parsed {
        let dot = self.offset();
        self.at += 1;
        let optional = self.consume(TokenKind::QuestionMark);
        let name = self.advance()?;
        let text = match name.kind {
            TokenKind::Identifier => self.text(name),
            TokenKind::EscapedIdentifier if self.supports_backquotes() => self.text(name).trim_matches('`'),
            _ => return Err(InvalidSource::At(name.offset)),
        };
        if !optional && name.kind == TokenKind::Identifier && self.peek() == TokenKind::LeftParen {
            let id = self.builder.new_id(self.offset());
            self.at += 1;
            let (args, height) = self.arguments()?;
            let height = Self::above(operand.height.max(height))?;
            return Ok(Tree { expr: self.builder.call(id, text.to_owned(), Some(operand.expr), args), height });
        }
        let height = Self::above(operand.height)?;
        let expr = if optional {
            if !self.builder.options.optional_syntax {
                return Err(InvalidSource::At(name.offset));
            }
            let field =
                self.builder.node(name.offset as i32, ExprKind::Literal(crate::ast::Literal::String(text.to_owned())));
            let id = self.builder.new_id(dot);
            AstBuilder::operator(id, "_?._", vec![operand.expr, field])
        } else {
            let operand = Box::new(operand.expr);
            self.builder.node(dot, ExprKind::Select { operand, field: text.to_owned(), test_only: false })
        };
        Ok(Tree { expr, height })
    }

    fn index(&mut self, operand: Tree) -> Parsed {
        let id = self.builder.new_id(self.offset());
        self.at += 1;
        let optional = self.consume(TokenKind::QuestionMark);
        if optional && !self.builder.options.optional_syntax {
            return Err(self.invalid());
        }
        let index = self.expr()?;
        self.expect(TokenKind::RightBracket)?;
        let height = Self::above(operand.height.max(index.height))?;
        let function = if optional { "_[?_]" } else { "_[_]" };
        Ok(Tree { expr: AstBuilder::operator(id, function, vec![operand.expr, index.expr]), height })
    }

    /// Parses arguments up to the closing parenthesis.
    fn arguments(&mut self) -> Result<(Vec<Expr>, u32), InvalidSource> {
        let (mut args, mut height) = (Vec::new(), 0);
        if self.consume(TokenKind::RightParen) {
            return Ok((args, height));
        }
        loop {
            let arg = self.expr()?;
            height = height.max(arg.height);
            args.push(arg.expr);
            if !self.consume(TokenKind::Comma) {
                self.expect(TokenKind::RightParen)?;
                return Ok((args, height));
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let token = self.advance()?;
        let start = token.offset as i32;
        let text = self.text(token);
        let expr = match token.kind {
            TokenKind::Identifier => return self.name(start, false, token),
            TokenKind::Dot => {
                let name = self.expect(TokenKind::Identifier)?;
                return self.name(start, true, name);
            }
            TokenKind::LeftParen => {
                let tree = self.expr()?;
                self.expect(TokenKind::RightParen)?;
                return Ok(tree);
            }
            TokenKind::LeftBracket => return self.list(start),
            TokenKind::LeftBrace => return self.map(start),
            TokenKind::Minus => {
                let number = self.advance()?;
                let text = format!("-{}", self.text(number));
                match number.kind {
                    TokenKind::Int => self.builder.int(start, &text),
                    TokenKind::Float => self.builder.double(start, &text),
                    _ => return Err(InvalidSource::At(number.offset)),
                }
            }
            TokenKind::Int => self.builder.int(start, text),
            TokenKind::Float => self.builder.double(start, text),
            TokenKind::Uint => self.builder.uint(start, text),
            TokenKind::String => self.builder.string(start, text),
            TokenKind::Bytes => self.builder.bytes(start, text.get(1..).unwrap_or_default()),
            TokenKind::True | TokenKind::False => self.builder.bool(start, token.kind == TokenKind::True),
            TokenKind::Null => self.builder.null(start),
            _ => return Err(InvalidSource::At(token.offset)),
        };
        Ok(Tree { expr, height: 0 })
    }

    /// Parses a variable, a function call or a message.
    fn name(&mut self, start: i32, dotted: bool, name: Token) -> Parsed {
        if self.peek() == TokenKind::LeftParen {
            let text = self.text(name);
            if let Some(wrong) = self.builder.reserved(start, text) {
                // The arguments are not parsed.
                self.at += 1;
                let (offsets, issues) = (self.builder.offsets.len(), self.builder.issues.clone());
                let (_, height) = self.arguments()?;
                self.builder.offsets.truncate(offsets);
                self.builder.issues = issues;
                return Ok(Tree { expr: wrong, height });
            }
            let id = self.builder.new_id(self.offset());
            self.at += 1;
            let (args, height) = self.arguments()?;
            // Only the arguments count as nesting here, not the call itself.
            return Ok(Tree { expr: self.builder.call(id, with_dot(dotted, text), None, args), height });
        }
        let mut ahead = 0;
        while self.kind_at(ahead) == TokenKind::Dot && self.kind_at(ahead + 1) == TokenKind::Identifier {
            ahead += 2;
        }
        if self.kind_at(ahead) == TokenKind::LeftBrace {
            let mut type_name = with_dot(dotted, self.text(name));
            for _ in 0..ahead / 2 {
                self.at += 1;
                let part = self.advance()?;
                type_name.push('.');
                type_name.push_str(self.text(part));
            }
            return self.message(type_name);
        }
        let expr = self.builder.ident(start, dotted, self.text(name), name.offset as i32);
        Ok(Tree { expr, height: 0 })
    }

    fn optional_mark(&mut self) -> Result<bool, InvalidSource> {
        let optional = self.consume(TokenKind::QuestionMark);
        if optional && !self.builder.options.optional_syntax { Err(self.invalid()) } else { Ok(optional) }
    }

    fn list(&mut self, start: i32) -> Parsed {
        let id = self.builder.new_id(start);
        let (mut elements, mut optional_indices, mut height) = (Vec::new(), Vec::new(), 0);
        while self.peek() != TokenKind::RightBracket {
            if self.peek() == TokenKind::Comma && elements.is_empty() {
                self.at += 1;
                break;
            }
            if self.optional_mark()? {
                optional_indices.push(elements.len());
            }
            let element = self.expr()?;
            height = height.max(element.height);
            elements.push(element.expr);
            if !self.consume(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBracket)?;
        Ok(Tree { expr: Expr { id, kind: ExprKind::List { elements, optional_indices } }, height })
    }

    fn map(&mut self, start: i32) -> Parsed {
        let id = self.builder.new_id(start);
        let (mut entries, mut height) = (Vec::new(), 0);
        while self.peek() != TokenKind::RightBrace {
            if self.peek() == TokenKind::Comma && entries.is_empty() {
                self.at += 1;
                break;
            }
            let optional = self.optional_mark()?;
            // The entry's id is assigned before its key is parsed, and its position is that of the colon.
            let entry = self.builder.new_id(0);
            let key = self.expr()?;
            let colon = self.expect(TokenKind::Colon)?;
            self.builder.set_offset(entry, colon.offset as i32);
            let value = self.expr()?;
            height = height.max(key.height).max(value.height);
            entries.push(MapEntry { id: entry, key: key.expr, value: value.expr, optional });
            if !self.consume(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBrace)?;
        Ok(Tree { expr: Expr { id, kind: ExprKind::Map(entries) }, height })
    }

    fn message(&mut self, type_name: String) -> Parsed {
        let id = self.builder.new_id(self.offset());
        self.at += 1;
        let (mut fields, mut height) = (Vec::new(), 0);
        while self.peek() != TokenKind::RightBrace {
            if self.peek() == TokenKind::Comma && fields.is_empty() {
                self.at += 1;
                break;
            }
            let optional = self.optional_mark()?;
            let name = self.advance()?;
            let name = match name.kind {
                TokenKind::Identifier => self.text(name),
                TokenKind::EscapedIdentifier if self.supports_backquotes() => self.text(name).trim_matches('`'),
                _ => return Err(InvalidSource::At(name.offset)),
            };
            let colon = self.expect(TokenKind::Colon)?;
            let id = self.builder.new_id(colon.offset as i32);
            let value = self.expr()?;
            height = height.max(value.height);
            fields.push(StructField { id, name: name.to_owned(), value: value.expr, optional });
            if !self.consume(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBrace)?;
        Ok(Tree { expr: Expr { id, kind: ExprKind::Struct { type_name, fields } }, height })
    }
}
