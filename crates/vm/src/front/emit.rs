//! One code object in the making: instructions, labels, protected ranges, depth of the stack.

use std::collections::HashMap;

use crate::code::{Code, Const, Handler, Instr, Kind, Op};
use crate::cost;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

/// A protected range that ends at a label.
struct Protected {
    start: u32,
    end: u32,
    target: Label,
    depth: u16,
}

pub(super) struct Unit {
    pub(super) code: Code,
    pub(super) scope: usize,
    /// Where it was opened in the source.
    pub(super) opened: u32,
    /// Values on its stack, at most.
    pub(super) deepest: usize,
    labels: Vec<u32>,
    protected: Vec<Protected>,
    pub(super) depth: usize,
    // Look-ups only; nothing depends on their order.
    const_index: HashMap<Const, u32>,
    name_index: HashMap<String, u32>,
    slot_index: HashMap<String, u32>,
    line: u32,
    last_label: u32,
}

impl Unit {
    pub(super) fn new(name: &str, qualname: &str, scope: usize, opened: u32) -> Self {
        let code = Code {
            name: name.to_owned(),
            qualname: qualname.to_owned(),
            doc: None,
            kind: Kind::Plain,
            positional: 0,
            positional_only: 0,
            keyword_only: 0,
            var_args: false,
            var_keywords: false,
            slots: 0,
            free: 0,
            slot_names: Vec::new(),
            stack: 0,
            instrs: Vec::new(),
            consts: Vec::new(),
            names: Vec::new(),
            handlers: Vec::new(),
            lines: Vec::new(),
            yields: Vec::new(),
            simple: false,
        };
        Self {
            code,
            scope,
            opened,
            deepest: 0,
            labels: Vec::new(),
            protected: Vec::new(),
            depth: 0,
            const_index: HashMap::new(),
            name_index: HashMap::new(),
            slot_index: HashMap::new(),
            line: 0,
            last_label: 0,
        }
    }

    pub(super) fn here(&self) -> u32 {
        self.code.instrs.len() as u32
    }

    /// Instructions and protected ranges so far.
    pub(super) fn length(&self) -> usize {
        self.code.instrs.len() + self.protected.len()
    }

    pub(super) fn set_line(&mut self, line: u32) {
        if line != self.line {
            self.line = line;
            let here = self.here();
            match self.code.lines.last_mut() {
                Some(last) if last.0 == here => last.1 = line,
                _ => self.code.lines.push((here, line)),
            }
        }
    }

    pub(super) fn emit(&mut self, op: Op, a: u16, b: u32) {
        let (pops, pushes) = effect(op, a, b);
        self.depth = self.depth.saturating_sub(pops) + pushes;
        // An instruction may hold one value more than it leaves. What is beyond 16 bits is refused when
        // the unit is closed.
        self.deepest = self.deepest.max(self.depth);
        self.code.stack = self.code.stack.max(short(self.depth + 4));
        if self.fuse(op, a, b) {
            return;
        }
        self.code.instrs.push(Instr { op, cost: cost::base(op), a, b });
        if op == Op::Yield {
            // The value that will be sent is not there yet.
            self.code.yields.push((self.here(), short(self.depth.saturating_sub(1))));
        }
    }

    /// Joins an instruction with the one before it where programs spend their time: operands that are
    /// locals or small integers. Never across a label.
    fn fuse(&mut self, op: Op, a: u16, b: u32) -> bool {
        if self.here() == self.last_label {
            return false;
        }
        let Some(last) = self.code.instrs.last_mut() else { return false };
        let fused = match (last.op, op) {
            (Op::LoadLocal, Op::LoadLocal) if last.b <= 0xffff => {
                Instr { op: Op::LoadLocal2, cost: 0, a: last.b as u16, b }
            }
            (Op::LoadLocal, Op::Binary) => Instr { op: Op::BinaryLocal, cost: 0, a, b: last.b },
            (Op::LoadInt, Op::Binary) => Instr { op: Op::BinaryInt, cost: 0, a, b: last.b },
            (Op::Compare, Op::JumpIfFalse) => {
                // The jump stays behind it, for comparisons that Python code makes.
                *last =
                    Instr { op: Op::CompareJump, cost: cost::base(Op::CompareJump), a: last.a, b };
                return false;
            }
            _ => return false,
        };
        *last = Instr { cost: cost::base(fused.op), ..fused };
        true
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.here();
        self.last_label = self.here();
    }

    pub(super) fn jump(&mut self, op: Op, label: Label) {
        self.emit(op, 0, label.0);
    }

    pub(super) fn protect(&mut self, start: u32, end: u32, target: Label, depth: usize) {
        if start < end {
            self.protected.push(Protected { start, end, target, depth: short(depth) });
        }
    }

    pub(super) fn constant(&mut self, value: Const) -> u32 {
        let next = self.code.consts.len() as u32;
        let index = *self.const_index.entry(value.clone()).or_insert(next);
        if index == next {
            self.code.consts.push(value);
        }
        index
    }

    pub(super) fn name(&mut self, name: &str) -> u32 {
        if let Some(index) = self.name_index.get(name) {
            return *index;
        }
        let index = self.code.names.len() as u32;
        self.name_index.insert(name.to_owned(), index);
        self.code.names.push(name.to_owned());
        index
    }

    /// Names the local slots, in order.
    pub(super) fn set_slots(&mut self, names: Vec<String>) {
        let indexed = names.iter().enumerate().map(|(at, name)| (name.clone(), at as u32));
        self.slot_index = indexed.collect();
        self.code.slots = names.len() as u16;
        self.code.slot_names = names;
    }

    pub(super) fn slot(&self, name: &str) -> u32 {
        self.slot_index.get(name).copied().unwrap_or(0)
    }

    pub(super) fn finish(mut self) -> Code {
        for instr in &mut self.code.instrs {
            if is_jump(instr.op) {
                instr.b = self.labels[instr.b as usize];
            }
        }
        let labels = &self.labels;
        self.code.handlers = self
            .protected
            .iter()
            .map(|range| Handler {
                start: range.start,
                end: range.end,
                target: labels[range.target.0 as usize],
                depth: range.depth,
            })
            .collect();
        self.code
    }
}

fn short(depth: usize) -> u16 {
    u16::try_from(depth).unwrap_or(u16::MAX)
}

fn is_jump(op: Op) -> bool {
    matches!(
        op,
        Op::Jump
            | Op::JumpIfFalse
            | Op::JumpIfTrue
            | Op::JumpIfFalseKeep
            | Op::JumpIfTrueKeep
            | Op::JumpIfNone
            | Op::ForIter
            | Op::Send
            | Op::CompareJump
    )
}

/// Values taken and left, on the way that does not jump.
fn effect(op: Op, a: u16, b: u32) -> (usize, usize) {
    let b = b as usize;
    match op {
        Op::MakeCell | Op::Jump | Op::DeleteLocal | Op::DeleteCell => (0, 0),
        Op::DeleteGlobal | Op::DeleteName => (0, 0),
        Op::Pop
        | Op::DropIter
        | Op::StoreLocal
        | Op::StoreCell
        | Op::StoreGlobal
        | Op::StoreName
        | Op::JumpIfFalse
        | Op::JumpIfTrue
        | Op::JumpIfFalseKeep
        | Op::JumpIfTrueKeep
        | Op::JumpIfNone
        | Op::DeleteAttr
        | Op::LeaveHandler
        | Op::Return
        | Op::Reraise
        | Op::ListAppend
        | Op::SetAdd
        | Op::ListExtend
        | Op::SetUpdate
        | Op::DictUpdate
        | Op::DictMerge => (1, 0),
        Op::MapAdd | Op::StoreAttr | Op::DeleteIndex | Op::CompareJump => (2, 0),
        Op::StoreIndex => (3, 0),
        Op::Copy
        | Op::LoadConst
        | Op::LoadNone
        | Op::LoadInt
        | Op::LoadLocal
        | Op::LoadCell
        | Op::LoadClosure
        | Op::LoadClassCell
        | Op::LoadGlobal
        | Op::LoadName
        | Op::LoadPrelude
        | Op::ImportName
        | Op::ForIter
        | Op::WithFailed
        | Op::MatchSequence
        | Op::MatchMapping
        | Op::GetLen => (0, 1),
        Op::LoadLocal2 => (0, 2),
        Op::Swap | Op::Rot3 => (0, 0),
        Op::LoadAttr
        | Op::Negative
        | Op::Positive
        | Op::Invert
        | Op::Not
        | Op::BinaryLocal
        | Op::BinaryInt
        | Op::GetIter
        | Op::YieldFromIter
        | Op::GetAwaitable
        | Op::Yield
        | Op::ListToTuple => (1, 1),
        Op::LoadMethod | Op::EnterHandler | Op::EnterWith | Op::ImportFrom => (1, 2),
        Op::Binary
        | Op::InPlace
        | Op::Compare
        | Op::Is
        | Op::IsNot
        | Op::In
        | Op::NotIn
        | Op::LoadIndex
        | Op::MatchException => (2, 1),
        Op::Send => (2, 2),
        Op::BuildList | Op::BuildTuple | Op::BuildSet | Op::BuildString | Op::BuildSlice => (b, 1),
        Op::BuildMap => (2 * b, 1),
        Op::FormatValue => (1 + usize::from(a & 1), 1),
        Op::Call | Op::CallKw => (b + 1, 1),
        Op::CallMethod => (b + 2, 1),
        Op::CallEx => (2 + a as usize, 1),
        Op::MakeFunction => (a.count_ones() as usize, 1),
        Op::UnpackSequence => (1, b),
        Op::UnpackEx => (1, a as usize + b + 1),
        Op::Raise => (a as usize, 0),
    }
}
