//! Looking ahead and behind without going back: before a search, every place of the text is asked once
//! whether what is looked for stands there. Inner ones come first, as they have later instructions.

use super::matcher::{Fuel, Text, holds};
use super::program::{Instr, Program, fold};
use crate::limits::Fatal;

/// Where each look of a program holds: one bit for each place.
pub(crate) struct Looks {
    /// The number of an instruction's table, if it is a look.
    index: Vec<Option<usize>>,
    tables: Vec<Vec<u64>>,
}

struct Body<'a> {
    program: &'a Program,
    text: &'a Text<'a>,
    to: usize,
    /// First instruction, and the one after the last.
    from: usize,
    end: usize,
}

impl Looks {
    pub(crate) fn of(
        program: &Program,
        text: &Text<'_>,
        to: usize,
        fuel: &mut Fuel,
    ) -> Result<Self, Fatal> {
        let mut looks = Self { index: Vec::new(), tables: Vec::new() };
        if program.looks == 0 {
            return Ok(looks);
        }
        let to = to.min(text.len());
        fuel.take(program.instrs.len() as u64 / 8 + 1)?;
        looks.index.resize(program.instrs.len(), None);
        for (pc, instr) in program.instrs.iter().enumerate().rev() {
            let Instr::Look { behind, negative, after, .. } = *instr else { continue };
            fuel.take(to as u64 / 64 + 1)?;
            let mut table = vec![0u64; to / 64 + 1];
            let body = Body { program, text, to, from: pc + 1, end: after as usize };
            if behind {
                body.behind(&looks, &mut table, fuel)?;
            } else {
                body.ahead(&looks, &mut table, fuel)?;
            }
            if negative {
                table.iter_mut().for_each(|word| *word = !*word);
            }
            looks.index[pc] = Some(looks.tables.len());
            looks.tables.push(table);
        }
        Ok(looks)
    }

    pub(super) fn hold(&self, pc: u32, place: usize) -> bool {
        let table = self.index.get(pc as usize).copied().flatten();
        let word = table.and_then(|table| self.tables[table].get(place / 64));
        word.is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

impl Body<'_> {
    /// Whether an instruction takes the character at a place.
    fn takes(&self, instr: Instr, place: usize) -> bool {
        let here = if place < self.to { self.text.at(place) } else { None };
        here.is_some_and(|here| match instr {
            Instr::Char(char) => here == char,
            Instr::Folded(char) => fold(here) == char,
            Instr::Any => here != '\n',
            Instr::AnyOrNewline => true,
            Instr::Class(class) => self.program.classes[class as usize].contains(here),
            _ => false,
        })
    }

    fn price(&self, instr: Instr) -> u64 {
        match instr {
            Instr::Class(class) => 1 + self.program.classes[class as usize].price,
            Instr::Assert(place) => 1 + place.price(),
            _ => 1,
        }
    }

    /// Backwards through the text: which instructions lead to the end from here on.
    fn ahead(&self, looks: &Looks, table: &mut [u64], fuel: &mut Fuel) -> Result<(), Fatal> {
        let size = self.end.saturating_sub(self.from);
        let mut next = vec![false; size];
        for place in (0..=self.to).rev() {
            let mut now = vec![false; size];
            // Ways that go back need another round.
            loop {
                let mut changed = false;
                for at in (0..size).rev() {
                    let pc = self.from + at;
                    let instr = self.program.instrs[pc];
                    if now[at] {
                        fuel.take(1)?;
                        continue;
                    }
                    fuel.take(self.price(instr))?;
                    let leads = |target: usize| {
                        target.checked_sub(self.from).is_some_and(|at| now.get(at) == Some(&true))
                    };
                    let good = match instr {
                        Instr::Match => true,
                        Instr::Jump(target) => leads(target as usize),
                        Instr::Split(a, b) => leads(a as usize) || leads(b as usize),
                        Instr::Save(_) => leads(pc + 1),
                        Instr::Assert(assertion) => {
                            leads(pc + 1) && holds(self.text, self.to, assertion, place)
                        }
                        Instr::Look { after, .. } => {
                            leads(after as usize) && looks.hold(pc as u32, place)
                        }
                        instr => next.get(at + 1) == Some(&true) && self.takes(instr, place),
                    };
                    now[at] = good;
                    changed |= good;
                }
                if !changed {
                    break;
                }
            }
            if now.first() == Some(&true) {
                table[place / 64] |= 1 << (place % 64);
            }
            next = now;
        }
        Ok(())
    }

    /// Forwards through the text, with a new way from every place: which places an end is reached at.
    fn behind(&self, looks: &Looks, table: &mut [u64], fuel: &mut Fuel) -> Result<(), Fatal> {
        let size = self.end.saturating_sub(self.from);
        let mut now = vec![false; size];
        let mut pending: Vec<usize> = Vec::new();
        for place in 0..=self.to {
            pending.push(self.from);
            while let Some(pc) = pending.pop() {
                let Some(at) = pc.checked_sub(self.from).filter(|at| *at < size) else { continue };
                let instr = self.program.instrs[pc];
                fuel.take(if let Instr::Assert(_) = instr { self.price(instr) } else { 1 })?;
                if std::mem::replace(&mut now[at], true) {
                    continue;
                }
                match instr {
                    Instr::Match => table[place / 64] |= 1 << (place % 64),
                    Instr::Jump(target) => pending.push(target as usize),
                    Instr::Split(a, b) => pending.extend([a as usize, b as usize]),
                    Instr::Save(_) => pending.push(pc + 1),
                    Instr::Assert(assertion) if holds(self.text, self.to, assertion, place) => {
                        pending.push(pc + 1);
                    }
                    Instr::Look { after, .. } if looks.hold(pc as u32, place) => {
                        pending.push(after as usize);
                    }
                    _ => {}
                }
            }
            for (at, here) in now.iter_mut().enumerate() {
                let instr = self.program.instrs[self.from + at];
                fuel.take(self.price(instr))?;
                if std::mem::replace(here, false) && self.takes(instr, place) {
                    pending.push(self.from + at + 1);
                }
            }
        }
        Ok(())
    }
}
