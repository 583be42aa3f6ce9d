//! What stands left of `=`, after `del`, and in `+=`.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::compiler::{Compiler, Done};
use crate::code::{BinOp, Op};

impl<'a> Compiler<'a> {
    /// Stores the top of the stack.
    pub(super) fn assign(&mut self, target: &'a Expr) -> Done {
        match target {
            Expr::Name(name) => {
                self.store(name.id.as_str());
                Ok(())
            }
            Expr::Attribute(node) => {
                self.expr(&node.value)?;
                let attr = self.mangled(node.attr.as_str());
                let index = self.unit().name(&attr);
                self.emit(Op::StoreAttr, 0, index);
                Ok(())
            }
            Expr::Subscript(node) => {
                self.expr(&node.value)?;
                self.expr(&node.slice)?;
                self.emit(Op::StoreIndex, 0, 0);
                Ok(())
            }
            Expr::Tuple(node) => self.assign_all(target, &node.elts),
            Expr::List(node) => self.assign_all(target, &node.elts),
            Expr::Starred(node) => self.assign(&node.value),
            _ => self.refuse(target, "cannot assign to this", ""),
        }
    }

    fn assign_all(&mut self, node: &'a Expr, targets: &'a [Expr]) -> Done {
        let star = targets.iter().position(|target| matches!(target, Expr::Starred(_)));
        match star {
            None => self.emit(Op::UnpackSequence, 0, targets.len() as u32),
            Some(at) => {
                let after = targets.len() - at - 1;
                if targets[at + 1..].iter().any(|target| matches!(target, Expr::Starred(_))) {
                    return self.refuse(node, "multiple starred expressions in assignment", "");
                }
                if at > 0xffff {
                    return self.refuse(node, "too many targets", "");
                }
                self.emit(Op::UnpackEx, at as u16, after as u32);
            }
        }
        targets.iter().try_for_each(|target| self.assign(target))
    }

    pub(super) fn del(&mut self, target: &'a Expr) -> Done {
        match target {
            Expr::Name(name) => {
                self.delete(name.id.as_str());
                Ok(())
            }
            Expr::Attribute(node) => {
                self.expr(&node.value)?;
                let attr = self.mangled(node.attr.as_str());
                let index = self.unit().name(&attr);
                self.emit(Op::DeleteAttr, 0, index);
                Ok(())
            }
            Expr::Subscript(node) => {
                self.expr(&node.value)?;
                self.expr(&node.slice)?;
                self.emit(Op::DeleteIndex, 0, 0);
                Ok(())
            }
            Expr::Tuple(node) => node.elts.iter().try_for_each(|target| self.del(target)),
            Expr::List(node) => node.elts.iter().try_for_each(|target| self.del(target)),
            _ => self.refuse(target, "cannot delete this", ""),
        }
    }

    pub(super) fn aug_assign(&mut self, node: &'a ast::StmtAugAssign) -> Done {
        let op = operator(node.op) as u16;
        match &*node.target {
            Expr::Name(name) => {
                self.load(name.id.as_str());
                self.expr(&node.value)?;
                self.emit(Op::InPlace, op, 0);
                self.store(name.id.as_str());
            }
            Expr::Attribute(target) => {
                let attr = self.mangled(target.attr.as_str());
                let index = self.unit().name(&attr);
                self.expr(&target.value)?;
                self.emit(Op::Copy, 0, 0);
                self.emit(Op::LoadAttr, 0, index);
                self.expr(&node.value)?;
                self.emit(Op::InPlace, op, 0);
                self.emit(Op::Swap, 0, 0);
                self.emit(Op::StoreAttr, 0, index);
            }
            Expr::Subscript(target) => {
                self.expr(&target.value)?;
                self.expr(&target.slice)?;
                self.emit(Op::Copy, 0, 1);
                self.emit(Op::Copy, 0, 1);
                self.emit(Op::LoadIndex, 0, 0);
                self.expr(&node.value)?;
                self.emit(Op::InPlace, op, 0);
                self.emit(Op::Rot3, 0, 0);
                self.emit(Op::StoreIndex, 0, 0);
            }
            other => return self.refuse(&other.range(), "cannot assign to this", ""),
        }
        Ok(())
    }
}

pub(super) fn operator(op: ast::Operator) -> BinOp {
    match op {
        ast::Operator::Add => BinOp::Add,
        ast::Operator::Sub => BinOp::Sub,
        ast::Operator::Mult => BinOp::Mul,
        ast::Operator::MatMult => BinOp::MatMul,
        ast::Operator::Div => BinOp::Div,
        ast::Operator::Mod => BinOp::Mod,
        ast::Operator::Pow => BinOp::Pow,
        ast::Operator::LShift => BinOp::LShift,
        ast::Operator::RShift => BinOp::RShift,
        ast::Operator::BitOr => BinOp::Or,
        ast::Operator::BitXor => BinOp::Xor,
        ast::Operator::BitAnd => BinOp::And,
        ast::Operator::FloorDiv => BinOp::FloorDiv,
    }
}
