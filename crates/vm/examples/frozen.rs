//! How large a suspended call is, and how long writing and reading it takes.

use remuda_vm::{Host, HostError, HostReply, HostValue, Limits, Vm, compile};

struct Later;

impl Host for Later {
    fn price(&self, _: &str, _: &[HostValue]) -> u64 {
        0
    }

    fn call(&mut self, _: &str, _: &[HostValue]) -> Result<HostReply, HostError> {
        Ok(HostReply::Pending(1))
    }
}

const SOURCE: &str = "
import cowboy
from dataclasses import dataclass

@dataclass
class Order:
    item: str
    price: int

async def ask(order):
    return await cowboy.submit_job({'item': order.item})

async def main():
    orders = [Order('item%d' % n, n) for n in range(10)]
    answers = []
    for order in orders:
        answers.append(await ask(order))
    return answers
";

fn main() {
    let Ok(program) = compile(SOURCE, "actor.py") else { return };
    let mut vm = Vm::new(Limits::default());
    vm.set_host(Box::new(Later));
    if vm.run_module(&program).is_err() {
        return;
    }
    println!("{:?}", vm.call_handler("main", &[]));
    let Ok(bytes) = vm.freeze(1) else { return };
    println!("{} bytes", bytes.len());
    let rounds: u32 = 1_000;
    let start = std::time::Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(vm.freeze(1).is_ok());
    }
    println!("{} us to write", start.elapsed().as_micros() / u128::from(rounds));
    let start = std::time::Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(Vm::thaw(&program, &bytes, Limits::default()).is_ok());
    }
    println!(
        "{} us to read, a new machine included",
        start.elapsed().as_micros() / u128::from(rounds)
    );
}
