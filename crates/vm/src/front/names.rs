//! The walk over the tree that finds out which scopes there are and what each does with its names.

use std::collections::{BTreeSet, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, ExprContext, Parameters, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::CompileError;
use super::scope::{Scope, ScopeKind, Scopes, mangle};
use crate::limits::FUNCTION_DEPTH_MAX;

/// Parameters of one function; they are searched one by one.
const PARAMETERS_MAX: usize = 255;

pub(super) struct Walker<'a> {
    pub(super) scopes: Scopes,
    pub(super) current: usize,
    pub(super) source: &'a str,
    pub(super) file: &'a str,
    pub(super) error: Option<CompileError>,
}

impl Walker<'_> {
    pub(super) fn open(
        &mut self,
        kind: ScopeKind,
        range: TextRange,
        class_name: Option<String>,
    ) -> usize {
        let index = self.scopes.list.len();
        let depth = self.scopes.list.get(self.current).map_or(0, |outer| outer.depth + 1);
        if depth > FUNCTION_DEPTH_MAX {
            let message = format!("more than {FUNCTION_DEPTH_MAX} functions inside each other");
            self.fail(range, &message, "move inner ones out");
        }
        let inherited =
            self.scopes.list.get(self.current).and_then(|scope| scope.class_name.clone());
        self.scopes.list.push(Scope {
            kind,
            parent: self.current,
            depth,
            start: range.start().to_u32(),
            class_name: class_name.or(inherited),
            params: Vec::new(),
            bound: Vec::new(),
            bound_set: HashSet::new(),
            used: BTreeSet::new(),
            globals: BTreeSet::new(),
            nonlocals: BTreeSet::new(),
            cells: BTreeSet::new(),
            free: BTreeSet::new(),
            is_generator: false,
            annotates: false,
        });
        let key = (kind, range.start().to_u32(), range.end().to_u32());
        self.scopes.index.insert(key, index);
        std::mem::replace(&mut self.current, index)
    }

    fn scope(&mut self) -> &mut Scope {
        &mut self.scopes.list[self.current]
    }

    fn mangled(&mut self, name: &str) -> String {
        mangle(self.scope().class_name.as_deref(), name)
    }

    fn bind(&mut self, name: &str) {
        let name = self.mangled(name);
        let scope = self.scope();
        if scope.bound_set.insert(name.clone()) {
            scope.bound.push(name);
        }
    }

    fn fail(&mut self, range: TextRange, message: &str, advice: &str) {
        if self.error.is_none() {
            let offset = range.start().to_usize();
            self.error = Some(CompileError::at(self.file, self.source, offset, message, advice));
        }
    }

    fn parameters(&mut self, parameters: &Parameters) {
        let regular = parameters.posonlyargs.iter().chain(&parameters.args);
        let names = regular.chain(&parameters.kwonlyargs).map(|p| &p.parameter);
        let stars = [&parameters.vararg, &parameters.kwarg];
        let names = names.chain(stars.into_iter().flatten().map(|p| &**p));
        for parameter in names {
            let name = self.mangled(parameter.name.as_str());
            if self.scope().params.contains(&name) {
                self.fail(
                    parameter.range,
                    &format!("duplicate argument '{name}' in function definition"),
                    "rename one",
                );
            }
            if self.scope().params.len() > PARAMETERS_MAX {
                self.fail(parameter.range, "too many parameters", "pass a list");
                return;
            }
            self.scope().params.push(name.clone());
            self.bind(&name);
        }
    }

    fn defaults(&mut self, parameters: &Parameters) {
        let all = parameters.posonlyargs.iter().chain(&parameters.args);
        for parameter in all.chain(&parameters.kwonlyargs) {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
    }

    fn comprehension(&mut self, node: &Expr, generators: &[ast::Comprehension], parts: &[&Expr]) {
        let Some(first) = generators.first() else { return };
        self.visit_expr(&first.iter);
        let outer = self.open(ScopeKind::Comprehension, node.range(), None);
        let scope = self.scope();
        scope.params.push(".0".to_owned());
        scope.bound_set.insert(".0".to_owned());
        scope.bound.push(".0".to_owned());
        for (index, generator) in generators.iter().enumerate() {
            if index > 0 {
                self.visit_expr(&generator.iter);
            }
            self.visit_expr(&generator.target);
            for condition in &generator.ifs {
                self.visit_expr(condition);
            }
        }
        for part in parts {
            self.visit_expr(part);
        }
        self.current = outer;
    }

    /// A walrus binds in the function around the comprehension.
    fn bind_walrus(&mut self, name: &str) {
        let mut at = self.current;
        while self.scopes.list[at].kind == ScopeKind::Comprehension {
            at = self.scopes.list[at].parent;
        }
        let here = std::mem::replace(&mut self.current, at);
        let global = self.scope().kind == ScopeKind::Module;
        self.bind(name);
        self.current = here;
        if at != here {
            let name = self.mangled(name);
            let scope = self.scope();
            if global {
                scope.globals.insert(name);
            } else {
                scope.nonlocals.insert(name);
            }
        }
    }
}

impl<'a> Visitor<'a> for Walker<'_> {
    fn visit_annotation(&mut self, annotation: &'a Expr) {
        if !self.scopes.annotations_as_text {
            self.visit_expr(annotation);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                for decorator in &def.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.defaults(&def.parameters);
                let annotated =
                    def.parameters.iter().filter_map(|parameter| parameter.annotation());
                annotated
                    .chain(def.returns.as_deref())
                    .for_each(|kind| self.visit_annotation(kind));
                self.bind(def.name.as_str());
                let outer = self.open(ScopeKind::Function, def.range, None);
                self.parameters(&def.parameters);
                self.visit_body(&def.body);
                self.current = outer;
            }
            Stmt::ClassDef(class) => {
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.bind(class.name.as_str());
                let name = class.name.as_str().to_owned();
                let outer = self.open(ScopeKind::Class, class.range, Some(name));
                self.visit_body(&class.body);
                self.current = outer;
            }
            Stmt::AnnAssign(node) => {
                // Those of a function's own variables are never looked at.
                if !self.scope().kind.is_function() {
                    self.visit_annotation(&node.annotation);
                    self.scope().annotates |= node.simple;
                }
                if let Some(value) = &node.value {
                    self.visit_expr(value);
                }
                self.visit_expr(&node.target);
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    let mangled = self.mangled(name.as_str());
                    if self.scope().params.contains(&mangled) {
                        let message = format!("name '{mangled}' is parameter and global");
                        self.fail(global.range, &message, "rename one");
                    }
                    self.scope().globals.insert(mangled);
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                if self.current == 0 {
                    self.fail(
                        nonlocal.range,
                        "nonlocal declaration not allowed at module level",
                        "",
                    );
                }
                for name in &nonlocal.names {
                    let mangled = self.mangled(name.as_str());
                    self.scope().nonlocals.insert(mangled);
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.bind(name.split('.').next().unwrap_or(name));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                if import.names.iter().any(|alias| alias.name.as_str() == "*") {
                    let all = super::modules::all_of(module).unwrap_or_default();
                    all.iter().for_each(|name| self.bind(name));
                }
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(node) => {
                if let Some(name) = &node.name {
                    self.bind(name.as_str());
                }
            }
            Pattern::MatchStar(node) => {
                if let Some(name) = &node.name {
                    self.bind(name.as_str());
                }
            }
            Pattern::MatchMapping(node) => {
                if let Some(name) = &node.rest {
                    self.bind(name.as_str());
                }
            }
            _ => {}
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let mangled = self.mangled(name.id.as_str());
                match name.ctx {
                    ExprContext::Load => {
                        // super() without arguments reads the class around it.
                        if mangled == "super" && self.scope().kind.is_function() {
                            self.scope().used.insert("__class__".to_owned());
                        }
                        self.scope().used.insert(mangled);
                    }
                    _ => self.bind(name.id.as_str()),
                }
            }
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    self.bind_walrus(name.id.as_str());
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                let outer = self.open(ScopeKind::Lambda, lambda.range, None);
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.current = outer;
            }
            Expr::ListComp(node) => self.comprehension(expr, &node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.comprehension(expr, &node.generators, &[&node.elt]),
            Expr::Generator(node) => self.comprehension(expr, &node.generators, &[&node.elt]),
            Expr::DictComp(node) => match &node.key {
                Some(key) => self.comprehension(expr, &node.generators, &[key, &node.value]),
                None => self.comprehension(expr, &node.generators, &[&node.value]),
            },
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.scope().is_generator = true;
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}
