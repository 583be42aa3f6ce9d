//! Displays of sets whose elements CPython's compiler knows. It makes a frozen set of them, and another one
//! of that; a display of three and more copies it, a loop walks over it as it is. Equal ones are one
//! constant, the first of them. The order of the set shows all of that.

use num_bigint::BigInt;
use ruff_python_ast::{self as ast, Expr, Number, Operator, UnaryOp};

use super::code::Op;
use super::compiler::{Compiler, Done};

/// Bits that the compiler's results have at most.
const FOLDED_BITS_MAX: u64 = 128;
/// Fewer elements are added one by one.
const COPIED_MIN: usize = 3;

/// A value that is known: by its kind and itself, and as a number if it is a whole one.
struct Known {
    key: String,
    whole: Option<BigInt>,
}

impl Known {
    fn whole(number: BigInt) -> Self {
        Self { key: format!("i{number}"), whole: Some(number) }
    }

    fn other(key: String) -> Self {
        Self { key, whole: None }
    }
}

/// What CPython's compiler makes a constant of.
fn known(expr: &Expr) -> Option<Known> {
    Some(match expr {
        Expr::NumberLiteral(node) => match &node.value {
            Number::Int(int) => Known::whole(int.to_string().parse().ok()?),
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
            Known::other(format!("({})", items?.join(",")))
        }
        Expr::UnaryOp(node) => {
            let operand = known(&node.operand)?;
            match (node.op, operand.whole) {
                (UnaryOp::USub, Some(whole)) => Known::whole(-whole),
                (op, _) => Known::other(format!("{op:?}{}", operand.key)),
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
        return known.then(|| Known::other(key));
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
        (Operator::Add, _) => Known::whole(a + b),
        (Operator::Sub, _) => Known::whole(a - b),
        (Operator::Mult, _) => Known::whole(a * b),
        (Operator::LShift, Some(size)) => Known::whole(a << size),
        (Operator::Pow, Some(size)) => Known::whole(a.pow(size as u32)),
        _ => Known::other(key),
    })
}

impl<'a> Compiler<'a> {
    /// The display that stands first for the same constant, if it is one.
    fn constant_set(&mut self, elements: &'a [Expr]) -> Option<&'a [Expr]> {
        let keys: Option<Vec<String>> =
            elements.iter().map(|element| known(element).map(|known| known.key)).collect();
        let mut keys = keys?;
        keys.sort_unstable();
        keys.dedup();
        Some(*self.constant_sets.entry(keys).or_insert(elements))
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
