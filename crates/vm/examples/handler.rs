//! What it takes to call an actor: a trivial call with its code loaded, a new machine, and whole calls
//! as a chain makes them, with the imports that actors have.

use std::time::Instant;

use remuda_vm::{Host, HostError, HostErrorKind, HostReply, HostValue, Limits, Vm, compile};

/// Answers storage, with nothing in it.
struct Empty;

impl Host for Empty {
    fn price(&self, _: &str, _: &[HostValue]) -> u64 {
        0
    }
    fn call(&mut self, name: &str, _: &[HostValue]) -> Result<HostReply, HostError> {
        match name {
            "storage_get" | "storage_set" => Ok(HostReply::Value(HostValue::None)),
            _ => Err(HostError::new(HostErrorKind::Unsupported, name)),
        }
    }
}

const ACTORS: [(&str, &str); 4] = [
    ("nothing imported", "def go(p):\n    return p\n"),
    (
        "cowboy",
        "import cowboy\ndef go(p):\n    cowboy.storage['n'] = p\n    return cowboy.storage['n']\n",
    ),
    (
        "cowboy_sdk, a function",
        "from cowboy_sdk import actor, runner, capture, ActorRef, CowboyError\ndef go(p):\n    return p\n",
    ),
    (
        "cowboy_sdk, a class that chats",
        "from cowboy_sdk import actor, runner, capture\n@actor\nclass A:\n    @runner.continuation\n    async def chat(self, p):\n        return await runner.llm('x')\n    def go(self, p):\n        self.storage['n'] = p\n        return self.storage['n']\ndef _a(): return A()\ndef go(p): return _a().go(p)\n",
    ),
];

/// Nanoseconds of one run, in the best of some batches: what other processes do is not counted.
fn best(each: u32, mut run: impl FnMut()) -> u128 {
    let batch = |_| {
        let start = Instant::now();
        (0..each).for_each(|_| run());
        start.elapsed().as_nanos() / u128::from(each)
    };
    (0..20).map(batch).min().unwrap_or(0)
}

fn main() {
    let program =
        compile("n = 0\ndef handler(x):\n    global n\n    n += x\n    return n\n", "handler.py");
    let Ok(program) = program else { return };
    let mut vm = Vm::new(Limits::with_cycles(u64::MAX / 2));
    if vm.run_module(&program).is_err() {
        return;
    }
    let each = best(50_000, || {
        let _ = std::hint::black_box(vm.call_ints("handler", &[1]));
    });
    println!("{each} ns for a call");
    let each = best(500, || {
        std::hint::black_box(Vm::new(Limits::default()));
    });
    println!("{each} ns for a new machine");
    for (name, source) in ACTORS {
        let Ok(program) = compile(source, "actor.py") else { return };
        let mut seen = String::new();
        let each = best(500, || {
            let mut vm = Vm::new(Limits::default());
            vm.set_host(Box::new(Empty));
            let before = vm.cycles_left();
            let body = vm.run_module(&program);
            let between = vm.cycles_left();
            let called = vm.call_method("go", &[5]);
            seen = match (body, called) {
                (Ok(()), Ok(_)) => {
                    format!("{} + {} cycles", before - between, between - vm.cycles_left())
                }
                other => format!("{other:?}"),
            };
        });
        println!("{each} ns, {seen} for body and call: {name}");
    }
}
