use super::*;
use remuda_protocol::codec::Decode as _;
use remuda_protocol::primitives::B256;
use remuda_protocol::transaction::SignedTransaction;

const FACTS: AccountSnapshot = AccountSnapshot {
    height: 100,
    chain_id: 7,
    nonce: 5,
    next_nonce: 5,
    basefees: Basefees { cycle: 1_000, cell: 1_000 },
    balance: u128::MAX,
};

fn outbox() -> Outbox {
    let mut outbox = Outbox::new(SecretKey::from_label("runner"));
    outbox.update(FACTS);
    outbox
}

fn at(height: u64, nonce: u64) -> AccountSnapshot {
    AccountSnapshot { height, nonce, next_nonce: nonce, ..FACTS }
}

fn commit(n: u8) -> (Purpose, Instruction) {
    let job = B256::repeat_byte(n);
    let instruction = Instruction::CommitResult { job, commitment: B256::repeat_byte(n + 100) };
    (Purpose::Job(job, 0, TxKind::Commit), instruction)
}

fn want(outbox: &mut Outbox, n: u8, seen: u64) {
    let (purpose, instruction) = commit(n);
    outbox.want(purpose, instruction, seen);
}

fn nonce(tx: &OutgoingTx) -> u64 {
    SignedTransaction::from_bytes(&tx.signed.bytes).unwrap().body.nonce
}

fn nonces(txs: &[OutgoingTx]) -> Vec<u64> {
    txs.iter().map(nonce).collect()
}

#[test]
fn nothing_is_signed_before_the_account_is_known() {
    let mut outbox = Outbox::new(SecretKey::from_label("runner"));
    want(&mut outbox, 1, 100);
    assert_eq!(outbox.due(), []);
    outbox.update(FACTS);
    assert_eq!(nonces(&outbox.due()), [5]);
}

#[test]
fn each_gets_its_own_nonce_and_the_same_is_wanted_once() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    want(&mut outbox, 2, 100);
    want(&mut outbox, 1, 100);
    assert_eq!(nonces(&outbox.due()), [5, 6]);
    want(&mut outbox, 1, 101);
    assert_eq!(outbox.due(), [], "it is on its way");
    want(&mut outbox, 3, 101);
    assert_eq!(nonces(&outbox.due()), [7]);
}

#[test]
fn what_is_in_no_block_is_sent_again_every_two_blocks_and_is_the_same_bytes() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    let first = outbox.due();
    outbox.update(at(101, 5));
    assert_eq!(outbox.due(), []);
    for (height, tries) in [(102, 1), (104, 2)] {
        outbox.update(at(height, 5));
        let again = outbox.due();
        assert_eq!(again[0].signed, first[0].signed);
        assert_eq!(again[0].tries, tries);
    }
}

fn body(tx: &OutgoingTx) -> remuda_protocol::transaction::Transaction {
    SignedTransaction::from_bytes(&tx.signed.bytes).unwrap().body
}

#[test]
fn what_waits_for_long_bids_more_for_the_same_nonce_and_not_without_end() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    outbox.want(Purpose::Heartbeat, Instruction::Heartbeat, 100);
    let first = outbox.due();
    let (mut bids, mut calm) = (Vec::new(), Vec::new());
    for height in (102..200).step_by(2) {
        outbox.update(at(height, 5));
        for tx in outbox.due() {
            let body = body(&tx);
            assert_eq!(body.nonce, if tx.purpose == Purpose::Heartbeat { 6 } else { 5 });
            let bids = if body.nonce == 5 { &mut bids } else { &mut calm };
            bids.push(body.cycle_bid.max_priority);
        }
    }
    bids.dedup();
    let start = body(&first[0]).cycle_bid.max_priority;
    assert_eq!(bids, (0..=5).map(|n| start << n).collect::<Vec<_>>(), "doubled five times");
    calm.dedup();
    assert_eq!(calm.len(), 1, "a heartbeat can wait");
}

fn reveal(n: u8) -> (Purpose, Instruction) {
    let (Purpose::Job(job, ..), _) = commit(n) else { unreachable!() };
    let signal = remuda_protocol::event::CrashSignal::Other;
    (Purpose::Job(job, 0, TxKind::Reveal), Instruction::CrashAttestation { job, signal })
}

#[test]
fn what_stake_depends_on_goes_first_and_one_node_does_not_end_it() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    let (purpose, instruction) = reveal(2);
    outbox.want_with(purpose, instruction.clone(), Some(777_000), 100);
    let due = outbox.due();
    assert_eq!((due[0].purpose, nonce(&due[0])), (purpose, 5));
    assert!(body(&due[0]).cycles_limit > 777_000, "as much as judging it takes");
    for _ in 0..10 {
        let hash = outbox.pending.values().find(|p| p.purpose == purpose).unwrap().signed.hash;
        outbox.refused_for_good(hash);
        outbox.want(purpose, instruction.clone(), 100);
        outbox.due();
        assert!(outbox.has(&purpose), "it is wanted again, however often a node says no");
    }
}

#[test]
fn a_used_nonce_ends_it_and_an_older_view_does_not_begin_it_again() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    let hash = outbox.due()[0].signed.hash;
    let over = outbox.update(at(103, 6));
    assert_eq!(over, [(commit(1).0, hash)]);
    assert!(outbox.is_empty());
    want(&mut outbox, 1, 102);
    assert!(outbox.is_empty(), "this view is from before it happened");
    want(&mut outbox, 1, 103);
    assert_eq!(nonces(&outbox.due()), [6], "somebody else used that nonce");
}

#[test]
fn a_deed_that_is_always_in_vain_ends() {
    let mut outbox = outbox();
    let mut sent = 0;
    for i in 0..10 {
        want(&mut outbox, 1, 100 + i);
        sent += outbox.due().len();
        outbox.update(at(101 + i, 6 + i));
    }
    assert_eq!(sent, 3);
    let (purpose, _) = commit(1);
    let Purpose::Job(job, ..) = purpose else { unreachable!() };
    outbox.forget(job);
    want(&mut outbox, 1, 200);
    assert_eq!(outbox.len(), 1);
}

#[test]
fn an_outgrown_bid_is_raised_in_place() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    let old = outbox.due().remove(0);
    let basefees = Basefees { cycle: 2_001, cell: 1_000 };
    outbox.update(AccountSnapshot { basefees, ..at(101, 5) });
    let new = outbox.due().remove(0);
    assert_eq!(nonce(&new), 5);
    let body = |tx: &OutgoingTx| SignedTransaction::from_bytes(&tx.signed.bytes).unwrap().body;
    assert_eq!(body(&new).instruction, body(&old).instruction, "it says the same");
    assert!(body(&new).cycle_bid.max_fee >= 2 * body(&old).cycle_bid.max_fee);
    assert!(body(&new).cell_bid.max_priority >= 2 * body(&old).cell_bid.max_priority);
    assert_eq!(outbox.due(), []);
}

#[test]
fn what_waits_from_an_earlier_life_goes_first() {
    let mut outbox = outbox();
    outbox.update(AccountSnapshot { next_nonce: 8, ..at(101, 5) });
    want(&mut outbox, 1, 101);
    assert_eq!(nonces(&outbox.due()), [8]);
    outbox.update(AccountSnapshot { next_nonce: 8, ..at(102, 8) });
    assert_eq!(outbox.due(), []);
}

#[test]
fn a_node_that_makes_up_waiting_transactions_delays_and_does_not_stop() {
    let mut outbox = outbox();
    let lie = |height| AccountSnapshot { next_nonce: 60, ..at(height, 5) };
    outbox.update(lie(101));
    want(&mut outbox, 1, 101);
    want(&mut outbox, 2, 101);
    assert_eq!(nonces(&outbox.due()), [60, 61]);
    let mut sent = Vec::new();
    for height in 102..110 {
        outbox.update(lie(height));
        sent.extend(nonces(&outbox.due()));
    }
    assert!(sent.contains(&5) && sent.contains(&6), "{sent:?}");
}

#[test]
fn what_no_node_takes_makes_room_for_what_comes_after_it() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    want(&mut outbox, 2, 100);
    let sent = outbox.due();
    outbox.refused_for_good(sent[0].signed.hash);
    let again = outbox.due();
    assert_eq!(nonces(&again), [5]);
    assert_eq!(again[0].purpose, commit(2).0);
}

#[test]
fn no_more_are_on_their_way_than_mempools_keep() {
    let mut outbox = outbox();
    for n in 0..100 {
        want(&mut outbox, n, 100);
    }
    assert_eq!(outbox.due().len(), IN_FLIGHT_MAX);
    outbox.update(at(101, 5 + 48));
    assert_eq!(outbox.due().len(), IN_FLIGHT_MAX);
}

/// What a commit binds at the basefee of these tests.
fn commit_cost() -> u128 {
    cost(&super::body(&FACTS, 5, commit(1).1, None))
}

#[test]
fn what_cannot_be_paid_takes_no_nonce() {
    let mut outbox = outbox();
    let with = |height, balance| AccountSnapshot { balance, ..at(height, 5) };
    outbox.update(with(101, commit_cost() * 2 - 1));
    want(&mut outbox, 1, 101);
    want(&mut outbox, 2, 101);
    assert_eq!(nonces(&outbox.due()), [5], "the second one is not covered beside the first");
    assert_eq!(outbox.len(), 2, "and is not forgotten");
    outbox.want(Purpose::Heartbeat, Instruction::Heartbeat, 101);
    outbox.update(with(102, commit_cost() * 2));
    assert_eq!(nonces(&outbox.due()), [6]);
}

/// What a reveal binds that takes this much judging, at the usual bid.
fn reveal_cost(spare: u64) -> u128 {
    cost(&super::body(&FACTS, 5, reveal(1).1, Some(spare)))
}

fn want_reveal(outbox: &mut Outbox, n: u8, spare: u64) -> Purpose {
    let (purpose, instruction) = reveal(n);
    outbox.want_with(purpose, instruction, Some(spare), 100);
    purpose
}

fn purposes(txs: &[OutgoingTx]) -> Vec<Purpose> {
    txs.iter().map(|tx| tx.purpose).collect()
}

const DEAR: u64 = 9_000_000;

#[test]
fn the_next_money_is_for_what_stake_depends_on() {
    let mut outbox = outbox();
    outbox.update(AccountSnapshot { balance: 0, ..at(101, 5) });
    want(&mut outbox, 1, 101);
    let dear = want_reveal(&mut outbox, 9, DEAR);
    outbox.update(AccountSnapshot { balance: commit_cost(), ..at(102, 5) });
    assert_eq!(outbox.due(), [], "it would be enough for the commit, which can wait");
    outbox.update(AccountSnapshot { balance: reveal_cost(DEAR), ..at(103, 5) });
    assert_eq!(purposes(&outbox.due()), [dear]);
}

#[test]
fn one_reveal_that_cannot_be_paid_does_not_hold_up_others() {
    let mut outbox = outbox();
    outbox.update(AccountSnapshot { balance: reveal_cost(0), ..at(101, 5) });
    let cheap = want_reveal(&mut outbox, 8, 0);
    want_reveal(&mut outbox, 9, DEAR);
    assert_eq!(purposes(&outbox.due()), [cheap]);
    assert_eq!(outbox.len(), 2);
}

#[test]
fn a_reveal_bids_what_there_is_as_long_as_a_block_takes_it() {
    let (mut outbox, spare) = (outbox(), 100_000);
    let with = |height, balance| AccountSnapshot { balance, ..at(height, 5) };
    // A bid of 9/8 of the basefee needs 9/16 of the usual deposit.
    outbox.update(with(101, reveal_cost(spare) / 2));
    let purpose = want_reveal(&mut outbox, 9, spare);
    want(&mut outbox, 1, 101);
    assert_eq!(outbox.due(), [], "no block would take it");
    outbox.update(with(102, reveal_cost(spare) * 10 / 16));
    let due = outbox.due();
    assert_eq!(purposes(&due), [purpose]);
    assert_eq!(body(&due[0]).cycle_bid, Bid { max_fee: 1_125, max_priority: 100 });
    let basefees = Basefees { cycle: 1_126, cell: 1_000 };
    outbox.update(AccountSnapshot { basefees, ..with(103, reveal_cost(spare) * 11 / 16) });
    let again = outbox.due();
    let (old, new) = (body(&due[0]), body(&again[0]));
    assert!(new.cycle_bid.max_fee >= 1_126 * 9 / 8 && new.cell_bid.max_fee >= 1_237);
    assert!(new.cycle_bid.max_fee < 2 * old.cycle_bid.max_fee, "as little as it takes");
    assert!(new.cell_bid.max_priority >= 110, "all bids rise");
}

fn all_of(n: u8) -> (Purpose, Instruction) {
    let (Purpose::Job(job, ..), instruction) = reveal(n) else { unreachable!() };
    (Purpose::Job(job, 0, TxKind::RevealAll), instruction)
}

#[test]
fn who_cannot_pay_for_all_results_any_more_makes_room_for_its_own() {
    let mut outbox = outbox();
    let (all, instruction) = all_of(9);
    let with = |height, basefee| AccountSnapshot {
        balance: reveal_cost(DEAR),
        basefees: Basefees { cycle: basefee, cell: 1_000 },
        ..at(height, 5)
    };
    outbox.update(with(101, 1_000));
    outbox.want_with(all, instruction.clone(), Some(DEAR), 101);
    assert_eq!(purposes(&outbox.due()), [all]);
    outbox.update(with(102, 2_001));
    assert_eq!(outbox.due(), []);
    assert!(!outbox.has(&all));
    let own = want_reveal(&mut outbox, 9, 0);
    let due = outbox.due();
    assert_eq!((purposes(&due), nonces(&due)), (vec![own], vec![5]));
    assert!(body(&due[0]).cell_bid.max_fee >= 2_200, "it takes the place of what was sent");
    // And one that was never signed does not wait for money either.
    outbox.want_with(all_of(8).0, instruction, Some(DEAR), 102);
    assert_eq!(outbox.due(), []);
    assert!(!outbox.has(&all_of(8).0));
}

#[test]
fn what_can_wait_does_not_hold_up_what_stake_depends_on() {
    let mut outbox = outbox();
    outbox.want(Purpose::Pause, Instruction::PauseRunner, 100);
    let first = outbox.due();
    want_reveal(&mut outbox, 9, 0);
    outbox.due();
    let mut bid = 0;
    for height in (102..112).step_by(2) {
        outbox.update(at(height, 5));
        let due = outbox.due();
        let pause = due.iter().find(|tx| tx.purpose == Purpose::Pause);
        bid = bid.max(pause.map_or(0, |tx| body(tx).cycle_bid.max_fee));
    }
    assert!(bid > body(&first[0]).cycle_bid.max_fee, "it is in the way and bids more");
}

#[test]
fn what_cannot_be_raised_goes_behind_what_stake_depends_on() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    outbox.due();
    let purpose = want_reveal(&mut outbox, 9, 0);
    assert_eq!(nonces(&outbox.due()), [6]);
    let basefees = Basefees { cycle: 2_001, cell: 1_000 };
    let balance = commit_cost() + reveal_cost(0);
    outbox.update(AccountSnapshot { basefees, balance, ..at(101, 5) });
    let due = outbox.due();
    assert_eq!((due[0].purpose, nonce(&due[0])), (purpose, 5));
}

#[test]
fn a_nonce_that_somebody_else_used_does_not_count() {
    let mut outbox = outbox();
    let job = B256::repeat_byte(9);
    let signal = remuda_protocol::event::CrashSignal::Other;
    let attest = Purpose::Job(job, 0, TxKind::Attest);
    let wanted = |outbox: &mut Outbox, seen| {
        outbox.want(attest, Instruction::CrashAttestation { job, signal }, seen);
        nonces(&outbox.due())
    };
    assert_eq!(wanted(&mut outbox, 100), [5]);
    outbox.update(at(101, 6));
    assert!(wanted(&mut outbox, 101).is_empty(), "once is enough");
    outbox.not_done(&attest);
    assert_eq!(wanted(&mut outbox, 102), [6]);
}

#[test]
fn nonces_that_cannot_be_change_nothing() {
    let mut outbox = outbox();
    outbox.update(AccountSnapshot { next_nonce: u64::MAX, ..at(101, 5) });
    want(&mut outbox, 1, 101);
    want(&mut outbox, 2, 101);
    assert_eq!(nonces(&outbox.due()), [5, 6]);
    outbox.update(at(u64::MAX, u64::MAX));
    want(&mut outbox, 3, u64::MAX);
    want(&mut outbox, 4, u64::MAX);
    assert_eq!(nonces(&outbox.due()), [u64::MAX]);
    assert_eq!(outbox.len(), 2);
}

#[test]
fn money_that_went_elsewhere_gives_the_nonce_back() {
    let mut outbox = outbox();
    want(&mut outbox, 1, 100);
    want(&mut outbox, 2, 100);
    assert_eq!(nonces(&outbox.due()), [5, 6]);
    let poor = |height| AccountSnapshot { balance: commit_cost() - 1, ..at(height, 5) };
    outbox.update(poor(102));
    assert_eq!(outbox.due(), [], "nothing that no node takes");
    let job = B256::repeat_byte(9);
    let signal = remuda_protocol::event::CrashSignal::Other;
    let attest = Purpose::Job(job, 0, TxKind::Attest);
    outbox.want(attest, Instruction::CrashAttestation { job, signal }, 102);
    let due = outbox.due();
    assert_eq!((nonces(&due), due[0].purpose), (vec![5], attest), "the nonce is free again");
}

#[test]
fn a_bid_is_not_raised_beyond_what_there_is() {
    let mut outbox = outbox();
    let with = |height| AccountSnapshot { balance: commit_cost(), ..at(height, 5) };
    outbox.update(with(101));
    want(&mut outbox, 1, 101);
    let first = outbox.due();
    for height in (103..140).step_by(2) {
        outbox.update(with(height));
        let again = outbox.due();
        assert!(again.iter().all(|tx| tx.signed == first[0].signed), "block {height}");
    }
}
