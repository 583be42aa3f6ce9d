//! Calls that wait, written down and read again: at every await of every program, what goes on from
//! the bytes does what the call does that never left its machine, for the same cycles. Bytes that
//! nobody wrote are refused.

use remuda_vm::{
    Ending, FROZEN_BYTES_MAX, FreezeError, Host, HostError, HostErrorKind, HostReply, HostValue,
    Limits, Program, ThawError, Vm, compile,
};

const CYCLES: u64 = 20_000_000;

/// Hands out tokens; a job with the number n is answered by `answer`.
struct World {
    next: u64,
}

impl Host for World {
    fn price(&self, _: &str, _: &[HostValue]) -> u64 {
        50
    }

    fn call(&mut self, name: &str, _: &[HostValue]) -> Result<HostReply, HostError> {
        match name {
            "submit_job" => {
                self.next += 1;
                Ok(HostReply::Pending(self.next))
            }
            "height" => Ok(HostReply::Value(HostValue::Int(7))),
            _ => Err(HostError::new(HostErrorKind::Refused, format!("there is no call '{name}'"))),
        }
    }
}

/// Every fifth job fails.
fn answer(token: u64) -> Result<HostValue, HostError> {
    match token % 5 {
        4 => Err(HostError::new(HostErrorKind::Failed, format!("job {token} failed"))),
        _ => Ok(HostValue::Int(token as i64 * 10)),
    }
}

/// Awaits in every place that a frame can wait in.
const PROGRAMS: &[(&str, &str)] = &[
    ("loop", include_str!("frozen/loop.py")),
    ("helpers", include_str!("frozen/helpers.py")),
    ("protected", include_str!("frozen/protected.py")),
    ("managers", include_str!("frozen/managers.py")),
    ("comprehensions", include_str!("frozen/comprehensions.py")),
    ("generators", include_str!("frozen/generators.py")),
    ("shared", include_str!("frozen/shared.py")),
    ("classes", include_str!("frozen/classes.py")),
    ("tables", include_str!("frozen/tables.py")),
    ("sets", include_str!("frozen/sets.py")),
    ("gathered", include_str!("frozen/gathered.py")),
    ("asynchronous", include_str!("frozen/asynchronous.py")),
    ("image", include_str!("frozen/image.py")),
    ("garbage", include_str!("frozen/garbage.py")),
];

fn program(source: &str) -> Program {
    compile(source, "actor.py").unwrap_or_else(|error| panic!("{error}"))
}

fn begin(program: &Program) -> (Vm, Result<HostValue, Ending>) {
    let mut vm = Vm::new(Limits::with_cycles(CYCLES));
    vm.set_host(Box::new(World { next: 0 }));
    vm.run_module(program).unwrap();
    let result = vm.call_handler("main", &[]);
    (vm, result)
}

fn seed() -> u64 {
    let given = std::env::var("REMUDA_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or(0x5eed_0006);
    println!("REMUDA_SEED={seed}");
    seed
}

fn next_random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// One step of a run: what it waited for, the cycles left then, and how it ended.
#[derive(Debug, PartialEq)]
struct Step {
    tokens: Vec<u64>,
    cycles: u64,
    end: Option<Result<HostValue, Ending>>,
}

/// Runs to the end. `carry` is called between suspension and answer and may replace the machine.
fn run(program: &Program, seed: u64, mut carry: impl FnMut(Vm, u64) -> Vm) -> Vec<Step> {
    let (mut vm, mut result) = begin(program);
    let mut steps = Vec::new();
    let mut random = seed | 1;
    let mut issued = 0;
    while let Err(Ending::Suspended(tokens)) = &result {
        let tokens = tokens.clone();
        issued = issued.max(tokens.iter().copied().max().unwrap_or(0));
        let cycles = vm.cycles_left();
        let token = tokens[next_random(&mut random) as usize % tokens.len()];
        steps.push(Step { tokens, cycles, end: None });
        vm = carry(vm, token);
        vm.set_host(Box::new(World { next: issued }));
        result = vm.resume(token, answer(token));
        assert!(steps.len() < 500, "the program does not end");
    }
    steps.push(Step { tokens: Vec::new(), cycles: vm.cycles_left(), end: Some(result) });
    steps
}

fn through_bytes(program: &Program, vm: &Vm, token: u64) -> Vm {
    let bytes = vm.freeze(token).unwrap();
    assert!(bytes.len() <= FROZEN_BYTES_MAX);
    let mut thawed = Vm::thaw(program, &bytes, Limits::default()).unwrap();
    assert_eq!(thawed.freeze(token).unwrap(), bytes, "written again, the same bytes");
    assert_eq!(thawed.heap_bytes(), vm.heap_bytes());
    thawed.refill(vm.cycles_left());
    thawed
}

#[test]
fn a_call_that_goes_on_from_its_bytes_is_the_call_that_never_left() {
    let seed = seed();
    for (name, source) in PROGRAMS {
        println!("{name}");
        let program = program(source);
        let stayed = run(&program, seed, |vm, _| vm);
        let ended = stayed.last().and_then(|step| step.end.clone());
        match ended {
            Some(Ok(HostValue::Str(_))) => {}
            other => panic!("{name}: {other:?}"),
        }
        assert!(stayed.len() > 3, "{name} awaits too little");
        let carried = run(&program, seed, |vm, token| through_bytes(&program, &vm, token));
        assert_eq!(stayed, carried, "{name}: at every await");
        for only in 0..stayed.len() - 1 {
            let mut at = 0;
            let once = run(&program, seed, |vm, token| {
                at += 1;
                if at - 1 == only { through_bytes(&program, &vm, token) } else { vm }
            });
            assert_eq!(stayed, once, "{name}: at await {only}");
        }
    }
}

#[test]
fn programs_that_wait_do_what_they_do_under_cpython() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen");
    for (name, source) in PROGRAMS {
        // Answers in the order of the questions: that is how the driver under CPython answers.
        let program = program(source);
        let (mut vm, mut result) = begin(&program);
        while let Err(Ending::Suspended(tokens)) = &result {
            let first = tokens.iter().copied().min().unwrap();
            result = vm.resume(first, answer(first));
        }
        let Ok(HostValue::Str(ours)) = result else { panic!("{name}: {result:?}") };
        let output = std::process::Command::new("python3")
            .arg(folder.join("driver/run.py"))
            .arg(folder.join(format!("{name}.py")))
            .output();
        let Ok(output) = output else {
            panic!("there is no python3 to compare with: as root, apt-get install python3");
        };
        let theirs = String::from_utf8_lossy(&output.stdout).into_owned();
        let trouble = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(ours, theirs, "{name}: {trouble}");
    }
}

fn sample() -> (Program, Vec<u8>, u64) {
    let program = program(include_str!("frozen/generators.py"));
    let (vm, result) = begin(&program);
    let Err(Ending::Suspended(tokens)) = result else { panic!("{result:?}") };
    (program, vm.freeze(tokens[0]).unwrap(), tokens[0])
}

#[test]
fn frames_of_other_code_are_refused() {
    let (_, bytes, _) = sample();
    let other = program("async def main():\n    pass\n");
    assert_eq!(Vm::thaw(&other, &bytes, Limits::default()).err(), Some(ThawError::OtherCode));
}

#[test]
fn the_same_source_compiles_to_the_same_hash_and_another_constant_to_another() {
    let source = "def f(x):\n    return x + 1\n";
    assert_eq!(program(source).hash(), program(source).hash());
    assert_ne!(program(source).hash(), program("def f(x):\n    return x + 2\n").hash());
    assert_ne!(program(source).hash(), program("def g(x):\n    return x + 1\n").hash());
}

#[test]
fn frames_of_another_version_are_refused() {
    let (program, mut bytes, _) = sample();
    bytes[3] += 1;
    assert_eq!(Vm::thaw(&program, &bytes, Limits::default()).err(), Some(ThawError::Version));
    bytes[3] -= 1;
    bytes[4] ^= 1;
    assert_eq!(Vm::thaw(&program, &bytes, Limits::default()).err(), Some(ThawError::OtherImage));
}

#[test]
fn frames_that_are_cut_or_longer_are_refused() {
    let (program, mut bytes, _) = sample();
    for length in 0..bytes.len() {
        let error = Vm::thaw(&program, &bytes[..length], Limits::default()).err();
        assert!(error.is_some(), "{length} bytes of {}", bytes.len());
    }
    bytes.push(0);
    assert!(Vm::thaw(&program, &bytes, Limits::default()).is_err());
    let long = vec![0; FROZEN_BYTES_MAX + 1];
    assert_eq!(Vm::thaw(&program, &long, Limits::default()).err(), Some(ThawError::TooLarge));
}

#[test]
fn hostile_frames_are_refused_or_run_within_their_limits() {
    let mut random = seed() | 1;
    let rounds = std::env::var("REMUDA_ROUNDS").ok().and_then(|text| text.parse().ok());
    let mut accepted = 0;
    for round in 0..rounds.unwrap_or(150u64) {
        let (_, source) = PROGRAMS[round as usize % PROGRAMS.len()];
        let program = program(source);
        let (vm, result) = begin(&program);
        let Err(Ending::Suspended(tokens)) = result else { panic!("{result:?}") };
        let bytes = vm.freeze(tokens[0]).unwrap();
        for _ in 0..20 {
            let mut hostile = bytes.clone();
            for _ in 0..1 + next_random(&mut random) % 3 {
                // The hashes at the front would refuse it at once.
                let at = 68 + next_random(&mut random) as usize % (hostile.len() - 68);
                hostile[at] = match next_random(&mut random) % 3 {
                    0 => hostile[at] ^ 1 << (next_random(&mut random) % 8),
                    1 => next_random(&mut random) as u8,
                    _ => hostile[at].wrapping_add(1),
                };
            }
            let Ok(mut thawed) = Vm::thaw(&program, &hostile, Limits::with_cycles(200_000)) else {
                continue;
            };
            accepted += 1;
            thawed.set_host(Box::new(World { next: 1_000 }));
            let token = thawed.waits_for()[0];
            let _ = thawed.resume(token, Ok(HostValue::Int(1)));
        }
    }
    println!("{accepted} of them were calls all the same");
}

#[test]
fn a_call_that_holds_too_much_is_not_written() {
    let source = "import cowboy\n\
        async def main(n):\n    data = 'x' * n\n    await cowboy.submit_job(1)\n    return len(data)\n";
    let program = program(source);
    for (size, error) in
        [(FROZEN_BYTES_MAX as i64 - 2_000, None), (70_000, Some(FreezeError::TooLarge))]
    {
        let mut vm = Vm::new(Limits::with_cycles(CYCLES));
        vm.set_host(Box::new(World { next: 0 }));
        vm.run_module(&program).unwrap();
        let result = vm.call_handler("main", &[HostValue::Int(size)]);
        assert_eq!(result, Err(Ending::Suspended(vec![1])));
        assert_eq!(vm.freeze(1).err(), error);
        // It is still there, to be told that it cannot wait.
        assert_eq!(vm.resume(1, Ok(HostValue::None)), Ok(HostValue::Int(size)));
    }
}

#[test]
fn only_what_waits_can_be_written() {
    let program = program("async def main():\n    return 1\n");
    let (vm, result) = begin(&program);
    assert_eq!(result, Ok(HostValue::Int(1)));
    assert_eq!(vm.freeze(1), Err(FreezeError::NotWaiting));
}

#[test]
fn a_thawed_machine_keeps_to_its_heap() {
    let (program, bytes, _) = sample();
    let limits = Limits { heap_bytes: 4_000, ..Limits::default() };
    assert_eq!(Vm::thaw(&program, &bytes, limits).err(), Some(ThawError::Memory));
}

/// Set for the process that only thaws.
const CARRIED: &str = "REMUDA_TEST_CARRIED_FRAMES";

#[test]
fn another_process_goes_on_with_the_call() {
    let (program, bytes, token) = sample();
    if let Ok(text) = std::env::var(CARRIED) {
        let carried: Vec<u8> = (0..text.len() / 2)
            .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        assert!(Vm::thaw(&program, &carried, Limits::default()).is_ok());
        assert_eq!(carried, bytes, "both processes write the same");
        return;
    }
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(token > 0);
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "frozen::another_process_goes_on_with_the_call"])
        .env(CARRIED, text)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&status.stdout);
    assert!(status.status.success() && told.contains("1 passed"), "{told}");
}
