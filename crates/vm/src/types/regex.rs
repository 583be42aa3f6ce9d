//! The natives under the module re.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::regex::{self, Fuel, Looks, Program, Search, Text};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("re", "_compile", compile, ""),
    ("re", "_match", match_one, ""),
    ("re", "_match_all", match_all, ""),
];

/// (program, groups, names and numbers in turn, flags), or (message, place).
fn compile(vm: &mut Vm, args: Args) -> Outcome {
    let [pattern, flags] = vm.take(args, "compile", ["pattern", "flags"], 2)?;
    let pattern = vm.want_text(pattern, "pattern")?;
    let flags = vm.want_int(flags)? as u32;
    vm.charge(64 + pattern.len() as u64 * 8)?;
    let compiled = match regex::compile(&pattern, flags) {
        Ok(compiled) => compiled,
        Err(error) => {
            // What is refused for its length has been made so far.
            vm.charge(error.emitted as u64 * 4)?;
            let message = vm.string(error.message)?;
            return vm.tuple(vec![message, Value::Int(error.place as i64)]);
        }
    };
    let bytes = compiled.program.to_bytes();
    // Copies of counted repetitions make programs longer than their patterns.
    vm.charge(cost::bytes(bytes.len()) * 4)?;
    vm.heap.check(bytes.len())?;
    let program = vm.bytes(bytes)?;
    let mut names = Vec::new();
    for (name, number) in compiled.names {
        names.push(vm.string(name)?);
        names.push(Value::Int(number as i64));
    }
    let names = vm.list(names)?;
    let groups = Value::Int(compiled.program.groups as i64);
    vm.tuple(vec![program, groups, names, Value::Int(i64::from(compiled.flags))])
}

/// Reads the program, pays for that, runs `body` with the text and what is left of the cycles.
fn with_program<T>(
    vm: &mut Vm,
    program: Value,
    text: Value,
    body: impl FnOnce(&mut Vm, &Program, &Text<'_>, &mut Fuel) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let bytes = match vm.obj(program) {
        Some(Obj::Bytes(bytes)) => bytes.clone(),
        _ => return Err(vm.type_error("a compiled pattern is needed")),
    };
    vm.charge(8 + cost::bytes(bytes.len()))?;
    let Some(program) = Program::from_bytes(&bytes) else {
        return Err(vm.value_error("this is no compiled pattern"));
    };
    let text = vm.want_text(text, "string")?;
    vm.charge(cost::bytes(text.len()))?;
    let text = if text.is_ascii() {
        Text::Ascii(text.as_bytes())
    } else {
        vm.reserve(text.len() * 4)?;
        Text::Wide(text.chars().collect())
    };
    let mut fuel = Fuel { left: vm.cycles.get() };
    let result = body(vm, &program, &text, &mut fuel);
    vm.cycles.set(vm.cycles.get().min(fuel.left));
    result
}

fn bounds(vm: &mut Vm, from: Value, to: Value, length: usize) -> Result<(usize, usize), Fault> {
    let clamp = |value: i64| usize::try_from(value.max(0)).unwrap_or(usize::MAX).min(length);
    Ok((clamp(vm.want_int(from)?), clamp(vm.want_int(to)?)))
}

fn places(found: &[Option<usize>]) -> impl Iterator<Item = Value> {
    found.iter().map(|place| Value::Int(place.map_or(-1, |place| place as i64)))
}

/// Places of the whole and of each group as a tuple, -1 for none; or None. Mode: 0 anywhere, 1 at the
/// start, 2 all of it.
fn match_one(vm: &mut Vm, args: Args) -> Outcome {
    let [program, text, from, to, mode] =
        vm.take(args, "match", ["program", "string", "pos", "endpos", "mode"], 5)?;
    let mode = vm.want_int(mode)?;
    let found = with_program(vm, program, text, |vm, program, text, fuel| {
        let (from, to) = bounds(vm, from, to, text.len())?;
        let wanted = Search { from, to, anchored: mode > 0, whole: mode > 1, advance: false };
        let looks = Looks::of(program, text, to, fuel)?;
        Ok(regex::search(program, text, &looks, wanted, fuel)?)
    })?;
    match found {
        Some(found) if found[0].is_some() => vm.tuple(places(&found).collect()),
        _ => Ok(Value::None),
    }
}

/// Places of all matches, one after the other in one list; at most so many if that is not 0.
fn match_all(vm: &mut Vm, args: Args) -> Outcome {
    let [program, text, from, to, most] =
        vm.take(args, "finditer", ["program", "string", "pos", "endpos", "count"], 5)?;
    let most = match vm.want_int(most)? {
        count if count > 0 => count as usize,
        _ => usize::MAX,
    };
    let mut all = Vec::new();
    with_program(vm, program, text, |vm, program, text, fuel| {
        let bounds = bounds(vm, from, to, text.len())?;
        regex::all_matches(program, text, bounds, most, fuel, |found| {
            vm.heap.check((all.len() + found.len()) * 16)?;
            all.extend(places(&found));
            Ok(())
        })?;
        Ok(())
    })?;
    vm.list(all)
}
