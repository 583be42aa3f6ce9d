//! Small programs that hand large values to operations, again and again: each time is paid for by the
//! size of what is looked at, or nothing large is looked at.

use remuda_vm::{Ending, Limits, run_script};

/// A loop around an operation that may raise; `handler` is what is done then.
fn loop_of(before: &str, operation: &str, handler: &str, times: usize) -> u64 {
    let source = format!(
        "{before}\nfor _ in range({times}):\n    try:\n        {operation}\n    except Exception as e:\n        {handler}\n"
    );
    let output = run_script(&source, "sizes.py", Limits::with_cycles(4_000_000_000));
    assert_eq!(output.ending, Ending::Done, "{before}; {operation}");
    output.cycles
}

/// Cycles that one evaluation takes, after what goes before it.
fn cycles_of(before: &str, operation: &str) -> u64 {
    let run = |times| loop_of(before, operation, "pass", times);
    (run(9) - run(1)) / 8
}

/// Operations that look at all of a megabyte: a cycle for 64 bytes at least.
#[test]
fn what_is_looked_at_is_paid_for() {
    let texts = "s = 'x' * 2**20\nt = 'x' * (2**20 - 1)\nb = b'x' * 2**20";
    for (operation, least) in [
        ("hasattr(1, s)", 16_384),
        ("getattr(1, s, None)", 16_384),
        ("int(' ' * 2**20 + '1')", 16_384),
        ("int(s)", 16_384),
        ("int('1' * 2**20)", 16_384),
        ("int(b)", 16_384),
        ("float(' ' * 2**20 + '1')", 16_384),
        ("float(s)", 16_384),
        ("int.from_bytes(b, 'no order')", 16_384),
        ("b in b''", 16_384),
        ("s.startswith((t, t))", 16_384),
        ("s == t + 'y'", 16_384),
        ("re._compile('(?:a{99}){99}', 0)", 8_192),
        ("f'{1.5:.4000f}'", 8_000),
    ] {
        let cycles = cycles_of(&format!("import re\n{texts}"), operation);
        assert!(cycles >= least, "{operation}: {cycles} cycles");
    }
    for (before, operation) in [
        ("t = (str,) * 65536", "isinstance(1, t)"),
        ("t = (str,) * 65536", "issubclass(int, t)"),
        ("t = (KeyError,) * 65536", "exec_(t)"),
        ("t = ('b',) * 65536", "'a'.startswith(t)"),
        ("t = ('b',) * 65536", "'a'.endswith(t)"),
        ("t = (b'b',) * 65536", "b'a'.startswith(t)"),
        ("d = {i: i for i in range(20000)}\nimport cowboy", "dict(d)"),
        ("a = [0] * 65536\nb = [0] * 65536", "a == b"),
        ("a = [0] * 65536\nb = [0] * 65535", "a < b"),
        ("z = zip(*[range(99)] * 4096)", "next(z)"),
    ] {
        let catch = "def exec_(t):\n    try:\n        raise ValueError\n    except t:\n        pass\n    except ValueError:\n        pass";
        let cycles = cycles_of(&format!("{catch}\n{before}"), operation);
        assert!(cycles >= 4_096, "{before}; {operation}: {cycles} cycles");
    }
}

/// What differs by its length is not looked into: neither paid for nor copied.
#[test]
fn lengths_are_compared_first() {
    let lists = "a = [0] * 100000\nb = [0] * 99999\nc = tuple(a)\nd = tuple(b)";
    for operation in ["a == b", "c == d", "a != b", "[1] < a", "(1,) < c", "{1: a} == {1: b}"] {
        let cycles = cycles_of(lists, operation);
        assert!(cycles < 200, "{operation}: {cycles} cycles");
    }
}

/// A list that contains itself ten thousand times is shown in as many steps, not in their square.
#[test]
fn what_contains_itself_is_not_copied_to_be_shown() {
    let source = "l = [0] * 100000\nfor i in range(len(l)): l[i] = l\nprint(len(repr(l)))";
    let output = run_script(source, "cycle.py", Limits::with_cycles(100_000_000));
    assert_eq!(output.stdout, "700000\n");
}

/// Digits that fill a width in groups are counted, not tried out one after the other.
#[test]
fn widths_are_filled_in_one_go() {
    let source = "print(len(format(1, '01000000,')), format(1234567, '015,'), format(1, '08,'), format(12.5, '09,.1f'), format(-1, '#018_x'))";
    let output = run_script(source, "width.py", Limits::with_cycles(100_000_000));
    let expected = "1000001 000,001,234,567 0,000,001 000,012.5 -0x0_0000_0000_0001\n";
    assert_eq!(output.stdout, expected);
}

#[test]
fn messages_are_short_whatever_they_name() {
    let long = "x = 'x' * 300000";
    for operation in [
        "getattr(1, x)",
        "setattr(1, x, 1)",
        "delattr(1, x)",
        "setattr(int, x, 1)",
        "getattr(int, x)",
        "import_.__getattribute__(x)",
        "f(**{x: 1})",
        "sorted([], **{x: 1})",
        "print(1, **{x: 1})",
        "'a'.encode(x)",
        "b'a'.decode(x)",
        "type(x, (), {})",
        "A.__name__",
        "setattr(A, '__name__', x)",
        "setattr(A, '__qualname__', x)",
        "super(A, A()).__getattribute__(x)",
    ] {
        let before = format!("import math as import_\nclass A: pass\ndef f(): pass\n{long}");
        loop_of(&before, operation, "assert len(str(e)) < 1000, operation", 1);
    }
}

#[test]
fn classes_with_many_bases_are_refused_before_their_order_is_sought() {
    let source = "c = [type('C%d' % i, (), {}) for i in range(5000)]\nn = 0\nfor _ in range(100):\n    try: type('D', tuple(c), {})\n    except TypeError: n += 1\nprint(n)";
    let output = run_script(source, "bases.py", Limits::with_cycles(40_000_000));
    assert_eq!((output.ending, output.stdout.as_str()), (Ending::Done, "100\n"));
    let some = |count: usize| {
        let before = format!("c = tuple(type('C%d' % i, (), {{}}) for i in range({count}))");
        cycles_of(&before, "type('D', c, {})")
    };
    assert!(some(60) > some(2) + 6_000, "{} and {}", some(60), some(2));
}
