//! Memory that a machine really holds, against what its account says.

use remuda_vm::{Ending, Fatal, Limits, Vm, compile};

/// Bytes that a program holds when it has run, and those that it accounts for.
fn held(source: &str) -> (usize, usize) {
    let mut vm = Vm::new(Limits::with_cycles(1_000_000_000));
    let program = compile(source, "room.py").unwrap();
    match vm.run_module(&program) {
        Ok(()) | Err(Ending::Done) => {}
        Err(ending) => panic!("{source}: {ending:?}"),
    }
    vm.held_and_accounted()
}

#[test]
fn what_was_emptied_holds_no_room() {
    for emptied in [
        "x = [None] * 20000\n    x.clear()",
        "x = [None] * 20000\n    del x[:]",
        "x = [None] * 20000\n    del x[5:]",
        "x = [None] * 20000\n    x[:] = []",
        "x = [None] * 20000\n    while len(x) > 3: x.pop()",
        "x = [None] * 20000\n    x *= 0",
        "x = [None] * 20000\n    x.__init__()",
        "x = list(filter(None, [0] * 20000))",
        "x = bytearray(300000)\n    x.clear()",
        "x = bytearray(300000)\n    del x[:]",
        "x = bytearray(300000)\n    x[:] = b''",
        "x = dict.fromkeys(range(5000))\n    x.clear()",
        "x = dict.fromkeys(range(5000))\n    while len(x) > 1: x.popitem()",
        "x = dict.fromkeys(range(5000))\n    for k in range(4999): del x[k]",
        "x = set(range(5000))\n    x.clear()",
        "x = set(range(5000))\n    for k in range(4999): x.discard(k)",
        "x = set(range(5000))\n    x -= set(range(4999))",
        "x = set(range(5000))\n    for k in range(4999): x.pop()",
    ] {
        let source = format!("keep = []\nfor i in range(20):\n    {emptied}\n    keep.append(x)");
        let (held, account) = held(&source);
        // The last one's temporary values may still be there.
        assert!(held < 4 * account + 100_000, "{emptied}: {held} bytes, accounted {account}");
    }
}

#[test]
fn many_small_ones_hold_little_each() {
    for small in [
        "x = [None] * 60\n    x.clear()",
        "x = bytearray(200)\n    x.clear()",
        "x = dict.fromkeys(range(30))\n    while len(x) > 1: x.popitem()",
        "x = {i}\n    x.add(5)\n    x.clear()",
    ] {
        let source = format!("keep = []\nfor i in range(2000):\n    {small}\n    keep.append(x)");
        let (held, account) = held(&source);
        assert!(held < 5 * account + 100_000, "{small}: {held} bytes, accounted {account}");
    }
}

/// A program's constants and names are made once, not by each machine that runs it.
#[test]
fn a_machine_makes_nothing_of_what_its_program_only_mentions() {
    let names: Vec<String> = (0..5_000).map(|number| format!("    n{number}.x{number}")).collect();
    let source = format!("def f():\n{}\n", names.join("\n"));
    let program = compile(&source, "names.py").unwrap();
    let run = |limits: Limits| {
        let mut vm = Vm::new(limits);
        let result = vm.run_module(&program);
        (result, vm.held_and_accounted(), vm.cycles_left())
    };
    let (first, second) = (run(Limits::with_cycles(10_000)), run(Limits::with_cycles(10_000)));
    assert_eq!(first, second);
    let (result, (held, accounted), _) = first;
    assert_eq!(result, Ok(()));
    assert!(held < 2_000, "{held} bytes");
    // They count as before, and do not fit where they did not.
    assert!(accounted > 10_000 * 48, "{accounted} bytes");
    let (result, _, _) = run(Limits { heap_bytes: 400_000, ..Limits::with_cycles(10_000) });
    assert_eq!(result, Err(Ending::Stopped(Fatal::Memory)));
}

/// Machines of one program share its names: a computed string still finds the attribute of that name.
#[test]
fn names_of_a_program_are_the_same_in_every_machine() {
    let source = "class A: pass\nA.abc = 1\nd = {'abc': 1}\nsetattr(A, ''.join(['a', 'bc']), 2)\nassert A.abc == 2 and d['abc'] == 1 and getattr(A, 'a' + 'bc') == 2\ndef f(*, abc=3): return locals()\nassert f() == {'abc': 3} and f(**{'ab' + 'c': 4}) == {'abc': 4}";
    let program = compile(source, "names.py").unwrap();
    for _ in 0..3 {
        let mut vm = Vm::new(Limits::with_cycles(1_000_000));
        assert_eq!(vm.run_module(&program), Ok(()));
    }
}
