//! `yield`, `await`, and the statements that wait.

use ruff_python_ast as ast;
use ruff_python_ast::Expr;

use super::compiler::{Compiler, Done};
use super::emit::Label;
use super::protect::Block;
use super::scope::ScopeKind;
use crate::code::{Kind, Op};

impl<'a> Compiler<'a> {
    fn in_function(&mut self) -> bool {
        let scope = self.unit().scope;
        matches!(self.scopes.list[scope].kind, ScopeKind::Function | ScopeKind::Lambda)
    }

    pub(super) fn yield_expression(&mut self, node: &'a ast::ExprYield) -> Done {
        if !self.in_function() {
            return self.refuse(node, "'yield' outside function", "");
        }
        self.yielded(node.value.as_deref())
    }

    /// What an asynchronous generator yields is wrapped: awaits inside it go out the same way.
    pub(super) fn yielded(&mut self, value: Option<&'a Expr>) -> Done {
        let wrapped = self.unit().code.kind == Kind::AsyncGenerator;
        if wrapped {
            self.prelude("_Yielded");
        }
        match value {
            Some(value) => self.expr(value)?,
            None => self.emit(Op::LoadNone, 0, 0),
        }
        if wrapped {
            self.emit(Op::Call, 0, 1);
        }
        self.emit(Op::Yield, 0, 0);
        Ok(())
    }

    pub(super) fn is_async(&mut self) -> bool {
        matches!(self.unit().code.kind, Kind::Coroutine | Kind::AsyncGenerator)
    }

    pub(super) fn yield_from(&mut self, node: &'a ast::ExprYieldFrom) -> Done {
        if !self.in_function() {
            return self.refuse(node, "'yield' outside function", "");
        }
        if self.is_async() {
            return self.refuse(node, "'yield from' inside async function", "use async for");
        }
        self.expr(&node.value)?;
        self.emit(Op::YieldFromIter, 0, 0);
        self.delegate();
        Ok(())
    }

    pub(super) fn await_expression(&mut self, node: &'a ast::ExprAwait) -> Done {
        if !self.is_async() {
            return self.refuse(node, "'await' outside async function", "use async def");
        }
        self.expr(&node.value)?;
        self.emit_await();
        Ok(())
    }

    pub(super) fn emit_await(&mut self) {
        self.emit(Op::GetAwaitable, 0, 0);
        self.delegate();
    }

    /// Passes what comes in on to the iterator on the stack, and what it yields out, until it ends.
    fn delegate(&mut self) {
        self.emit(Op::LoadNone, 0, 0);
        let (again, end) = (self.label(), self.label());
        self.place(again);
        self.jump(Op::Send, end);
        self.emit(Op::Yield, 1, 0);
        self.jump(Op::Jump, again);
        self.place(end);
        let depth = self.depth();
        self.set_depth(depth - 1);
    }

    pub(super) fn async_for(&mut self, node: &'a ast::StmtFor) -> Done {
        if !self.is_async() {
            return self.refuse(node, "'async for' outside async function", "use async def");
        }
        let depth = self.depth();
        let (next, orelse, end) = (self.label(), self.label(), self.label());
        self.prelude("_aiter");
        self.expr(&node.iter)?;
        self.emit(Op::Call, 0, 1);
        self.place(next);
        let ended = self.next_awaited(depth + 1);
        self.assign(&node.target)?;
        self.block_list().push(Block::Loop { next, end, iterator: true });
        self.body(&node.body)?;
        self.block_list().pop();
        self.at(node);
        self.jump(Op::Jump, next);
        self.end_awaited(ended, depth + 1);
        self.place(orelse);
        self.set_depth(depth);
        self.body(&node.orelse)?;
        self.place(end);
        Ok(())
    }

    /// Awaits the next value of the asynchronous iterator on top of the stack. Returns where its end,
    /// an exception, arrives.
    pub(super) fn next_awaited(&mut self, depth: usize) -> Label {
        let ended = self.label();
        let start = self.unit().here();
        self.emit(Op::Copy, 0, 0);
        self.prelude("_anext");
        self.emit(Op::Swap, 0, 0);
        self.emit(Op::Call, 0, 1);
        self.emit_await();
        let here = self.unit().here();
        self.unit().protect(start, here, ended, depth);
        ended
    }

    /// The end of an asynchronous iterator: what follows this code goes on without the iterator; any
    /// other exception propagates.
    pub(super) fn end_awaited(&mut self, ended: Label, depth: usize) {
        let other = self.label();
        let after = self.label();
        self.place(ended);
        self.set_depth(depth + 1);
        self.emit(Op::Copy, 0, 0);
        self.prelude("StopAsyncIteration");
        self.emit(Op::MatchException, 0, 0);
        self.jump(Op::JumpIfFalse, other);
        self.emit(Op::Pop, 0, 0);
        self.emit(Op::Pop, 0, 0);
        self.jump(Op::Jump, after);
        self.place(other);
        self.set_depth(depth + 1);
        self.emit(Op::Reraise, 0, 0);
        self.place(after);
    }
}
