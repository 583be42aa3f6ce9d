//! Random programs of the supported subset do here what they do under the machine's CPython.
//!
//! A few in every run; `REMUDA_PROGRAMS=5000` for many. A failure prints the seed, the program and the
//! first line that differs; `REMUDA_SEED` starts there again.

use crate::writer;

use std::process::Command;

use remuda_vm::{Ending, Limits, run_script};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Runs many programs in one process of CPython: each is compiled and run with names of its own.
const DRIVER: &str = "
import contextlib, io, sys
for path in sys.argv[1:]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(open(path).read(), path, 'exec'), {'__name__': '__main__'})
        except Exception as error:
            print('ended by', type(error).__name__)
    text = out.getvalue().encode()
    sys.stdout.buffer.write(b'%d\\n' % len(text) + text)
";

fn ours(source: &str) -> String {
    let output = run_script(source, "generated.py", Limits::with_cycles(50_000_000));
    let end = match output.ending {
        Ending::Done => String::new(),
        Ending::Raised(raised) => format!("ended by {}\n", raised.kind),
        other => format!("{other:?}\n"),
    };
    output.stdout + &end
}

fn theirs(sources: &[String]) -> Option<Vec<String>> {
    let folder = std::env::temp_dir().join(format!("remuda-vm-generated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let mut command = Command::new("python3");
    command.args(["-c", DRIVER]);
    for (index, source) in sources.iter().enumerate() {
        let path = folder.join(format!("{index}.py"));
        std::fs::write(&path, source).ok()?;
        command.arg(path);
    }
    let output = command.output();
    std::fs::remove_dir_all(&folder).ok()?;
    let output = output.ok()?;
    let mut rest = &output.stdout[..];
    let mut texts = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let length: usize = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        let (text, after) = rest[end + 1..].split_at(length);
        texts.push(String::from_utf8_lossy(text).into_owned());
        rest = after;
    }
    assert_eq!(texts.len(), sources.len(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(texts)
}

fn compare(program: fn(u64) -> String) {
    let seed = number("REMUDA_SEED").unwrap_or(0x5eed);
    let count = number("REMUDA_PROGRAMS").unwrap_or(150);
    println!("REMUDA_SEED={seed}");
    let seeds: Vec<u64> = (seed..seed + count).collect();
    for seeds in seeds.chunks(250) {
        let sources: Vec<String> = seeds.iter().map(|seed| program(*seed)).collect();
        let Some(expected) = theirs(&sources) else {
            panic!("there is no python3 to compare with: as root, apt-get install python3");
        };
        for ((seed, source), expected) in seeds.iter().zip(&sources).zip(expected) {
            let ours = ours(source);
            if ours == expected {
                continue;
            }
            let at = ours.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
            panic!(
                "REMUDA_SEED={seed}: line {} of the output: ours {:?}, theirs {:?}\n{source}",
                at + 1,
                ours.lines().nth(at),
                expected.lines().nth(at)
            );
        }
    }
}

#[test]
fn generated_programs_do_what_they_do_under_cpython() {
    compare(writer::program);
}

#[test]
fn sets_are_walked_over_as_they_are_under_cpython() {
    compare(writer::program_of_sets);
}

#[test]
fn generated_programs_take_the_same_cycles_every_time() {
    for seed in 0..20 {
        let source = writer::program(seed);
        let run = || run_script(&source, "generated.py", Limits::with_cycles(50_000_000)).cycles;
        assert_eq!(run(), run(), "REMUDA_SEED={seed}");
    }
}
