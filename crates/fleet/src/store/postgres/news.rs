//! Notices between orchestrators that share a database: there is new work, or room for it. A notice only
//! saves time and may be lost: every orchestrator also polls.
//!
//! It is told after the transaction that it is about, and in one of its own that waits for no disk: a
//! transaction that notifies holds a lock of the whole database until it is on the disk, so that no two
//! of them would ever be written together.

use super::{TRANSACTION_MAX, Trouble, with_deadline};
use crate::id::JobId;
use crate::lease::Action;
use crate::message::Tag;
use crate::store::StoreError;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use sqlx::postgres::PgListener;
use std::collections::BTreeSet;
use tokio::sync::mpsc;
use tokio::time::timeout;

const CHANNEL: &str = "remuda_fleet";
/// PostgreSQL takes less than 8,000 bytes.
const BYTES_MAX: usize = 7_500;
/// Messages that wait to be told, and go in one transaction. What is more is not told.
const WAITING_MAX: usize = 64;

#[derive(Debug, Default, Serialize, Deserialize)]
struct News {
    from: String,
    #[serde(default)]
    ready: Vec<Ready>,
    #[serde(default)]
    room: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Ready {
    job_id: JobId,
    tags: BTreeSet<Tag>,
    pause_ms: u64,
}

/// The notice for these actions; mostly none. It names only the first of many jobs: an orchestrator that
/// takes one of them asks again and finds the next.
pub(super) fn text<'a>(from: &str, actions: impl Iterator<Item = &'a Action>) -> Option<String> {
    let mut news = News { from: from.to_owned(), ..News::default() };
    let mut bytes = 0;
    for action in actions {
        match action {
            Action::Ready { job_id, tags, pause_ms } => {
                let tags_bytes: usize = tags.iter().map(|tag| tag.as_str().len() + 3).sum();
                bytes += 100 + job_id.as_str().len() + tags_bytes;
                if bytes < BYTES_MAX {
                    let (job_id, tags) = (job_id.clone(), tags.clone());
                    news.ready.push(Ready { job_id, tags, pause_ms: *pause_ms });
                }
            }
            Action::Room => news.room = true,
            _ => {}
        }
    }
    let none = news.ready.is_empty() && !news.room;
    let text = serde_json::to_string(&news).ok().filter(|_| !none);
    text.filter(|text| text.len() < BYTES_MAX)
}

/// Where those who have something to tell leave it.
pub(super) fn crier() -> (mpsc::Sender<String>, mpsc::Receiver<String>) {
    mpsc::channel(WAITING_MAX)
}

/// Tells what was left, until nobody can leave any more.
pub(super) async fn cry(pool: PgPool, mut left: mpsc::Receiver<String>) {
    let mut texts = Vec::new();
    while left.recv_many(&mut texts, WAITING_MAX).await > 0 {
        if let Err(error) = tell(&pool, &std::mem::take(&mut texts)).await {
            tracing::warn!(?error, "other orchestrators are not told; their runners look again");
        }
    }
}

/// One statement and no more, which is a transaction: this is done as often as anything is decided.
async fn tell(pool: &PgPool, texts: &[String]) -> Result<(), Trouble> {
    let all = "SELECT pg_notify($1, text) FROM unnest ($2::text[]) AS text,
        set_config('synchronous_commit', 'off', true)";
    let mut sql = pool.acquire().await?;
    let told = sqlx::query(all).bind(CHANNEL).bind(texts).execute(&mut *sql);
    let told = timeout(TRANSACTION_MAX, told).await;
    with_deadline(sql, told.map(|told| told.map_err(Trouble::from)))?;
    Ok(())
}

/// What others tell. It connects again by itself when it must.
#[derive(Debug)]
pub struct Hearing {
    listener: PgListener,
    name: String,
}

impl Hearing {
    pub(super) async fn open(pool: &PgPool, name: &str) -> Result<Self, StoreError> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Self { listener, name: name.to_owned() })
    }

    /// The next that somebody else tells.
    pub async fn next(&mut self) -> Result<Vec<Action>, StoreError> {
        loop {
            let heard = self.listener.recv().await?;
            // Another version may speak otherwise; then it is not understood, and nothing is lost.
            let Ok(news) = serde_json::from_str::<News>(heard.payload()) else { continue };
            if news.from == self.name {
                continue;
            }
            let ready = news.ready.into_iter().map(|ready| Action::Ready {
                job_id: ready.job_id,
                tags: ready.tags,
                pause_ms: ready.pause_ms,
            });
            return Ok(ready.chain(news.room.then_some(Action::Room)).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_jobs_fit_into_one_message() {
        let tags: BTreeSet<Tag> = [Tag::new("linux").expect("a tag")].into();
        let ready = |n: usize| Action::Ready {
            job_id: JobId::new(&format!("job_{n}")).expect("an id"),
            tags: tags.clone(),
            pause_ms: 0,
        };
        let actions: Vec<Action> = (0..1_000).map(ready).collect();
        let text = text("me", actions.iter()).expect("there is something to tell");
        assert!(text.len() < BYTES_MAX, "{}", text.len());
        let read: News = serde_json::from_str(&text).expect("JSON");
        assert!(read.ready.len() > 10 && read.ready[0].tags == tags);
        assert_eq!(super::text("me", std::iter::empty()), None);
    }
}
