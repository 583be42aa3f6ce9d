//! What hostile programs try, and where each is stopped: at its cycles, at its memory, or by an
//! exception; never by a panic, an abort or unbounded work.

use remuda_vm::{Ending, Fatal, Limits, Output, run_script};

const CYCLES: u64 = 3_000_000;

fn run(source: &str) -> Output {
    run_script(source, "attack.py", Limits::with_cycles(CYCLES))
}

fn stops_at_cycles(source: &str) {
    let output = run(source);
    assert_eq!(output.ending, Ending::Stopped(Fatal::Cycles), "{source}");
    assert_eq!(output.cycles, CYCLES, "the whole budget, no more, no less: {source}");
}

fn stops_at_memory(source: &str) {
    let output = run_script(source, "attack.py", Limits::with_cycles(2_000_000_000));
    assert_eq!(output.ending, Ending::Stopped(Fatal::Memory), "{source}");
}

fn raises(source: &str, kind: &str) {
    match run(source).ending {
        Ending::Raised(raised) => assert_eq!(raised.kind, kind, "{source}: {}", raised.message),
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn endless_loops_stop_at_the_exact_limit() {
    stops_at_cycles("while True: pass");
    stops_at_cycles("for x in iter(int, 1): pass");
    stops_at_cycles("def g():\n    while True:\n        yield 1\nsum(g())");
    stops_at_cycles(
        "while True:\n    try:\n        raise ValueError\n    except ValueError:\n        pass",
    );
    stops_at_cycles(
        "def f():\n    while True:\n        try:\n            return 1\n        finally:\n            continue\nf()",
    );
    stops_at_cycles(
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
    );
    stops_at_cycles(
        "class A:\n    def __iter__(self): return self\n    def __next__(self): return 1\nlist(A())",
    );
}

#[test]
fn deep_recursion_is_a_recursion_error() {
    for source in [
        "def f(): f()\nf()",
        "class A:\n    def __eq__(self, o): return self == o\nA() == A()",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "class A:\n    def __hash__(self): return hash(self)\n{A(): 1}",
        "class A:\n    def __getattr__(self, n): return getattr(self, n)\nA().x",
        "class A:\n    def __lt__(self, o): return sorted([self, o])\nsorted([A(), A()])",
        "class A:\n    def __add__(self, o): return self + o\nA() + A()",
        "class A:\n    def __bool__(self): return bool(self)\nif A(): pass",
        "class A:\n    def __len__(self): return len(self)\nlen(A())",
        "class A:\n    def __iter__(self): return iter(self)\nlist(A())",
        "class A:\n    def __call__(self): return self()\nA()()",
        "class A:\n    @property\n    def x(self): return self.x\nA().x",
        "class A:\n    def __init__(self): A()\nA()",
        "class A:\n    def __format__(self, s): return f'{self}'\nf'{A()}'",
        "class A:\n    def __contains__(self, x): return x in self\n1 in A()",
        "class A:\n    def __getitem__(self, k): return self[k]\nA()[0]",
        "class A:\n    def __enter__(self):\n        with self: pass\n    def __exit__(self, *a): pass\nwith A(): pass",
        "def k(x): return max([1, 2], key=k)\nk(1)",
        "def g(): yield from g()\nlist(g())",
        "l = []\nfor i in range(1000): l = [l]\nrepr(l)",
        "a = []\nb = []\nfor i in range(1000):\n    a = [a]\n    b = [b]\na == b",
        "t = ()\nfor i in range(1000): t = (t,)\nhash(t)",
        "import copy\nl = []\nfor i in range(1000): l = [l]\ncopy.deepcopy(l)",
        "import json\njson.loads('[' * 1000)",
    ] {
        raises(source, "RecursionError");
    }
}

#[test]
fn generator_chains_do_not_recurse_in_rust() {
    raises(
        "def wrap(g):\n    for x in g: yield x\ng = iter([1])\nfor i in range(2000): g = wrap(g)\nlist(g)",
        "RecursionError",
    );
    raises("g = iter([1])\nfor i in range(2000): g = enumerate(g)\nlist(g)", "RecursionError");
    raises("g = iter([1])\nfor i in range(2000): g = zip(g)\nlist(g)", "RecursionError");
    raises("g = iter([1])\nfor i in range(2000): g = map(str, g)\nlist(g)", "RecursionError");
}

#[test]
fn coroutine_chains_do_not_recurse_in_rust() {
    let drive = "c = f(0)\nc.send(None)";
    raises(&format!("async def f(n): await f(n)\n{drive}"), "RecursionError");
    raises(
        &format!(
            "async def f(n):\n    async for x in g(n): pass\nasync def g(n):\n    async for x in g(n): yield x\n{drive}"
        ),
        "RecursionError",
    );
    raises(
        &format!(
            "class A:\n    async def __aenter__(self):\n        async with self: pass\n    async def __aexit__(self, *a): pass\nasync def f(n):\n    async with A(): pass\n{drive}"
        ),
        "RecursionError",
    );
    raises(
        &format!("import cowboy\nasync def f(n): return await cowboy.gather(f(n), f(n))\n{drive}"),
        "RecursionError",
    );
    stops_at_cycles(&format!(
        "class A:\n    def __aiter__(self): return self\n    async def __anext__(self): return 1\nasync def f(n):\n    async for x in A(): pass\n{drive}"
    ));
}

#[test]
fn memory_bombs_stop_at_the_cap() {
    for source in [
        "x = 'a' * 10**9",
        "x = [0] * 10**9",
        "x = (0,) * 10**9",
        "x = b'a' * 10**9",
        "x = bytearray(10**9)",
        "x = bytes(10**9)",
        "x = list(range(10**9))",
        "x = []\nwhile True: x.append(x)",
        "x = {}\ni = 0\nwhile True:\n    x[i] = i\n    i += 1",
        "x = set()\ni = 0\nwhile True:\n    x.add(i)\n    i += 1",
        "x = 'a'\nwhile True: x += x",
        "x = 'a' * 1000\nwhile True: x = x.replace('a', 'aaaaaaaaaa')",
        "x = ['a' * 1000]\nwhile True: x = [''.join(x * 10)]",
        "x = 'a'.ljust(10**9)",
        "x = '%1000000000d' % 1",
        "x = f'{1:1000000000}'",
        "x = [1]\nwhile True: x.extend(x)",
        "x = [1]\nwhile True: x += x",
        "x = [1]\nwhile True: x[0:0] = x",
        "x = {}\nwhile True: x = {'a': x, **{str(i): i for i in range(100)}}",
        "x = []\nwhile True: x = [x, lambda: x]",
        "class A: pass\na = A()\ni = 0\nwhile True:\n    setattr(a, str(i), i)\n    i += 1",
        "x = None\nwhile True:\n    try:\n        raise ValueError(x)\n    except ValueError as e:\n        x = e",
        "x = 'a' * 10**6\nwhile True: x = repr([x])",
        "x = 'é' * 10**6\nwhile True: x = x.upper() + x",
    ] {
        stops_at_memory(source);
    }
}

#[test]
fn printing_has_a_cap() {
    stops_at_memory("while True: print('x' * 1000)");
}

#[test]
fn garbage_is_collected_and_paid() {
    let output = run_script(
        "for i in range(200000):\n    x = [i, [i], {'k': i}]\nprint(x)",
        "garbage.py",
        Limits::with_cycles(100_000_000),
    );
    assert_eq!(output.ending, Ending::Done);
    assert_eq!(output.stdout, "[199999, [199999], {'k': 199999}]\n");
    let cycles = "class N: pass\nfor i in range(100000):\n    a = N()\n    a.me = a\nprint('ok')";
    let output = run_script(cycles, "cycles.py", Limits::with_cycles(100_000_000));
    assert_eq!(output.stdout, "ok\n");
}

#[test]
fn huge_numbers_are_refused_before_they_are_made() {
    for source in [
        "2 ** 10**9",
        "10 ** 10000",
        "1 << 10**9",
        "1 << 2**70",
        "x = 3\nwhile True: x *= x",
        "import math\nmath.factorial(10**9)",
        "import math\nmath.comb(10**6, 5 * 10**5)",
        "int.from_bytes(b'\\x01' * 1000, 'big')",
    ] {
        raises(source, "OverflowError");
    }
    raises("int('9' * 100000)", "ValueError");
    raises("def f(a): pass\nf.__defaults__ = (1, 2, 3)\nf(1, 2)", "TypeError");
    raises("(b'x' * 100000).hex('s' * 100000)", "ValueError");
    stops_at_cycles("while True: pow(3, 2**4000, 2**4001 - 1)");
}

#[test]
fn hostile_hashes_are_paid() {
    stops_at_cycles(
        "class A:\n    def __hash__(self): return 1\n    def __eq__(self, o): return False\nd = {}\nwhile True: d[A()] = 1",
    );
    stops_at_cycles("d = {}\nfor i in range(10**6): d[i * (2**61 - 1)] = i");
}

#[test]
fn compile_time_bombs_are_refused() {
    let sources = [
        format!("x = {}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}1", "-".repeat(10_000)),
        format!("x = {}1", "not ".repeat(10_000)),
        format!("x = 1{}", "+1".repeat(10_000)),
        format!("x = 1{}", "**1".repeat(10_000)),
        format!("x = a{}", ".b".repeat(10_000)),
        format!("x = f{}", "()".repeat(10_000)),
        format!("x = {}1", "lambda: ".repeat(10_000)),
        format!("x = {}1", "1 if 1 else ".repeat(10_000)),
        format!("x = {}", "f'{".repeat(1_000)),
        "x".repeat(300_000),
        format!("x = {}", "9".repeat(100_000)),
        (0..60).map(|depth| format!("{}if 1:\n", " ".repeat(depth))).collect::<String>()
            + &" ".repeat(60)
            + "pass",
        (0..40)
            .map(|depth| format!("{0}try:\n{0} pass\n{0}finally:\n", " ".repeat(depth)))
            .collect::<String>()
            + &" ".repeat(40)
            + "pass",
    ];
    for source in sources {
        let start = &source[..source.len().min(40)];
        match run(&source).ending {
            Ending::Refused(error) => assert!(error.line > 0, "{start}: {error}"),
            other => panic!("{start}: {other:?}"),
        }
    }
}

#[test]
fn what_is_not_there_is_refused_with_advice() {
    for (source, line) in [
        ("import os", 1),
        ("x = 1\nimport random", 2),
        ("from time import time", 1),
        ("\n\ndef f():\n    async for x in y: pass", 4),
        ("try:\n    pass\nexcept* ValueError:\n    pass", 3),
        ("from json import *", 1),
        ("return 5", 1),
        ("def f(:\n  pass", 1),
        ("break", 1),
    ] {
        match run(source).ending {
            Ending::Refused(error) => assert_eq!(error.line, line, "{error}"),
            other => panic!("{source}: {other:?}"),
        }
    }
}

/// `except*` is refused before anything runs, and told with file, line and what to do instead. A group itself is
/// an exception like others, and is caught as a whole.
#[test]
fn handlers_of_groups_are_refused_at_their_line() {
    let source =
        "print('ran')\ntry:\n    pass\nexcept* (ValueError, KeyError) as group:\n    pass\n";
    let output = run_script(source, "groups.py", Limits::with_cycles(1_000));
    assert_eq!(output.stdout, "");
    let Ending::Refused(error) = output.ending else { panic!("{:?}", output.ending) };
    assert_eq!((&error.file[..], error.line), ("groups.py", 4));
    assert!(
        error.to_string().contains("except* is not supported (raise single exceptions"),
        "{error}"
    );
    let refused = remuda_vm::chain::facts(source, "groups.py").unwrap_err();
    assert!(refused.starts_with("groups.py:4:"), "{refused}");
    let Ending::Raised(raised) = run("raise ExceptionGroup('many', [ValueError(1)])").ending else {
        panic!("it is raised as a whole");
    };
    assert_eq!(
        (&raised.kind[..], &raised.message[..]),
        ("ExceptionGroup", "many (1 sub-exception)")
    );
}

#[test]
fn the_same_cycles_every_time_and_every_limit() {
    let source = "x = 0\nfor i in range(1000):\n    x += len(str(i))\nprint(x)";
    let whole = run(source).cycles;
    assert_eq!(run(source).cycles, whole);
    let exact = run_script(source, "exact.py", Limits::with_cycles(whole));
    assert_eq!((exact.ending, exact.cycles), (Ending::Done, whole));
    let short = run_script(source, "short.py", Limits::with_cycles(whole - 1));
    assert_eq!((short.ending, short.cycles), (Ending::Stopped(Fatal::Cycles), whole - 1));
}

#[test]
fn regex_bombs_take_text_times_pattern() {
    for pattern in
        ["(a*)*b", "(a|a)*b", "(a+)+b", "(a?){20}a{20}b", "(.*)(.*)(.*)(.*)x", "a*a*a*a*a*b"]
    {
        let source = format!("import re\nre.match(r'{pattern}', 'a' * 2000)\nprint('ok')");
        let output = run(&source);
        assert_eq!(output.stdout, "ok\n", "{pattern}: {:?}", output.ending);
    }
    stops_at_cycles("import re\nwhile True: re.search('(x+x+)+y', 'x' * 10000)");
    stops_at_cycles("import re\nre.findall('(a|b)*c', 'ab' * 400000)");
}

#[test]
fn patterns_that_need_backtracking_or_too_much_room_are_refused() {
    for (pattern, word) in [
        (r"(a)\\1", "backreferences"),
        ("(?P<n>a)(?P=n)", "backreferences"),
        ("(?<=a+)b", "fixed-width"),
        ("(?:(?=a)b){1000}", "too many looks"),
        ("(?>a)", "atomic"),
        ("a++", "possessive"),
        ("((a{100}){100}){100}", "too large"),
        ("((((a{1000000000}){1000000000})))", "too large"),
    ] {
        let source = format!("import re\nre.compile('{pattern}')");
        match run(&source).ending {
            Ending::Raised(raised) => {
                assert_eq!(raised.kind, "error", "{pattern}");
                assert!(raised.message.contains(word), "{pattern}: {}", raised.message);
            }
            other => panic!("{pattern}: {other:?}"),
        }
    }
    raises("import re\nre.compile('(' * 1000)", "error");
    raises("import re\nre.compile('a' * 100000)", "error");
    raises("import re\nre.compile(b'a')", "TypeError");
}

#[test]
fn a_forged_pattern_is_refused() {
    for program in
        ["b''", "b'\\x00'", "bytes(14)", "bytes([0, 0, 0, 0, 0, 6, 9, 0, 0, 0, 0, 0, 0, 0])"]
    {
        raises(
            &format!("import re\np = re.compile('a')\np._program = {program}\np.match('a')"),
            "ValueError",
        );
    }
}
