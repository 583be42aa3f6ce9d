//! Time in which nobody could be heard: leases have it back, however short it was.
//!
//! Sweeps leave the time of the database in one row. Where that is old, no orchestrator was there, or the database
//! took nothing. And where it is in the future, the database's clock was set back: what was to happen by itself
//! would not, until the clock has caught up.

use super::load::jobs;
use super::{Core, Now, Order, Trouble, save, schema, solo};
use crate::lease::{Event, JobRecord, Rows, handle, missed};
use crate::store::journal::{Changes, Journal};
use crate::store::row::number;
use crate::time::Millis;
use sqlx::{Connection, PgConnection};
use std::time::Instant;

/// Gives it back, once: whoever comes second finds that somebody was there. When the clock was looked at by which it was.
pub(super) async fn give_back(
    core: &Core,
    connection: &mut PgConnection,
) -> Result<Instant, Trouble> {
    let mut sql = connection.begin().await?;
    schema::hold(&mut sql).await?;
    let Now { now, seen, .. } = core.time(&mut sql, Millis(0), 0, Order::Any).await?;
    if core.watched(now, seen) {
        return Ok(Instant::now());
    }
    let mut paused = Vec::new();
    if now < seen {
        tracing::warn!(millis = seen.0 - now.0, "the database's clock was set back");
        paused = far_pauses(&mut sql, core, now).await?;
    }
    let mut tables = solo::rows(&mut sql, &Event::Start).await?;
    // It may have taken long to have them.
    let looked = Instant::now();
    let Now { now, .. } = core.time(&mut sql, Millis(0), 0, Order::Any).await?;
    paused.into_iter().for_each(|job| tables.put_job(job));
    let mut changes = Changes::default();
    let mut journal = Journal { tables: &mut tables, changes: &mut changes };
    let silence = now.0.saturating_sub(seen.0);
    if now < seen || silence > core.outage_millis() {
        // Its answer says nothing.
        let _ = handle(&mut journal, &core.policy, now, Event::Start);
    } else {
        for id in journal.live_leases() {
            if let Some(mut lease) = journal.lease(&id) {
                missed(&core.policy, silence, &mut lease);
                journal.put_lease(lease);
            }
        }
    }
    save::changes(&mut sql, &[(&tables, &changes)]).await?;
    schema::is(&mut sql, now).await?;
    sql.commit().await?;
    core.life.wrote(now);
    Ok(looked)
}

/// Jobs whose pauses are longer than any: they end by a clock that was set back.
async fn far_pauses(
    sql: &mut PgConnection,
    core: &Core,
    now: Millis,
) -> Result<Vec<JobRecord>, Trouble> {
    let query = "SELECT seq, fixed, changing FROM job WHERE waiting AND not_before > $1
        ORDER BY seq FOR UPDATE";
    let longest = now.plus_seconds(core.policy.backoff_seconds_max);
    jobs(&sqlx::query(query).bind(number(longest.0)).fetch_all(sql).await?)
}
