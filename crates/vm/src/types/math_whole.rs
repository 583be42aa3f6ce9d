//! The part of math that is about whole numbers: exact, and paid by their length.

use num_bigint::{BigInt, BigUint};

use crate::cost;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};
use crate::run::number::limbs;

pub(crate) const TABLE: Table = &[
    ("math", "isqrt", isqrt, ""),
    ("math", "gcd", gcd, ""),
    ("math", "lcm", lcm, ""),
    ("math", "factorial", factorial, ""),
    ("math", "comb", comb, ""),
    ("math", "perm", perm, ""),
];

fn integer(vm: &mut Vm, value: Value) -> Result<BigInt, Fault> {
    match vm.big(value) {
        Some(big) => {
            vm.charge(limbs(&big) * limbs(&big))?;
            Ok(big)
        }
        None => {
            let kind = vm.type_name(value);
            Err(vm.type_error(format!("'{kind}' object cannot be interpreted as an integer")))
        }
    }
}

fn isqrt(vm: &mut Vm, args: Args) -> Outcome {
    let [n] = vm.take(args, "isqrt", ["n"], 1)?;
    let n = integer(vm, n)?;
    if n.sign() == num_bigint::Sign::Minus {
        return Err(vm.value_error("isqrt() argument must be nonnegative"));
    }
    vm.charge(limbs(&n) * limbs(&n) * 8 + 16)?;
    vm.int(n.sqrt())
}

fn fold(
    vm: &mut Vm,
    args: Args,
    word: &str,
    start: i64,
    step: fn(BigInt, BigInt) -> BigInt,
) -> Outcome {
    let values = vm.positional(args, word)?;
    let mut all = BigInt::from(start);
    for value in values {
        let next = integer(vm, value)?;
        vm.charge(cost::divisor(next.bits().min(all.bits())))?;
        all = step(all, next);
        if all.bits() > crate::limits::INT_BITS_MAX {
            return Err(vm.too_large());
        }
    }
    vm.int(all)
}

fn divisor(a: BigInt, b: BigInt) -> BigInt {
    let (mut a, mut b) = (a.into_parts().1, b.into_parts().1);
    loop {
        // Small ones are divided by the machine.
        if let (Ok(mut a), Ok(mut b)) = (u128::try_from(&a), u128::try_from(&b)) {
            while b != 0 {
                (a, b) = if (a | b) >> 64 == 0 {
                    (b, u128::from(a as u64 % b as u64))
                } else {
                    (b, a % b)
                };
            }
            return BigInt::from(a);
        }
        if b == BigUint::ZERO {
            return BigInt::from(a);
        }
        let rest = &a % &b;
        a = b;
        b = rest;
    }
}

fn gcd(vm: &mut Vm, args: Args) -> Outcome {
    fold(vm, args, "gcd", 0, divisor)
}

fn lcm(vm: &mut Vm, args: Args) -> Outcome {
    fold(vm, args, "lcm", 1, |a, b| {
        let common = divisor(a.clone(), b.clone());
        if common.sign() == num_bigint::Sign::NoSign {
            return BigInt::from(0);
        }
        BigInt::from((a / common * b).magnitude().clone())
    })
}

/// A product of `count` falling factors, bounded as it grows.
fn falling(vm: &mut Vm, from: i64, count: i64) -> Result<BigInt, Fault> {
    let mut all = BigInt::from(1);
    for index in 0..count {
        vm.charge(limbs(&all) + 2)?;
        all *= from - index;
        if all.bits() > crate::limits::INT_BITS_MAX {
            return Err(vm.too_large());
        }
    }
    Ok(all)
}

fn factorial(vm: &mut Vm, args: Args) -> Outcome {
    let [n] = vm.take(args, "factorial", ["n"], 1)?;
    if matches!(n, Value::Float(_)) {
        return Err(vm.type_error("'float' object cannot be interpreted as an integer"));
    }
    let n = vm.want_int(n)?;
    if n < 0 {
        return Err(vm.value_error("factorial() not defined for negative values"));
    }
    let all = falling(vm, n, n)?;
    vm.int(all)
}

fn perm(vm: &mut Vm, args: Args) -> Outcome {
    let [n, k] = vm.take(args, "perm", ["n", "k"], 1)?;
    let n = vm.want_int(n)?;
    let k = if k.is_unbound() || k.is_none() { n } else { vm.want_int(k)? };
    if n < 0 || k < 0 {
        return Err(vm.value_error("n must be a non-negative integer"));
    }
    if k > n {
        return Ok(Value::Int(0));
    }
    let all = falling(vm, n, k)?;
    vm.int(all)
}

fn comb(vm: &mut Vm, args: Args) -> Outcome {
    let [n, k] = vm.take(args, "comb", ["n", "k"], 2)?;
    let (n, k) = (vm.want_int(n)?, vm.want_int(k)?);
    if n < 0 || k < 0 {
        let which = if n < 0 { "n" } else { "k" };
        return Err(vm.value_error(format!("{which} must be a non-negative integer")));
    }
    if k > n {
        return Ok(Value::Int(0));
    }
    let k = k.min(n - k);
    let mut all = BigInt::from(1);
    for index in 0..k {
        vm.charge(limbs(&all) * 2 + 2)?;
        all = all * (n - index) / (index + 1);
        if all.bits() > crate::limits::INT_BITS_MAX {
            return Err(vm.too_large());
        }
    }
    vm.int(all)
}
