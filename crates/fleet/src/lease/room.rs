//! How much of what waits could be had, if there were workers enough: what autoscalers want to know. A job that
//! a limit holds back needs no worker.

use super::queue::Gate;
use std::collections::BTreeMap;

/// How many jobs could be granted together, of lots of jobs under the same limits each; `room` says how many
/// more a limit allows, none: any number.
///
/// Where jobs have several limits, which of them go first decides how many there is room for. Here those with
/// the fewest do.
pub fn grantable(
    lots: impl IntoIterator<Item = (Vec<Gate>, u64)>,
    room: impl Fn(&Gate) -> Option<u64>,
) -> u64 {
    let mut left: BTreeMap<Gate, u64> = BTreeMap::new();
    let mut limited: Vec<(Vec<Gate>, u64)> = Vec::new();
    let mut all = 0;
    for (mut gates, waiting) in lots {
        gates.retain(|gate| match left.contains_key(gate) {
            true => true,
            false => room(gate).is_some_and(|room| left.insert(gate.clone(), room).is_none()),
        });
        match gates.is_empty() {
            true => all += waiting,
            false => limited.push((gates, waiting)),
        }
    }
    limited.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
    for (gates, waiting) in limited {
        let rooms = gates.iter().filter_map(|gate| left.get(gate).copied());
        let granted = rooms.fold(waiting, u64::min);
        for gate in &gates {
            left.entry(gate.clone()).and_modify(|room| *room -= granted);
        }
        all += granted;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Label;

    fn label(name: &str) -> Gate {
        Gate::Label(Label::new(name).expect("a label"))
    }

    #[test]
    fn as_many_as_every_limit_has_room_for_and_none_is_filled_twice() {
        let room = |gate: &Gate| match gate {
            Gate::Label(label) => label.as_str().parse().ok(),
            Gate::Run(_) => None,
        };
        let lots = [
            (vec![], 7),
            (vec![label("any")], 5),
            (vec![label("3"), label("9")], 10),
            (vec![label("3")], 2),
            (vec![label("0")], 4),
        ];
        assert_eq!(grantable(lots, room), 7 + 5 + 2 + 1);
    }
}
