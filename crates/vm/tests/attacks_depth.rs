//! Chains that a program makes as long as it likes, and natives in the place of the methods that they
//! look for: Rust does not follow them by calling itself.

use remuda_vm::{Ending, Limits, run_script};

/// Small enough for what has no end to be noticed at once, were a part of the machine outside of its own
/// stack.
const STACK_BYTES: usize = 256 * 1024;

fn output(source: &str) -> (Ending, String) {
    let source = source.to_owned();
    let run = move || run_script(&source, "depth.py", Limits::with_cycles(400_000_000));
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap();
    let output = thread.join().unwrap();
    (output.ending, output.stdout)
}

/// Each operation gives a value or raises what a program can catch.
fn each_ends(before: &str, operations: &[&str]) {
    let tried = |operation: &&str| {
        format!("try:\n    {operation}\nexcept Exception as error: print(type(error).__name__)\n")
    };
    let tries: String = operations.iter().map(tried).collect();
    let (ending, stdout) = output(&format!("{before}\n{tries}print('on')"));
    assert_eq!(ending, Ending::Done, "{before}; {operations:?}");
    assert!(stdout.ends_with("on\n"), "{before}; {operations:?}: {stdout}");
}

#[test]
fn natives_in_the_place_of_the_methods_they_look_for() {
    for (method, native, operation) in [
        ("__abs__", "abs", "abs(A())"),
        ("__len__", "len", "len(A())"),
        ("__iter__", "iter", "for x in A(): pass"),
        ("__next__", "next", "next(A())"),
        ("__repr__", "repr", "repr(A())"),
        ("__str__", "str", "print(A())"),
        ("__str__", "str", "f'{A()}'"),
        ("__hash__", "hash", "{A(): 1}"),
        ("__round__", "round", "round(A())"),
        ("__int__", "int", "int(A())"),
        ("__index__", "int", "[1][A()]"),
        ("__float__", "float", "float(A())"),
        ("__format__", "format", "format(A(), 'x')"),
        ("__format__", "format", "f'{A():x}'"),
        ("__pow__", "pow", "pow(A(), 2)"),
        ("__divmod__", "divmod", "divmod(A(), 1)"),
        ("__bytes__", "bytes", "bytes(A())"),
        ("__reversed__", "reversed", "reversed(A())"),
        ("__getitem__", "list.__getitem__", "A()[0]"),
        ("__bool__", "bool", "not A()"),
        ("__call__", "A", "A()()"),
        ("__new__", "A", "A()"),
        ("__init__", "A", "A()"),
        ("__eq__", "operator.eq", "A() == A()"),
        ("__lt__", "operator.lt", "sorted([A(), A()])"),
        ("__add__", "operator.add", "A() + A()"),
        ("__contains__", "operator.contains", "1 in A()"),
        ("__getattr__", "getattr", "A().x"),
        ("__getattribute__", "getattr", "A().x"),
        ("__setattr__", "setattr", "A().x = 1"),
        ("__delattr__", "delattr", "del A().x"),
        ("__dir__", "dir", "dir(A())"),
        ("__enter__", "A", "with A(): pass"),
        ("__get__", "getattr", "B().x"),
    ] {
        let before = format!(
            "import operator\nclass A: pass\nA.{method} = staticmethod({native})\nclass B: pass\nB.x = object.__new__(A)"
        );
        each_ends(&before, &[operation]);
        each_ends(&before.replace("staticmethod(", "("), &[operation]);
    }
    let meta = "class M(type): pass\nclass X(metaclass=M): pass";
    each_ends(&format!("{meta}\nM.__call__ = X"), &["X()"]);
    each_ends(
        &format!("{meta}\nM.__instancecheck__ = staticmethod(isinstance)"),
        &["isinstance(1, X)"],
    );
    each_ends(
        &format!("{meta}\nM.__subclasscheck__ = staticmethod(issubclass)"),
        &["issubclass(X, X)"],
    );
    let (ending, stdout) = output(
        "class A: __abs__ = staticmethod(abs)\ntry: abs(A())\nexcept RecursionError as error: print(error)",
    );
    assert_eq!((ending, stdout.as_str()), (Ending::Done, "maximum recursion depth exceeded\n"));
}

/// What is done with every kind of thing that can hold another one of its kind.
const OPERATIONS: [&str; 22] = [
    "str(e)",
    "repr(e)",
    "f'{e}'",
    "'%s' % (e,)",
    "'%r' % (e,)",
    "'{}'.format(e)",
    "print(e)",
    "hash(e)",
    "e == other",
    "[e] == [other]",
    "e < other",
    "e.zzz",
    "e.__doc__",
    "e.__name__",
    "callable(e)",
    "e()",
    "bool(e)",
    "isinstance(e, (int, str))",
    "iter(e)",
    "len(e)",
    "e[0]",
    "raise e",
];

#[test]
fn long_chains_of_every_kind_of_object() {
    let exceptions =
        ["ValueError(e)", "KeyError(e)", "OSError(e, e)", "OSError(1, e, e)", "Exception(e, e)"];
    let classes =
        "class A: pass\nclass T(tuple): pass\nclass D(dict): pass\nclass E(Exception): pass";
    let others = [
        "[e]",
        "(e,)",
        "{1: e}",
        "T([e])",
        "D(a=e)",
        "E(e)",
        "slice(e, e, e)",
        "property(e, e, e)",
        "staticmethod(e)",
        "classmethod(e)",
        "enumerate(e)",
        "zip(e)",
        "reversed([e])",
        "iter([e])",
        "method(e)",
        "{1: e}.values()",
        "property(method(e))",
    ];
    for link in exceptions.iter().chain(&others) {
        let before = format!(
            "{classes}\ndef method(e):\n    A.f = classmethod(e)\n    return A.f\ndef chain():\n    e = ValueError('x')\n    try:\n        for i in range(20000): e = {link}\n    except Exception: pass\n    return e\ne = chain()\nother = chain()"
        );
        each_ends(&before, &OPERATIONS);
    }
}

/// Sets have the hashes of what is in them, so that nothing but memory bounds how deep they are inside
/// each other.
#[test]
fn frozensets_inside_each_other() {
    let operations = [
        "e == other",
        "e != other",
        "e <= other",
        "e < other",
        "e >= other",
        "e in [other]",
        "e in (other,)",
        "e in {other: 1}",
        "e in {other}",
        "e in {other: 1}.keys()",
        "{e: 1}[other]",
        "{e: 1} == {other: 1}",
        "{e: 1}.keys() == {other: 1}.keys()",
        "{e: 1}.keys() == {other}",
        "{1: e} == {1: other}",
        "{e} == {other}",
        "[e] == [other]",
        "{e} | {other}",
        "{e} & {other}",
        "{e} - {other}",
        "{e} ^ {other}",
        "e | other",
        "e & other",
        "{e}.add(other)",
        "{e}.issubset([other])",
        "{e}.isdisjoint([other])",
        "[e].index(other)",
        "[e].count(other)",
        "[e].remove(other)",
        "(e, other) < (other, e)",
        "slice(e) == slice(other)",
        "sorted([(e, 1), (other, 2)])",
        "hash(e) == hash(other)",
        "repr(e)",
        "str([e])",
    ];
    let classes = "class F(frozenset): pass\nclass T(tuple): pass";
    for link in [
        "frozenset([e])",
        "frozenset([(e,)])",
        "frozenset([((e, e), 1)])",
        "F([e])",
        "frozenset([T([e])])",
        "F([T([e])])",
        "frozenset({e: 1}.keys())",
    ] {
        let before = format!(
            "{classes}\ndef chain():\n    e = frozenset()\n    for i in range(12000): e = {link}\n    return e\ne = chain()\nother = chain()"
        );
        each_ends(&before, &operations);
    }
    // Two hundred of them are compared as before.
    let (_, stdout) = output(
        "def chain(n):\n    e = frozenset()\n    for i in range(n): e = frozenset([e])\n    return e\nprint(chain(190) == chain(190), chain(190) == chain(189))\ntry: chain(400) == chain(400)\nexcept RecursionError as error: print(error)",
    );
    assert_eq!(
        stdout,
        "True False\nmaximum recursion depth exceeded in comparison: 200 containers inside each other\n"
    );
}

#[test]
fn arguments_of_exceptions_are_tuples() {
    each_ends("e = ValueError(1)\ne.args = (e,)\nother = e", &OPERATIONS);
    each_ends("e = KeyError(1)\ne.args = (e,)\nother = e", &OPERATIONS);
    each_ends("e = OSError(1, 2)\ne.args = (e, e)\nother = e", &OPERATIONS);
    let (_, stdout) = output(
        "e = ValueError(1)\ntry: e.args = e\nexcept TypeError as error: print(error)\ne.args = [1, 2]\nprint(e.args, repr(e))",
    );
    assert_eq!(stdout, "'ValueError' object is not iterable\n(1, 2) ValueError(1, 2)\n");
}

/// A chain that nobody catches is described by the machine itself, at the end.
#[test]
fn what_ends_a_run_is_described_whatever_it_holds() {
    for chain in ["ValueError(e)", "OSError(e, e)", "KeyError(e)"] {
        let source = format!("e = ValueError('x')\nfor i in range(20000): e = {chain}\nraise e");
        assert!(matches!(output(&source).0, Ending::Raised(_)), "{chain}");
    }
}

/// What the machine keeps beside an object's attributes is what it relies on.
#[test]
fn special_attributes_are_what_they_must_be() {
    let source = "
class A: pass
class L(list): pass
def f(a, b): return a, b
def check(object, name, *values):
    for value in values:
        try: setattr(object, name, value)
        except (TypeError, ValueError) as error: print(name, type(error).__name__)
        else: print(name, 'set')
o = A()
check(o, '__dict__', [1], 1, None, {'x': 1})
check(o, '__class__', [1], int, L, A)
check(f, '__defaults__', (1, 2, 3), [1], (1, 2), None, (7,))
check(f, '__name__', 1, 'g')
check(ValueError(), '__cause__', 1, None, KeyError())
print(o.x, f(5), type(o) is A)
";
    let expected = "__dict__ TypeError\n__dict__ TypeError\n__dict__ TypeError\n__dict__ set\n__class__ TypeError\n__class__ TypeError\n__class__ TypeError\n__class__ set\n__defaults__ TypeError\n__defaults__ TypeError\n__defaults__ set\n__defaults__ set\n__defaults__ set\n__name__ TypeError\n__name__ set\n__cause__ TypeError\n__cause__ set\n__cause__ set\n1 (5, 7) True\n";
    assert_eq!(output(source).1, expected);
}

/// Where a method is looked for and called at once, what would have to be worked out first is refused.
#[test]
fn descriptors_and_namespaces_that_need_a_program() {
    let source = "
class A:
    __enter__ = property(lambda self: (lambda: 5))
    def __exit__(self, *args): pass
class B:
    def __enter__(self): return 1
    __exit__ = property(lambda self: (lambda *args: None))
class Names(dict):
    def __setitem__(self, name, value): pass
class M(type):
    @classmethod
    def __prepare__(cls, name, bases): return cls.names
for manager in (A(), B()):
    for i in range(2):
        try:
            with manager as x: print('entered', x)
        except TypeError as error: print(error)
for names in (Names(), 5, [], object()):
    M.names = names
    try:
        class C(metaclass=M): x = 1
    except TypeError as error: print(error)
for names in (5, [], object()):
    try: type('C', (), names)
    except (TypeError, AttributeError) as error: print(type(error).__name__)
print('on')
";
    let (ending, stdout) = output(source);
    assert_eq!(ending, Ending::Done, "{stdout}");
    assert_eq!(stdout.matches("make it a function").count(), 4, "{stdout}");
    assert_eq!(stdout.matches("a class's namespace").count(), 4, "{stdout}");
    assert!(stdout.ends_with("on\n"), "{stdout}");
}
