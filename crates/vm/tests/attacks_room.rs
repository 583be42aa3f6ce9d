//! Memory that a machine really holds, against what its account says.

use remuda_vm::{Ending, Limits, Vm, compile};

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
