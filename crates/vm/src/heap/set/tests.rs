use super::Set;
use crate::heap::value::Value;

fn made(numbers: &[i64]) -> Set {
    let mut set = Set::default();
    for number in numbers {
        let hash = crate::run::hash::hash_int(*number);
        set.push(hash, Value::Int(*number));
    }
    set
}

fn order(set: &Set) -> Vec<i64> {
    set.iter()
        .map(|item| match item.key {
            Value::Int(int) => int,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn small_numbers_ascend_and_others_lie_by_their_remainders() {
    assert_eq!(order(&made(&[3, 1, 2])), [1, 2, 3]);
    assert_eq!(order(&made(&[10, 20, 30, 40, 50])), [40, 10, 50, 20, 30]);
    assert_eq!(order(&made(&[8, 0])), [8, 0]);
    assert_eq!(order(&made(&[-1, -2, 5])), [5, -1, -2]);
}

#[test]
fn a_copy_lies_as_its_own_size_has_it() {
    let mut copy = Set::default();
    copy.fill_from(&made(&[177, 198, 0, 92, 74]));
    assert_eq!(order(&copy), [0, 177, 198, 74, 92]);
}

#[test]
fn what_was_removed_leaves_its_slot_to_another() {
    let mut set = made(&[0, 8, 16]);
    let before = order(&set);
    let place = set.find(8, |_, _| Ok::<bool, ()>(true)).unwrap().0.unwrap();
    set.remove(place);
    assert_eq!(set.len(), 2);
    set.push(8, Value::Int(8));
    assert_eq!(order(&set), before);
    assert_eq!(set.fill, 3);
}

#[test]
fn normalising_moves_no_item_to_another_slot() {
    let mut set = made(&[5, 300, 12, 77, 1 << 40, -9]);
    set.remove(0);
    let before: Vec<usize> = set.taken().map(|(slot, _)| slot).collect();
    let keys = order(&set);
    set.normalise();
    assert_eq!(set.taken().map(|(slot, _)| slot).collect::<Vec<_>>(), before);
    assert_eq!(order(&set), keys);
}

#[test]
fn numbers_in_each_others_way_are_counted() {
    let mut set = Set::default();
    let steps: usize = (0..400).map(|n| set.push(n << 40, Value::Int((n as i64) << 40))).sum();
    assert!(steps > 10_000, "{steps}");
    let mut set = Set::default();
    assert_eq!((0..400).map(|n| set.push(n, Value::Int(n as i64))).sum::<usize>(), 0);
}
