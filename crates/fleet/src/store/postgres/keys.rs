//! Looks up keys. Anyone can create a key and present it, so look-ups are rate-limited: any number of keys costs a few
//! queries a second, each by primary key.

use crate::id::KeyId;
use crate::lease::WorkerRecord;
use crate::store::StoreError;
use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Most keys in one query, and most keys that wait for the next query.
const KEYS_MAX: usize = 1_024;
/// Pause between two queries. After an idle time the first query is sent at once.
const PACE: Duration = Duration::from_millis(50);

type Found = Result<Option<WorkerRecord>, StoreError>;

/// See the module. The task ends with this.
#[derive(Debug)]
pub(super) struct Keys(mpsc::Sender<(KeyId, oneshot::Sender<Found>)>);

impl Keys {
    /// `look` finds those of many keys that there are.
    pub(super) fn start<F>(look: impl Fn(Vec<KeyId>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Vec<WorkerRecord>, StoreError>> + Send,
    {
        let (asks, mut coming) = mpsc::channel::<(KeyId, oneshot::Sender<Found>)>(KEYS_MAX);
        tokio::spawn(async move {
            let mut came = Vec::new();
            while coming.recv_many(&mut came, KEYS_MAX).await > 0 {
                let (ids, answers): (Vec<KeyId>, Vec<_>) = came.drain(..).unzip();
                let found = look(ids.clone()).await.map(|found| {
                    let by_id = |worker: WorkerRecord| (worker.key.id(), worker);
                    found.into_iter().map(by_id).collect::<BTreeMap<_, _>>()
                });
                for (id, answer) in ids.iter().zip(answers) {
                    let found = found.as_ref().map(|found| found.get(id).cloned());
                    // An error means that the caller has gone away.
                    let _ = answer.send(found.map_err(Clone::clone));
                }
                tokio::time::sleep(PACE).await;
            }
        });
        Self(asks)
    }

    /// A machine that was let in.
    pub(super) async fn find(&self, id: &KeyId) -> Found {
        let (answer, answered) = oneshot::channel();
        self.0.try_send((id.clone(), answer)).map_err(|_| StoreError::Busy)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::KeyPair;
    use crate::time::Millis;
    use futures::future::join_all;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn a_flood_of_unknown_keys_costs_few_queries_and_hides_no_known_one() {
        let key = KeyPair::generate().public().clone();
        let worker = WorkerRecord {
            key: key.clone(),
            enrolled_by: "somebody".to_owned(),
            enrolled_at: Millis(1),
            expelled_at: None,
        };
        let queries = Arc::new(AtomicUsize::new(0));
        let (count, known) = (queries.clone(), worker.clone());
        let keys = Keys::start(move |ids| {
            count.fetch_add(1, Ordering::SeqCst);
            let known = ids.contains(&known.key.id()).then(|| known.clone());
            async { Ok(known.into_iter().collect()) }
        });
        let strangers: Vec<KeyId> =
            (0..5_000).map(|n| KeyId::new(&format!("{n:024x}")).expect("a key")).collect();
        let found = join_all(strangers.iter().map(|id| keys.find(id))).await;
        assert!(found.iter().all(|found| !matches!(found, Ok(Some(_)))));
        let refused = found.iter().filter(|found| found.is_err()).count();
        assert_eq!(refused, 5_000 - KEYS_MAX, "those who come when it is full try again");
        assert_eq!(keys.find(&key.id()).await.expect("looked up"), Some(worker));
        assert!(queries.load(Ordering::SeqCst) <= 3, "{queries:?}");
    }
}
