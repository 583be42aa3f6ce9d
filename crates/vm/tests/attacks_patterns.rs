//! Patterns, floats and common divisors that take longer than they look.

use remuda_vm::{Ending, Limits, run_script};

fn run(source: &str) -> (u64, String) {
    let output = run_script(source, "patterns.py", Limits::with_cycles(4_000_000_000));
    assert_eq!(output.ending, Ending::Done, "{source}");
    (output.cycles, output.stdout)
}

/// Cycles that one evaluation takes, after what goes before it.
fn cycles_of(before: &str, operation: &str) -> u64 {
    let times = |times: usize| run(&format!("{before}\nfor _ in range({times}): {operation}")).0;
    (times(9) - times(1)) / 8
}

#[test]
fn a_class_asks_each_kind_once_and_pays_for_more_than_one() {
    let (_, stdout) = run(r"import re
for flags in (0, re.I):
    p = re.compile('[' + r'\w\d' * 2000 + ']', flags)
    print(len(p._program) < 200, p.match('x').group(), p.match('-'))
");
    assert_eq!(stdout, "True x None\nTrue x None\n");
    let search = |class: &str, flags: &str| {
        cycles_of(
            &format!("import re\np = re.compile(r'[{class}]', {flags})\nt = '、' * 500"),
            "p.search(t)",
        )
    };
    let (one, three, folded) =
        (search(r"\w", "0"), search(r"\w\d\s", "0"), search(r"\w\d\s", "re.I"));
    assert!(three >= one + 500 * 4, "{one} and {three}");
    assert!(folded >= three + 500 * 8, "{three} and {folded}");
}

#[test]
fn borders_of_words_are_paid_for() {
    let places = |pattern: &str| {
        cycles_of(&format!("import re\np = re.compile({pattern})\nt = 'a' * 100"), "p.search(t)")
    };
    for pattern in
        [r"r'\B' * 500 + 'x'", r"'(?=' + r'\B' * 500 + 'x)'", r"'(?<=x' + r'\B' * 500 + ')'"]
    {
        let cycles = places(pattern);
        // Ways end at the first place; in the middle of the text all hold.
        assert!(cycles >= 90 * 500 || pattern.contains("<="), "{pattern}: {cycles}");
    }
    let plain = places(r"'(?:)^' * 1 + r'\Z' * 500 + 'x'");
    let border = places(r"r'\B' * 500 + 'x'");
    assert!(border >= plain + 98 * 500 * 3, "{plain} and {border}");
}

#[test]
fn floats_are_paid_for_where_they_are_written() {
    for (floats, least) in [
        ("[i / 3 for i in range(1, 1501) if i % 3]", 40),
        ("[i / 4 + 0.25 for i in range(1000)]", 8),
        ("[float(i) for i in range(1000)]", 8),
        ("[i * 1e-300 for i in range(1, 1001)]", 40),
    ] {
        for operation in ["repr(l)", "for x in l: str(x)", "json.dumps(l)"] {
            let cycles =
                cycles_of(&format!("import json\nl = {floats}"), &format!("\n        {operation}"));
            assert!(cycles >= 1_000 * least, "{floats}, {operation}: {cycles}");
        }
    }
}

#[test]
fn common_divisors_are_paid_for_by_their_steps() {
    // Neighbours among these take the most steps for their length.
    let before = |number: usize| {
        format!("import math\na, b = 0, 1\nfor _ in range({number}): a, b = b, a + b")
    };
    for (number, bits) in [(90, 62), (180, 124), (360, 249), (1_440, 999), (5_800, 4_026)] {
        let cycles = cycles_of(&before(number), "math.gcd(a, b)");
        let limbs = bits / 64 + 1;
        // A division is some five cycles and one for each limb.
        let least = if limbs == 1 { bits } else { 4 * bits };
        assert!(cycles >= least, "{bits} bits: {cycles}");
        if bits > 128 {
            assert!(cycles >= bits * (16 + limbs - 1), "{bits} bits: {cycles}");
        }
    }
    let (_, stdout) = run(
        "import math\nprint(math.gcd(12, 18), math.gcd(0, 0), math.gcd(-4, 6), math.gcd(2**64, 2**65 + 2**64), math.gcd(2**200, 6), math.gcd(2**100 * 3, 2**130 * 9) == 2**100 * 3, math.gcd(2**500 * 7, 2**300 * 21) == 2**300 * 7, math.gcd(), math.gcd(5), math.lcm(4, -6), math.lcm(0, 5), math.lcm(2**70, 3) == 3 * 2**70)",
    );
    let expected = "6 0 2 18446744073709551616 2 True True 0 5 12 0 True\n";
    assert_eq!(stdout, expected);
}
