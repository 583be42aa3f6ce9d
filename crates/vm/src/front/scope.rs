//! Who owns a name: each function, class, comprehension and module has a scope; a name in it is
//! local, a cell shared with inner functions, a cell of an outer function, or global.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::Visitor;
use ruff_text_size::TextRange;

use super::CompileError;
use super::names::Walker;
use crate::limits::free_max;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScopeKind {
    Module,
    Function,
    Lambda,
    Class,
    Comprehension,
}

impl ScopeKind {
    pub(super) fn is_function(self) -> bool {
        matches!(self, ScopeKind::Function | ScopeKind::Lambda | ScopeKind::Comprehension)
    }
}

/// How a scope reaches a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Local,
    Cell,
    Free,
    Global,
    /// In a class body or at module level: the namespace, then globals.
    Name,
}

#[derive(Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: usize,
    /// How many scopes are around it.
    pub(super) depth: usize,
    /// Where it begins in the source.
    pub(super) start: u32,
    pub(super) class_name: Option<String>,
    pub(super) params: Vec<String>,
    /// In the order in which they appear.
    pub(super) bound: Vec<String>,
    /// Asked only whether a name is in it; nothing depends on its order.
    pub(super) bound_set: HashSet<String>,
    pub(super) used: BTreeSet<String>,
    pub(super) globals: BTreeSet<String>,
    pub(super) nonlocals: BTreeSet<String>,
    pub(super) cells: BTreeSet<String>,
    pub(super) free: BTreeSet<String>,
    pub(super) is_generator: bool,
    /// Whether its body says of a name what it is.
    pub(super) annotates: bool,
}

impl Scope {
    pub(super) fn reach(&self, name: &str) -> Reach {
        if self.kind == ScopeKind::Class
            && self.bound_set.contains(name)
            && !self.nonlocals.contains(name)
        {
            // A method may pass an outer variable of the same name through this class.
            return if self.globals.contains(name) { Reach::Global } else { Reach::Name };
        }
        if self.free.contains(name) {
            Reach::Free
        } else if self.cells.contains(name) {
            Reach::Cell
        } else if self.globals.contains(name) {
            Reach::Global
        } else if self.kind.is_function() {
            if self.bound_set.contains(name) { Reach::Local } else { Reach::Global }
        } else {
            Reach::Name
        }
    }

    /// Locals that are neither parameters nor cells of outer functions, in order.
    pub(super) fn locals(&self) -> impl Iterator<Item = &String> {
        self.bound.iter().filter(|name| {
            !self.params.contains(name)
                && !self.globals.contains(*name)
                && !self.free.contains(*name)
        })
    }
}

/// All scopes of a program, found again by the kind and place of the node that opens them.
pub(super) struct Scopes {
    pub(super) list: Vec<Scope>,
    pub(super) index: BTreeMap<(ScopeKind, u32, u32), usize>,
    /// `from __future__ import annotations`: they are kept as they are written.
    pub(super) annotations_as_text: bool,
}

impl Scopes {
    pub(super) fn of(&self, kind: ScopeKind, range: TextRange) -> usize {
        let key = (kind, range.start().to_u32(), range.end().to_u32());
        self.index.get(&key).copied().unwrap_or(0)
    }
}

/// `__name` inside a class is the class's own.
pub(crate) fn mangle(class_name: Option<&str>, name: &str) -> String {
    match class_name {
        Some(class) if name.starts_with("__") && !name.ends_with("__") && !name.contains('.') => {
            let class = class.trim_start_matches('_');
            if class.is_empty() { name.to_owned() } else { format!("_{class}{name}") }
        }
        _ => name.to_owned(),
    }
}

/// `from __future__ import annotations`.
fn keeps_annotations(stmt: &Stmt) -> bool {
    let Stmt::ImportFrom(import) = stmt else { return false };
    import.module.as_ref().is_some_and(|module| module.as_str() == "__future__")
        && import.names.iter().any(|alias| alias.name.as_str() == "annotations")
}

pub(super) fn analyse(body: &[Stmt], source: &str, file: &str) -> Result<Scopes, CompileError> {
    let mut walker = Walker {
        scopes: Scopes {
            list: Vec::new(),
            index: BTreeMap::new(),
            annotations_as_text: body.iter().any(keeps_annotations),
        },
        current: 0,
        source,
        file,
        error: None,
    };
    walker.open(ScopeKind::Module, TextRange::default(), None);
    walker.visit_body(body);
    if let Some(error) = walker.error {
        return Err(error);
    }
    let mut scopes = walker.scopes;
    resolve(&mut scopes, source, file)?;
    Ok(scopes)
}

/// Finds the owner of each name that a scope uses and does not bind. Inner scopes come after outer
/// ones in the list, so one pass backwards carries names outwards until an owner is met.
fn resolve(scopes: &mut Scopes, source: &str, file: &str) -> Result<(), CompileError> {
    let mut free = 0;
    for index in (1..scopes.list.len()).rev() {
        let scope = &scopes.list[index];
        let mut wanted: BTreeSet<String> = scope
            .used
            .iter()
            .chain(&scope.nonlocals)
            .filter(|name| !scope.globals.contains(*name))
            .filter(|name| scope.nonlocals.contains(*name) || !scope.bound_set.contains(*name))
            .cloned()
            .collect();
        // What inner scopes passed on to this one is in `free` already.
        wanted.extend(scope.free.iter().cloned());
        let nonlocals = scope.nonlocals.clone();
        let parent = scope.parent;
        for name in wanted {
            let mut owner = None;
            let mut at = parent;
            loop {
                let outer = &scopes.list[at];
                let binds = outer.kind.is_function()
                    && outer.bound_set.contains(&name)
                    && !outer.nonlocals.contains(&name)
                    && !outer.globals.contains(&name);
                let class_cell = outer.kind == ScopeKind::Class && name == "__class__";
                if binds || class_cell {
                    owner = Some(at);
                    break;
                }
                if at == 0 || (outer.kind.is_function() && outer.globals.contains(&name)) {
                    break;
                }
                at = outer.parent;
            }
            let Some(owner) = owner else {
                if nonlocals.contains(&name) {
                    let message = format!("no binding for nonlocal '{name}' found");
                    return Err(CompileError::at(
                        file,
                        source,
                        0,
                        &message,
                        "assign it outside first",
                    ));
                }
                scopes.list[index].free.remove(&name);
                continue;
            };
            scopes.list[owner].cells.insert(name.clone());
            if free > free_max(source.len()) {
                let message = "too many variables of outer functions in inner ones";
                let offset = scopes.list[index].start as usize;
                let advice = "pass them in an object or a dict";
                return Err(CompileError::at(file, source, offset, message, advice));
            }
            let mut at = index;
            while at != owner {
                free += usize::from(scopes.list[at].free.insert(name.clone()));
                at = scopes.list[at].parent;
            }
        }
    }
    Ok(())
}
