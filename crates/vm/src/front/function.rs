//! Functions and classes.

use ruff_python_ast::{self as ast, Expr, Parameters, Stmt};
use ruff_text_size::Ranged;

use super::CompileError;
use super::compiler::{Compiler, Done, docstring};
use super::scope::ScopeKind;
use crate::code::{Const, Kind, Op};
use crate::limits::QUALNAME_BYTES_MAX;

const DEFAULTS: u16 = 1;
const KEYWORD_DEFAULTS: u16 = 2;
const CLOSURE: u16 = 4;
const ANNOTATIONS: u16 = 8;

pub(super) enum Inside<'a> {
    Statements(&'a [Stmt]),
    Expression(&'a Expr),
    Comprehension(&'a Expr),
    ClassBody(&'a [Stmt]),
}

/// Whether a decorator is written `callback(anyone=True)`, or so of some module.
fn opens(decorator: &Expr) -> bool {
    let Expr::Call(call) = decorator else { return false };
    let named = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    let is_true = |value: &Expr| matches!(value, Expr::BooleanLiteral(literal) if literal.value);
    let anyone = |keyword: &ast::Keyword| {
        keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == "anyone") && is_true(&keyword.value)
    };
    named == "callback" && call.arguments.keywords.iter().any(anyone)
}

impl<'a> Compiler<'a> {
    pub(super) fn function_def(&mut self, node: &'a ast::StmtFunctionDef) -> Done {
        if let Some(params) = &node.type_params {
            return self.refuse(&**params, "type parameters are not supported", "leave them out");
        }
        for decorator in &node.decorator_list {
            self.expr(&decorator.expression)?;
            if opens(&decorator.expression) && self.outside_functions() {
                self.open_handlers.insert(node.name.as_str().to_owned());
            }
        }
        let flags = self.defaults(&node.parameters)? | self.annotations(node)?;
        let scope = self.scopes.of(ScopeKind::Function, node.range);
        let kind = match (node.is_async, self.scopes.list[scope].is_generator) {
            (false, false) => Kind::Plain,
            (false, true) => Kind::Generator,
            (true, false) => Kind::Coroutine,
            (true, true) => Kind::AsyncGenerator,
        };
        let inside = Inside::Statements(&node.body);
        self.function(node.name.as_str(), scope, Some(&node.parameters), kind, flags, inside)?;
        for _ in &node.decorator_list {
            self.emit(Op::Call, 0, 1);
        }
        self.store(node.name.as_str());
        Ok(())
    }

    /// Names and what stands behind their colons, in one tuple.
    fn annotations(&mut self, node: &'a ast::StmtFunctionDef) -> Result<u16, CompileError> {
        let mut count = 0;
        let written = &node.parameters;
        let plain = written.args.iter().chain(&written.posonlyargs).map(|one| &one.parameter);
        let rest = written.vararg.as_deref().into_iter();
        let rest = rest.chain(written.kwonlyargs.iter().map(|one| &one.parameter));
        for parameter in plain.chain(rest).chain(written.kwarg.as_deref()) {
            if let Some(annotation) = parameter.annotation() {
                self.constant(Const::Str(self.mangled(parameter.name.as_str())));
                self.annotation(annotation)?;
                count += 2;
            }
        }
        if let Some(returns) = &node.returns {
            self.constant(Const::Str("return".to_owned()));
            self.annotation(returns)?;
            count += 2;
        }
        if count == 0 {
            return Ok(0);
        }
        self.emit(Op::BuildTuple, 0, count);
        Ok(ANNOTATIONS)
    }

    pub(super) fn annotation(&mut self, annotation: &'a Expr) -> Done {
        if self.scopes.annotations_as_text {
            let text = self.text(annotation.range()).to_owned();
            self.constant(Const::Str(text));
            return Ok(());
        }
        match annotation {
            // `*args: *Ts` is the one item that Ts unpacks to.
            Expr::Starred(starred) => self.expr(&starred.value),
            other => self.expr(other),
        }
    }

    pub(super) fn lambda(&mut self, node: &'a ast::ExprLambda) -> Done {
        let flags = match &node.parameters {
            Some(parameters) => self.defaults(parameters)?,
            None => 0,
        };
        let scope = self.scopes.of(ScopeKind::Lambda, node.range);
        let generator = self.scopes.list[scope].is_generator;
        let kind = if generator { Kind::Generator } else { Kind::Plain };
        let parameters = node.parameters.as_deref();
        self.function("<lambda>", scope, parameters, kind, flags, Inside::Expression(&node.body))
    }

    fn defaults(&mut self, parameters: &'a Parameters) -> Result<u16, CompileError> {
        let mut flags = 0;
        let mut count = 0;
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            if let Some(default) = &parameter.default {
                self.expr(default)?;
                count += 1;
            }
        }
        if count > 0 {
            self.emit(Op::BuildTuple, 0, count);
            flags |= DEFAULTS;
        }
        if parameters.kwonlyargs.iter().any(|parameter| parameter.default.is_some()) {
            self.emit(Op::BuildMap, 0, 0);
            for parameter in &parameters.kwonlyargs {
                if let Some(default) = &parameter.default {
                    self.constant(Const::Str(self.mangled(parameter.parameter.name.as_str())));
                    self.expr(default)?;
                    self.emit(Op::MapAdd, 0, 0);
                }
            }
            flags |= KEYWORD_DEFAULTS;
        }
        Ok(flags)
    }

    /// Compiles a scope into a code object of its own and pushes the function.
    pub(super) fn function(
        &mut self,
        name: &str,
        scope: usize,
        parameters: Option<&'a Parameters>,
        kind: Kind,
        mut flags: u16,
        inside: Inside<'a>,
    ) -> Done {
        let slot = self.codes.len();
        self.codes.push(None);
        let qualname = self.qualname(name);
        self.open(name, &qualname, scope);
        self.slots(scope, parameters);
        self.set_kind(kind);
        let result = match inside {
            Inside::Statements(body) => {
                self.unit().code.doc = docstring(body);
                self.body(body).map(|()| self.emit(Op::LoadNone, 0, 0))
            }
            Inside::Expression(expr) => self.expr(expr),
            Inside::Comprehension(expr) => self.comprehension_body(expr),
            Inside::ClassBody(body) => self.class_body(body),
        };
        result?;
        self.emit(Op::Return, 0, 0);
        let mut code = self.close()?;
        let cell_params = self.scopes.list[scope].params.iter();
        let cells =
            cell_params.filter(|name| self.scopes.list[scope].cells.contains(*name)).count();
        code.simple = code.kind == Kind::Plain
            && !code.var_args
            && !code.var_keywords
            && code.keyword_only == 0
            && cells == 0
            && code.free == 0;
        self.codes[slot] = Some(code);
        let free: Vec<String> = self.scopes.list[scope].free.iter().cloned().collect();
        if !free.is_empty() {
            for name in &free {
                let index = self.unit().slot(name);
                self.emit(Op::LoadClosure, 0, index);
            }
            self.emit(Op::BuildTuple, 0, free.len() as u32);
            flags |= CLOSURE;
        }
        self.emit(Op::MakeFunction, flags, slot as u32);
        Ok(())
    }

    fn qualname(&mut self, name: &str) -> String {
        if self.units.is_empty() {
            return name.to_owned();
        }
        let scope = self.unit().scope;
        let between = match self.scopes.list[scope].kind {
            ScopeKind::Module => return name.to_owned(),
            ScopeKind::Class => ".",
            _ => ".<locals>.",
        };
        let outer = &self.unit().code.qualname;
        if outer.len() + between.len() + name.len() > QUALNAME_BYTES_MAX {
            return format!("<...>.{name}");
        }
        format!("{outer}{between}{name}")
    }

    /// Lays out the local slots: parameters, locals, cells, then cells of outer functions.
    fn slots(&mut self, scope: usize, parameters: Option<&Parameters>) {
        let info = &self.scopes.list[scope];
        let mut names = info.params.clone();
        if info.kind != ScopeKind::Class {
            names.extend(info.locals().cloned());
        }
        let known: std::collections::BTreeSet<String> = names.iter().cloned().collect();
        names.extend(info.cells.iter().filter(|cell| !known.contains(*cell)).cloned());
        let cells: Vec<String> = info.cells.iter().cloned().collect();
        let free: Vec<String> = info.free.iter().cloned().collect();
        let comprehension = info.kind == ScopeKind::Comprehension;
        names.extend(free.iter().cloned());
        self.unit().set_slots(names);
        let code = &mut self.unit().code;
        code.free = free.len() as u16;
        if comprehension {
            code.positional = 1;
        }
        if let Some(parameters) = parameters {
            code.positional = (parameters.posonlyargs.len() + parameters.args.len()) as u16;
            code.positional_only = parameters.posonlyargs.len() as u16;
            code.keyword_only = parameters.kwonlyargs.len() as u16;
            code.var_args = parameters.vararg.is_some();
            code.var_keywords = parameters.kwarg.is_some();
        }
        for cell in cells {
            let slot = self.unit().slot(&cell);
            self.emit(Op::MakeCell, 0, slot);
        }
    }

    pub(super) fn class_def(&mut self, node: &'a ast::StmtClassDef) -> Done {
        if let Some(params) = &node.type_params {
            return self.refuse(&**params, "type parameters are not supported", "leave them out");
        }
        for decorator in &node.decorator_list {
            self.expr(&decorator.expression)?;
        }
        self.prelude("_build_class");
        let scope = self.scopes.of(ScopeKind::Class, node.range);
        self.classes.push(node.name.as_str().to_owned());
        let inside = Inside::ClassBody(&node.body);
        let made = self.function(node.name.as_str(), scope, None, Kind::Plain, 0, inside);
        self.classes.pop();
        made?;
        self.constant(Const::Str(node.name.as_str().to_owned()));
        self.emit(Op::BuildList, 0, 0);
        for base in node.bases() {
            if let Expr::Starred(starred) = base {
                self.expr(&starred.value)?;
                self.emit(Op::ListExtend, 0, 0);
            } else {
                self.expr(base)?;
                self.emit(Op::ListAppend, 0, 0);
            }
        }
        self.emit(Op::ListToTuple, 0, 0);
        self.emit(Op::BuildMap, 0, 0);
        for keyword in node.keywords() {
            let Some(name) = &keyword.arg else {
                return self.refuse(keyword, "** in a class header is not supported", "");
            };
            self.constant(Const::Str(name.as_str().to_owned()));
            self.expr(&keyword.value)?;
            self.emit(Op::MapAdd, 0, 0);
        }
        self.at(node);
        self.emit(Op::Call, 0, 4);
        for _ in &node.decorator_list {
            self.emit(Op::Call, 0, 1);
        }
        self.store(node.name.as_str());
        Ok(())
    }

    /// Leaves the cell of `__class__` on the stack, or None.
    fn class_body(&mut self, body: &'a [Stmt]) -> Done {
        let qualname = self.unit().code.qualname.clone();
        self.constant(Const::Str(qualname));
        let index = self.unit().name("__qualname__");
        self.emit(Op::StoreName, 0, index);
        if let Some(doc) = docstring(body) {
            self.constant(Const::Str(doc));
            let index = self.unit().name("__doc__");
            self.emit(Op::StoreName, 0, index);
        }
        self.annotation_table();
        self.body(body)?;
        let scope = self.unit().scope;
        if self.scopes.list[scope].cells.contains("__class__") {
            let slot = self.unit().slot("__class__");
            self.emit(Op::LoadClosure, 0, slot);
        } else {
            self.emit(Op::LoadNone, 0, 0);
        }
        Ok(())
    }

    /// The table for what a class body or a module says of its names.
    pub(super) fn annotation_table(&mut self) {
        let scope = self.unit().scope;
        if self.scopes.list[scope].annotates {
            self.emit(Op::BuildMap, 0, 0);
            self.store("__annotations__");
        }
    }
}
