//! Extreme integers through what is no native: operators, subscripts, slices, ranges. Each expression is
//! tried with every combination, and gives a value or an exception.

use remuda_vm::{Ending, Limits, run_script};

const ENDS: &str = "[-2**63, -2**63 + 1, -2**62, -5, -1, 0, 1, 5, 2**62, 2**63 - 1, 2**63, None]";

fn grid(names: &str, expressions: &[&str]) {
    for expression in expressions {
        let mut source = format!("X = {ENDS}\nR = range(7)\nn = 0\n");
        let mut indent = String::new();
        for name in names.chars() {
            source += &format!("{indent}for {name} in X:\n");
            indent += "    ";
        }
        source += &format!("{indent}try:\n{indent}    {expression}\n");
        source += &format!("{indent}except Exception:\n{indent}    pass\n{indent}n += 1\nprint(n)");
        let output = run_script(&source, "grid.py", Limits::with_cycles(400_000_000));
        assert_eq!(output.ending, Ending::Done, "{expression}");
        let all = 12usize.pow(names.len() as u32);
        assert_eq!(output.stdout, format!("{all}\n"), "{expression}");
    }
}

#[test]
fn operators_take_any_two_integers() {
    grid(
        "ab",
        &[
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "a // b",
            "a % b",
            "a ** b",
            "a << b",
            "a >> b",
            "a & b",
            "a < b",
            "divmod(a, b)",
            "round(a, b)",
            "round(a * 1.5, b)",
            "[1, 2, 3][a:b]",
            "'a\u{e9}c'[a:b]",
            "b'abc'[a:b]",
            "R[a:b]",
            "[1, 2, 3].insert(a, b)",
            "[1, 2, 3].pop(a)",
            "bytearray(b'abc').pop(a)",
            "'abc'.find('b', a, b)",
            "'%*d' % (a if a in (0, 1, 5, -5) else 1, b)",
            "format(a, ',')",
            "next(enumerate([1], a))",
            "a.to_bytes(b if b is None or b < 99 else 9, 'big')",
            "pow(a, b, 7)",
            "list.index(range(-2**63, -2**63 + 9), 5, a, b)",
        ],
    );
}

#[test]
fn ranges_and_slices_take_any_three_integers() {
    grid(
        "abc",
        &[
            "len(range(a, b, c))",
            "range(a, b, c)[-1]",
            "range(a, b, c)[0]",
            "range(a, b, c)[::-1]",
            "range(a, b, c)[1:5:2]",
            "range(a, b, c)[::2**63 - 1]",
            "range(a, b, c).index(-2**63)",
            "range(a, b, c).count(2**63 - 1)",
            "5 in range(a, b, c)",
            "hash(range(a, b, c))",
            "range(a, b, c) == range(b, a, c)",
            "next(reversed(range(a, b, c)))",
            "next(iter(range(a, b, c)[2:]))",
            "slice(a, b, c).indices(2**63 - 1)",
            "slice(a, b, c).indices(5)",
            "[1, 2, 3][a:b:c]",
            "'a\u{e9}c'[a:b:c]",
            "R[a:b:c]",
            "[1, 2, 3].__setitem__(slice(a, b, c), [1])",
            "pow(a, b, c)",
        ],
    );
}

#[test]
fn ranges_at_the_ends_of_64_bits_are_right() {
    let source = "
print(range(-2**63, 2**63 - 1, 2**63 - 1)[-1] == 2**63 - 2)
print(list(reversed(range(-2**63, -2**63 + 3))) == [-2**63 + 2, -2**63 + 1, -2**63])
print(list(range(2**63 - 3, 2**63 - 1)[::-1]) == [2**63 - 2, 2**63 - 3])
print(list(range(-2**63, -2**63, -2**63)[::-1]), list(reversed(range(-2**63, -2**63, -2**63))))
print(round(5, -2**63), round(2**4000, -1234), round(1250, -2))
print(range(0, -2**63, -1).count(-2**63), range(-2**63, 2**63 - 1).index(2**63 - 2) == 2**64 - 2)
";
    let output = run_script(source, "ends.py", Limits::default());
    assert_eq!(output.ending, Ending::Done);
    assert_eq!(output.stdout, "True\nTrue\nTrue\n[] []\n0 0 1200\n0 True\n");
}
