//! Notifications to and from other processes: orchestrators on the same database, and the broker.

use super::app::App;
use crate::broker::{Announcement, LOOK_MAX, Publisher};
use crate::lease::Action;
use crate::store::{AnyStore, Store};
use std::time::Duration;

/// Pause between attempts to subscribe to notifications.
const PAUSE: Duration = Duration::from_secs(1);

/// A job that becomes ready within this time is announced at once: its runner takes as long to ask.
const AT_ONCE_MILLIS: u64 = 100;

impl App {
    /// Wakes runners waiting here for jobs that became ready at another orchestrator.
    pub(super) async fn hear(self) {
        let AnyStore::Postgres(store) = &self.0.store else { return };
        loop {
            let heard = match store.hearing().await {
                Ok(mut hearing) => loop {
                    match hearing.next().await {
                        Ok(actions) => actions.into_iter().for_each(|action| self.follow(action)),
                        Err(error) => break error,
                    }
                },
                Err(error) => error,
            };
            tracing::warn!(error = %heard, "notifications unavailable, runners poll");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Publishes announcements. Returns at once without a broker.
    pub(super) async fn announce(self) {
        let Some(config) = self.0.config.broker.clone() else { return };
        let app = self.clone();
        let (publisher, run) = Publisher::new(config, move || {
            let app = app.clone();
            async move { app.0.store.waiting(app.now(), LOOK_MAX).await.unwrap_or_default() }
        });
        // Set here only.
        let _ = self.0.publisher.set(publisher);
        run.await;
    }

    /// Announces an action to the broker.
    pub(super) fn publish(&self, action: &Action) {
        let Some(publisher) = self.0.publisher.get() else { return };
        match action {
            // Jobs with a pause are found by the periodic look at the rows.
            Action::Ready { job_id, tags, pause_ms } if *pause_ms <= AT_ONCE_MILLIS => {
                publisher
                    .publish(Announcement::Ready { job_id: job_id.clone(), tags: tags.clone() });
            }
            Action::Cancel(runner, message) => {
                publisher.publish(Announcement::Cancel(runner.clone(), message.clone()));
            }
            _ => {}
        }
    }
}
