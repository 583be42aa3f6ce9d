//! `match`: each pattern takes the subject from the stack and either goes on with its names stored, or
//! jumps to the next case with the stack as it was.

use std::collections::BTreeMap;

use ruff_python_ast::{self as ast, Pattern, Singleton};
use ruff_text_size::Ranged;

use super::compiler::{Compiler, Done};
use super::emit::Label;
use crate::code::{CmpOp, Const, Op};
use crate::limits::OPERANDS_MAX;

/// Where a failed pattern goes: by how many values are to be dropped first.
struct Failure {
    exits: BTreeMap<usize, Label>,
    depth: usize,
}

impl<'a> Compiler<'a> {
    pub(super) fn match_statement(&mut self, node: &'a ast::StmtMatch) -> Done {
        self.expr(&node.subject)?;
        let depth = self.depth();
        let end = self.label();
        for case in &node.cases {
            self.at(case);
            self.set_depth(depth);
            let mut failure = Failure { exits: BTreeMap::new(), depth };
            self.emit(Op::Copy, 0, 0);
            self.pattern(&case.pattern, &mut failure)?;
            if let Some(guard) = &case.guard {
                let target = self.exit_of(&mut failure);
                self.condition(guard, target, false)?;
            }
            self.emit(Op::Pop, 0, 0);
            self.body(&case.body)?;
            self.jump(Op::Jump, end);
            self.fail_exits(failure);
        }
        self.set_depth(depth);
        self.emit(Op::Pop, 0, 0);
        self.place(end);
        Ok(())
    }

    /// The label that restores the stack from its present depth.
    fn exit_of(&mut self, failure: &mut Failure) -> Label {
        let depth = self.depth();
        *failure.exits.entry(depth).or_insert_with(|| self.label())
    }

    fn fail_if_false(&mut self, failure: &mut Failure) {
        // The jump takes the truth value first.
        let depth = self.depth();
        self.set_depth(depth - 1);
        let target = self.exit_of(failure);
        self.set_depth(depth);
        self.jump(Op::JumpIfFalse, target);
    }

    /// Deeper exits fall through to shallower ones, a value dropped for each step.
    fn fail_exits(&mut self, failure: Failure) {
        let mut exits = failure.exits.into_iter().rev().peekable();
        while let Some((depth, label)) = exits.next() {
            self.place(label);
            let next = exits.peek().map_or(failure.depth, |exit| exit.0);
            self.set_depth(depth);
            for _ in next..depth {
                self.emit(Op::Pop, 0, 0);
            }
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern, failure: &mut Failure) -> Done {
        if self.depth() > OPERANDS_MAX {
            return self.refuse(pattern, "the pattern has too many parts", "match a part of it");
        }
        match pattern {
            Pattern::MatchValue(node) => {
                self.expr(&node.value)?;
                self.emit(Op::Compare, CmpOp::Eq as u16, 0);
                self.fail_if_false(failure);
                Ok(())
            }
            Pattern::MatchSingleton(node) => {
                match node.value {
                    Singleton::None => self.emit(Op::LoadNone, 0, 0),
                    Singleton::True => self.constant(Const::True),
                    Singleton::False => self.constant(Const::False),
                }
                self.emit(Op::Is, 0, 0);
                self.fail_if_false(failure);
                Ok(())
            }
            Pattern::MatchAs(node) => {
                if let Some(inner) = &node.pattern {
                    self.emit(Op::Copy, 0, 0);
                    self.pattern(inner, failure)?;
                }
                match &node.name {
                    Some(name) => self.store(name.as_str()),
                    None => self.emit(Op::Pop, 0, 0),
                }
                Ok(())
            }
            Pattern::MatchOr(node) => self.pattern_or(&node.patterns, failure),
            Pattern::MatchSequence(node) => self.pattern_sequence(&node.patterns, failure),
            Pattern::MatchMapping(node) => self.pattern_mapping(node, failure),
            Pattern::MatchClass(node) => self.pattern_class(node, failure),
            Pattern::MatchStar(node) => self.refuse(node, "star pattern outside a sequence", ""),
        }
    }

    fn pattern_or(&mut self, patterns: &'a [Pattern], failure: &mut Failure) -> Done {
        let depth = self.depth();
        let matched = self.label();
        for (index, pattern) in patterns.iter().enumerate() {
            self.set_depth(depth);
            if index + 1 == patterns.len() {
                self.pattern(pattern, failure)?;
                break;
            }
            let mut inner = Failure { exits: BTreeMap::new(), depth };
            self.emit(Op::Copy, 0, 0);
            self.pattern(pattern, &mut inner)?;
            self.emit(Op::Pop, 0, 0);
            self.jump(Op::Jump, matched);
            self.fail_exits(inner);
        }
        self.place(matched);
        self.set_depth(depth - 1);
        Ok(())
    }

    fn pattern_sequence(&mut self, patterns: &'a [Pattern], failure: &mut Failure) -> Done {
        let star = patterns.iter().position(|pattern| matches!(pattern, Pattern::MatchStar(_)));
        self.emit(Op::MatchSequence, 0, 0);
        self.fail_if_false(failure);
        self.emit(Op::GetLen, 0, 0);
        let needed = patterns.len() - usize::from(star.is_some());
        self.emit(Op::LoadInt, 0, needed as u32);
        let op = if star.is_some() { CmpOp::Ge } else { CmpOp::Eq };
        self.emit(Op::Compare, op as u16, 0);
        self.fail_if_false(failure);
        match star {
            None => self.emit(Op::UnpackSequence, 0, patterns.len() as u32),
            Some(at) => self.emit(Op::UnpackEx, at as u16, (patterns.len() - at - 1) as u32),
        }
        for pattern in patterns {
            match pattern {
                Pattern::MatchStar(star) => match &star.name {
                    Some(name) => self.store(name.as_str()),
                    None => self.emit(Op::Pop, 0, 0),
                },
                other => self.pattern(other, failure)?,
            }
        }
        Ok(())
    }

    fn pattern_mapping(
        &mut self,
        node: &'a ast::PatternMatchMapping,
        failure: &mut Failure,
    ) -> Done {
        self.emit(Op::MatchMapping, 0, 0);
        self.fail_if_false(failure);
        // The prelude looks the keys up: a list of values, then what is left; or None.
        self.prelude("_match_keys");
        self.emit(Op::Swap, 0, 0);
        for key in &node.keys {
            self.expr(key)?;
        }
        self.emit(Op::BuildTuple, 0, node.keys.len() as u32);
        self.constant(if node.rest.is_some() { Const::True } else { Const::False });
        self.emit(Op::Call, 0, 3);
        self.matched_parts(&node.patterns, usize::from(node.rest.is_some()), failure)?;
        if let Some(rest) = &node.rest {
            self.store(rest.as_str());
        }
        Ok(())
    }

    /// Unpacks a list of matched parts, or fails if it is None.
    fn matched_parts(
        &mut self,
        patterns: &'a [Pattern],
        more: usize,
        failure: &mut Failure,
    ) -> Done {
        self.fail_if_none(failure);
        self.emit(Op::UnpackSequence, 0, (patterns.len() + more) as u32);
        patterns.iter().try_for_each(|pattern| self.pattern(pattern, failure))
    }

    fn fail_if_none(&mut self, failure: &mut Failure) {
        self.emit(Op::Copy, 0, 0);
        let depth = self.depth();
        self.set_depth(depth - 1);
        let target = self.exit_of(failure);
        self.set_depth(depth);
        self.jump(Op::JumpIfNone, target);
    }

    fn pattern_class(&mut self, node: &'a ast::PatternMatchClass, failure: &mut Failure) -> Done {
        let arguments = &node.arguments;
        self.prelude("_match_class");
        self.emit(Op::Swap, 0, 0);
        self.expr(&node.cls)?;
        self.emit(Op::LoadInt, 0, arguments.patterns.len() as u32);
        let names = arguments.keywords.iter().map(|keyword| keyword.attr.as_str().to_owned());
        self.constant(Const::Names(names.collect()));
        self.at(&node.cls.range());
        self.emit(Op::Call, 0, 4);
        self.fail_if_none(failure);
        let count = arguments.patterns.len() + arguments.keywords.len();
        self.emit(Op::UnpackSequence, 0, count as u32);
        arguments.patterns.iter().try_for_each(|pattern| self.pattern(pattern, failure))?;
        let mut keywords = arguments.keywords.iter();
        keywords.try_for_each(|keyword| self.pattern(&keyword.pattern, failure))
    }
}
