//! Statements.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::compiler::{Compiler, Done};
use super::modules;
use super::protect::{Block, Exit};
use super::scope::ScopeKind;
use crate::code::{Const, Kind, Op};

impl<'a> Compiler<'a> {
    pub(super) fn body(&mut self, body: &'a [Stmt]) -> Done {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Done {
        self.at(stmt);
        match stmt {
            Stmt::Expr(node) => {
                if matches!(&*node.value, Expr::StringLiteral(_)) {
                    return Ok(());
                }
                self.expr(&node.value)?;
                self.emit(Op::Pop, 0, 0);
                Ok(())
            }
            Stmt::Assign(node) => {
                self.expr(&node.value)?;
                for (index, target) in node.targets.iter().enumerate() {
                    if index + 1 < node.targets.len() {
                        self.emit(Op::Copy, 0, 0);
                    }
                    self.assign(target)?;
                }
                Ok(())
            }
            Stmt::AugAssign(node) => self.aug_assign(node),
            Stmt::AnnAssign(node) => self.ann_assign(node),
            Stmt::Return(node) => self.return_statement(node),
            Stmt::If(node) => self.if_statement(node),
            Stmt::While(node) => self.while_statement(node),
            Stmt::For(node) => self.for_statement(node),
            Stmt::FunctionDef(node) => self.function_def(node),
            Stmt::ClassDef(node) => self.class_def(node),
            Stmt::Try(node) => self.try_statement(node),
            Stmt::With(node) => {
                if node.is_async && !self.is_async() {
                    let message = "'async with' outside async function";
                    return self.refuse(node, message, "use async def");
                }
                self.with_statement(node)
            }
            Stmt::Raise(node) => self.raise(node.exc.as_deref(), node.cause.as_deref()),
            Stmt::Match(node) => self.match_statement(node),
            Stmt::Assert(node) => self.assert(node),
            Stmt::Delete(node) => node.targets.iter().try_for_each(|target| self.del(target)),
            Stmt::Import(node) => self.import(node),
            Stmt::ImportFrom(node) => self.import_from(node),
            Stmt::Break(node) => self.leave(Exit::Break, node),
            Stmt::Continue(node) => self.leave(Exit::Continue, node),
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => Ok(()),
            Stmt::TypeAlias(node) => {
                self.refuse(node, "type aliases are not supported", "assign the type to a name")
            }
            Stmt::IpyEscapeCommand(node) => self.refuse(node, "this is no Python", ""),
        }
    }

    fn return_statement(&mut self, node: &'a ast::StmtReturn) -> Done {
        let scope = self.unit().scope;
        if self.scopes.list[scope].kind != ScopeKind::Function {
            return self.refuse(node, "'return' outside function", "");
        }
        if node.value.is_some() && self.unit().code.kind == Kind::AsyncGenerator {
            return self.refuse(node, "'return' with value in async generator", "yield it");
        }
        match &node.value {
            Some(value) => self.expr(value)?,
            None => self.emit(Op::LoadNone, 0, 0),
        }
        self.leave(Exit::Return, node)?;
        let depth = self.depth();
        self.set_depth(depth.saturating_sub(1));
        Ok(())
    }

    fn if_statement(&mut self, node: &'a ast::StmtIf) -> Done {
        let end = self.label();
        let mut next = self.label();
        self.condition(&node.test, next, false)?;
        let typing = for_type_checkers(&node.test);
        self.optional_imports += usize::from(typing);
        self.body(&node.body)?;
        self.optional_imports -= usize::from(typing);
        for clause in &node.elif_else_clauses {
            self.jump(Op::Jump, end);
            self.place(next);
            next = self.label();
            if let Some(test) = &clause.test {
                self.at(clause);
                self.condition(test, next, false)?;
            }
            self.body(&clause.body)?;
        }
        self.place(next);
        self.place(end);
        Ok(())
    }

    fn while_statement(&mut self, node: &'a ast::StmtWhile) -> Done {
        let (next, orelse, end) = (self.label(), self.label(), self.label());
        self.place(next);
        self.condition(&node.test, orelse, false)?;
        self.block_list().push(Block::Loop { next, end, iterator: false });
        self.body(&node.body)?;
        self.block_list().pop();
        self.at(node);
        self.jump(Op::Jump, next);
        self.place(orelse);
        self.body(&node.orelse)?;
        self.place(end);
        Ok(())
    }

    fn for_statement(&mut self, node: &'a ast::StmtFor) -> Done {
        if node.is_async {
            return self.async_for(node);
        }
        let depth = self.depth();
        let (next, orelse, end) = (self.label(), self.label(), self.label());
        self.walked(&node.iter, true)?;
        self.emit(Op::GetIter, 0, 0);
        self.place(next);
        self.jump(Op::ForIter, orelse);
        self.assign(&node.target)?;
        self.block_list().push(Block::Loop { next, end, iterator: true });
        self.body(&node.body)?;
        self.block_list().pop();
        self.at(node);
        self.jump(Op::Jump, next);
        self.place(orelse);
        self.set_depth(depth);
        self.body(&node.orelse)?;
        self.place(end);
        Ok(())
    }

    fn assert(&mut self, node: &'a ast::StmtAssert) -> Done {
        let end = self.label();
        self.condition(&node.test, end, true)?;
        self.prelude("AssertionError");
        if let Some(message) = &node.msg {
            self.expr(message)?;
            self.emit(Op::Call, 0, 1);
        }
        self.emit(Op::Raise, 1, 0);
        self.place(end);
        Ok(())
    }

    fn check_module(&self, node: &impl ruff_text_size::Ranged, name: &str) -> Done {
        // A program that handles ImportError gets it at run time.
        let known = modules::exists(name) || self.script && crate::script::prelude::has(name);
        if known || self.file.starts_with('<') || self.optional_imports > 0 {
            return Ok(());
        }
        self.refuse(node, &format!("there is no module '{name}' here"), modules::advice_for(name))
    }

    fn import(&mut self, node: &'a ast::StmtImport) -> Done {
        for alias in &node.names {
            let name = alias.name.as_str();
            self.check_module(node, name)?;
            let index = self.unit().name(name);
            self.emit(Op::ImportName, 0, index);
            match &alias.asname {
                Some(asname) => self.store(asname.as_str()),
                None => {
                    let top = name.split('.').next().unwrap_or(name);
                    if top != name {
                        self.emit(Op::Pop, 0, 0);
                        let index = self.unit().name(top);
                        self.emit(Op::ImportName, 0, index);
                    }
                    self.store(top);
                }
            }
        }
        Ok(())
    }

    fn import_from(&mut self, node: &'a ast::StmtImportFrom) -> Done {
        let Some(module) = node.module.as_ref().filter(|_| node.level == 0) else {
            return self.refuse(
                node,
                "relative imports are not supported",
                "a program is one file",
            );
        };
        self.check_module(node, module.as_str())?;
        if module.as_str() == "__future__" {
            return Ok(());
        }
        let index = self.unit().name(module.as_str());
        self.emit(Op::ImportName, 0, index);
        for alias in &node.names {
            if alias.name.as_str() == "*" {
                self.import_all(node, module.as_str())?;
                continue;
            }
            let index = self.unit().name(alias.name.as_str());
            self.emit(Op::ImportFrom, 0, index);
            self.store(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
        }
        self.emit(Op::Pop, 0, 0);
        Ok(())
    }

    /// `from module import *`, for modules whose names are known.
    fn import_all(&mut self, node: &'a ast::StmtImportFrom, module: &str) -> Done {
        let scope = self.unit().scope;
        if self.scopes.list[scope].kind != ScopeKind::Module {
            return self.refuse(
                node,
                "import * only allowed at module level",
                "name what you import",
            );
        }
        let Some(names) = modules::all_of(module) else {
            if self.optional_imports > 0 && !modules::exists(module) {
                return Ok(());
            }
            return self.refuse(node, "'import *' is not supported", "name what you import");
        };
        for name in names {
            let index = self.unit().name(name);
            self.emit(Op::ImportFrom, 0, index);
            self.store(name);
        }
        Ok(())
    }

    fn ann_assign(&mut self, node: &'a ast::StmtAnnAssign) -> Done {
        if let Some(value) = &node.value {
            self.expr(value)?;
            self.assign(&node.target)?;
        }
        let scope = self.unit().scope;
        if self.scopes.list[scope].kind.is_function() {
            return Ok(());
        }
        match &*node.target {
            Expr::Name(name) if node.simple => {
                self.annotation(&node.annotation)?;
                self.load("__annotations__");
                self.constant(Const::Str(self.mangled(name.id.as_str())));
                self.emit(Op::StoreIndex, 0, 0);
            }
            _ => {
                self.annotation(&node.annotation)?;
                self.emit(Op::Pop, 0, 0);
            }
        }
        Ok(())
    }
}

/// `if TYPE_CHECKING:`, which never runs.
fn for_type_checkers(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}
