//! Plain scripts: what is printed, how they end, what a person is shown, where the cycles went.

// Text of tests, not of programs.
#![allow(clippy::disallowed_methods)]

use remuda_vm::script::{Options, run};
use remuda_vm::{Ending, Fatal, Limits};

fn plain(source: &str) -> remuda_vm::script::Report {
    run(source, "script.py", Options::default())
}

#[test]
fn a_good_end_has_output_cycles_and_no_trouble() {
    let report = plain("print('a', 1)\nprint('b')\n");
    assert_eq!(report.stdout, "a 1\nb\n");
    assert_eq!((report.stderr.as_str(), report.exit_code), ("", 0));
    assert_eq!(report.ending, Ending::Done);
    assert!(report.cycles > 0 && report.profile.is_none());
}

#[test]
fn an_exception_is_shown_with_the_lines_it_went_through() {
    let source = "def inner(x):\n    return 1 // x\n\nclass A:\n    def outer(self):\n        return inner(0)\n\nA().outer()\n";
    let report = plain(source);
    assert_eq!(report.exit_code, 1);
    assert_eq!(
        report.stderr,
        "Traceback (most recent call last):\n\
         \x20 File \"script.py\", line 8, in <module>\n\
         \x20   A().outer()\n\
         \x20 File \"script.py\", line 6, in outer\n\
         \x20   return inner(0)\n\
         \x20 File \"script.py\", line 2, in inner\n\
         \x20   return 1 // x\n\
         ZeroDivisionError: integer division or modulo by zero\n"
    );
}

#[test]
fn causes_and_contexts_are_shown_before_what_came_of_them() {
    let source = "try:\n    try:\n        {}['k']\n    except KeyError as error:\n        raise ValueError('bad') from error\nexcept ValueError:\n    raise TypeError()\n";
    let report = plain(source);
    assert_eq!(
        report.stderr,
        "Traceback (most recent call last):\n\
         \x20 File \"script.py\", line 3, in <module>\n\
         \x20   {}['k']\n\
         KeyError: 'k'\n\
         \n\
         The above exception was the direct cause of the following exception:\n\
         \n\
         Traceback (most recent call last):\n\
         \x20 File \"script.py\", line 5, in <module>\n\
         \x20   raise ValueError('bad') from error\n\
         ValueError: bad\n\
         \n\
         During handling of the above exception, another exception occurred:\n\
         \n\
         Traceback (most recent call last):\n\
         \x20 File \"script.py\", line 7, in <module>\n\
         \x20   raise TypeError()\n\
         TypeError\n"
    );
}

#[test]
fn what_is_raised_again_keeps_its_first_line() {
    let source = "def f():\n    try:\n        raise ValueError('x')\n    finally:\n        pass\n\ntry:\n    f()\nexcept ValueError:\n    raise\n";
    let report = plain(source);
    assert_eq!(
        report.stderr,
        "Traceback (most recent call last):\n\
         \x20 File \"script.py\", line 8, in <module>\n\
         \x20   f()\n\
         \x20 File \"script.py\", line 3, in f\n\
         \x20   raise ValueError('x')\n\
         ValueError: x\n"
    );
}

/// The text that CPython prints, without the markers under the lines.
fn cpython(source: &str) -> Option<String> {
    let folder = std::env::temp_dir().join(format!("remuda-vm-script-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let path = folder.join("script.py");
    std::fs::write(&path, source).ok()?;
    let output = std::process::Command::new("python3").arg(&path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = text.replace(&path.display().to_string(), "script.py");
    let marker = |line: &&str| {
        let bare = line.trim();
        bare.is_empty() || !bare.chars().all(|char| char == '^' || char == '~')
    };
    let lines: Vec<&str> = text.lines().filter(marker).collect();
    Some(lines.join("\n") + "\n")
}

#[test]
fn tracebacks_are_those_of_cpython() {
    let sources = [
        "x = [1]\nx[5]\n",
        "def f(n):\n    if n:\n        f(n - 1)\n    else:\n        raise KeyError('deep')\nf(3)\n",
        "class MyError(Exception):\n    pass\ndef g():\n    raise MyError('one', 2)\ng()\n",
        "class E(Exception):\n    def __str__(self):\n        return 'told'\nraise E\n",
        "def gen():\n    yield 1\n    raise ValueError('in generator')\nfor x in gen():\n    pass\n",
        "try:\n    1/0\nexcept ZeroDivisionError:\n    undefined\n",
        "try:\n    1/0\nexcept ZeroDivisionError:\n    raise RuntimeError('hidden') from None\n",
        "e = ValueError('noted')\ne.add_note('first note')\ne.add_note('second note')\nraise e\n",
        "assert 1 == 2, 'numbers differ'\n",
        "import json\njson.missing\n",
        "def a():\n    try:\n        b()\n    except ValueError as error:\n        raise error\ndef b():\n    raise ValueError('x')\na()\n",
        "x = {}\nfor i in range(3):\n    with open_it(i) as f:\n        pass\n",
        "print((lambda: 1 + 'a')())\n",
        "class C:\n    @property\n    def p(self):\n        return self.missing\nC().p\n",
        "[1 // n for n in [1, 0]]\n",
        "def f():\n    f()\nf()\n",
        "def f(n):\n    if n == 0: raise ValueError('bottom')\n    f(n - 1)\nf(300)\n",
        "def gen():\n    yield 1\n    yield 1 / 0\ndef outer():\n    return [x\n            for x in gen()]\nclass A:\n    def __enter__(self): return self\n    def __exit__(self, *a): pass\nwith A():\n    print(sum(outer()))\n",
        "import json\nraise json.JSONDecodeError('m', 'd', 0)\n",
        "import sys\nprint('said', file=sys.stderr)\nsys.stderr.write('more\\n')\nraise KeyError('k')\n",
        "class Config:\n    def __getattr__(self, name):\n        raise AttributeError(f'no {name}')\ntry:\n    Config().port\nexcept AttributeError as err:\n    raise RuntimeError('cannot load') from err\n",
    ];
    for source in sources {
        let Some(theirs) = cpython(source) else {
            panic!("there is no python3 to compare with: as root, apt-get install python3");
        };
        assert_eq!(plain(source).stderr, theirs, "{source}");
    }
}

#[test]
fn exits_have_their_codes() {
    assert_eq!(plain("import sys\nsys.exit()").exit_code, 0);
    assert_eq!(plain("import sys\nsys.exit(3)").exit_code, 3);
    assert_eq!(plain("raise SystemExit").exit_code, 0);
    let report = plain("import sys\nsys.exit('no good')");
    assert_eq!((report.stderr.as_str(), report.exit_code), ("no good\n", 1));
}

#[test]
fn what_does_not_compile_is_shown_with_its_line() {
    let report = plain("x = 1\nimport os\n");
    assert_eq!(report.exit_code, 2);
    assert!(
        report.stderr.starts_with("  File \"script.py\", line 2\n    import os\nSyntaxError: ")
    );
}

#[test]
fn a_limit_is_no_exception() {
    let limits = Limits::with_cycles(10_000);
    let report = run("while True: pass", "script.py", Options { limits, profile: true });
    assert_eq!(report.ending, Ending::Stopped(Fatal::Cycles));
    assert_eq!((report.cycles, report.exit_code), (10_000, 2));
    assert_eq!(report.profile.unwrap().cycles, 10_000);
}

#[test]
fn a_profile_sums_up_and_changes_nothing() {
    let source = "def dear(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n\ndef cheap():\n    return 1\n\nfor k in range(3):\n    dear(500)\n    cheap()\nprint(sorted([3, 1, 2], key=lambda x: -x))\n";
    let without = plain(source);
    let with = run(source, "script.py", Options { profile: true, ..Options::default() });
    assert_eq!((with.cycles, &with.stdout), (without.cycles, &without.stdout));
    let profile = with.profile.unwrap();
    assert_eq!(profile.cycles, with.cycles);
    assert_eq!(profile.lines.iter().map(|line| line.cycles).sum::<u64>(), with.cycles);
    assert_eq!(profile.functions.iter().map(|function| function.own).sum::<u64>(), with.cycles);
    assert_eq!(profile.lines[0].line, 4);
    assert_eq!(profile.lines[0].visits, 1_500);
    let dear = &profile.functions[0];
    assert_eq!((dear.name.as_str(), dear.line, dear.calls), ("dear", 2, 3));
    let module = profile.functions.iter().find(|function| function.name == "<module>").unwrap();
    assert_eq!(module.total, with.cycles);
    assert!(module.own < dear.own);
}

#[test]
fn a_profile_tells_functions_apart_whatever_calls_them() {
    let source = "\
def spin(n):
    while n:
        n -= 1

class Point:
    size = sum([i * i for i in range(50)])
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        spin(3)
        return self.x == other.x
    def __lt__(self, other):
        return self.x < other.x

def numbers(n):
    for i in range(n):
        spin(i)
        yield i

def key(x):
    spin(5)
    return -x

points = sorted([Point(i % 7) for i in numbers(20)])
print([Point(3)] * 3 == [Point(3)] * 3, sorted(numbers(9), key=key), [p.x for p in points][:3])
print(max(map(key, [1, 2, 3])), ''.join(str(i) for i in numbers(4)))
";
    let report = run(source, "script.py", Options { profile: true, ..Options::default() });
    assert_eq!(report.exit_code, 0, "{}", report.stderr);
    let profile = report.profile.unwrap();
    for function in &profile.functions {
        assert!(function.own <= function.total, "{function:?}");
        assert!(function.line > 0 && function.calls > 0, "{function:?}");
    }
    assert!(profile.lines.iter().all(|line| line.line > 0), "{:?}", profile.lines);
    assert_eq!(profile.functions.iter().map(|function| function.own).sum::<u64>(), report.cycles);
    let of = |name: &str| profile.functions.iter().find(|function| function.name == name).unwrap();
    let module = of("<module>");
    assert_eq!((module.calls, module.total), (1, report.cycles));
    assert_eq!((of("numbers").calls, of("Point").calls, of("key").calls), (3, 1, 12));
    assert_eq!(of("spin").calls, 20 + 9 + 9 + 3 + 3 + 4);
    assert_eq!(of("Point.__init__").calls, 22);
}

#[test]
fn what_is_at_its_limit_says_which() {
    let deep = plain("def f():\n    f()\nf()\n");
    assert!(deep.stderr.ends_with("maximum recursion depth exceeded\n"), "{}", deep.stderr);
    let nested = plain("x = []\nfor _ in range(300):\n    x = [x]\nrepr(x)\n");
    assert!(nested.stderr.contains("200 containers"), "{}", nested.stderr);
    let limits = Limits { output_bytes: 10, ..Limits::default() };
    let printed = run("print('x' * 11)", "script.py", Options { limits, profile: false });
    assert!(printed.stderr.contains("10 bytes of output"), "{}", printed.stderr);
}

#[test]
fn a_script_gets_the_deeper_stack_that_it_asks_for() {
    let source = "\
import sys
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
try: depth(3000)
except RecursionError: print('too deep')
sys.setrecursionlimit(5000)
print(depth(3000), sys.getrecursionlimit())
sys.setrecursionlimit(10 ** 9)
print(depth(15000), sys.getrecursionlimit())
try: depth(10 ** 6)
except RecursionError: print('too deep')
";
    let limits = Limits { cycles: 1_000_000_000, heap_bytes: 256 << 20, output_bytes: 1 << 20 };
    let report = run(source, "deep.py", Options { limits, profile: false });
    assert_eq!(report.stdout, "too deep\n3000 5000\n15000 20000\ntoo deep\n", "{}", report.stderr);
}

#[test]
fn asyncio_is_for_scripts_and_an_actor_is_told_what_to_use() {
    let refused = remuda_vm::compile("import asyncio\n", "actor.py").unwrap_err();
    assert!(refused.advice.contains("cowboy.gather"), "{refused}");
    let source = "import asyncio\nprint(asyncio.run(asyncio.sleep(5, 'at once')))\n";
    let report = run(source, "script.py", Options::default());
    assert_eq!(report.stdout, "at once\n", "{}", report.stderr);
}
