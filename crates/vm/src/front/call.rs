//! Calls.

use ruff_python_ast::{self as ast, Expr};

use super::compiler::{Compiler, Done};
use crate::code::{Const, Op};

impl<'a> Compiler<'a> {
    pub(super) fn call(&mut self, node: &'a ast::ExprCall) -> Done {
        let arguments = &node.arguments;
        let starred = arguments.args.iter().any(|arg| matches!(arg, Expr::Starred(_)))
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
            || arguments.args.len() + arguments.keywords.len() > 200;
        if let Expr::Name(name) = &*node.func
            && name.id.as_str() == "super"
            && arguments.is_empty()
        {
            return self.bare_super(node);
        }
        if let (Expr::Attribute(method), true, false) =
            (&*node.func, arguments.keywords.is_empty(), starred)
        {
            self.expr(&method.value)?;
            let attr = self.mangled(method.attr.as_str());
            let index = self.unit().name(&attr);
            self.at(&method.attr);
            self.emit(Op::LoadMethod, 0, index);
            for arg in &arguments.args {
                self.expr(arg)?;
            }
            self.at(&method.attr);
            self.emit(Op::CallMethod, 0, arguments.args.len() as u32);
            return Ok(());
        }
        self.expr(&node.func)?;
        if starred {
            return self.call_starred(node);
        }
        for arg in &arguments.args {
            self.expr(arg)?;
        }
        if arguments.keywords.is_empty() {
            self.at(node);
            self.emit(Op::Call, 0, arguments.args.len() as u32);
            return Ok(());
        }
        let mut names = Vec::new();
        for keyword in &arguments.keywords {
            self.expr(&keyword.value)?;
            names.extend(keyword.arg.as_ref().map(|name| name.as_str().to_owned()));
        }
        let count = arguments.args.len() + names.len();
        let index = self.unit().constant(Const::Names(names));
        self.at(node);
        self.emit(Op::CallKw, index as u16, count as u32);
        Ok(())
    }

    fn call_starred(&mut self, node: &'a ast::ExprCall) -> Done {
        self.emit(Op::BuildList, 0, 0);
        for arg in &node.arguments.args {
            if let Expr::Starred(starred) = arg {
                self.expr(&starred.value)?;
                self.emit(Op::ListExtend, 0, 0);
            } else {
                self.expr(arg)?;
                self.emit(Op::ListAppend, 0, 0);
            }
        }
        let keywords = &node.arguments.keywords;
        if !keywords.is_empty() {
            self.emit(Op::BuildMap, 0, 0);
            for keyword in keywords {
                if keyword.arg.is_some() {
                    self.emit(Op::BuildMap, 0, 0);
                    let name = keyword.arg.as_ref().map_or("", |name| name.as_str());
                    self.constant(Const::Str(name.to_owned()));
                    self.expr(&keyword.value)?;
                    self.emit(Op::MapAdd, 0, 0);
                } else {
                    self.expr(&keyword.value)?;
                }
                self.emit(Op::DictMerge, 0, 0);
            }
        }
        self.at(node);
        self.emit(Op::CallEx, u16::from(!keywords.is_empty()), 0);
        Ok(())
    }

    fn bare_super(&mut self, node: &'a ast::ExprCall) -> Done {
        let scope = self.unit().scope;
        let scope = &self.scopes.list[scope];
        let first = scope.params.first().cloned();
        match first {
            Some(first) if scope.free.contains("__class__") && first != ".0" => {
                self.load("super");
                self.load_mangled("__class__");
                self.load_mangled(&first);
                self.at(node);
                self.emit(Op::Call, 0, 2);
                Ok(())
            }
            _ => {
                self.refuse(node, "super(): no arguments", "call it in a method, or name the class")
            }
        }
    }
}
