//! The loop that runs instructions.

use std::sync::Arc;

use super::Vm;
use super::fault::{Fatal, Fault};
use super::frame::After;
use super::quick::{quick_binary, quick_compare, quick_step};
use super::steps::Flow;
use crate::code::{BinOp, CmpOp, Op};
use crate::heap::value::{Value, float};

/// Why the loop ended without a value.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An uncaught exception.
    Raised(Value),
    Fatal(Fatal),
    /// A coroutine waits for the host.
    Suspended(Value),
    /// The host is asked; everything stays as it is until `Vm::attend` hands in the answer.
    Asked,
}

impl Vm {
    /// Runs until the frame marked as the entry ends.
    pub(crate) fn run(&mut self) -> Result<Value, Stop> {
        match self.profiler {
            None => self.run_loop::<false>(),
            Some(_) => self.run_loop::<true>(),
        }
    }

    fn look(&mut self, pc: usize) {
        if let Some(mut profiler) = self.profiler.take() {
            profiler.look(self, pc);
            self.profiler = Some(profiler);
        }
    }

    fn run_loop<const PROFILE: bool>(&mut self) -> Result<Value, Stop> {
        let codes = Arc::clone(&self.codes);
        'frames: loop {
            let Some(frame) = self.frames.last() else {
                return Err(Stop::Fatal(Fatal::Internal));
            };
            let loaded = &codes[frame.code as usize];
            let instrs = &loaded.code.instrs[..];
            let base = frame.base as usize;
            let globals = frame.globals;
            let mut pc = frame.pc as usize;
            macro_rules! save {
                () => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = pc as u32;
                    }
                };
            }
            macro_rules! attempt {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(fault) => {
                            save!();
                            match self.recover(fault) {
                                Ok(None) => continue 'frames,
                                Ok(Some(value)) => return Ok(value),
                                Err(stop) => return Err(stop),
                            }
                        }
                    }
                };
            }
            // For what may push or pop frames: the place is saved before, not after.
            macro_rules! resume {
                ($result:expr) => {{
                    save!();
                    match $result {
                        Ok(value) => value,
                        Err(fault) => match self.recover(fault) {
                            Ok(None) => continue 'frames,
                            Ok(Some(value)) => return Ok(value),
                            Err(stop) => return Err(stop),
                        },
                    }
                }};
            }
            macro_rules! enter {
                ($result:expr) => {{
                    match resume!($result) {
                        Flow::Next => {}
                        Flow::Frame => continue 'frames,
                    }
                    if self.heap.wants_collection() {
                        attempt!(self.collect_garbage());
                    }
                }};
            }
            macro_rules! pop {
                () => {
                    match self.stack.pop() {
                        Some(value) => value,
                        None => return Err(Stop::Fatal(Fatal::Internal)),
                    }
                };
            }
            macro_rules! jump {
                ($target:expr) => {{
                    let target = $target as usize;
                    if target < pc && self.heap.wants_collection() {
                        attempt!(self.collect_garbage());
                    }
                    pc = target;
                }};
            }
            loop {
                if PROFILE {
                    self.look(pc);
                }
                let instr = instrs[pc];
                pc += 1;
                let cost = u64::from(instr.cost);
                if self.cycles.get() < cost {
                    self.cycles.set(0);
                    return Err(Stop::Fatal(Fatal::Cycles));
                }
                self.cycles.set(self.cycles.get() - cost);
                match instr.op {
                    Op::LoadLocal => {
                        let value = self.stack[base + instr.b as usize];
                        if value.is_unbound() {
                            attempt!(Err(self.unbound_local(loaded, instr.b)));
                        }
                        self.stack.push(value);
                    }
                    Op::LoadLocal2 => {
                        let first = self.stack[base + instr.a as usize];
                        let second = self.stack[base + instr.b as usize];
                        if first.is_unbound() || second.is_unbound() {
                            let slot =
                                if first.is_unbound() { u32::from(instr.a) } else { instr.b };
                            attempt!(Err(self.unbound_local(loaded, slot)));
                        }
                        self.stack.push(first);
                        self.stack.push(second);
                    }
                    Op::StoreLocal => {
                        let value = pop!();
                        self.stack[base + instr.b as usize] = value;
                    }
                    Op::LoadConst => self.stack.push(loaded.consts[instr.b as usize]),
                    Op::LoadInt => self.stack.push(Value::Int(i64::from(instr.b as i32))),
                    Op::LoadNone => self.stack.push(Value::None),
                    Op::Pop => {
                        pop!();
                    }
                    Op::LoadGlobal => {
                        let known = loaded.hashes[instr.b as usize];
                        let value = match loaded.names[instr.b as usize] {
                            Value::Ref(name) => self
                                .dict_get_known(globals, name, known)
                                .or_else(|| self.dict_get_known(self.builtins, name, known))
                                .or_else(|| match loaded.hidden {
                                    true => self.dict_get_known(self.prelude, name, known),
                                    false => None,
                                }),
                            _ => None,
                        };
                        if let Some(value) = value {
                            let value = *value;
                            self.stack.push(value);
                        } else {
                            attempt!(Err(self.undefined_name(loaded, instr.b)));
                        }
                    }
                    Op::Binary | Op::BinaryLocal | Op::BinaryInt | Op::InPlace => {
                        let right = match instr.op {
                            Op::BinaryInt => Value::Int(i64::from(instr.b as i32)),
                            Op::BinaryLocal => self.stack[base + instr.b as usize],
                            _ => pop!(),
                        };
                        if right.is_unbound() {
                            attempt!(Err(self.unbound_local(loaded, instr.b)));
                        }
                        let left = pop!();
                        let op = BinOp::from_operand(instr.a);
                        let value = match quick_binary(op, left, right) {
                            Some(value) => value,
                            None => {
                                attempt!(self.collect_holding(left, right));
                                attempt!(match instr.op {
                                    Op::InPlace => self.in_place(op, left, right),
                                    _ => self.binary(op, left, right),
                                })
                            }
                        };
                        self.stack.push(value);
                    }
                    Op::Compare => {
                        let right = pop!();
                        let left = pop!();
                        let op = CmpOp::from_operand(instr.a);
                        let value = match quick_compare(op, left, right) {
                            Some(truth) => Value::Bool(truth),
                            None => attempt!(self.compare(op, left, right)),
                        };
                        self.stack.push(value);
                    }
                    Op::CompareJump => {
                        let right = pop!();
                        let left = pop!();
                        let op = CmpOp::from_operand(instr.a);
                        match quick_compare(op, left, right) {
                            Some(true) => pc += 1,
                            Some(false) => jump!(instr.b),
                            None => {
                                // The jump behind this instruction takes the result.
                                let value = attempt!(self.compare(op, left, right));
                                self.stack.push(value);
                            }
                        }
                    }
                    Op::Jump => jump!(instr.b),
                    Op::JumpIfFalse => {
                        let truth = match self.stack[self.stack.len() - 1] {
                            Value::Bool(truth) => truth,
                            value => match self.truth(value) {
                                Ok(truth) => truth,
                                Err(fault) => {
                                    // The instruction runs again with what __bool__ said.
                                    self.stack.pop();
                                    pc -= 1;
                                    attempt!(Err(fault))
                                }
                            },
                        };
                        self.stack.pop();
                        if !truth {
                            jump!(instr.b);
                        }
                    }
                    Op::JumpIfTrue => {
                        let value = pop!();
                        let truth = match self.truth(value) {
                            Ok(truth) => truth,
                            Err(fault) => {
                                pc -= 1;
                                attempt!(Err(fault))
                            }
                        };
                        if truth {
                            jump!(instr.b);
                        }
                    }
                    Op::JumpIfFalseKeep | Op::JumpIfTrueKeep => {
                        let value = self.stack[self.stack.len() - 1];
                        let truth = match self.truth(value) {
                            Ok(truth) => truth,
                            Err(Fault::Tail(mut call)) => {
                                let wanted = instr.op == Op::JumpIfTrueKeep;
                                call.after = After::KeepJump { wanted, target: instr.b };
                                attempt!(Err(Fault::Tail(call)))
                            }
                            Err(fault) => attempt!(Err(fault)),
                        };
                        if truth == (instr.op == Op::JumpIfTrueKeep) {
                            jump!(instr.b);
                        } else {
                            self.stack.pop();
                        }
                    }
                    Op::JumpIfNone => {
                        if pop!().is_none() {
                            jump!(instr.b);
                        }
                    }
                    Op::ForIter => {
                        let iterator = self.stack[self.stack.len() - 1];
                        match quick_step(&mut self.heap, iterator) {
                            Some(Value::Unbound) => {
                                self.stack.pop();
                                jump!(instr.b);
                            }
                            Some(value) => self.stack.push(value),
                            None => match resume!(self.for_step(iterator)) {
                                Flow::Next => {
                                    let top = self.stack.len() - 1;
                                    if self.stack[top].is_unbound() {
                                        self.stack.truncate(top - 1);
                                        jump!(instr.b);
                                    }
                                }
                                Flow::Frame => continue 'frames,
                            },
                        }
                    }
                    Op::Call => {
                        let callee = self.stack.len() - 1 - instr.b as usize;
                        enter!(self.call(callee, instr.b as usize, None, After::Push));
                    }
                    Op::CallMethod => {
                        let count = instr.b as usize;
                        let callee = self.stack.len() - 2 - count;
                        let count = if self.stack[callee].is_unbound() {
                            self.stack.remove(callee);
                            count
                        } else {
                            count + 1
                        };
                        enter!(self.call(callee, count, None, After::Push));
                    }
                    Op::Return => {
                        let value = pop!();
                        match resume!(self.return_value(value)) {
                            None => continue 'frames,
                            Some(value) => return Ok(value),
                        }
                    }
                    Op::Copy => {
                        let value = self.stack[self.stack.len() - 1 - instr.b as usize];
                        self.stack.push(value);
                    }
                    Op::Swap => {
                        let top = self.stack.len() - 1;
                        self.stack.swap(top, top - 1);
                    }
                    Op::LoadIndex => {
                        let key = pop!();
                        let object = pop!();
                        let value = match self.quick_index(object, key) {
                            Some(value) => value,
                            None => attempt!(self.get_item(object, key)),
                        };
                        self.stack.push(value);
                    }
                    Op::LoadAttr => {
                        let object = pop!();
                        let name = loaded.names[instr.b as usize];
                        let value = attempt!(self.get_attr(object, name));
                        self.stack.push(value);
                    }
                    Op::LoadMethod => {
                        let object = pop!();
                        let name = loaded.names[instr.b as usize];
                        match self.load_method(object, name) {
                            Ok((callable, true)) => self.stack.extend([callable, object]),
                            Ok((callable, false)) => self.stack.extend([Value::Unbound, callable]),
                            Err(fault) => {
                                // What Python code finds lands above, as a plain callable.
                                self.stack.push(Value::Unbound);
                                attempt!(Err(fault))
                            }
                        }
                    }
                    Op::Yield => {
                        let value = pop!();
                        match resume!(self.yield_value(value)) {
                            None => continue 'frames,
                            Some(value) => return Err(Stop::Suspended(value)),
                        }
                    }
                    Op::Negative => {
                        let value = pop!();
                        let result = match value {
                            Value::Float(value) => float(-value),
                            value => attempt!(self.negative(value)),
                        };
                        self.stack.push(result);
                    }
                    _ => match resume!(self.step(loaded, instr, base)) {
                        Flow::Next => {}
                        Flow::Frame => continue 'frames,
                    },
                }
            }
        }
    }
}
