//! The tree of a pattern, and the instructions that it becomes.

use super::INSTRUCTIONS_MAX;
use super::program::Instr;

#[derive(Clone, Debug)]
pub(super) enum Node {
    One(Instr),
    Sequence(Vec<Node>),
    /// In order of preference.
    Either(Vec<Node>),
    Repeat {
        inner: Box<Node>,
        least: u32,
        most: Option<u32>,
        greedy: bool,
    },
    Group(u32, Box<Node>),
    Look {
        behind: bool,
        negative: bool,
        number: u32,
        inner: Box<Node>,
    },
}

impl Node {
    /// Whether it can match nothing.
    fn can_be_empty(&self) -> bool {
        match self {
            Node::One(instr) => matches!(instr, Instr::Assert(_)),
            Node::Sequence(items) => items.iter().all(Node::can_be_empty),
            Node::Either(items) => items.iter().any(Node::can_be_empty),
            Node::Repeat { inner, least, .. } => *least == 0 || inner.can_be_empty(),
            Node::Group(_, inner) => inner.can_be_empty(),
            Node::Look { .. } => true,
        }
    }

    /// Whether no instruction comes of it.
    pub(super) fn is_nothing(&self) -> bool {
        match self {
            Node::Sequence(items) => items.iter().all(Node::is_nothing),
            Node::Repeat { most: Some(0), .. } => true,
            Node::Repeat { inner, least, most, .. } => Some(*least) == *most && inner.is_nothing(),
            _ => false,
        }
    }

    /// How many characters it takes, if that is always the same number.
    pub(super) fn width(&self) -> Option<u64> {
        match self {
            Node::One(Instr::Assert(_)) | Node::Look { .. } => Some(0),
            Node::One(_) => Some(1),
            Node::Sequence(items) => {
                items.iter().try_fold(0u64, |all, item| Some(all.saturating_add(item.width()?)))
            }
            Node::Either(items) => {
                // Each is asked once: they can be inside each other.
                let mut widths = items.iter().map(Node::width);
                let first = widths.next()??;
                widths.all(|width| width == Some(first)).then_some(first)
            }
            Node::Repeat { inner, least, most, .. } => {
                let width = inner.width()?;
                (Some(*least) == *most).then_some(width.saturating_mul(u64::from(*least)))
            }
            Node::Group(_, inner) => inner.width(),
        }
    }
}

pub(super) fn push(out: &mut Vec<Instr>, instr: Instr) -> Result<(), ()> {
    if out.len() >= INSTRUCTIONS_MAX {
        return Err(());
    }
    out.push(instr);
    Ok(())
}

/// Sets the way of a split that was left open.
fn patch(out: &mut [Instr], at: usize, inside_first: bool, target: usize) {
    let next = at as u32 + 1;
    out[at] = match inside_first {
        true => Instr::Split(next, target as u32),
        false => Instr::Split(target as u32, next),
    };
}

pub(super) fn emit(out: &mut Vec<Instr>, node: &Node) -> Result<(), ()> {
    match node {
        Node::One(instr) => push(out, *instr),
        Node::Sequence(items) => items.iter().try_for_each(|item| emit(out, item)),
        Node::Either(items) => {
            let mut ends = Vec::new();
            for (index, item) in items.iter().enumerate() {
                if index + 1 == items.len() {
                    emit(out, item)?;
                    break;
                }
                let split = out.len();
                push(out, Instr::Jump(0))?;
                emit(out, item)?;
                ends.push(out.len());
                push(out, Instr::Jump(0))?;
                let here = out.len();
                patch(out, split, true, here);
            }
            let here = out.len() as u32;
            ends.iter().for_each(|end| out[*end] = Instr::Jump(here));
            Ok(())
        }
        Node::Group(number, inner) => {
            push(out, Instr::Save(2 * number))?;
            emit(out, inner)?;
            push(out, Instr::Save(2 * number + 1))
        }
        Node::Look { behind, negative, number, inner } => {
            let at = out.len();
            push(out, Instr::Jump(0))?;
            emit(out, inner)?;
            push(out, Instr::Match)?;
            let (behind, negative, number) = (*behind, *negative, *number);
            out[at] = Instr::Look { behind, negative, number, after: out.len() as u32 };
            Ok(())
        }
        Node::Repeat { inner, least, most, greedy } => {
            emit_repeat(out, inner, *least, *most, *greedy)
        }
    }
}

fn emit_repeat(
    out: &mut Vec<Instr>,
    inner: &Node,
    least: u32,
    most: Option<u32>,
    greedy: bool,
) -> Result<(), ()> {
    // What matches nothing, taken often, is still nothing; the pushes below bound the rest.
    let empty = inner.can_be_empty();
    for index in 0..least {
        if index + 1 == least && most.is_none() {
            return emit_plus(out, inner, greedy);
        }
        let before = out.len();
        emit(out, inner)?;
        if out.len() == before {
            return Ok(());
        }
    }
    match most {
        None if empty => {
            // Once around and then again, so that a group that can match nothing is set.
            let split = out.len();
            push(out, Instr::Jump(0))?;
            emit_plus(out, inner, greedy)?;
            let here = out.len();
            patch(out, split, greedy, here);
        }
        None => {
            let split = out.len();
            push(out, Instr::Jump(0))?;
            emit(out, inner)?;
            push(out, Instr::Jump(split as u32))?;
            let here = out.len();
            patch(out, split, greedy, here);
        }
        Some(most) => {
            let mut splits = Vec::new();
            for _ in least..most {
                splits.push(out.len());
                push(out, Instr::Jump(0))?;
                emit(out, inner)?;
            }
            let here = out.len();
            splits.iter().for_each(|split| patch(out, *split, greedy, here));
        }
    }
    Ok(())
}

fn emit_plus(out: &mut Vec<Instr>, inner: &Node, greedy: bool) -> Result<(), ()> {
    let start = out.len() as u32;
    emit(out, inner)?;
    let next = out.len() as u32 + 1;
    push(out, if greedy { Instr::Split(start, next) } else { Instr::Split(next, start) })
}

#[cfg(test)]
mod tests {
    use super::super::program::Instr;
    use super::Node;

    #[test]
    fn what_becomes_no_instruction_is_known_before_it_is_copied() {
        let repeat = |inner: Node, least, most| {
            let inner = Box::new(inner);
            Node::Repeat { inner, least, most, greedy: true }
        };
        let nothing = || Node::Sequence(vec![Node::Sequence(Vec::new())]);
        let any = || Node::One(Instr::Any);
        for node in [nothing(), repeat(any(), 0, Some(0)), repeat(nothing(), 5, Some(5))] {
            assert!(node.is_nothing(), "{node:?}");
            let mut out = Vec::new();
            assert_eq!(super::emit(&mut out, &node), Ok(()));
            assert!(out.is_empty(), "{node:?}");
        }
        for node in [any(), repeat(nothing(), 0, None), repeat(nothing(), 0, Some(1))] {
            assert!(!node.is_nothing(), "{node:?}");
        }
    }
}
