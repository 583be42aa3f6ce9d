//! Where the cycles go. Each instruction's cycles, with all that it caused in natives, go to the line of
//! the script that it stands for; what the prelude does for a line belongs to that line.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::Vm;
use crate::run::frame::Frame;

/// What one line of the script took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCost {
    /// From 1.
    pub line: u32,
    /// Cycles, without those of the functions it called.
    pub cycles: u64,
    /// How often it was come to.
    pub visits: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCost {
    pub name: String,
    /// The line of its first statement.
    pub line: u32,
    pub calls: u64,
    /// Cycles in itself.
    pub own: u64,
    /// Cycles in itself and in what it called.
    pub total: u64,
}

/// Where the cycles of a run went. The dearest come first; equal ones in the order of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub lines: Vec<LineCost>,
    pub functions: Vec<FunctionCost>,
    /// All cycles of the run; the sum over the lines.
    pub cycles: u64,
}

#[derive(Default)]
struct Counts {
    calls: u64,
    own: u64,
    total: u64,
}

/// Counts while the machine runs.
pub(crate) struct Profiler {
    /// Cycles left at the last look.
    last: u64,
    /// Code and line that what happens now is for.
    here: Option<(u32, u32)>,
    /// Frames on the stack, and the code of the uppermost one.
    top: (usize, u32),
    /// Codes of the script on the stack.
    active: BTreeSet<u32>,
    lines: BTreeMap<u32, (u64, u64)>,
    functions: BTreeMap<u32, Counts>,
}

impl Profiler {
    pub(crate) fn new(cycles: u64) -> Self {
        Self {
            last: cycles,
            here: None,
            top: (0, u32::MAX),
            active: BTreeSet::new(),
            lines: BTreeMap::new(),
            functions: BTreeMap::new(),
        }
    }

    fn charge(&mut self, left: u64) {
        let spent = self.last.saturating_sub(left);
        self.last = left;
        let Some((code, line)) = self.here else { return };
        self.lines.entry(line).or_default().0 += spent;
        self.functions.entry(code).or_default().own += spent;
        for code in &self.active {
            self.functions.entry(*code).or_default().total += spent;
        }
    }

    /// Before an instruction: what was spent since the last one belongs to that one.
    pub(crate) fn look(&mut self, vm: &Vm, pc: usize) {
        self.charge(vm.cycles.get());
        let visible = |frame: &&Frame| !vm.codes[frame.code as usize].hidden;
        let Some(frame) = vm.frames.last() else { return };
        let top = (vm.frames.len(), frame.code);
        let moved = top != self.top;
        self.top = top;
        if moved {
            self.active = vm.frames.iter().filter(visible).map(|frame| frame.code).collect();
        }
        if visible(&frame) {
            let line = line_of(vm, frame.code, pc as u32);
            // A loop may lead back to the first instruction; that is no new call.
            if pc == 0 && moved {
                self.functions.entry(frame.code).or_default().calls += 1;
            }
            if self.here != Some((frame.code, line)) || moved {
                self.lines.entry(line).or_default().1 += 1;
            }
            self.here = Some((frame.code, line));
        } else if moved {
            // The prelude works for the frame below it, which stands behind the call.
            let below = vm.frames.iter().rev().find(visible);
            let below = below.map(|it| (it.code, line_of(vm, it.code, it.pc.saturating_sub(1))));
            self.here = below.or(self.here);
        }
    }

    pub(crate) fn finish(mut self, vm: &Vm, cycles: u64) -> Profile {
        let spent: u64 = self.lines.values().map(|(cycles, _)| cycles).sum();
        // What came after the last instruction: it is the last one's.
        self.last = cycles - spent.min(cycles);
        self.charge(0);
        let mut lines: Vec<LineCost> = self
            .lines
            .iter()
            .map(|(line, (cycles, visits))| LineCost {
                line: *line,
                cycles: *cycles,
                visits: *visits,
            })
            .collect();
        lines.sort_by_key(|line| (u64::MAX - line.cycles, line.line));
        let mut functions: Vec<FunctionCost> = self
            .functions
            .iter()
            .map(|(code, counts)| {
                let code = &vm.codes[*code as usize].code;
                FunctionCost {
                    name: code.qualname.clone(),
                    line: code.lines.first().map_or(1, |(_, line)| *line),
                    calls: counts.calls,
                    own: counts.own,
                    total: counts.total,
                }
            })
            .collect();
        functions.sort_by_key(|function| (u64::MAX - function.own, function.line));
        Profile { lines, functions, cycles }
    }
}

/// The line of an instruction; what stands before the first line belongs to it.
fn line_of(vm: &Vm, code: u32, pc: u32) -> u32 {
    let code = &vm.codes[code as usize].code;
    match code.line(pc) {
        0 => code.lines.first().map_or(1, |(_, line)| *line),
        line => line,
    }
}
