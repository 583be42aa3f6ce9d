//! Work that looks like one step of a program and is many: each is paid for by what it looks at.

use remuda_vm::{Ending, Limits, run_script};

fn run(source: &str) -> (u64, String) {
    let output = run_script(source, "prices.py", Limits::with_cycles(4_000_000_000));
    assert_eq!(output.ending, Ending::Done, "{source}");
    (output.cycles, output.stdout)
}

/// Cycles that one evaluation takes, after what goes before it.
fn cycles_of(before: &str, operation: &str) -> u64 {
    let times = |times: usize| {
        let operation = operation.replace('\n', "\n        ");
        run(&format!(
            "{before}\nfor _ in range({times}):\n    try:\n        {operation}\n    except (TypeError, ValueError, AttributeError): pass\n"
        ))
        .0
    };
    (times(9) - times(1)) / 8
}

fn at_least(before: &str, operations: &[(&str, u64)]) {
    for (operation, least) in operations {
        let cycles = cycles_of(before, operation);
        assert!(cycles >= *least, "{operation}: {cycles} cycles, not {least}");
    }
}

/// Equal texts that are two objects: who looks one up compares a megabyte.
#[test]
fn long_keys_are_paid_for_where_they_are_looked_up() {
    let texts =
        "s = 'x' * 2**20\nt = 'x' * (2**20 - 1) + 'x'\nd = {s: 1}\ne = {t: 1}\nm = {s}\nn = {t}";
    let megabyte = 2u64.pow(20) / 8;
    at_least(
        texts,
        &[
            ("t in d", megabyte),
            ("d[t]", megabyte),
            ("d.get(t)", megabyte),
            ("t in m", megabyte),
            ("d == e", megabyte),
            ("m & n", megabyte),
            ("d.update(e)", megabyte),
            ("m.discard(t)\nm.add(s)", megabyte),
        ],
    );
    // The same object, and one of another length, are not compared.
    for operation in ["s in d", "d[s]", "'x' * 70 in d", "s in m"] {
        let cycles = cycles_of(texts, operation);
        assert!(cycles < 200, "{operation}: {cycles} cycles");
    }
}

/// Keys of one hash, looked up by an object with its own `__hash__`.
#[test]
fn candidates_are_found_in_one_pass_that_is_paid_for() {
    let colliding = |count: usize| {
        let before = format!(
            "P = 2**61 - 1\nd = {{5 + j * P: 1 for j in range({count})}}\nclass K:\n    def __hash__(self): return 5\n    def __eq__(self, o): return True\nk = K()"
        );
        cycles_of(&before, "k in d")
    };
    let (few, many) = (colliding(100), colliding(400));
    assert!(many >= few + 300 * 3, "{few} and {many}");
}

/// Numbers that begin at one place of a table's index: brought into their order again and again.
#[test]
fn settling_a_set_is_paid_for_by_its_steps() {
    let again = "s.add(5)\nnext(iter(s))\ns.discard(5)";
    // As the table spreads them, with all bits.
    let mix = "def mix(h):\n    M = 2**64 - 1\n    h = (h + 0x9e3779b97f4a7c15) & M\n    h = ((h ^ h >> 30) * 0xbf58476d1ce4e5b9) & M\n    h = ((h ^ h >> 27) * 0x94d049bb133111eb) & M\n    return h ^ h >> 31";
    let colliding = format!(
        "{mix}\ns = set()\nk = 0\nwhile len(s) < 300:\n    k += 1\n    if mix(k) & 1023 == 0: s.add(k)\n"
    );
    let spread = cycles_of("s = set(range(1000, 1300))", again);
    let cycles = cycles_of(&colliding, again);
    assert!(cycles > spread + 300 * 300 / 3, "{cycles} and {spread}");
    // Numbers whose low bits are the same.
    let shifted = cycles_of("s = set([i << 45 for i in range(3000)])", again);
    let plain = cycles_of("s = set(range(3000))", again);
    assert!(shifted > 2 * plain, "{shifted} and {plain}");
    // A set that was large keeps its room.
    let large = "s = set(range(20000))\nnext(iter(s))\nfor i in range(19998): s.discard(i)";
    let cycles = cycles_of(large, again);
    assert!(cycles > 20_000, "{cycles}");
}

#[test]
fn slots_are_few_and_short() {
    let refused = |slots: &str| {
        let source = format!(
            "def tried(make):\n    try: make()\n    except (TypeError, ValueError) as e: print(type(e).__name__)\n    else: print('made')\ndef body():\n    class A: __slots__ = {slots}\ndef late():\n    class A: pass\n    A.__slots__ = {slots}\ntried(body)\ntried(late)\ntried(lambda: type('A', (), {{'__slots__': {slots}}}))"
        );
        run(&source).1
    };
    for slots in ["('abcdefgh',) * 257", "['a'] * 100000", "('x' * 256,)", "'x' * 256", "(1,)"] {
        let stdout = refused(slots);
        assert_eq!(stdout.matches("Error").count(), 3, "{slots}: {stdout}");
    }
    assert_eq!(refused("('a',) * 256"), "made\nmade\nmade\n");
    let source = "
class A: __slots__ = ['a', 'b']
class B(A): __slots__ = 'c'
class C(B): pass
def tried(o, name):
    try: setattr(o, name, 1)
    except AttributeError: return False
    return getattr(o, name) == 1
print([tried(k(), 'a' + n) for k in (A, B, C) for n in ('', 'b')])
print(tried(A(), ''.join(['', 'b'])), tried(B(), 'c'), tried(A(), 'c'), hasattr(A(), '__dict__'), hasattr(C(), '__dict__'))
";
    let (_, stdout) = run(source);
    assert_eq!(stdout, "[True, False, True, False, True, True]\nTrue True False False True\n");
    let slots = "class A: __slots__ = tuple('a%d' % i for i in range(256))\na = A()";
    at_least(slots, &[("hasattr(a, '__dict__')", 240), ("a.zz = 1", 240)]);
}
