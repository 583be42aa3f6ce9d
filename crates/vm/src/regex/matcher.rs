//! Runs a program over a text: all ways at once, in order of preference, one character at a time.

use super::look::Looks;
use super::program::{Instr, Place, Program, fold, is_ascii_word, is_word};
use crate::limits::Fatal;

/// A text by its characters.
pub(crate) enum Text<'a> {
    Ascii(&'a [u8]),
    Wide(Vec<char>),
}

impl Text<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Text::Ascii(bytes) => bytes.len(),
            Text::Wide(chars) => chars.len(),
        }
    }

    pub(super) fn at(&self, place: usize) -> Option<char> {
        match self {
            Text::Ascii(bytes) => bytes.get(place).map(|byte| *byte as char),
            Text::Wide(chars) => chars.get(place).copied(),
        }
    }
}

/// Cycles, taken before each step.
pub(crate) struct Fuel {
    pub(crate) left: u64,
}

impl Fuel {
    pub(super) fn take(&mut self, cycles: u64) -> Result<(), Fatal> {
        if cycles > self.left {
            self.left = 0;
            return Err(Fatal::Cycles);
        }
        self.left -= cycles;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// The text is seen from here on as if it began at 0; `^` knows the difference.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Only at `from`.
    pub(crate) anchored: bool,
    /// Only up to `to`.
    pub(crate) whole: bool,
    /// An empty match at `from` does not count.
    pub(crate) advance: bool,
}

const NOWHERE: u32 = u32::MAX;

/// Ways in order of preference, each with the places that it remembers.
struct Ways {
    list: Vec<u32>,
    /// Which round an instruction was reached in, so that nothing has to be cleared.
    seen: Vec<u32>,
    places: Vec<u32>,
}

/// A match: two places for the whole and for each group, NOWHERE as None.
pub(crate) type Found = Vec<Option<usize>>;

struct Machine<'a> {
    program: &'a Program,
    text: &'a Text<'a>,
    looks: &'a Looks,
    to: usize,
    round: u32,
    pending: Vec<Todo>,
}

enum Todo {
    Visit(u32),
    Restore(u32, u32),
}

/// The first match. The looks are those of the program in this text, up to the same end.
pub(crate) fn search(
    program: &Program,
    text: &Text<'_>,
    looks: &Looks,
    search: Search,
    fuel: &mut Fuel,
) -> Result<Option<Found>, Fatal> {
    let Some(mut places) = run(program, text, looks, search, 0, fuel)? else { return Ok(None) };
    look_groups(program, text, looks, search.to, &mut places, fuel)?;
    places.truncate(2 * (program.groups + 1));
    let known = |place: &u32| (*place != NOWHERE).then_some(*place as usize);
    Ok(Some(places.iter().map(known).collect()))
}

/// The groups inside looks that were passed: each is run again where it held.
fn look_groups(
    program: &Program,
    text: &Text<'_>,
    looks: &Looks,
    to: usize,
    places: &mut [u32],
    fuel: &mut Fuel,
) -> Result<(), Fatal> {
    if program.looks == 0 || program.groups == 0 {
        return Ok(());
    }
    for (pc, instr) in program.instrs.iter().enumerate() {
        fuel.take(1)?;
        let Instr::Look { behind, negative: false, number, after } = *instr else { continue };
        let passed = places[program.look_slot(number)];
        let body = &program.instrs[pc + 1..after as usize];
        if passed == NOWHERE || !body.iter().any(|instr| matches!(instr, Instr::Save(_))) {
            continue;
        }
        let width = if behind { width(program, pc + 1, fuel)? } else { Some(0) };
        let Some(from) = width.and_then(|width| (passed as usize).checked_sub(width)) else {
            continue;
        };
        let wanted = Search { from, to, anchored: true, whole: false, advance: false };
        let start = pc as u32 + 1;
        let Some(inner) = run(program, text, looks, wanted, start, fuel)? else { continue };
        for (slot, place) in inner.iter().enumerate().skip(2) {
            if *place != NOWHERE {
                places[slot] = *place;
            }
        }
    }
    Ok(())
}

/// How many characters a look behind takes: every way through it as many.
fn width(program: &Program, start: usize, fuel: &mut Fuel) -> Result<Option<usize>, Fatal> {
    let (mut pc, mut width) = (start, 0);
    for _ in start..program.instrs.len() {
        fuel.take(1)?;
        pc = match program.instrs.get(pc) {
            None => break,
            Some(Instr::Match) => return Ok(Some(width)),
            Some(Instr::Jump(target) | Instr::Split(target, _)) => *target as usize,
            Some(Instr::Look { after, .. }) => *after as usize,
            Some(Instr::Save(_) | Instr::Assert(_)) => pc + 1,
            Some(_) => {
                width += 1;
                pc + 1
            }
        };
    }
    Ok(None)
}

/// Runs a program from an instruction on; gives what the best way remembers.
fn run(
    program: &Program,
    text: &Text<'_>,
    looks: &Looks,
    search: Search,
    start: u32,
    fuel: &mut Fuel,
) -> Result<Option<Vec<u32>>, Fatal> {
    let (length, slots) = (program.instrs.len(), program.slots());
    fuel.take(8 + (length + length * slots / 4) as u64 / 8)?;
    let ways = || Ways { list: Vec::new(), seen: vec![0; length], places: vec![0; length * slots] };
    let (mut now, mut next) = (ways(), ways());
    let to = search.to.min(text.len());
    let mut machine = Machine { program, text, looks, to, round: 0, pending: Vec::new() };
    let mut fresh = vec![NOWHERE; slots];
    let mut best: Option<Vec<u32>> = None;
    let mut place = search.from;
    machine.round += 1;
    while place <= to {
        if best.is_none() && (!search.anchored || place == search.from) {
            if now.list.is_empty() && !search.anchored {
                place = machine.skip(place, fuel)?;
            }
            fresh.fill(NOWHERE);
            machine.reach(start, place, &mut fresh, &mut now, fuel)?;
        }
        if now.list.is_empty() && (best.is_some() || search.anchored) {
            break;
        }
        let here = if place < to { text.at(place) } else { None };
        machine.round += 1;
        let mut at = 0;
        while let Some(pc) = now.list.get(at).copied() {
            at += 1;
            fuel.take(2)?;
            let own = pc as usize * slots;
            let moved = match program.instrs[pc as usize] {
                Instr::Match => {
                    let places = &now.places[own..own + slots];
                    let empty = places[0] as usize == place && place == search.from;
                    if search.advance && empty || search.whole && place != to {
                        continue;
                    }
                    let mut found = places.to_vec();
                    found[1] = place as u32;
                    best = Some(found);
                    // Ways that are less preferred are given up.
                    break;
                }
                Instr::Char(char) => here == Some(char),
                Instr::Folded(char) => here.is_some_and(|here| fold(here) == char),
                Instr::Any => here.is_some_and(|here| here != '\n'),
                Instr::AnyOrNewline => here.is_some(),
                Instr::Class(class) => {
                    let class = &program.classes[class as usize];
                    fuel.take(class.price)?;
                    here.is_some_and(|here| class.contains(here))
                }
                _ => false,
            };
            if moved {
                let mut places = now.places[own..own + slots].to_vec();
                machine.reach(pc + 1, place + 1, &mut places, &mut next, fuel)?;
            }
        }
        now.list.clear();
        std::mem::swap(&mut now, &mut next);
        place += 1;
    }
    Ok(best)
}

impl Machine<'_> {
    /// The next place at which a program that begins with a character can begin.
    fn skip(&self, from: usize, fuel: &mut Fuel) -> Result<usize, Fatal> {
        let mut at = 0;
        while let Some(Instr::Save(_)) = self.program.instrs.get(at) {
            at += 1;
        }
        let Some(Instr::Char(first)) = self.program.instrs.get(at) else { return Ok(from) };
        let mut place = from;
        while place < self.to && self.text.at(place) != Some(*first) {
            if place.is_multiple_of(8) {
                fuel.take(1)?;
            }
            place += 1;
        }
        Ok(place)
    }

    /// Follows what takes no character from an instruction on; adds the ways that wait for one.
    fn reach(
        &mut self,
        pc: u32,
        place: usize,
        places: &mut [u32],
        ways: &mut Ways,
        fuel: &mut Fuel,
    ) -> Result<(), Fatal> {
        self.pending.clear();
        self.pending.push(Todo::Visit(pc));
        while let Some(todo) = self.pending.pop() {
            let mut pc = match todo {
                Todo::Visit(pc) => pc,
                Todo::Restore(slot, old) => {
                    places[slot as usize] = old;
                    continue;
                }
            };
            loop {
                fuel.take(1)?;
                if std::mem::replace(&mut ways.seen[pc as usize], self.round) == self.round {
                    break;
                }
                match self.program.instrs[pc as usize] {
                    Instr::Jump(target) => pc = target,
                    Instr::Split(first, second) => {
                        self.pending.push(Todo::Visit(second));
                        pc = first;
                    }
                    Instr::Save(slot) => {
                        self.pending.push(Todo::Restore(slot, places[slot as usize]));
                        places[slot as usize] = place as u32;
                        pc += 1;
                    }
                    Instr::Assert(assertion) => {
                        fuel.take(assertion.price())?;
                        if !holds(self.text, self.to, assertion, place) {
                            break;
                        }
                        pc += 1;
                    }
                    Instr::Look { number, after, .. } => {
                        if !self.looks.hold(pc, place) {
                            break;
                        }
                        let slot = self.program.look_slot(number);
                        self.pending.push(Todo::Restore(slot as u32, places[slot]));
                        places[slot] = place as u32;
                        pc = after;
                    }
                    _ => {
                        fuel.take(places.len() as u64 / 4)?;
                        let start = pc as usize * places.len();
                        ways.places[start..start + places.len()].copy_from_slice(places);
                        ways.list.push(pc);
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether an assertion is true at a place.
pub(super) fn holds(text: &Text<'_>, to: usize, assertion: Place, place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|place| text.at(place));
    let after = if place < to { text.at(place) } else { None };
    let border = |word: fn(char) -> bool| before.is_some_and(word) != after.is_some_and(word);
    match assertion {
        Place::Start => place == 0,
        Place::LineStart => place == 0 || before == Some('\n'),
        Place::End => place == to,
        Place::LastEnd => place == to || place + 1 == to && after == Some('\n'),
        Place::LineEnd => place == to || after == Some('\n'),
        Place::Word => border(is_word),
        Place::NotWord => !border(is_word),
        Place::AsciiWord => border(is_ascii_word),
        Place::NotAsciiWord => !border(is_ascii_word),
    }
}

/// All matches, one after the other, as Python's `finditer` finds them: an empty one may stand where
/// one that was not empty ended, never where another empty one stood. At most `most`.
pub(crate) fn all_matches(
    program: &Program,
    text: &Text<'_>,
    (from, to): (usize, usize),
    most: usize,
    fuel: &mut Fuel,
    mut see: impl FnMut(Found) -> Result<(), Fatal>,
) -> Result<(), Fatal> {
    let looks = Looks::of(program, text, to, fuel)?;
    let mut wanted = Search { from, to, anchored: false, whole: false, advance: false };
    for _ in 0..most {
        let Some(found) = search(program, text, &looks, wanted, fuel)? else { return Ok(()) };
        let (Some(start), Some(end)) = (found[0], found[1]) else { return Ok(()) };
        wanted.advance = start == end;
        wanted.from = end;
        see(found)?;
    }
    Ok(())
}
