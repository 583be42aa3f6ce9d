//! Gathers events into batches, and answers them.
//!
//! Every statement costs the same for few events and for many, so writers of one orchestrator take turns: while one
//! decides, what comes gathers, and the next one has all of it as soon as the first one commits. But nobody's turn lasts
//! where it waits for rows that others have.

use super::{Core, Trouble};
use crate::lease::{Event, Handled};
use crate::store::StoreError;
use crate::time::Millis;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc, oneshot};
use tokio::time::timeout;

/// Events decided in one transaction at most: a bound on how long the first one waits, and on how
/// much others have to wait for.
const BATCH_MAX: usize = 256;
/// How often an event is deferred, or its batch retried.
pub(super) const TRIES_MAX: u32 = 100;
/// After so many, events are decided one by one: one of them may be in the way of all others.
const TOGETHER_MAX: u32 = 3;

pub(super) struct Ask {
    pub(super) given: Millis,
    pub(super) event: Box<Event>,
    pub(super) answer: oneshot::Sender<Result<Handled, StoreError>>,
    pub(super) tries: u32,
}

impl Ask {
    /// Whether it is decided about by itself.
    fn alone(&self) -> bool {
        self.tries >= TOGETHER_MAX
    }

    fn say(self, answer: Result<Handled, StoreError>) {
        // The client may have disconnected; the decision stands.
        let _ = self.answer.send(answer);
    }
}

/// How long those that are decided by themselves keep others waiting.
const ALONE_MAX: Duration = Duration::from_millis(100);

/// Longer than a batch takes until it is committed, unless it waits for others.
const TURN_MAX: Duration = Duration::from_millis(50);

/// It is this writer's turn.
pub(super) type Turn = OwnedMutexGuard<()>;

/// What several writers take from.
pub(super) type Asks = Arc<Mutex<mpsc::Receiver<Ask>>>;

/// Until nobody can ask any more.
pub(super) async fn run(core: Arc<Core>, asks: Asks) {
    let mut batch: Vec<Ask> = Vec::new();
    loop {
        let turn = core.turn.clone();
        let turn = if batch.is_empty() {
            let mut asks = asks.lock().await;
            if asks.recv_many(&mut batch, BATCH_MAX).await == 0 {
                return;
            }
            let turn = timeout(TURN_MAX, turn.lock_owned()).await.ok();
            let room = BATCH_MAX - batch.len();
            take(&mut asks, &mut batch, room);
            turn
        } else {
            // Deferred events do not wait for new ones, but the batch includes those already queued. Events that run
            // alone take no place in it.
            if let Ok(mut asks) = asks.try_lock() {
                let others = batch.iter().filter(|ask| !ask.alone()).count();
                take(&mut asks, &mut batch, BATCH_MAX.saturating_sub(others));
            }
            turn.try_lock_owned().ok()
        };
        batch = round(&core, batch, turn).await;
    }
}

/// As many as are there, and no more than there is room for.
fn take(asks: &mut mpsc::Receiver<Ask>, batch: &mut Vec<Ask>, room: usize) {
    for _ in 0..room {
        let Ok(ask) = asks.try_recv() else { return };
        batch.push(ask);
    }
}

/// Decides about a batch; gives back what is put off.
async fn round(core: &Core, mut batch: Vec<Ask>, turn: Option<Turn>) -> Vec<Ask> {
    // A runner that left would hold what it is granted until its time to acknowledge is over. And what was put off and
    // nobody waits for any more is as if it had not come: it would be put off again.
    let dropped = |ask: &Ask| ask.tries > 0 || matches!(*ask.event, Event::Lease { .. });
    batch.retain(|ask| !(ask.answer.is_closed() && dropped(ask)));
    let (alone, together): (Vec<_>, Vec<_>) = batch.into_iter().partition(Ask::alone);
    // Logs have a table of their own. Where it is what somebody has locked, all else goes on.
    let put_off = together.iter().any(|ask| ask.tries > 0);
    let log = |ask: &Ask| put_off && matches!(*ask.event, Event::Log(_));
    let (logs, others): (Vec<_>, Vec<_>) = together.into_iter().partition(log);
    let mut left = decide(core, others, turn).await;
    left.extend(decide(core, logs, None).await);
    let (mut alone, began) = (alone.into_iter(), Instant::now());
    // Stop at the first conflict, which may take a whole lock timeout: events that arrived meanwhile go first.
    while began.elapsed() < ALONE_MAX
        && let Some(ask) = alone.next()
    {
        let put_off = decide(core, vec![ask], None).await;
        let in_the_way = !put_off.is_empty();
        left.extend(put_off);
        if in_the_way {
            break;
        }
    }
    let tries = left.iter().map(|ask| ask.tries).max();
    // Those that had no turn are first when they have one.
    left.splice(0..0, alone);
    if let Some(tries) = tries {
        // The more often, the further apart those who are in each other's way.
        tokio::time::sleep(Duration::from_millis(tries.saturating_sub(1).min(20).into())).await;
    }
    left
}

async fn decide(core: &Core, batch: Vec<Ask>, turn: Option<Turn>) -> Vec<Ask> {
    if batch.is_empty() {
        return batch;
    }
    let given = batch.iter().map(|ask| ask.given).max().unwrap_or_default();
    let events: Vec<&Event> = batch.iter().map(|ask| &*ask.event).collect();
    let again = batch.iter().any(|ask| ask.tries > 1);
    let decided = core.together(given, &events, again, turn).await;
    let mut left = Vec::new();
    let mut put_off = |mut ask: Ask| {
        ask.tries += 1;
        match ask.tries < TRIES_MAX {
            true => left.push(ask),
            false => ask.say(Err(contention())),
        }
    };
    match decided {
        Ok(handled) => {
            for (ask, handled) in batch.into_iter().zip(handled) {
                match handled {
                    Some(handled) => ask.say(Ok(handled)),
                    None => put_off(ask),
                }
            }
        }
        Err(Trouble::Again) => batch.into_iter().for_each(put_off),
        // One row that cannot be read or written is the trouble of those who need it.
        Err(Trouble::Store(StoreError::Corrupt { .. }) | Trouble::Untaken(_))
            if batch.len() > 1 =>
        {
            batch.into_iter().for_each(|mut ask| {
                ask.tries = ask.tries.max(TOGETHER_MAX);
                put_off(ask);
            });
        }
        Err(Trouble::Store(error) | Trouble::Untaken(error)) => refuse(batch, &error),
    }
    left
}

fn refuse(batch: Vec<Ask>, error: &StoreError) {
    for ask in batch {
        ask.say(Err(error.clone()));
    }
}

pub(super) fn contention() -> StoreError {
    StoreError::Database("others were in the way too often".to_owned())
}
