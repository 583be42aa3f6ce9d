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

/// Numbers of one hash, and such as go the same way for long.
#[test]
fn sets_are_paid_for_by_their_steps_and_their_room() {
    let again = "s.add(5)\nnext(iter(s))\ns.discard(5)";
    let spread = cycles_of("s = set(range(1000, 1300))", again);
    let same = cycles_of("s = set([5 + j * (2**61 - 1) for j in range(1, 301)])", again);
    assert!(same > spread + 300 * 3, "{same} and {spread}");
    // Numbers whose low bits are the same.
    let far = "s.add(3001 << 45)\nnext(iter(s))\ns.discard(3001 << 45)";
    let shifted = cycles_of("s = set([i << 45 for i in range(3000)])", far);
    let plain = cycles_of("s = set(range(3000))", far);
    assert!(shifted > plain + 80, "{shifted} and {plain}");
    // A set that was large keeps its room.
    let large = "s = set(range(20000))\nfor i in range(19998): s.discard(i)";
    for walk in ["next(iter(s))", "s.copy()", "str(s)", "s.pop(); s.add(20000)"] {
        let cycles = cycles_of(large, walk);
        assert!(cycles > 4_000, "{walk}: {cycles}");
    }
}

/// Integers of 4,096 bits, and floats that take the long way.
#[test]
fn large_numbers_are_paid_for_where_they_are_hashed_compared_and_read() {
    let bigs = "a = [2**4000 + i for i in range(1000)]\nb = [2**4000 + i for i in range(1000)]\nt = tuple(a)\nq = 2**4000 - 1\nd = {t: 1}";
    at_least(
        bigs,
        &[
            ("hash(t)", 20_000),
            ("t in d", 20_000),
            ("a == b", 20_000),
            ("q in a", 20_000),
            ("a.count(q)", 20_000),
            ("a.index(q)", 20_000),
            ("min(a)", 20_000),
            ("sorted(a)", 100_000),
            ("pow(2**4094 // 3, -1, 2**4095 + 1)", 150_000),
        ],
    );
    let floats = "import math\ns = '8.98846567431158053656668072130502949627624141313081589739713427561540454154866937524136980060240969353498844031142021255416291054286665368' + '4e307'";
    at_least(
        floats,
        &[
            ("float(s)", 700),
            ("(5e-324).as_integer_ratio()", 400),
            ("(1.7e308).as_integer_ratio()", 400),
            ("math.remainder(1e308, 3e-308)", 400),
            ("repr(5e-324)", 50),
        ],
    );
}

#[test]
fn numbers_of_all_kinds_compare_by_their_values() {
    let source = "
bigs = [2**63, -2**63 - 1, 2**64, 2**1023, -2**1023, 2**1024, -2**1024, 2**4000, 2**53 + 1, 2**62 + 1, 0, 1, -1, True]
bigs += [2**63 - 1, -2**63, 10**25]
floats = [0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0**62, 2.0**63, -2.0**63, 2.0**64, 1e25, 1e300, -1e300, 2.0**1023, -2.0**1023]
floats += [float('inf'), -float('inf'), float('nan'), 9007199254740993.0, 9223372036854774784.0]
all = bigs + floats
out = [(a < b, a == b, a > b, a <= b, hash(a) == hash(b)) for a in all for b in all]
print(len(out), sum(map(sum, out)))
print(sorted(x for x in all if x == x))
";
    let (_, stdout) = run(source);
    // Without CPython there is nothing to compare with.
    let Ok(python) = std::process::Command::new("python3").args(["-c", source]).output() else {
        return;
    };
    assert_eq!(stdout, String::from_utf8_lossy(&python.stdout));
}

/// What is done for each character costs as much as there are, not as many bytes are copied.
#[test]
fn characters_that_are_looked_at_one_by_one_are_paid_for() {
    let texts = "x = 'x' * 100000\ne = '\\u00e9' * 50000\nc = '\\u4e00' * 33000\nz = '\\0' * 100000\nt = '\\t' * 100000\ng = '\\u03a3' * 50000\nb = b'\\0' * 100000\nf = b'\\xff' * 100000\nh = 'ff' * 50000\nlong = 'x' * 99999";
    at_least(
        texts,
        &[
            ("ascii(e)", 300_000),
            ("t.expandtabs(1)", 300_000),
            ("x.count('x')", 200_000),
            ("repr(z)", 200_000),
            ("repr(b)", 100_000),
            ("g.lower()", 500_000),
            ("c.isalpha()", 90_000),
            ("c.istitle()", 90_000),
            ("c.isnumeric()", 1),
            ("c.isidentifier()", 90_000),
            ("c.isprintable()", 90_000),
            ("c.isupper()", 90_000),
            ("long in x", 70_000),
            ("x.find(long)", 50_000),
            ("x.title()", 200_000),
            ("f.decode('utf-8', 'ignore')", 150_000),
            ("bytes.fromhex(h)", 30_000),
        ],
    );
}

#[test]
fn looking_along_many_bases_is_paid_for() {
    let deep = "class C:\n    def f(self): pass\nc = C\nfor i in range(60): c = type('C%d' % i, (c,), {})\no = c()\ns = super(c, o)";
    let flat = "class C:\n    def f(self): pass\nclass D(C): pass\ns = super(D, D())";
    let (deep, flat) = (cycles_of(deep, "s.f"), cycles_of(flat, "s.f"));
    assert!(deep >= flat + 80, "{deep} and {flat}");
}

/// A look-up is remembered until any class changes, and costs the same all the same: what is remembered differs
/// between a call that went on after an await and one that did not.
#[test]
fn an_attribute_that_is_nowhere_is_paid_for_by_the_bases_that_were_asked() {
    let chain = |bases: usize| {
        let before = format!(
            "class C: pass\nclass Other: pass\nc = C\nfor i in range({bases}): c = type('C%d' % i, (c,), {{}})\no = c()"
        );
        cycles_of(&before, "Other.x = 1\no.nowhere")
    };
    let (few, many) = (chain(4), chain(60));
    // Three names are looked for: the hook, the attribute, the other hook.
    assert!(many >= few + 3 * 50 * 3, "{few} and {many}");
    assert_eq!(chain(1), chain(5), "few bases are covered");
}

/// Names with the hash of one that a program can write: their last eight characters are chosen for it.
const GROUND: &str = "
M = 2**64 - 1
def mix(h):
    h = (h + 0x9e3779b97f4a7c15) & M
    h = ((h ^ h >> 30) * 0xbf58476d1ce4e5b9) & M
    h = ((h ^ h >> 27) * 0x94d049bb133111eb) & M
    return h ^ h >> 31
def word(text):
    return int.from_bytes(text, 'little')
def ground(count):
    first = mix(0x243f6a8885a308d3 ^ 24 ^ word(b'a' * 8))
    wanted = mix(first ^ word(b'a' * 8)) ^ word(b'a' * 8)
    names, number = [], 0
    while len(names) < count:
        number += 1
        last = (mix(first ^ word(b'%08d' % number)) ^ wanted).to_bytes(8, 'little')
        # One in 256 is text.
        if max(last) < 128:
            names.append((b'aaaaaaaa%08d' % number + last).decode())
    return names
";

#[test]
fn names_that_are_in_each_others_way_are_paid_for() {
    let collide = format!(
        "{GROUND}\nnames = ground(30) + ['a' * 24]\nprint(len(set(map(hash, names))), len(set(names)))"
    );
    assert_eq!(run(&collide).1, "1 31\n");
    let at = |count: usize, kind: &str, operation: &str| {
        let before = format!("{GROUND}\nnames = ground({count}) + ['a' * 24]\n{kind}");
        cycles_of(&before, operation)
    };
    let set = "\nfor n in names: setattr(o, n, 1)";
    for (kind, operation) in [
        (format!("class C: pass\no = C(){set}"), "o.aaaaaaaaaaaaaaaaaaaaaaaa"),
        (format!("class C: pass\no = C(){set}"), "hasattr(o, 'a' * 24)"),
        // A class's are remembered until one changes.
        (format!("class C: pass\no = C{set}"), "o.x = 1\no.aaaaaaaaaaaaaaaaaaaaaaaa"),
        (format!("def o(): pass{set}"), "o.aaaaaaaaaaaaaaaaaaaaaaaa"),
        ("for n in names: globals()[n] = 1".to_owned(), "aaaaaaaaaaaaaaaaaaaaaaaa"),
        (
            "for n in names: globals()[n] = 1\ndef f(): return aaaaaaaaaaaaaaaaaaaaaaaa".to_owned(),
            "f()",
        ),
    ] {
        let (few, many) = (at(20, &kind, operation), at(120, &kind, operation));
        assert!(many >= few + 150, "{kind}, {operation}: {few} and {many}");
    }
}

/// Beside a loop of plain instructions, what is cut out of a text costs what it takes.
#[test]
fn parts_of_texts_are_paid_for_one_by_one() {
    let texts = "c = ','.join(['ab'] * 10000)\ns = 'ab ' * 10000\nl = 'ab\\n' * 10000\nx = 'x' * 30000\ne = '\\u00e9' * 30000\nb = b'x' * 30000\nn = [1] * 30000";
    at_least(
        texts,
        &[
            ("c.split(',')", 120_000),
            ("c.rsplit(',')", 120_000),
            ("s.split()", 120_000),
            ("s.rsplit()", 120_000),
            ("l.splitlines()", 120_000),
            ("x[::2]", 7_500),
            ("x[::-1]", 15_000),
            ("e[1:]", 30_000),
            ("b[::-1]", 15_000),
            ("n[::-1]", 15_000),
        ],
    );
    // Side by side, they are copied at once.
    assert!(cycles_of(texts, "x[1:]") < 6_000);
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

/// One list of ten megabytes is one object; near the cap it is looked through for every few others.
#[test]
fn collections_are_paid_for_by_the_values_that_they_see() {
    let rounds = |rounds: usize, items: &str| {
        let source = format!(
            "def f(n):\n    big = {items}\n    i = 0\n    while i < n:\n        i += 1\n        [i]\nf({rounds})"
        );
        run(&source).0
    };
    for items in ["[[]] * 655300", "[None] * 655300", "([],) * 655300"] {
        let cycles = rounds(150, items) - rounds(50, items);
        // A collection after ten rounds at the latest.
        assert!(cycles > 10 * 655_300 / 2, "{items}: {cycles} cycles");
    }
    // Far from the cap they are few.
    let cycles = rounds(1_050, "[None] * 1000") - rounds(50, "[None] * 1000");
    assert!(cycles < 40_000, "{cycles}");
}

/// What a deep stack holds is looked through, too.
#[test]
fn collections_are_paid_for_by_the_stack() {
    let deep = |depth: usize| {
        let source = format!(
            "s = 'x' * 300000\ndef f(n):\n    a = b = c = d = e = g = h = n\n    if n: return f(n - 1)\n    for i in range(100): s + 'y'\nf({depth})"
        );
        run(&source).0
    };
    let calls = "def f(n):\n    a = b = c = d = e = g = h = n\n    if n: return f(n - 1)\nf(";
    let plain = |depth: usize| run(&format!("{calls}{depth})")).0;
    let (deep, plain) = (deep(150) - deep(50), plain(150) - plain(50));
    // Some 30 collections, 100 frames of 8 slots.
    assert!(deep > plain + 30 * 100 * 8 / 2, "{deep} and {plain}");
}

/// Handlers of one function: an exception finds its own among them.
#[test]
fn handlers_that_are_searched_are_paid_for() {
    let with = |count: usize| {
        let unused = "        try: never\n        except: pass\n".repeat(count);
        let source = format!(
            "e = ValueError()\ndef f(never):\n    if never:\n        pass\n{unused}    for _ in range(100):\n        try: raise e\n        except ValueError: pass\nf(False)"
        );
        run(&source).0
    };
    let (few, many) = (with(10), with(3_000));
    assert!(many >= few + 100 * 3_000 / 8, "{few} and {many}");
}

/// Names that a machine looks for while it calls, and kinds that it looks along.
#[test]
fn names_that_are_looked_for_inside_an_operation_are_paid_for() {
    let parameters = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("a{number}=0")).collect();
        format!("def g(*, {}): pass", names.join(", "))
    };
    let (few, many) = (cycles_of(&parameters(10), "g()"), cycles_of(&parameters(250), "g()"));
    assert!(many >= few + 240 * 4, "{few} and {many}");
    let classes = |depth: usize| {
        format!(
            "class C: pass\nc = C\nfor i in range({depth}): c = type('C%d' % i, (c,), {{}})\nitems = [type('L%d' % i, (c,), {{}})() for i in range(50)]\nx = object()\nP = type('P', (), {{'_protocol': tuple('m%d' % i for i in range(100))}})\nfor i in range(100): setattr(C, 'm%d' % i, 1)\no = items[0]"
        )
    };
    for (operation, looked) in [
        ("items.count(x)", 50),
        ("x in items", 50),
        ("isinstance(o, P)", 100),
        ("o.m5", 1),
        ("hasattr(o, 'zz')", 1),
    ] {
        let shallow = cycles_of(&classes(3), operation);
        let deep = cycles_of(&classes(58), operation);
        assert!(deep >= shallow + looked * 45 * 2, "{operation}: {deep} and {shallow}");
    }
}

#[test]
fn an_actor_has_no_modules_of_scripts() {
    let source = "try:\n    import asyncio\nexcept ImportError as e:\n    print(e)\n";
    let program = remuda_vm::compile(source, "actor.py").expect("a program");
    let mut vm = remuda_vm::Vm::new(remuda_vm::Limits::default());
    vm.run_module(&program).expect("it ends");
    assert_eq!(vm.output(), "No module named 'asyncio'\n");
}

#[test]
fn annotations_do_not_name_what_the_machine_hides() {
    let source = "import typing\nexit.__annotations__ = {'x': '_insert_hashed'}\ntry:\n    print(typing.get_type_hints(exit))\nexcept (NameError, TypeError) as e:\n    print(type(e).__name__)\n";
    assert_eq!(run(source).1, "NameError\n");
}
