//! `format(value, spec)`, fields of f-strings and of `str.format`.

use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::types::name;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, tail};
use crate::run::float_text::float_repr;
use crate::run::native::{Args, Table};
use crate::run::number::{Number, limbs};
use crate::types::format_spec::{Spec, parse};

pub(crate) const TABLE: Table = &[("", "format", format, "_format")];

/// Digits after the point that a spec may ask for.
const PRECISION_MAX: usize = 4_096;

fn format(vm: &mut Vm, args: Args) -> Outcome {
    let [value, spec] = vm.take(args, "format", ["value", "spec"], 1)?;
    let spec = if spec.is_unbound() { vm.string("")? } else { spec };
    vm.format_value(value, spec)
}

/// Digits in groups of `size` from the right.
fn group(digits: &str, separator: char, size: usize) -> String {
    let count = digits.chars().count();
    let mut out = String::new();
    for (index, char) in digits.chars().enumerate() {
        if index > 0 && (count - index).is_multiple_of(size) {
            out.push(separator);
        }
        out.push(char);
    }
    out
}

/// Rounds to this many decimal places, as the decimal digits say.
pub(crate) fn round_to(value: f64, places: i64) -> f64 {
    if !value.is_finite() || value == 0.0 || places > 330 {
        return value;
    }
    if places < -310 {
        return libm::copysign(0.0, value);
    }
    if places >= 0 {
        return std::format!("{value:.*}", places as usize).parse().unwrap_or(value);
    }
    // Above the point: the digits of the whole part, half to even.
    let scale = -places;
    let text = std::format!("{:.0}", libm::trunc(value).abs());
    let Some(cut) = text.len().checked_sub(scale as usize) else {
        return libm::copysign(0.0, value);
    };
    let (head, rest) = text.split_at(cut);
    let mut digits: num_bigint::BigUint = head.parse().unwrap_or_default();
    let exact = rest.trim_end_matches('0') == "5" && libm::trunc(value) == value;
    let half = rest.as_bytes().first().is_some_and(|digit| *digit >= b'5');
    if half && (!exact || digits.bit(0)) {
        digits += 1u32;
    }
    let rounded: f64 = std::format!("{digits}e{scale}").parse().unwrap_or(value);
    libm::copysign(rounded, value)
}

/// Digits of a float without its sign.
fn float_digits(value: f64, spec: &Spec) -> Option<String> {
    let value = value.abs();
    let kind = spec.kind.unwrap_or(if spec.precision.is_some() { 'g' } else { 'r' });
    let precision = spec.precision.unwrap_or(6);
    Some(match kind {
        'f' | 'F' | '%' => {
            let value = if kind == '%' { value * 100.0 } else { value };
            let mut text = std::format!("{value:.precision$}");
            if spec.alternate && precision == 0 {
                text.push('.');
            }
            if kind == '%' {
                text.push('%');
            }
            text
        }
        'e' | 'E' => {
            let text = std::format!("{value:.precision$e}");
            let pointed = spec.alternate && precision == 0;
            exponent(&if pointed { text.replacen('e', ".e", 1) } else { text }, kind)
        }
        'g' | 'G' | 'n' => {
            let precision = precision.max(1);
            let scientific = std::format!("{value:.*e}", precision - 1);
            let (mantissa, power) = scientific.split_once('e')?;
            let power: i64 = power.parse().ok()?;
            let strip = |text: &str| {
                if spec.alternate && !text.contains('.') {
                    std::format!("{text}.")
                } else if spec.alternate || !text.contains('.') {
                    text.to_owned()
                } else {
                    text.trim_end_matches('0').trim_end_matches('.').to_owned()
                }
            };
            // Without a type a float keeps one digit after the point.
            let plain = spec.kind.is_none();
            let limit = if plain { precision as i64 - 1 } else { precision as i64 };
            if power < -4 || power >= limit {
                let kind = if kind == 'G' { 'E' } else { 'e' };
                exponent(&std::format!("{}e{power}", strip(mantissa)), kind)
            } else {
                let places = (precision as i64 - 1 - power).max(0) as usize;
                let text = strip(&std::format!("{value:.places$}"));
                if plain && !text.contains('.') { text + ".0" } else { text }
            }
        }
        'r' => {
            let text = float_repr(value);
            let pointed = spec.alternate && !text.contains('.');
            if pointed { text.replacen('e', ".e", 1) } else { text }
        }
        _ => return None,
    })
}

/// Python's exponents have a sign and two digits.
fn exponent(text: &str, kind: char) -> String {
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    let power: i64 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    std::format!("{mantissa}{kind}{sign}{:02}", power.abs())
}

impl Vm {
    pub(crate) fn format_value(&mut self, value: Value, spec: Value) -> Outcome {
        if let Some(method) = self.user_method(value, name::FORMAT) {
            return Err(tail(method, vec![value, spec]));
        }
        let text = self.want_text(spec, "format spec")?;
        if text.is_empty() {
            return self.text_of(value);
        }
        self.charge(crate::cost::long(text.len()) * 6)?;
        let inner = self.inner(value);
        let spec = match parse(&text) {
            Ok(spec) => spec,
            Err("") => return Err(self.bad_spec(value, &text)),
            Err(message) => return Err(self.value_error(message)),
        };
        if spec.precision.is_some_and(|precision| precision > PRECISION_MAX) {
            return Err(self.value_error("precision too big"));
        }
        self.reserve(spec.width.saturating_mul(4))?;
        let out = match (inner, self.number(inner)) {
            (_, Some(Number::Float(float))) => self.format_float(value, float, &spec)?,
            (_, Some(number)) => self.format_int(value, number, &spec)?,
            _ => match self.obj(inner) {
                Some(Obj::Str(_)) => self.format_text(inner, &spec)?,
                _ => {
                    let kind = self.type_name(value);
                    let message =
                        std::format!("unsupported format string passed to {kind}.__format__");
                    return Err(self.type_error(message));
                }
            },
        };
        self.string(out)
    }

    fn bad_spec(&mut self, value: Value, spec: &str) -> Fault {
        let kind = self.type_name(value);
        let message = std::format!("Invalid format specifier '{spec}' for object of type '{kind}'");
        self.value_error(message)
    }

    /// Groups of digits belong to numbers in digits.
    fn check_grouping(&mut self, spec: &Spec, kinds: &str) -> Result<(), Fault> {
        match (spec.grouping, spec.kind) {
            (Some(grouping), Some(kind)) if !kinds.contains(kind) => {
                Err(self.value_error(std::format!("Cannot specify '{grouping}' with '{kind}'.")))
            }
            _ => Ok(()),
        }
    }

    fn bad_code(&mut self, value: Value, code: char) -> Fault {
        let kind = self.type_name(value);
        self.value_error(std::format!("Unknown format code '{code}' for object of type '{kind}'"))
    }

    fn format_text(&mut self, value: Value, spec: &Spec) -> Result<String, Fault> {
        if let Some(code) = spec.kind
            && code != 's'
        {
            return Err(self.bad_code(value, code));
        }
        if let Some(grouping) = spec.grouping {
            return Err(self.value_error(std::format!("Cannot specify '{grouping}' with 's'.")));
        }
        let refused = match spec {
            Spec { sign: Some(' '), .. } => "Space not allowed in string format specifier",
            Spec { sign: Some(_), .. } => "Sign not allowed in string format specifier",
            Spec { no_minus_zero: true, .. } => {
                "Negative zero coercion (z) not allowed in string format specifier"
            }
            Spec { alternate: true, .. } => {
                "Alternate form (#) not allowed in string format specifier"
            }
            Spec { align: Some('='), fill, .. } if *fill != '0' => {
                "'=' alignment not allowed in string format specifier"
            }
            _ => "",
        };
        if !refused.is_empty() {
            return Err(self.value_error(refused));
        }
        let text = self.text_of(value)?;
        let text = self.want_text(text, "text")?;
        let cut = match spec.precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text,
        };
        let align = spec.align.map_or('<', |align| if align == '=' { '<' } else { align });
        Ok(pad("", &cut, spec, align))
    }

    fn format_float(&mut self, value: Value, float: f64, spec: &Spec) -> Result<String, Fault> {
        if float.is_finite() && float.abs() > 1e16 {
            let above = (float.abs().to_bits() >> 52).saturating_sub(1_023) as usize / 3;
            self.charge(200 + 4 * crate::cost::many(above.saturating_sub(100)))?;
        }
        // Digits beyond those of a double are worked out one by one.
        let precision = spec.precision.unwrap_or(6);
        self.charge(precision as u64 + 20 + 32 * crate::cost::many(precision))?;
        self.check_grouping(spec, "eEfFgG%d")?;
        let sign = sign_of(float.is_sign_negative() && !float.is_nan(), spec.sign);
        if !float.is_finite() {
            let upper = matches!(spec.kind, Some('F' | 'E' | 'G'));
            let text = if float.is_nan() { "nan" } else { "inf" };
            let text = if upper { text.to_ascii_uppercase() } else { text.to_owned() };
            let suffix = if spec.kind == Some('%') { "%" } else { "" };
            if !matches!(spec.kind, None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%')) {
                return Err(self.bad_code(value, spec.kind.unwrap_or('?')));
            }
            let align = spec.align.unwrap_or('>');
            return Ok(pad(sign, &(text + suffix), spec, align));
        }
        let Some(digits) = float_digits(float, spec) else {
            return Err(self.bad_code(value, spec.kind.unwrap_or('?')));
        };
        let zero =
            spec.no_minus_zero && !digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit));
        let sign = if zero { sign_of(false, spec.sign) } else { sign };
        let digits = match spec.grouping {
            Some(separator) => {
                let end = digits.find(|char: char| !char.is_ascii_digit()).unwrap_or(digits.len());
                let (whole, rest) = digits.split_at(end);
                zero_grouped(whole, rest, sign, separator, 3, spec)
            }
            None => digits,
        };
        Ok(pad(sign, &digits, spec, spec.align.unwrap_or('>')))
    }

    fn format_int(&mut self, value: Value, number: Number, spec: &Spec) -> Result<String, Fault> {
        let big = match number {
            Number::Int(int) => num_bigint::BigInt::from(int),
            Number::Big(big) => big,
            Number::Float(_) => return Err(self.bad_spec(value, "")),
        };
        let negative = big.sign() == num_bigint::Sign::Minus;
        let kind = spec.kind.unwrap_or('d');
        if matches!(kind, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') {
            return self.format_float(value, crate::run::number::big_to_float(&big), spec);
        }
        if spec.precision.is_some() {
            return Err(self.value_error("Precision not allowed in integer format specifier"));
        }
        self.check_grouping(spec, if spec.grouping == Some(',') { "d" } else { "dxXob" })?;
        if kind == 'c' && spec.sign.is_some() {
            let message = "Sign not allowed with integer format specifier 'c'";
            return Err(self.value_error(message));
        }
        self.charge(crate::cost::decimal(limbs(&big)))?;
        let magnitude = big.magnitude();
        let (prefix, digits, size) = match kind {
            'd' | 'n' => ("", magnitude.to_string(), 3),
            'x' => ("0x", magnitude.to_str_radix(16), 4),
            'X' => ("0X", magnitude.to_str_radix(16).to_ascii_uppercase(), 4),
            'o' => ("0o", magnitude.to_str_radix(8), 4),
            'b' => ("0b", magnitude.to_str_radix(2), 4),
            'c' => {
                let Some(char) = u32::try_from(&big).ok().and_then(char::from_u32) else {
                    let message = "%c arg not in range(0x110000)";
                    return Err(self.raise(Type::OverflowError, message));
                };
                return Ok(pad("", &char.to_string(), spec, spec.align.unwrap_or('>')));
            }
            other => return Err(self.bad_code(value, other)),
        };
        let sign = sign_of(negative, spec.sign);
        let prefix = if spec.alternate { prefix } else { "" };
        let lead = std::format!("{sign}{prefix}");
        let digits = match spec.grouping {
            Some(separator) => zero_grouped(&digits, "", &lead, separator, size, spec),
            None => digits,
        };
        Ok(pad(&lead, &digits, spec, spec.align.unwrap_or('>')))
    }
}

fn sign_of(negative: bool, sign: Option<char>) -> &'static str {
    match (negative, sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    }
}

/// Grouped digits; zeros that fill the width are grouped, too.
fn zero_grouped(
    whole: &str,
    rest: &str,
    lead: &str,
    separator: char,
    size: usize,
    spec: &Spec,
) -> String {
    let mut count = whole.len();
    if spec.fill == '0' && spec.align == Some('=') {
        let fixed = lead.chars().count() + rest.chars().count();
        // Counted, not tried out: a width can be long.
        while count + count.saturating_sub(1) / size + fixed < spec.width {
            count += 1;
        }
    }
    let digits = "0".repeat(count - whole.len()) + whole;
    group(&digits, separator, size) + rest
}

fn pad(lead: &str, text: &str, spec: &Spec, align: char) -> String {
    let length = lead.chars().count() + text.chars().count();
    let missing = spec.width.saturating_sub(length);
    let fill = |count: usize| spec.fill.to_string().repeat(count);
    match align {
        '<' => std::format!("{lead}{text}{}", fill(missing)),
        '^' => std::format!("{}{lead}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
        '=' => std::format!("{lead}{}{text}", fill(missing)),
        _ => std::format!("{}{lead}{text}", fill(missing)),
    }
}
