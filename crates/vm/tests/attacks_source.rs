//! Sources that would make the compiler deep, its code long or its program large: refused with a line
//! and advice, on any thread.

use remuda_vm::{CompileError, compile};

/// Compiles on a stack that would not do for the compiler itself.
fn on_a_small_stack(source: String) -> Result<(), CompileError> {
    let thread = std::thread::Builder::new().stack_size(64 * 1024);
    let compiled = thread.spawn(move || compile(&source, "attack.py").map(|_| ()));
    compiled.unwrap().join().expect("the compiler neither panics nor overflows")
}

fn refused(source: String, word: &str) {
    let start: String = source.chars().take(60).collect();
    let error = on_a_small_stack(source).expect_err(&start);
    assert!(error.message.contains(word), "{start}: {error}");
    assert!(!error.advice.is_empty() && error.line > 0, "{start}: {error}");
}

#[test]
fn lists_that_nest_a_block_for_each_item_are_bounded() {
    let items = |count: usize| format!("def f():\n with {}:pass", vec!["a"; count].join(","));
    for count in [1_000, 10_000, 60_000] {
        refused(items(count), "managers");
    }
    on_a_small_stack(items(32)).unwrap();
    let clauses = |count: usize| format!("x = [0 {}]", "for a,b in c ".repeat(count));
    for count in [33, 1_000, 15_000] {
        refused(clauses(count), "comprehension");
    }
    on_a_small_stack(clauses(32)).unwrap();
}

#[test]
fn what_commas_separate_inside_a_lambda_still_nests() {
    for count in [500, 2_000, 11_500] {
        refused(format!("x = {}0", "lambda x,y:".repeat(count)), "nested too deeply");
        refused(format!("x = {}0{}", "lambda x=".repeat(count), ":0".repeat(count)), "nested");
    }
    refused(format!("x = {}0", "lambda x,y:".repeat(40)), "functions inside each other");
    on_a_small_stack(format!("x = {}0", "lambda x,y:".repeat(32))).unwrap();
}

#[test]
fn everything_that_can_be_long_is_compiled_or_refused_on_any_stack() {
    let many = |part: &str| part.repeat(20_000);
    for source in [
        format!("x = 1{}", many(" < 1")),
        format!("x = a{}", many(".b")),
        format!("x = a{}", many("[0]")),
        format!("x = a{}", many("(1,2)")),
        format!("x = a{}", many("+a")),
        format!("x = a{}", many(" or a")),
        format!("x = {}1", many("not ")),
        format!("x = {}", many("'a' ")),
        format!("x = {}", many("f'{a}' ")),
        format!("x = f'{}'", many("{a}")),
        format!("x = f'{{a:{}}}'", many("{a}")),
        format!("{}def f(): pass", many("@a\n")),
        format!("if a: pass\n{}", many("elif a: pass\n")),
        format!("if a: x{}", many(";x")),
        format!("if a:x{}", many(";if a:x")),
        format!("match a:\n case 1{}: pass", many("|1")),
        format!("match a:\n case 1{}: pass", many(",1")),
        format!("match a:\n{}", many(" case 1: pass\n")),
        format!("match a:\n case {}1{}: pass", "[".repeat(90), "]".repeat(90)),
        format!("x = {}1", many("a = ")),
        format!("{}a = x", many("a,")),
        format!("x = [0 for a in b {}]", many("if a ")),
        format!("x = {}0", many("lambda: ")),
        format!("x = {}0", many("a if a else ")),
        format!("x = {}0", many("await ")),
        format!("def f(): x = {}0", many("yield ")),
        format!("class A: {}", many("class A: ")),
        format!("try: pass\n{}", many("except A: pass\n")),
        format!("del a{}", many(",a")),
        format!("def f():\n global a{}", many(",a")),
        format!("import a{}", many(".b")),
        format!("x = {{{}}}", many("1:2,")),
        format!("x = [{}]", many("*a,")),
        format!("f({})", many("*a,")),
        format!("f({})", many("**a,")),
        format!("x: {}a", many("a[")),
        format!("x = {}", many("(")),
        many("if a:\n "),
    ] {
        let start: String = source.chars().take(60).collect();
        if let Err(error) = on_a_small_stack(source) {
            assert!(error.line > 0, "{start}: {error}");
        }
    }
}

#[test]
fn the_deepest_that_is_allowed_compiles_on_any_stack() {
    let nested = |depth: usize| -> String {
        let blocks: String =
            (0..depth).map(|at| format!("{}with a,a,a,a:\n", " ".repeat(at))).collect();
        let brackets = 90;
        let deep = format!("{}1{}", "[not -".repeat(brackets), "]".repeat(brackets));
        format!("{blocks}{}x = {deep}\n", " ".repeat(depth))
    };
    on_a_small_stack(nested(40)).unwrap();
}

#[test]
fn more_values_than_a_stack_may_hold_are_refused() {
    for count in [5_000, 65_533, 65_536, 80_000] {
        refused(format!("x = 1\n{}= x", "a,".repeat(count)), "values at once");
    }
    on_a_small_stack(format!("{}= x", "a,".repeat(1_000))).unwrap();
    refused(format!("match a:\n case {}: pass", "1,".repeat(60_000)), "too many parts");
}

#[test]
fn copies_of_finally_are_in_proportion_to_the_source() {
    for depth in 10..45 {
        let mut source = "def f():\n".to_owned();
        for at in 1..=depth {
            source += &format!("{0}try:\n{0} return 1\n{0}finally:\n", " ".repeat(at));
        }
        source += &format!("{}pass\n", " ".repeat(depth + 1));
        refused(source, "longer than its source");
    }
    let returns = "return;".repeat(30_000);
    let blocks: String = (1..40).map(|at| format!("{}with a,a,a:\n", " ".repeat(at))).collect();
    refused(format!("def f():\n{blocks}{}{returns}", " ".repeat(40)), "longer than its source");
}

#[test]
fn names_are_bounded() {
    refused(format!("\n\n{} = 1", "x".repeat(256)), "longer than 255 bytes");
    refused(format!("a.{} = 1", "x".repeat(60_000)), "longer than 255 bytes");
    refused(format!("def {}(): pass", "x".repeat(60_000)), "longer than 255 bytes");
    on_a_small_stack(format!("{} = 1", "x".repeat(255))).unwrap();
    let error = compile(&format!("\n\n{} = 1", "x".repeat(256)), "a.py").unwrap_err();
    assert_eq!(error.line, 3);
}

#[test]
fn outer_variables_are_in_proportion_to_the_source() {
    let names: Vec<String> = (0..3_000).map(|at| format!("a{at}")).collect();
    let mut source = format!("def f0():\n {} = range(3000)\n", names.join("="));
    for at in 1..30 {
        source += &format!("{}def f{at}():\n", " ".repeat(at));
    }
    source += &format!("{}return {}", " ".repeat(30), names.join("+"));
    let halves = source.replace("+", ",");
    refused(halves, "variables of outer functions");
}

/// Equal constant sets are one constant, the first display of them. A short one may not be as much code as
/// a long one, again and again.
#[test]
fn a_short_display_is_not_compiled_as_a_long_one() {
    let sum = |count: usize| vec!["1"; count].join("+");
    for (long, short) in [("1,".repeat(60_000), "1"), (format!("{},", sum(300)), "300")] {
        let many = format!("0 in {{{short}}}\n").repeat(10_000);
        on_a_small_stack(format!("{{{long}}}\n{many}")).unwrap();
    }
    let signs = "-".repeat(90) + &"9".repeat(100_000);
    refused(format!("x = {{{signs},1,2}}"), "number");
    let floats = vec!["1.5"; 300].join("+");
    on_a_small_stack(format!("{{{floats},1,2}}\n").repeat(150)).unwrap();
}
