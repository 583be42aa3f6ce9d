//! Expressions.

use num_bigint::BigInt;
use ruff_python_ast::{self as ast, BoolOp, Expr, Number, UnaryOp};

use super::CompileError;
use super::compiler::{Compiler, Done};
use super::emit::Label;
use super::target::operator;
use crate::code::{CmpOp, Const, Op};
use crate::limits::{INT_BITS_MAX, LITERAL_DIGITS_MAX};

/// What a conversion in an f-string is in `FormatValue`'s operand; bit 0 says that a spec follows.
const CONVERT_STR: u16 = 2;
const CONVERT_REPR: u16 = 4;
const CONVERT_ASCII: u16 = 6;

impl<'a> Compiler<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Done {
        // The tree's depth is bounded before; a small stack must do for it all the same.
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(expr))
    }

    fn expr_inner(&mut self, expr: &'a Expr) -> Done {
        match expr {
            Expr::Name(name) => {
                self.load(name.id.as_str());
                Ok(())
            }
            Expr::NumberLiteral(node) => self.number(node),
            Expr::StringLiteral(node) => {
                self.constant(Const::Str(node.value.to_str().to_owned()));
                Ok(())
            }
            Expr::BytesLiteral(node) => {
                self.constant(Const::Bytes(node.value.bytes().collect()));
                Ok(())
            }
            Expr::BooleanLiteral(node) => {
                self.constant(if node.value { Const::True } else { Const::False });
                Ok(())
            }
            Expr::NoneLiteral(_) => {
                self.emit(Op::LoadNone, 0, 0);
                Ok(())
            }
            Expr::EllipsisLiteral(_) => {
                self.constant(Const::Ellipsis);
                Ok(())
            }
            Expr::FString(node) => self.f_string(node),
            Expr::BinOp(node) => {
                self.expr(&node.left)?;
                self.expr(&node.right)?;
                self.at(node);
                self.emit(Op::Binary, operator(node.op) as u16, 0);
                Ok(())
            }
            Expr::UnaryOp(node) => self.unary(node),
            Expr::BoolOp(node) => self.bool_op(node),
            Expr::Compare(node) => self.compare(node),
            Expr::If(node) => {
                let (otherwise, end) = (self.label(), self.label());
                self.condition(&node.test, otherwise, false)?;
                let depth = self.depth();
                self.expr(&node.body)?;
                self.jump(Op::Jump, end);
                self.place(otherwise);
                self.set_depth(depth);
                self.expr(&node.orelse)?;
                self.place(end);
                Ok(())
            }
            Expr::Named(node) => {
                self.expr(&node.value)?;
                self.emit(Op::Copy, 0, 0);
                self.assign(&node.target)
            }
            Expr::Lambda(node) => self.lambda(node),
            Expr::Tuple(node) => self.sequence(&node.elts, Op::BuildTuple),
            Expr::List(node) => self.sequence(&node.elts, Op::BuildList),
            Expr::Set(node) => self.set_display(&node.elts),
            Expr::Dict(node) => self.dict(node),
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehension(expr)
            }
            Expr::Call(node) => self.call(node),
            Expr::Attribute(node) => {
                self.expr(&node.value)?;
                let attr = self.mangled(node.attr.as_str());
                let index = self.unit().name(&attr);
                self.at(&node.attr);
                self.emit(Op::LoadAttr, 0, index);
                Ok(())
            }
            Expr::Subscript(node) => {
                self.expr(&node.value)?;
                self.expr(&node.slice)?;
                self.at(node);
                self.emit(Op::LoadIndex, 0, 0);
                Ok(())
            }
            Expr::Slice(node) => {
                for part in [&node.lower, &node.upper, &node.step] {
                    match part {
                        Some(part) => self.expr(part)?,
                        None => self.emit(Op::LoadNone, 0, 0),
                    }
                }
                self.emit(Op::BuildSlice, 0, 3);
                Ok(())
            }
            Expr::Starred(node) => self.refuse(node, "can't use starred expression here", ""),
            Expr::Yield(node) => self.yield_expression(node),
            Expr::YieldFrom(node) => self.yield_from(node),
            Expr::Await(node) => self.await_expression(node),
            Expr::TString(node) => {
                self.refuse(node, "template strings are not supported", "use an f-string")
            }
            Expr::IpyEscapeCommand(node) => self.refuse(node, "this is no Python", ""),
        }
    }

    fn number(&mut self, node: &ast::ExprNumberLiteral) -> Done {
        match &node.value {
            Number::Int(int) => match int.as_i64() {
                Some(small) => match i32::try_from(small) {
                    Ok(tiny) => self.emit(Op::LoadInt, 0, tiny as u32),
                    Err(_) => self.constant(Const::Int(small)),
                },
                None => {
                    let big = self.big_literal(node, &int.to_string())?;
                    self.constant(Const::Big(big));
                }
            },
            Number::Float(float) => self.constant(Const::Float(float.to_bits())),
            Number::Complex { real, imag } => {
                self.prelude("_complex");
                self.constant(Const::Float(real.to_bits()));
                self.constant(Const::Float(imag.to_bits()));
                self.emit(Op::Call, 0, 2);
            }
        }
        Ok(())
    }

    fn big_literal(
        &self,
        node: &ast::ExprNumberLiteral,
        text: &str,
    ) -> Result<BigInt, CompileError> {
        if text.len() > LITERAL_DIGITS_MAX {
            return self.refuse(node, "the number is too long", "integers have at most 4096 bits");
        }
        let digits: String = text.chars().filter(|c| *c != '_').collect();
        let lower = digits.to_ascii_lowercase();
        let (digits, radix) = match lower.get(..2) {
            Some("0x") => (&lower[2..], 16),
            Some("0o") => (&lower[2..], 8),
            Some("0b") => (&lower[2..], 2),
            _ => (lower.as_str(), 10),
        };
        match BigInt::parse_bytes(digits.as_bytes(), radix) {
            Some(big) if big.bits() <= INT_BITS_MAX => Ok(big),
            _ => self.refuse(node, "the number is too large", "integers have at most 4096 bits"),
        }
    }

    fn unary(&mut self, node: &'a ast::ExprUnaryOp) -> Done {
        if let (UnaryOp::USub, Expr::NumberLiteral(number)) = (node.op, &*node.operand)
            && let Number::Int(int) = &number.value
            && let Some(small) = int.as_i64().and_then(|int| i32::try_from(-int).ok())
        {
            self.emit(Op::LoadInt, 0, small as u32);
            return Ok(());
        }
        self.expr(&node.operand)?;
        let op = match node.op {
            UnaryOp::Invert => Op::Invert,
            UnaryOp::Not => Op::Not,
            UnaryOp::UAdd => Op::Positive,
            UnaryOp::USub => Op::Negative,
        };
        self.emit(op, 0, 0);
        Ok(())
    }

    fn bool_op(&mut self, node: &'a ast::ExprBoolOp) -> Done {
        let end = self.label();
        let op = match node.op {
            BoolOp::And => Op::JumpIfFalseKeep,
            BoolOp::Or => Op::JumpIfTrueKeep,
        };
        for (index, value) in node.values.iter().enumerate() {
            self.expr(value)?;
            if index + 1 < node.values.len() {
                self.jump(op, end);
            }
        }
        self.place(end);
        Ok(())
    }

    /// Jumps to `target` if the test's truth is `when`; goes on otherwise.
    pub(super) fn condition(&mut self, test: &'a Expr, target: Label, when: bool) -> Done {
        match test {
            Expr::UnaryOp(node) if node.op == UnaryOp::Not => {
                return self.condition(&node.operand, target, !when);
            }
            Expr::BoolOp(node) => {
                // `and` that is to jump when false jumps at the first false part; else it goes on.
                let all = node.op == BoolOp::And;
                let skip = self.label();
                for (index, value) in node.values.iter().enumerate() {
                    if index + 1 == node.values.len() || all != when {
                        self.condition(value, target, when)?;
                    } else {
                        self.condition(value, skip, !when)?;
                    }
                }
                self.place(skip);
                return Ok(());
            }
            _ => {}
        }
        self.expr(test)?;
        self.jump(if when { Op::JumpIfTrue } else { Op::JumpIfFalse }, target);
        Ok(())
    }

    fn compare(&mut self, node: &'a ast::ExprCompare) -> Done {
        self.expr(&node.left)?;
        let last = node.ops.len() - 1;
        if last == 0 {
            self.compared(node.ops[0], &node.comparators[0])?;
            self.at(node);
            self.comparison(node.ops[0]);
            return Ok(());
        }
        let (shortcut, end) = (self.label(), self.label());
        for (index, (op, right)) in node.ops.iter().zip(&node.comparators).enumerate() {
            if index == last {
                self.compared(*op, right)?;
            } else {
                self.expr(right)?;
            }
            if index < last {
                self.emit(Op::Copy, 0, 0);
                self.emit(Op::Rot3, 0, 0);
                self.comparison(*op);
                self.jump(Op::JumpIfFalseKeep, shortcut);
            } else {
                self.comparison(*op);
            }
        }
        let depth = self.depth();
        self.jump(Op::Jump, end);
        self.place(shortcut);
        self.set_depth(depth + 1);
        self.emit(Op::Swap, 0, 0);
        self.emit(Op::Pop, 0, 0);
        self.place(end);
        self.set_depth(depth);
        Ok(())
    }

    fn compared(&mut self, op: ast::CmpOp, right: &'a Expr) -> Done {
        match op {
            ast::CmpOp::In | ast::CmpOp::NotIn => self.walked(right, false),
            _ => self.expr(right),
        }
    }

    fn comparison(&mut self, op: ast::CmpOp) {
        let compare = match op {
            ast::CmpOp::Eq => CmpOp::Eq,
            ast::CmpOp::NotEq => CmpOp::Ne,
            ast::CmpOp::Lt => CmpOp::Lt,
            ast::CmpOp::LtE => CmpOp::Le,
            ast::CmpOp::Gt => CmpOp::Gt,
            ast::CmpOp::GtE => CmpOp::Ge,
            ast::CmpOp::Is => return self.emit(Op::Is, 0, 0),
            ast::CmpOp::IsNot => return self.emit(Op::IsNot, 0, 0),
            ast::CmpOp::In => return self.emit(Op::In, 0, 0),
            ast::CmpOp::NotIn => return self.emit(Op::NotIn, 0, 0),
        };
        self.emit(Op::Compare, compare as u16, 0);
    }

    /// A display. With stars, a list is built piece by piece.
    fn sequence(&mut self, elements: &'a [Expr], op: Op) -> Done {
        let starred = elements.iter().any(|element| matches!(element, Expr::Starred(_)));
        // A long display would need as many values on the stack.
        if !starred && elements.len() <= 64 {
            for element in elements {
                self.expr(element)?;
            }
            self.emit(op, 0, elements.len() as u32);
            return Ok(());
        }
        self.elements(elements, op)?;
        if op == Op::BuildTuple {
            self.emit(Op::ListToTuple, 0, 0);
        }
        Ok(())
    }

    /// The same, one element after the other.
    pub(super) fn elements(&mut self, elements: &'a [Expr], op: Op) -> Done {
        let set = op == Op::BuildSet;
        self.emit(if set { Op::BuildSet } else { Op::BuildList }, 0, 0);
        for element in elements {
            if let Expr::Starred(node) = element {
                self.expr(&node.value)?;
                self.emit(if set { Op::SetUpdate } else { Op::ListExtend }, 0, 0);
            } else {
                self.expr(element)?;
                self.emit(if set { Op::SetAdd } else { Op::ListAppend }, 0, 0);
            }
        }
        Ok(())
    }

    fn dict(&mut self, node: &'a ast::ExprDict) -> Done {
        self.emit(Op::BuildMap, 0, 0);
        for item in &node.items {
            match &item.key {
                Some(key) => {
                    self.expr(key)?;
                    self.expr(&item.value)?;
                    self.emit(Op::MapAdd, 0, 0);
                }
                None => {
                    self.expr(&item.value)?;
                    self.emit(Op::DictUpdate, 0, 0);
                }
            }
        }
        Ok(())
    }

    fn f_string(&mut self, node: &'a ast::ExprFString) -> Done {
        let mut parts = 0;
        for part in &node.value {
            match part {
                ast::FStringPart::Literal(text) => {
                    self.constant(Const::Str(text.value.to_string()));
                    parts += 1;
                }
                ast::FStringPart::FString(inner) => {
                    for element in &inner.elements {
                        parts += self.f_string_element(element)?;
                    }
                }
            }
        }
        self.emit(Op::BuildString, 0, parts);
        Ok(())
    }

    fn f_string_element(
        &mut self,
        element: &'a ast::InterpolatedStringElement,
    ) -> Result<u32, CompileError> {
        let field = match element {
            ast::InterpolatedStringElement::Literal(text) => {
                self.constant(Const::Str(text.value.to_string()));
                return Ok(1);
            }
            ast::InterpolatedStringElement::Interpolation(field) => field,
        };
        let mut parts = 1;
        if let Some(debug) = &field.debug_text {
            self.constant(Const::Str(debug.as_str().to_owned()));
            parts += 1;
        }
        self.expr(&field.expression)?;
        let mut operand = match field.conversion {
            ast::ConversionFlag::None
                if field.debug_text.is_some() && field.format_spec.is_none() =>
            {
                CONVERT_REPR
            }
            ast::ConversionFlag::None => 0,
            ast::ConversionFlag::Str => CONVERT_STR,
            ast::ConversionFlag::Repr => CONVERT_REPR,
            ast::ConversionFlag::Ascii => CONVERT_ASCII,
        };
        if let Some(spec) = &field.format_spec {
            let mut pieces = 0;
            for element in &spec.elements {
                pieces += self.f_string_element(element)?;
            }
            self.emit(Op::BuildString, 0, pieces);
            operand |= 1;
        }
        self.emit(Op::FormatValue, operand, 0);
        Ok(parts)
    }
}
