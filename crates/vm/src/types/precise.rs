//! Functions of floats, rounded as a good C library rounds them: worked out with twice the digits, by
//! basic operations only, so that every machine has the same bits. What `libm` says is the first guess,
//! and the answer wherever there are no digits to gain.

/// Half of pi and the logarithm of two, in three parts that do not overlap.
const HALF_PI: [f64; 3] =
    [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];
const LN_2: [f64; 3] =
    [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17, 5.707_708_438_416_212e-34];

/// A number as the sum of two floats, the second at most half a unit of the first's last place.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

fn quick_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

fn sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let back = high - a;
    Double { high, low: (a - (high - back)) + (b - back) }
}

/// Upper and lower half of the digits.
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let upper = scaled - (scaled - a);
    (upper, a - upper)
}

fn product(a: f64, b: f64) -> Double {
    let high = a * b;
    let ((a1, a2), (b1, b2)) = (split(a), split(b));
    Double { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Double {
    const ZERO: Self = Self { high: 0.0, low: 0.0 };

    fn of(high: f64) -> Self {
        Self { high, low: 0.0 }
    }

    fn plus(self, other: Self) -> Self {
        let (upper, lower) = (sum(self.high, other.high), sum(self.low, other.low));
        let upper = quick_sum(upper.high, upper.low + lower.high);
        quick_sum(upper.high, upper.low + lower.low)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    fn times(self, other: Self) -> Self {
        let exact = product(self.high, other.high);
        quick_sum(exact.high, exact.low + (self.high * other.low + self.low * other.high))
    }

    fn by(self, other: f64) -> Self {
        let exact = product(self.high, other);
        quick_sum(exact.high, exact.low + self.low * other)
    }

    fn over(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.minus(other.by(first));
        quick_sum(first, (rest.high + rest.low) / other.high)
    }

    /// Times a power of two.
    fn scaled(self, exponent: i32) -> Self {
        Self { high: libm::ldexp(self.high, exponent), low: libm::ldexp(self.low, exponent) }
    }
}

/// `a - n * constant`, to all digits of the constant.
fn reduced(a: Double, n: f64, constant: [f64; 3]) -> Double {
    let parts = [product(-n, constant[0]), product(-n, constant[1]), product(-n, constant[2])];
    a.plus(parts[0]).plus(parts[1]).plus(parts[2])
}

/// The power of e as a number near one, and an exponent of two.
fn exp_parts(x: Double) -> (Double, i32) {
    let n = libm::round(x.high / LN_2[0]);
    // A sixty-fourth of it: few terms do, and six squarings make it whole again.
    let r = reduced(x, n, LN_2).scaled(-6);
    let t = r.high;
    // Terms from the sixth on count only in the lower half.
    let rest = 1.0 + t / 6.0 * (1.0 + t / 7.0 * (1.0 + t / 8.0 * (1.0 + t / 9.0)));
    let tail = Double::of(t / 5.0 * rest).plus(Double::of(1.0));
    let mut all = tail;
    for k in [4.0, 3.0, 2.0] {
        all = r.times(all).over(Double::of(k)).plus(Double::of(1.0));
    }
    // Less one while it is squared, so that no digits go.
    let mut above = r.times(all);
    for _ in 0..6 {
        above = above.scaled(1).plus(above.times(above));
    }
    (above.plus(Double::of(1.0)), n as i32)
}

/// The natural logarithm of a normal number above zero.
fn ln(x: f64) -> Double {
    let (mut mantissa, mut exponent) = libm::frexp(x);
    if mantissa < std::f64::consts::FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        exponent -= 1;
    }
    let f = mantissa - 1.0;
    let part = if f.abs() < 1e-6 {
        let squared = product(f, f).scaled(-1);
        let rest = f * f * f * (1.0 / 3.0 - f * (0.25 - f * 0.2));
        Double::of(f).minus(squared).plus(Double::of(rest))
    } else {
        let guess = libm::log(mantissa);
        let (power, shift) = exp_parts(Double::of(-guess));
        let off = power.scaled(shift).by(mantissa).minus(Double::of(1.0));
        let off = off.minus(off.times(off).scaled(-1));
        Double::of(guess).plus(off)
    };
    let n = f64::from(exponent);
    let parts = [product(n, LN_2[0]), product(n, LN_2[1])];
    parts[0].plus(parts[1]).plus(part)
}

/// The guess stands where the better number is not one next to it.
fn settled(guess: f64, better: Double) -> f64 {
    let value = better.high + better.low;
    let near = (value - guess).abs() <= guess.abs() * 1e-14;
    if near { value } else { guess }
}

/// Digits can be lost next to the smallest numbers.
fn is_plain(value: f64) -> bool {
    value.is_finite() && value.abs() > 1e-290
}

pub(crate) fn exp(x: f64) -> f64 {
    let guess = libm::exp(x);
    if !is_plain(guess) || x == 0.0 {
        return guess;
    }
    let (power, shift) = exp_parts(Double::of(x));
    settled(guess, power.scaled(shift))
}

pub(crate) fn log(x: f64) -> f64 {
    let guess = libm::log(x);
    if !is_plain(x) || x <= 0.0 || x == 1.0 {
        return guess;
    }
    settled(guess, ln(x))
}

pub(crate) fn pow(x: f64, y: f64) -> f64 {
    let guess = libm::pow(x, y);
    if !is_plain(guess) || !is_plain(x) || !is_plain(y) || guess.abs() == 1.0 {
        return guess;
    }
    let whole = libm::trunc(y) == y && y.abs() <= 64.0;
    let better = if whole && guess.abs() < 1e290 {
        let mut power = Double::of(1.0);
        let mut square = Double::of(x.abs());
        let mut left = y.abs() as u32;
        while left > 0 {
            if left & 1 == 1 {
                power = power.times(square);
            }
            left >>= 1;
            if left > 0 {
                square = square.times(square);
            }
        }
        if y < 0.0 { Double::of(1.0).over(power) } else { power }
    } else {
        let (power, shift) = exp_parts(ln(x.abs()).by(y));
        power.scaled(shift)
    };
    libm::copysign(settled(guess.abs(), better), guess)
}

/// Sine and cosine of at most a quarter of a turn's half.
fn small_turn(r: Double) -> (Double, Double) {
    let square = r.times(r);
    let t = square.high;
    let series = |from: f64, exact: [f64; 6]| {
        // Terms beyond the sixth count only in the lower half.
        let mut rest = 1.0;
        for step in [14.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0] {
            let k = from + 10.0 + step;
            rest = 1.0 - t / (k * (k + 1.0)) * rest;
        }
        let mut all = Double::of(rest);
        for k in exact {
            let term = square.times(all).over(Double::of(k * (k + 1.0)));
            all = Double::of(1.0).minus(term);
        }
        all
    };
    let sine = r.times(series(2.0, [12.0, 10.0, 8.0, 6.0, 4.0, 2.0]));
    let cosine = series(1.0, [11.0, 9.0, 7.0, 5.0, 3.0, 1.0]);
    (sine, cosine)
}

fn turn(x: f64) -> (Double, Double) {
    let n = libm::round(x / HALF_PI[0]);
    let (sine, cosine) = small_turn(reduced(Double::of(x), n, HALF_PI));
    let minus = |value: Double| Double::ZERO.minus(value);
    match (n as i64).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, minus(sine)),
        2 => (minus(sine), minus(cosine)),
        _ => (minus(cosine), sine),
    }
}

/// Whether an angle is one that `turn` has all digits of.
fn is_turn(x: f64) -> bool {
    x.abs() > 1e-100 && x.abs() < 1e5
}

pub(crate) fn sin(x: f64) -> f64 {
    let guess = libm::sin(x);
    if is_turn(x) { settled(guess, turn(x).0) } else { guess }
}

pub(crate) fn cos(x: f64) -> f64 {
    let guess = libm::cos(x);
    if is_turn(x) { settled(guess, turn(x).1) } else { guess }
}

pub(crate) fn tan(x: f64) -> f64 {
    let guess = libm::tan(x);
    if !is_turn(x) {
        return guess;
    }
    let (sine, cosine) = turn(x);
    settled(guess, sine.over(cosine))
}

pub(crate) fn asin(x: f64) -> f64 {
    let guess = libm::asin(x);
    if !is_turn(guess) || x.abs() > 0.999_999 {
        return guess;
    }
    let (sine, cosine) = turn(guess);
    let off = Double::of(x).minus(sine).over(cosine);
    settled(guess, Double::of(guess).plus(off))
}

pub(crate) fn acos(x: f64) -> f64 {
    let guess = libm::acos(x);
    if !is_turn(guess) || x.abs() > 0.999_999 {
        return guess;
    }
    let (sine, cosine) = turn(guess);
    let off = cosine.minus(Double::of(x)).over(sine);
    settled(guess, Double::of(guess).plus(off))
}

pub(crate) fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let guess = libm::atan2(y, x);
    let plain = |value: f64| value.abs() > 1e-100 && value.abs() < 1e100;
    if !is_turn(guess) || !plain(x) || !plain(y) {
        return guess;
    }
    let (sine, cosine) = turn(guess);
    let off = cosine.by(y).minus(sine.by(x)).over(cosine.by(x).plus(sine.by(y)));
    settled(guess, Double::of(guess).plus(off))
}

pub(crate) fn cosh(x: f64) -> f64 {
    let x = x.abs();
    if !(0.35..22.0).contains(&x) {
        return libm::cosh(x);
    }
    let power = exp(x);
    0.5 * power + 0.5 / power
}

pub(crate) fn tanh(x: f64) -> f64 {
    let size = x.abs();
    if !(1e-8..22.0).contains(&size) {
        return libm::tanh(x);
    }
    let value = if size >= 1.0 {
        1.0 - 2.0 / (libm::expm1(2.0 * size) + 2.0)
    } else {
        let less = libm::expm1(-2.0 * size);
        -less / (less + 2.0)
    };
    libm::copysign(value, x)
}

/// The length of a vector.
pub(crate) fn norm(parts: &[f64]) -> f64 {
    let most = parts.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
    if parts.iter().any(|part| part.is_infinite()) {
        return f64::INFINITY;
    }
    if parts.iter().any(|part| part.is_nan()) {
        return f64::NAN;
    }
    if most == 0.0 {
        return 0.0;
    }
    // A power of two takes the largest part near to one; nothing is rounded by it.
    let exponent = libm::frexp(most).1;
    let mut all = Double::ZERO;
    for part in parts {
        let part = libm::ldexp(*part, -exponent);
        all = all.plus(product(part, part));
    }
    let root = libm::sqrt(all.high);
    let rest = all.minus(product(root, root));
    let root = root + (rest.high + rest.low) / (2.0 * root);
    libm::ldexp(root, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_values_have_all_their_digits() {
        assert_eq!(exp(1.0), std::f64::consts::E);
        assert_eq!(log(2.0), std::f64::consts::LN_2);
        assert_eq!(log(10.0), std::f64::consts::LN_10);
        assert_eq!(pow(2.0, 0.5), std::f64::consts::SQRT_2);
        assert_eq!(pow(1.05, 10.0), 1.628_894_626_777_442);
        assert_eq!(pow(-3.0, 3.0), -27.0);
        assert_eq!(sin(std::f64::consts::PI), 1.224_646_799_147_353_2e-16);
        assert_eq!(atan(1.0), std::f64::consts::FRAC_PI_4);
        assert_eq!(norm(&[3.0, 4.0]), 5.0);
        assert_eq!(norm(&[1e300, 1e300]), 1.414_213_562_373_095_2e300);
    }

    #[test]
    fn whatever_a_program_passes_ends_in_a_number() {
        let ends = [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e300, f64::MAX, f64::MIN, 0.5, 709.9];
        let others = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -745.2, 1e5, 1e22, 3.5];
        for x in ends.into_iter().chain(others) {
            for function in [exp, log, sin, cos, tan, asin, acos, atan, cosh, tanh] {
                let _ = function(x);
            }
            for y in ends.into_iter().chain(others) {
                assert_eq!(pow(x, y).is_nan(), libm::pow(x, y).is_nan(), "{x} ** {y}");
                assert_eq!(atan2(x, y).is_nan(), libm::atan2(x, y).is_nan(), "{x}, {y}");
                let _ = norm(&[x, y]);
            }
        }
    }
}
