//! Comprehensions and generator expressions: functions of one argument, the outermost iterator.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::compiler::{Compiler, Done};
use super::function::Inside;
use super::scope::ScopeKind;
use crate::code::{Kind, Op};
use crate::limits::CLAUSES_MAX;

impl<'a> Compiler<'a> {
    pub(super) fn comprehension(&mut self, expr: &'a Expr) -> Done {
        if generators(expr).len() > CLAUSES_MAX {
            let message = format!("more than {CLAUSES_MAX} 'for' in one comprehension");
            return self.refuse(expr, &message, "write loops");
        }
        let scope = self.scopes.of(ScopeKind::Comprehension, expr.range());
        let name = match expr {
            Expr::ListComp(_) => "<listcomp>",
            Expr::SetComp(_) => "<setcomp>",
            Expr::DictComp(_) => "<dictcomp>",
            _ => "<genexpr>",
        };
        let waits = waits(expr);
        let lazy = matches!(expr, Expr::Generator(_));
        if waits && !lazy && !self.is_async() {
            let message = "asynchronous comprehension outside of an asynchronous function";
            return self.refuse(expr, message, "use async def");
        }
        let kind = match (lazy, waits) {
            (false, false) => Kind::Plain,
            (false, true) => Kind::Coroutine,
            (true, false) => Kind::Generator,
            (true, true) => Kind::AsyncGenerator,
        };
        self.function(name, scope, None, kind, 0, Inside::Comprehension(expr))?;
        if let Some(first) = generators(expr).first() {
            if first.is_async {
                self.prelude("_aiter");
                self.expr(&first.iter)?;
                self.emit(Op::Call, 0, 1);
            } else {
                self.walked(&first.iter, true)?;
                self.emit(Op::GetIter, 0, 0);
            }
        }
        self.at(expr);
        self.emit(Op::Call, 0, 1);
        if kind == Kind::Coroutine {
            self.emit_await();
        }
        Ok(())
    }

    pub(super) fn comprehension_body(&mut self, expr: &'a Expr) -> Done {
        self.at(expr);
        match expr {
            Expr::ListComp(_) => self.emit(Op::BuildList, 0, 0),
            Expr::SetComp(_) => self.emit(Op::BuildSet, 0, 0),
            Expr::DictComp(_) => self.emit(Op::BuildMap, 0, 0),
            _ => {}
        }
        self.comprehension_loop(expr, 0)?;
        if matches!(expr, Expr::Generator(_)) {
            self.emit(Op::LoadNone, 0, 0);
        }
        Ok(())
    }

    fn comprehension_loop(&mut self, expr: &'a Expr, index: usize) -> Done {
        let all = generators(expr);
        let Some(generator) = all.get(index) else {
            let nested = all.len() as u16;
            match expr {
                Expr::ListComp(node) => {
                    self.expr(&node.elt)?;
                    self.emit(Op::ListAppend, nested, 0);
                }
                Expr::SetComp(node) => {
                    self.expr(&node.elt)?;
                    self.emit(Op::SetAdd, nested, 0);
                }
                Expr::DictComp(node) => {
                    let Some(key) = &node.key else {
                        return self.refuse(node, "** in a comprehension is not supported", "");
                    };
                    self.expr(key)?;
                    self.expr(&node.value)?;
                    self.emit(Op::MapAdd, nested, 0);
                }
                Expr::Generator(node) => {
                    self.yielded(Some(&node.elt))?;
                    self.emit(Op::Pop, 0, 0);
                }
                _ => {}
            }
            return Ok(());
        };
        if index == 0 {
            self.emit(Op::LoadLocal, 0, 0);
        } else if generator.is_async {
            self.prelude("_aiter");
            self.expr(&generator.iter)?;
            self.emit(Op::Call, 0, 1);
        } else {
            self.walked(&generator.iter, true)?;
            self.emit(Op::GetIter, 0, 0);
        }
        let depth = self.depth();
        let (next, end) = (self.label(), self.label());
        self.place(next);
        let ended = match generator.is_async {
            true => Some(self.next_awaited(depth)),
            false => {
                self.jump(Op::ForIter, end);
                None
            }
        };
        self.assign(&generator.target)?;
        for condition in &generator.ifs {
            self.condition(condition, next, false)?;
        }
        self.comprehension_loop(expr, index + 1)?;
        self.jump(Op::Jump, next);
        if let Some(ended) = ended {
            self.end_awaited(ended, depth);
        }
        self.place(end);
        self.set_depth(depth - 1);
        Ok(())
    }
}

fn generators(expr: &Expr) -> &[ast::Comprehension] {
    match expr {
        Expr::ListComp(node) => &node.generators,
        Expr::SetComp(node) => &node.generators,
        Expr::DictComp(node) => &node.generators,
        Expr::Generator(node) => &node.generators,
        _ => &[],
    }
}

/// Whether a comprehension waits by itself: by `async for`, by `await` beyond its first iterator, or
/// through another comprehension inside it.
fn waits(expr: &Expr) -> bool {
    let all = generators(expr);
    let mut search = Search { found: all.iter().any(|generator| generator.is_async) };
    for (index, generator) in all.iter().enumerate() {
        if index > 0 {
            search.visit_expr(&generator.iter);
        }
        generator.ifs.iter().for_each(|condition| search.visit_expr(condition));
    }
    match expr {
        Expr::ListComp(node) => search.visit_expr(&node.elt),
        Expr::SetComp(node) => search.visit_expr(&node.elt),
        Expr::DictComp(node) => {
            node.key.iter().for_each(|key| search.visit_expr(key));
            search.visit_expr(&node.value);
        }
        Expr::Generator(node) => search.visit_expr(&node.elt),
        _ => {}
    }
    search.found
}

/// Looks for what waits in this function, not in functions inside it.
struct Search {
    found: bool,
}

impl<'a> Visitor<'a> for Search {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Await(_) => self.found = true,
            Expr::Lambda(_) => {}
            Expr::Generator(node) => {
                if let Some(first) = node.generators.first() {
                    self.visit_expr(&first.iter);
                }
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) => {
                self.found |= waits(expr);
                if let Some(first) = generators(expr).first() {
                    self.visit_expr(&first.iter);
                }
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}
