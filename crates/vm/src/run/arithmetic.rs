//! Arithmetic on numbers.

use num_bigint::{BigInt, Sign};

use super::Vm;
use super::fault::{Fault, Outcome};
use super::number::{Number, big_to_float, limbs, to_big, to_float};
use crate::code::BinOp;
use crate::cost;
use crate::heap::types::Type;
use crate::heap::value::{Value, float};
use crate::limits::INT_BITS_MAX;

impl Vm {
    /// Arithmetic; None if an operand is no number.
    pub(crate) fn arithmetic(&mut self, op: BinOp, left: Value, right: Value) -> Option<Outcome> {
        let (a, b) = (self.number(left)?, self.number(right)?);
        if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
            match op {
                BinOp::And => return Some(Ok(Value::Bool(a & b))),
                BinOp::Or => return Some(Ok(Value::Bool(a | b))),
                BinOp::Xor => return Some(Ok(Value::Bool(a ^ b))),
                _ => {}
            }
        }
        Some(match (a, b) {
            (Number::Int(a), Number::Int(b)) => self.int_arithmetic(op, a, b),
            (Number::Float(a), Number::Float(b)) => return self.float_arithmetic(op, a, b),
            (Number::Float(a), b) => {
                let b = to_float(&b);
                if b.is_infinite() {
                    return Some(Err(
                        self.raise(Type::OverflowError, "int too large to convert to float")
                    ));
                }
                return self.float_arithmetic(op, a, b);
            }
            (a, Number::Float(b)) => {
                let a = to_float(&a);
                if a.is_infinite() {
                    return Some(Err(
                        self.raise(Type::OverflowError, "int too large to convert to float")
                    ));
                }
                return self.float_arithmetic(op, a, b);
            }
            (a, b) => self.big_arithmetic(op, to_big(a), to_big(b)),
        })
    }

    fn zero_division(&mut self, message: &str) -> Fault {
        self.raise(Type::ZeroDivisionError, message)
    }

    fn int_arithmetic(&mut self, op: BinOp, a: i64, b: i64) -> Outcome {
        let small = match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            BinOp::And => Some(a & b),
            BinOp::Or => Some(a | b),
            BinOp::Xor => Some(a ^ b),
            BinOp::FloorDiv if b == 0 => {
                return Err(self.zero_division("integer division or modulo by zero"));
            }
            BinOp::Mod if b == 0 => return Err(self.zero_division("integer modulo by zero")),
            BinOp::FloorDiv => {
                let quotient = a.checked_div(b);
                quotient.map(|q| if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
            }
            BinOp::Mod => {
                let rest = a.checked_rem(b).unwrap_or(0);
                Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
            BinOp::Div => return self.true_division(&BigInt::from(a), &BigInt::from(b)),
            BinOp::RShift if b >= 0 => Some(if b > 63 { a >> 63 } else { a >> b }),
            BinOp::LShift
                if (0..63).contains(&b) && a.unsigned_abs().leading_zeros() as i64 > b + 1 =>
            {
                Some(a << b)
            }
            BinOp::Pow if (0..=u32::MAX as i64).contains(&b) => a.checked_pow(b as u32),
            _ => None,
        };
        match small {
            Some(int) => Ok(Value::Int(int)),
            None => self.big_arithmetic(op, BigInt::from(a), BigInt::from(b)),
        }
    }

    /// The quotient as the nearest double, whatever the sizes.
    fn true_division(&mut self, a: &BigInt, b: &BigInt) -> Outcome {
        if b.sign() == Sign::NoSign {
            return Err(self.zero_division("division by zero"));
        }
        if a.bits() <= 53 && b.bits() <= 53 {
            return Ok(float(big_to_float(a) / big_to_float(b)));
        }
        self.charge(cost::product(limbs(a), limbs(b)))?;
        // 66 bits of quotient, the last standing for the rest, are enough to round once.
        let shift = 66 - (a.bits() as i64 - b.bits() as i64);
        let (num, den) = (a.magnitude(), b.magnitude());
        let (num, den) = if shift >= 0 {
            (num << shift as u64, den.clone())
        } else {
            (num.clone(), den << (-shift) as u64)
        };
        let (quotient, rest) = (&num / &den, &num % &den);
        let sticky = u32::from(rest.bits() > 0);
        let quotient = BigInt::from(quotient | num_bigint::BigUint::from(sticky));
        let result = scale(big_to_float(&quotient), &quotient, -shift);
        if result.is_infinite() {
            let message = "integer division result too large for a float";
            return Err(self.raise(Type::OverflowError, message));
        }
        let negative = (a.sign() == Sign::Minus) != (b.sign() == Sign::Minus);
        Ok(float(if negative { -result } else { result }))
    }

    fn big_arithmetic(&mut self, op: BinOp, a: BigInt, b: BigInt) -> Outcome {
        let (la, lb) = (limbs(&a), limbs(&b));
        let zero = b.sign() == Sign::NoSign;
        let result = match op {
            BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or | BinOp::Xor => {
                self.charge(la + lb)?;
                match op {
                    BinOp::Add => a + b,
                    BinOp::Sub => a - b,
                    BinOp::And => a & b,
                    BinOp::Or => a | b,
                    _ => a ^ b,
                }
            }
            BinOp::Mul => {
                if a.bits() + b.bits() > INT_BITS_MAX + 1 {
                    return Err(self.too_large());
                }
                self.charge(cost::product(la, lb))?;
                a * b
            }
            BinOp::FloorDiv | BinOp::Mod => {
                if zero {
                    let modulo = op == BinOp::Mod;
                    return Err(self.zero_division(if modulo {
                        "integer modulo by zero"
                    } else {
                        "integer division or modulo by zero"
                    }));
                }
                self.charge(cost::product(la, lb))?;
                let (quotient, rest) = div_floor(&a, &b);
                if op == BinOp::Mod { rest } else { quotient }
            }
            BinOp::Div => return self.true_division(&a, &b),
            BinOp::LShift | BinOp::RShift => {
                if b.sign() == Sign::Minus {
                    return Err(self.value_error("negative shift count"));
                }
                let count = b.to_u64_digits().1.first().copied().unwrap_or(0);
                let huge = b.bits() > 32;
                self.charge(la + lb)?;
                if op == BinOp::RShift {
                    let count = if huge { INT_BITS_MAX + 1 } else { count.min(INT_BITS_MAX + 1) };
                    a >> count
                } else if a.sign() == Sign::NoSign {
                    a
                } else if huge || a.bits() + count > INT_BITS_MAX {
                    return Err(self.too_large());
                } else {
                    self.charge(count / 64)?;
                    a << count
                }
            }
            BinOp::Pow => return self.big_power(a, b),
            BinOp::MatMul => {
                return Err(self.type_error("unsupported operand type(s) for @: 'int' and 'int'"));
            }
        };
        self.int(result)
    }

    fn big_power(&mut self, base: BigInt, exponent: BigInt) -> Outcome {
        if exponent.sign() == Sign::Minus {
            if base.sign() == Sign::NoSign {
                return Err(self.zero_division("0.0 cannot be raised to a negative power"));
            }
            return self.power(big_to_float(&base), big_to_float(&exponent));
        }
        if base.bits() <= 1 {
            // 0, 1 and -1 have no size.
            let odd = exponent.bit(0);
            let zero = exponent.sign() == Sign::NoSign;
            return Ok(Value::Int(match base.sign() {
                _ if zero => 1,
                Sign::NoSign => 0,
                Sign::Minus if odd => -1,
                _ => 1,
            }));
        }
        let count = exponent.to_u64_digits().1.first().copied().unwrap_or(0);
        let most = (base.bits() - 1).saturating_mul(count);
        if exponent.bits() > 16 || most > INT_BITS_MAX {
            return Err(self.too_large());
        }
        let size = most / 64 + 1;
        self.charge(cost::product(size, size) * 2)?;
        let result = base.pow(count as u32);
        self.int(result)
    }

    pub(crate) fn power(&mut self, a: f64, b: f64) -> Outcome {
        self.charge(cost::LIBM)?;
        if a == 0.0 && b < 0.0 {
            return Err(self.zero_division("0.0 cannot be raised to a negative power"));
        }
        if a < 0.0 && b.is_finite() && libm::trunc(b) != b {
            return Err(self.prelude_tail("_negative_root", vec![float(a), float(b)]));
        }
        let result = crate::types::precise::pow(a, b);
        if result.is_infinite() && a.is_finite() && b.is_finite() {
            return Err(self.raise(Type::OverflowError, "(34, 'Numerical result out of range')"));
        }
        Ok(float(result))
    }

    fn float_arithmetic(&mut self, op: BinOp, a: f64, b: f64) -> Option<Outcome> {
        Some(match op {
            BinOp::Add => Ok(float(a + b)),
            BinOp::Sub => Ok(float(a - b)),
            BinOp::Mul => Ok(float(a * b)),
            BinOp::Div if b == 0.0 => Err(self.zero_division("float division by zero")),
            BinOp::Div => Ok(float(a / b)),
            BinOp::FloorDiv if b == 0.0 => Err(self.zero_division("float floor division by zero")),
            BinOp::Mod if b == 0.0 => Err(self.zero_division("float modulo")),
            BinOp::FloorDiv => Ok(float(float_divmod(a, b).0)),
            BinOp::Mod => Ok(float(float_divmod(a, b).1)),
            BinOp::Pow => self.power(a, b),
            _ => return None,
        })
    }

    pub(crate) fn negative(&mut self, value: Value) -> Outcome {
        if let Some(method) = self.user_method(value, crate::heap::types::name::NEG) {
            return Err(super::fault::tail(method, vec![value]));
        }
        match self.number(value) {
            Some(Number::Int(int)) => match int.checked_neg() {
                Some(int) => Ok(Value::Int(int)),
                None => self.int(-BigInt::from(int)),
            },
            Some(Number::Big(big)) => {
                self.charge(limbs(&big))?;
                self.int(-big)
            }
            Some(Number::Float(value)) => Ok(float(-value)),
            None => Err(self.bad_unary("-", value)),
        }
    }

    pub(crate) fn positive(&mut self, value: Value) -> Outcome {
        if let Some(method) = self.user_method(value, crate::heap::types::name::POS) {
            return Err(super::fault::tail(method, vec![value]));
        }
        match self.number(value) {
            Some(Number::Int(int)) => Ok(Value::Int(int)),
            Some(_) => Ok(self.inner(value)),
            None => Err(self.bad_unary("+", value)),
        }
    }

    pub(crate) fn invert(&mut self, value: Value) -> Outcome {
        if let Some(method) = self.user_method(value, crate::heap::types::name::INVERT) {
            return Err(super::fault::tail(method, vec![value]));
        }
        match self.number(value) {
            Some(Number::Int(int)) => Ok(Value::Int(!int)),
            Some(Number::Big(big)) => {
                self.charge(limbs(&big))?;
                self.int(-big - 1)
            }
            _ => Err(self.bad_unary("~", value)),
        }
    }

    fn bad_unary(&mut self, symbol: &str, value: Value) -> Fault {
        let kind = self.type_name(value);
        self.type_error(format!("bad operand type for unary {symbol}: '{kind}'"))
    }
}

/// `2^exponent * value`, rounded once even where the result is subnormal.
fn scale(value: f64, exact: &BigInt, exponent: i64) -> f64 {
    let bits = exact.bits() as i64 + exponent;
    if bits > -1021 {
        return libm::scalbn(value, exponent as i32);
    }
    // Cut to the bits that a subnormal has, with a sticky one, before rounding.
    let keep = (bits + 1074 + 2).max(1);
    let drop = (exact.bits() as i64 - keep).max(0) as u64;
    let cut: BigInt = exact >> drop;
    let lost = exact.magnitude().trailing_zeros().unwrap_or(0) < drop;
    let cut = if lost { cut | BigInt::from(1) } else { cut };
    libm::scalbn(big_to_float(&cut), (exponent + drop as i64) as i32)
}

pub(crate) fn float_divmod(a: f64, b: f64) -> (f64, f64) {
    let mut rest = libm::fmod(a, b);
    let mut quotient = (a - rest) / b;
    if rest != 0.0 {
        if (b < 0.0) != (rest < 0.0) {
            rest += b;
            quotient -= 1.0;
        }
    } else {
        rest = libm::copysign(0.0, b);
    }
    let floor = if quotient != 0.0 {
        let floor = libm::floor(quotient);
        if quotient - floor > 0.5 { floor + 1.0 } else { floor }
    } else {
        libm::copysign(0.0, a / b)
    };
    (floor, rest)
}

pub(crate) fn div_floor(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let (mut quotient, mut rest) = (a / b, a % b);
    if rest.sign() != Sign::NoSign && (rest.sign() == Sign::Minus) != (b.sign() == Sign::Minus) {
        quotient -= 1;
        rest += b;
    }
    (quotient, rest)
}
