//! Subset epochs that validators tell of.

use super::*;

fn asks(actions: &[Action]) -> bool {
    actions.contains(&Action::GetValidators)
}

#[test]
fn a_new_subset_epoch_is_looked_up_at_once() {
    let mut scene = Scene::new();
    assert!(asks(&scene.feed(Event::Session(A, LinkEvent::Epoch(1), RTT))));
    assert!(
        !asks(&scene.feed(Event::Session(B, LinkEvent::Epoch(1), RTT))),
        "one question at a time"
    );
    let kept = scene.feed(validators_of(1));
    assert!(kept.iter().any(|action| matches!(action, Action::SetLinks(..))), "{kept:?}");
    assert!(!asks(&scene.feed(pulse(101, 5))), "it is known");
}

#[test]
fn a_node_that_does_not_know_the_epoch_yet_is_asked_again_with_the_next_block() {
    let mut scene = Scene::new();
    assert!(asks(&scene.feed(Event::Session(A, LinkEvent::Epoch(1), RTT))));
    scene.feed(validators_of(0));
    assert!(asks(&scene.feed(pulse(101, 5))));
    scene.feed(Event::Validators(Err("nobody answers".to_owned())));
    assert!(asks(&scene.feed(pulse(102, 5))));
    scene.feed(validators_of(1));
    assert!(!asks(&scene.feed(pulse(103, 5))));
}

#[test]
fn an_epoch_that_a_validator_makes_up_costs_few_questions() {
    let mut scene = Scene::new();
    let mut questions = 0;
    for height in 101..201 {
        let heard = scene.feed(Event::Session(A, LinkEvent::Epoch(u64::MAX), RTT));
        let block = scene.feed(pulse(height, 5));
        questions += usize::from(asks(&heard)) + usize::from(asks(&block));
        scene.feed(validators_of(0));
    }
    assert!((16..=16 + 4).contains(&questions), "{questions} questions");
    assert!(
        asks(&scene.feed(Event::Session(B, LinkEvent::Epoch(1), RTT))),
        "others are still believed"
    );
}

#[test]
fn a_node_that_is_behind_ends_no_session_of_the_new_epoch() {
    let mut scene = Scene::new();
    scene.feed(validators_of(1));
    let behind = scene.feed(validators_of(0));
    assert!(!behind.iter().any(|action| matches!(action, Action::SetLinks(..))), "{behind:?}");
}
