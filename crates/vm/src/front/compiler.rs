//! The compiler's state: the code objects that are done, and the one being made for each open scope.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::emit::{Label, Unit};
use super::protect::Block;
use super::scope::{Reach, Scopes, mangle};
use super::{CompileError, Program};
use crate::code::{Code, Const, Kind, Op};
use crate::limits::{CONSTANTS_MAX, OPERANDS_MAX, instructions_max};

pub(super) type Done = Result<(), CompileError>;

const TOO_LONG: &str = "the code would be far longer than its source";
const SHORTEN: &str = "leave fewer finally and with blocks at once, by return, break or continue";

pub(super) struct Compiler<'a> {
    source: &'a str,
    pub(super) file: &'a str,
    /// Whether it is a plain script, and no actor.
    pub(super) script: bool,
    line_starts: Vec<u32>,
    pub(super) scopes: Scopes,
    pub(super) codes: Vec<Option<Code>>,
    pub(super) units: Vec<Unit>,
    /// Loops, handlers and the like around the current statement, one list per unit.
    pub(super) blocks: Vec<Vec<Block<'a>>>,
    pub(super) classes: Vec<String>,
    /// Statements around the current one that know what to do without a module.
    pub(super) optional_imports: usize,
    /// Instructions and protected ranges of the code objects that are done.
    instructions: usize,
    /// Displays of sets that are constants, by their elements; the first ones of their kind.
    pub(super) constant_sets: BTreeMap<Vec<String>, &'a [Expr]>,
    /// Functions and methods under `@callback(anyone=True)`.
    pub(super) open_handlers: BTreeSet<String>,
    /// Where the statement or expression begins that is being compiled.
    offset: u32,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(source: &'a str, file: &'a str, scopes: Scopes, script: bool) -> Self {
        let newlines = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        Self {
            source,
            file,
            script,
            line_starts,
            scopes,
            codes: Vec::new(),
            units: Vec::new(),
            blocks: Vec::new(),
            classes: Vec::new(),
            optional_imports: 0,
            instructions: 0,
            constant_sets: BTreeMap::new(),
            open_handlers: BTreeSet::new(),
            offset: 0,
        }
    }

    pub(super) fn module(mut self, body: &'a [Stmt]) -> Result<Program, CompileError> {
        self.codes.push(None);
        self.open("<module>", "<module>", 0);
        self.unit().code.doc = docstring(body);
        self.annotation_table();
        self.body(body)?;
        self.emit(Op::LoadNone, 0, 0);
        self.emit(Op::Return, 0, 0);
        let code = self.close()?;
        self.codes[0] = Some(code);
        let open = self.open_handlers.into_iter().collect();
        Ok(Program::new(self.codes.into_iter().flatten().collect(), open))
    }

    pub(super) fn open(&mut self, name: &str, qualname: &str, scope: usize) {
        self.units.push(Unit::new(name, qualname, scope, self.offset));
        self.blocks.push(Vec::new());
    }

    pub(super) fn close(&mut self) -> Result<Code, CompileError> {
        self.blocks.pop();
        let Some(unit) = self.units.pop() else {
            return Err(self.error(TextRange::default(), "no code is open", ""));
        };
        let opened = TextRange::empty(unit.opened.into());
        if unit.deepest > OPERANDS_MAX {
            let message = format!("more than {OPERANDS_MAX} values at once in one function");
            return Err(self.error(opened, &message, "split the expression, or use a list"));
        }
        self.instructions += unit.length();
        if self.instructions > instructions_max(self.source.len()) {
            return Err(self.error(opened, TOO_LONG, SHORTEN));
        }
        let code = unit.finish();
        if code.consts.len() > CONSTANTS_MAX
            || code.names.len() > CONSTANTS_MAX
            || code.slot_names.len() > 4_096
        {
            let message = "too many constants, names or variables in one function";
            return Err(self.error(opened, message, "split it"));
        }
        Ok(code)
    }

    pub(super) fn unit(&mut self) -> &mut Unit {
        // A unit is open from `module` on.
        let last = self.units.len() - 1;
        &mut self.units[last]
    }

    /// Whether the current statement is part of the module or of a class, and of no function.
    pub(super) fn outside_functions(&self) -> bool {
        !self.units.iter().any(|unit| self.scopes.list[unit.scope].kind.is_function())
    }

    pub(super) fn emit(&mut self, op: Op, a: u16, b: u32) {
        self.unit().emit(op, a, b);
    }

    pub(super) fn constant(&mut self, value: Const) {
        let index = self.unit().constant(value);
        self.emit(Op::LoadConst, 0, index);
    }

    pub(super) fn label(&mut self) -> Label {
        self.unit().label()
    }

    pub(super) fn place(&mut self, label: Label) {
        self.unit().place(label);
    }

    pub(super) fn jump(&mut self, op: Op, label: Label) {
        self.unit().jump(op, label);
    }

    pub(super) fn depth(&mut self) -> usize {
        self.unit().depth
    }

    pub(super) fn set_depth(&mut self, depth: usize) {
        self.unit().depth = depth;
    }

    pub(super) fn at(&mut self, node: &impl Ranged) {
        let offset = node.range().start().to_u32();
        self.offset = offset;
        let line = self.line_starts.partition_point(|start| *start <= offset) as u32;
        self.unit().set_line(line);
    }

    pub(super) fn text(&self, range: TextRange) -> &'a str {
        self.source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or("")
    }

    pub(super) fn error(&self, range: TextRange, message: &str, advice: &str) -> CompileError {
        CompileError::at(self.file, self.source, range.start().to_usize(), message, advice)
    }

    pub(super) fn refuse<T>(
        &self,
        node: &impl Ranged,
        message: &str,
        advice: &str,
    ) -> Result<T, CompileError> {
        Err(self.error(node.range(), message, advice))
    }

    pub(super) fn mangled(&self, name: &str) -> String {
        mangle(self.classes.last().map(String::as_str), name)
    }

    /// Bounds the code that copies of `finally` blocks make while it is made.
    pub(super) fn check_length(&self, node: &impl Ranged) -> Done {
        let open: usize = self.units.iter().map(Unit::length).sum();
        if self.instructions + open > instructions_max(self.source.len()) {
            return self.refuse(node, TOO_LONG, SHORTEN);
        }
        Ok(())
    }

    pub(super) fn load(&mut self, name: &str) {
        let mangled = self.mangled(name);
        self.load_mangled(&mangled);
    }

    pub(super) fn load_mangled(&mut self, name: &str) {
        let scope = self.unit().scope;
        let in_class = self.scopes.list[scope].kind == super::scope::ScopeKind::Class;
        match self.scopes.list[scope].reach(name) {
            Reach::Local => {
                let slot = self.unit().slot(name);
                self.emit(Op::LoadLocal, 0, slot);
            }
            Reach::Free if in_class => {
                let slot = self.unit().slot(name);
                let index = self.unit().name(name);
                self.emit(Op::LoadClassCell, slot as u16, index);
            }
            Reach::Cell | Reach::Free => {
                let slot = self.unit().slot(name);
                self.emit(Op::LoadCell, 0, slot);
            }
            Reach::Global => {
                let index = self.unit().name(name);
                self.emit(Op::LoadGlobal, 0, index);
            }
            Reach::Name => {
                let index = self.unit().name(name);
                let op = if in_class { Op::LoadName } else { Op::LoadGlobal };
                self.emit(op, 0, index);
            }
        }
    }

    pub(super) fn store(&mut self, name: &str) {
        self.with_name(name, Op::StoreLocal, Op::StoreCell, Op::StoreGlobal, Op::StoreName);
    }

    pub(super) fn delete(&mut self, name: &str) {
        self.with_name(name, Op::DeleteLocal, Op::DeleteCell, Op::DeleteGlobal, Op::DeleteName);
    }

    fn with_name(&mut self, name: &str, local: Op, cell: Op, global: Op, in_namespace: Op) {
        let name = self.mangled(name);
        let scope = self.unit().scope;
        let in_class = self.scopes.list[scope].kind == super::scope::ScopeKind::Class;
        match self.scopes.list[scope].reach(&name) {
            Reach::Local => {
                let slot = self.unit().slot(&name);
                self.emit(local, 0, slot);
            }
            Reach::Cell | Reach::Free => {
                let slot = self.unit().slot(&name);
                self.emit(cell, 0, slot);
            }
            reach => {
                let index = self.unit().name(&name);
                let namespace = reach == Reach::Name && in_class;
                self.emit(if namespace { in_namespace } else { global }, 0, index);
            }
        }
    }

    pub(super) fn prelude(&mut self, name: &str) {
        let index = self.unit().name(name);
        self.emit(Op::LoadPrelude, 0, index);
    }

    pub(super) fn set_kind(&mut self, kind: Kind) {
        self.unit().code.kind = kind;
    }
}

pub(super) fn docstring(body: &[Stmt]) -> Option<String> {
    match body.first()? {
        Stmt::Expr(statement) => match &*statement.value {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
            _ => None,
        },
        _ => None,
    }
}
