//! `try`, `with` and the ways out of them: break, continue and return run what is in between.

use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};
use ruff_text_size::Ranged;

use super::compiler::{Compiler, Done};
use super::emit::Label;
use super::modules::catches_missing_modules;
use crate::code::Op;
use crate::limits::CLAUSES_MAX;

/// A region whose exceptions go to `target`; its range is closed while a way out is being emitted.
#[derive(Clone, Copy)]
pub(super) struct Region {
    start: u32,
    target: Label,
    depth: usize,
}

/// What lies around a statement.
#[derive(Clone)]
pub(super) enum Block<'a> {
    /// A loop; `for` loops have their iterator on the stack.
    Loop { next: Label, end: Label, iterator: bool },
    /// Exceptions inside are caught; nothing to do on the way out.
    Try(Region),
    /// The body is to run on every way out.
    Finally(Region, &'a [Stmt]),
    /// Inside `except`: the exception being handled is below; the name is to be unset.
    Handler(Region, Option<String>),
    /// Inside `finally` because of an exception: two values on the stack.
    FinallyHandler(Region),
    /// `__exit__` is on the stack, or `__aexit__`, to be awaited.
    With(Region, bool),
    /// Inside `finally` on the way of a return: its value is on the stack, and given up by another way out.
    Returning,
}

impl<'a> Block<'a> {
    fn region(&mut self) -> Option<&mut Region> {
        match self {
            Block::Loop { .. } | Block::Returning => None,
            Block::Try(region)
            | Block::Finally(region, _)
            | Block::Handler(region, _)
            | Block::FinallyHandler(region)
            | Block::With(region, _) => Some(region),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Break,
    Continue,
    /// With a value on the stack.
    Return,
}

impl<'a> Compiler<'a> {
    pub(super) fn block_list(&mut self) -> &mut Vec<Block<'a>> {
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    fn region(&mut self, target: Label, depth: usize) -> Region {
        Region { start: self.unit().here(), target, depth }
    }

    /// Ends the innermost block.
    fn end_block(&mut self) {
        if let Some(mut block) = self.block_list().pop()
            && let Some(region) = block.region().copied()
        {
            let end = self.unit().here();
            self.unit().protect(region.start, end, region.target, region.depth);
        }
    }

    /// Leaves all blocks up to the loop, or all of them.
    pub(super) fn leave(&mut self, exit: Exit, node: &impl Ranged) -> Done {
        self.check_length(node)?;
        let depth = self.depth();
        let saved = self.block_list().clone();
        let mut jump = None;
        while let Some(block) = self.block_list().last().cloned() {
            match block {
                Block::Loop { next, end, iterator } => {
                    if exit == Exit::Continue {
                        jump = Some(next);
                        break;
                    }
                    if iterator {
                        if exit == Exit::Return {
                            self.emit(Op::Swap, 0, 0);
                        }
                        self.emit(Op::DropIter, 0, 0);
                    }
                    if exit == Exit::Break {
                        jump = Some(end);
                        break;
                    }
                    self.end_block();
                }
                Block::Try(_) => self.end_block(),
                Block::Finally(_, body) => {
                    self.end_block();
                    let returning = exit == Exit::Return;
                    self.block_list().extend(returning.then_some(Block::Returning));
                    self.body(body)?;
                    if returning {
                        self.end_block();
                    }
                }
                Block::Returning => {
                    self.end_block();
                    self.drop_under(exit);
                }
                Block::Handler(_, name) => {
                    self.end_block();
                    self.emit(Op::LeaveHandler, u16::from(exit == Exit::Return), 0);
                    if let Some(name) = name {
                        self.unset(&name);
                    }
                }
                Block::FinallyHandler(_) => {
                    self.end_block();
                    self.drop_under(exit);
                    self.emit(Op::LeaveHandler, u16::from(exit == Exit::Return), 0);
                }
                Block::With(_, awaited) => {
                    self.end_block();
                    if exit == Exit::Return {
                        self.emit(Op::Swap, 0, 0);
                    }
                    self.call_exit(awaited);
                }
            }
        }
        match (exit, jump) {
            (Exit::Return, _) => self.emit(Op::Return, 0, 0),
            (_, Some(label)) => self.jump(Op::Jump, label),
            (Exit::Break, None) => return self.refuse(node, "'break' outside loop", ""),
            (Exit::Continue, None) => {
                return self.refuse(node, "'continue' not properly in loop", "");
            }
        }
        // The regions go on after what was emitted for this way out.
        let here = self.unit().here();
        *self.block_list() = saved;
        self.reopen(exit, here);
        self.set_depth(depth);
        Ok(())
    }

    /// Resumes the protected regions of blocks inside the jump's target, which exclude the exit code just emitted.
    fn reopen(&mut self, exit: Exit, here: u32) {
        for block in self.block_list().iter_mut().rev() {
            if matches!(block, Block::Loop { .. }) && exit != Exit::Return {
                return;
            }
            if let Some(region) = block.region() {
                region.start = here;
            }
        }
    }

    fn drop_under(&mut self, exit: Exit) {
        if exit == Exit::Return {
            self.emit(Op::Swap, 0, 0);
        }
        self.emit(Op::Pop, 0, 0);
    }

    fn call_exit(&mut self, awaited: bool) {
        for _ in 0..3 {
            self.emit(Op::LoadNone, 0, 0);
        }
        self.emit(Op::Call, 0, 3);
        if awaited {
            self.emit_await();
        }
        self.emit(Op::Pop, 0, 0);
    }

    fn unset(&mut self, name: &str) {
        self.emit(Op::LoadNone, 0, 0);
        self.store(name);
        self.delete(name);
    }

    pub(super) fn try_statement(&mut self, node: &'a ast::StmtTry) -> Done {
        // Each `finally` is compiled twice, so nested ones grow as powers of two.
        self.check_length(node)?;
        if let Some(star) = node.handlers.first().filter(|_| node.is_star) {
            let advice =
                "raise single exceptions and catch them with 'except'; of several, keep a list";
            return self.refuse(star, "except* is not supported", advice);
        }
        if node.finalbody.is_empty() {
            return self.try_except(node);
        }
        let depth = self.depth();
        let (handler, end) = (self.label(), self.label());
        let region = self.region(handler, depth);
        self.block_list().push(Block::Finally(region, &node.finalbody));
        if node.handlers.is_empty() {
            self.body(&node.body)?;
            self.body(&node.orelse)?;
        } else {
            self.try_except(node)?;
        }
        self.end_block();
        self.body(&node.finalbody)?;
        self.jump(Op::Jump, end);
        self.place(handler);
        self.set_depth(depth + 1);
        self.emit(Op::EnterHandler, 0, 0);
        let cleanup = self.label();
        let region = self.region(cleanup, depth + 1);
        self.block_list().push(Block::FinallyHandler(region));
        self.body(&node.finalbody)?;
        self.emit(Op::Reraise, 0, 0);
        self.end_block();
        self.rethrow(cleanup, depth);
        self.place(end);
        self.set_depth(depth);
        Ok(())
    }

    /// Where exceptions inside a handler go: what was handled before is restored, they go on.
    fn rethrow(&mut self, cleanup: Label, depth: usize) {
        self.place(cleanup);
        self.set_depth(depth + 2);
        self.emit(Op::LeaveHandler, 1, 0);
        self.emit(Op::Reraise, 0, 0);
    }

    fn try_except(&mut self, node: &'a ast::StmtTry) -> Done {
        let depth = self.depth();
        let (handler, end) = (self.label(), self.label());
        let region = self.region(handler, depth);
        self.block_list().push(Block::Try(region));
        let optional = node.handlers.iter().any(catches_missing_modules);
        self.optional_imports += usize::from(optional);
        self.body(&node.body)?;
        self.optional_imports -= usize::from(optional);
        self.end_block();
        self.body(&node.orelse)?;
        self.jump(Op::Jump, end);
        self.place(handler);
        self.set_depth(depth + 1);
        self.emit(Op::EnterHandler, 0, 0);
        let cleanup = self.label();
        let mut bare = false;
        for handler in &node.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            if bare {
                return self.refuse(node, "default 'except:' must be last", "");
            }
            bare = handler.type_.is_none();
            self.except_handler(handler, depth, cleanup, end)?;
        }
        if !bare {
            self.set_depth(depth + 2);
            let start = self.unit().here();
            self.emit(Op::Reraise, 0, 0);
            let here = self.unit().here();
            self.unit().protect(start, here, cleanup, depth + 1);
        }
        self.rethrow(cleanup, depth);
        self.place(end);
        self.set_depth(depth);
        Ok(())
    }

    fn except_handler(
        &mut self,
        handler: &'a ast::ExceptHandlerExceptHandler,
        depth: usize,
        cleanup: Label,
        end: Label,
    ) -> Done {
        self.set_depth(depth + 2);
        self.at(handler);
        let next = self.label();
        if let Some(kind) = &handler.type_ {
            let region = self.region(cleanup, depth + 1);
            self.block_list().push(Block::Try(region));
            self.emit(Op::Copy, 0, 0);
            self.expr(kind)?;
            self.emit(Op::MatchException, 0, 0);
            self.end_block();
            self.jump(Op::JumpIfFalse, next);
        }
        let name = handler.name.as_ref().map(|name| name.as_str().to_owned());
        match &name {
            Some(name) => self.store(name),
            None => self.emit(Op::Pop, 0, 0),
        }
        let inner = if name.is_some() { self.label() } else { cleanup };
        let region = self.region(inner, depth + 1);
        self.block_list().push(Block::Handler(region, name.clone()));
        self.body(&handler.body)?;
        self.end_block();
        self.emit(Op::LeaveHandler, 0, 0);
        if let Some(name) = &name {
            self.unset(name);
        }
        self.jump(Op::Jump, end);
        if let Some(name) = &name {
            self.place(inner);
            self.set_depth(depth + 2);
            self.unset(name);
            self.emit(Op::LeaveHandler, 1, 0);
            self.emit(Op::Reraise, 0, 0);
        }
        self.place(next);
        Ok(())
    }

    pub(super) fn with_statement(&mut self, node: &'a ast::StmtWith) -> Done {
        self.check_length(node)?;
        if node.items.len() > CLAUSES_MAX {
            return self.refuse(
                node,
                &format!("more than {CLAUSES_MAX} managers in one 'with'"),
                "enter them in a loop, with contextlib.ExitStack",
            );
        }
        self.with_items(&node.items, &node.body, node.is_async)
    }

    /// The first of these managers, and the others inside it: as deep as `CLAUSES_MAX`.
    fn with_items(&mut self, items: &'a [ast::WithItem], body: &'a [Stmt], awaited: bool) -> Done {
        let Some((item, rest)) = items.split_first() else { return self.body(body) };
        let depth = self.depth();
        let (handler, cleanup, suppress, end) =
            (self.label(), self.label(), self.label(), self.label());
        self.expr(&item.context_expr)?;
        self.at(&item.context_expr);
        self.emit(Op::EnterWith, u16::from(awaited), 0);
        if awaited {
            self.emit_await();
        }
        let region = self.region(handler, depth + 1);
        self.block_list().push(Block::With(region, awaited));
        match &item.optional_vars {
            Some(target) => self.assign(target)?,
            None => self.emit(Op::Pop, 0, 0),
        }
        self.with_items(rest, body, awaited)?;
        self.end_block();
        self.call_exit(awaited);
        self.jump(Op::Jump, end);
        self.place(handler);
        self.set_depth(depth + 2);
        self.emit(Op::EnterHandler, 0, 0);
        let start = self.unit().here();
        self.emit(Op::WithFailed, 0, 0);
        if awaited {
            self.emit_await();
        }
        self.jump(Op::JumpIfTrue, suppress);
        self.emit(Op::Reraise, 0, 0);
        let here = self.unit().here();
        self.unit().protect(start, here, cleanup, depth + 2);
        self.place(suppress);
        self.set_depth(depth + 3);
        self.emit(Op::Pop, 0, 0);
        self.emit(Op::LeaveHandler, 0, 0);
        self.emit(Op::Pop, 0, 0);
        self.jump(Op::Jump, end);
        self.place(cleanup);
        self.set_depth(depth + 3);
        self.emit(Op::LeaveHandler, 1, 0);
        self.emit(Op::Swap, 0, 0);
        self.emit(Op::Pop, 0, 0);
        self.emit(Op::Reraise, 0, 0);
        self.place(end);
        self.set_depth(depth);
        Ok(())
    }

    pub(super) fn raise(&mut self, exc: Option<&'a Expr>, cause: Option<&'a Expr>) -> Done {
        let mut count = 0;
        for part in [exc, cause].into_iter().flatten() {
            self.expr(part)?;
            count += 1;
        }
        self.emit(Op::Raise, count, 0);
        Ok(())
    }
}
