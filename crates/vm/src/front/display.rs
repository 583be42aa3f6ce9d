//! Displays of sets whose elements CPython's compiler knows. It makes a frozen set of them, and another one
//! of that; a display of three and more copies it, a loop walks over it as it is. Equal ones are one
//! constant, the first of them. The order of the set shows all of that.

use num_bigint::BigInt;
use ruff_python_ast::{self as ast, Expr, Number, Operator, UnaryOp};
use ruff_text_size::Ranged as _;

use super::compiler::{Compiler, Done};
use crate::code::Op;

/// Bits that the compiler's results have at most.
const FOLDED_BITS_MAX: u64 = 128;
/// Decimal digits of a number of `FOLDED_BITS_MAX` bits, at least.
const DIGITS_MAX: usize = 40;
/// Fewer elements are added one by one.
const COPIED_MIN: usize = 3;
/// Size of a constant's key.
const KEY_BYTES_MAX: usize = 1_024;
/// How much longer than a display the one may be that stands for it.
const LONGER_MAX: usize = 4;

/// A value that is known: by its kind and itself, and as a number if it is a whole one.
struct Known {
    key: String,
    whole: Option<BigInt>,
}

impl Known {
    /// None for numbers that are long to write: each sign before one would write it again.
    fn whole(number: BigInt) -> Option<Self> {
        let short = number.bits() <= FOLDED_BITS_MAX;
        short.then(|| Self { key: format!("i{number}"), whole: Some(number) })
    }

    fn other(key: String) -> Self {
        Self { key, whole: None }
    }

    /// The key of a composite. Bounded: nesting copies the inner key once per level.
    fn joined(key: String) -> Option<Self> {
        (key.len() <= KEY_BYTES_MAX).then(|| Self::other(key))
    }
}

/// What CPython's compiler makes a constant of.
fn known(expr: &Expr) -> Option<Known> {
    Some(match expr {
        Expr::NumberLiteral(node) => match &node.value {
            Number::Int(int) => {
                let digits = int.to_string();
                let short = digits.len() <= DIGITS_MAX;
                Known::whole(if short { digits.parse().ok()? } else { return None })?
            }
            Number::Float(float) => Known::other(format!("f{}", float.to_bits())),
            Number::Complex { .. } => return None,
        },
        Expr::BooleanLiteral(node) => Known::other(format!("b{}", node.value)),
        Expr::NoneLiteral(_) => Known::other("n".to_owned()),
        Expr::EllipsisLiteral(_) => Known::other("e".to_owned()),
        Expr::StringLiteral(node) => Known::other(format!("s{:?}", node.value.to_str())),
        Expr::BytesLiteral(node) => {
            Known::other(format!("y{:?}", node.value.bytes().collect::<Vec<u8>>()))
        }
        Expr::Tuple(node) => {
            let items: Option<Vec<String>> =
                node.elts.iter().map(|item| known(item).map(|item| item.key)).collect();
            Known::joined(format!("({})", items?.join(",")))?
        }
        Expr::UnaryOp(node) => {
            let operand = known(&node.operand)?;
            match (node.op, operand.whole) {
                (UnaryOp::USub, Some(whole)) => Known::whole(-whole)?,
                (op, _) => Known::joined(format!("{op:?}{}", operand.key))?,
            }
        }
        Expr::BinOp(node) => combined(node)?,
        _ => return None,
    })
}

fn combined(node: &ast::ExprBinOp) -> Option<Known> {
    let (left, right) = (known(&node.left)?, known(&node.right)?);
    let key = format!("({} {:?} {})", left.key, node.op, right.key);
    let (Some(a), Some(b)) = (left.whole, right.whole) else {
        let text = left.key.starts_with(['s', 'y']);
        let known = !(text && node.op == Operator::Mod) && node.op != Operator::MatMult;
        return if known { Known::joined(key) } else { None };
    };
    let size = u64::try_from(&b).ok();
    let zero = b == BigInt::ZERO;
    let fits = match (node.op, size) {
        (Operator::Mult, _) => a.bits() + b.bits() <= FOLDED_BITS_MAX,
        (Operator::Pow, Some(size)) if size > 0 => a.bits() <= FOLDED_BITS_MAX / size,
        (Operator::LShift, size) => {
            size.is_some_and(|size| a.bits().saturating_add(size) <= FOLDED_BITS_MAX)
        }
        (Operator::Div | Operator::FloorDiv | Operator::Mod, _) => !zero,
        (Operator::MatMult, _) => false,
        _ => true,
    };
    if !fits {
        return None;
    }
    Some(match (node.op, size) {
        (Operator::Add, _) => Known::whole(a + b)?,
        (Operator::Sub, _) => Known::whole(a - b)?,
        (Operator::Mult, _) => Known::whole(a * b)?,
        (Operator::LShift, Some(size)) => Known::whole(a << size)?,
        (Operator::Pow, Some(size)) => Known::whole(a.pow(size as u32))?,
        _ => Known::joined(key)?,
    })
}

impl<'a> Compiler<'a> {
    /// The display that stands first for the same constant, if it is one.
    fn constant_set(&mut self, elements: &'a [Expr]) -> Option<&'a [Expr]> {
        let keys: Option<Vec<String>> =
            elements.iter().map(|element| known(element).map(|known| known.key)).collect();
        let mut keys = keys?;
        // Of numbers that are equal the first one stays: which one that is shows where kinds are mixed.
        let kinds =
            ['i', 'f', 'b'].iter().filter(|kind| keys.iter().any(|key| key.starts_with(**kind)));
        let in_order = (kinds.count() > 1).then(|| keys.join(","));
        keys.sort_unstable();
        keys.dedup();
        keys.extend(in_order);
        let stands = *self.constant_sets.entry(keys).or_insert(elements);
        // Code stays in proportion to its source, however often a long display has a short name.
        let long = |elements: &[Expr]| {
            elements.iter().map(|one| one.range().len().to_usize()).sum::<usize>()
        };
        Some(if long(stands) <= LONGER_MAX * long(elements) { stands } else { elements })
    }

    /// A display of a set.
    pub(super) fn set_display(&mut self, elements: &'a [Expr]) -> Done {
        let constant = match elements.len() {
            COPIED_MIN.. => self.constant_set(elements),
            _ => None,
        };
        self.elements(constant.unwrap_or(elements), Op::BuildSet)?;
        if constant.is_some() {
            self.emit(Op::BuildSet, 1, 1);
        }
        Ok(())
    }

    /// What is walked over; or only looked into, where no order shows.
    pub(super) fn walked(&mut self, expr: &'a Expr, ordered: bool) -> Done {
        match expr {
            Expr::Set(node) => {
                let constant = self.constant_set(&node.elts);
                self.elements(constant.unwrap_or(&node.elts), Op::BuildSet)?;
                if constant.is_some() && ordered {
                    self.emit(Op::BuildSet, 2, 1);
                }
                Ok(())
            }
            _ => self.expr(expr),
        }
    }
}
