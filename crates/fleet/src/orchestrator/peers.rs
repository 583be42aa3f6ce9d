//! Those beside this orchestrator: others that share its database, and the broker.

use super::app::App;
use crate::broker::{Announcement, LOOK_MAX, Publisher};
use crate::lease::Action;
use crate::store::{AnyStore, Store};
use std::time::Duration;

/// Between two tries to hear others.
const PAUSE: Duration = Duration::from_secs(1);

/// What may be granted so soon is announced at once: its runner needs as long to ask.
const AT_ONCE_MILLIS: u64 = 100;

impl App {
    /// Wakes runners that wait here for what became ready elsewhere.
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
            tracing::warn!(error = %heard, "other orchestrators are not heard; runners look again");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Tells the broker what happens here. Returns at once if there is none.
    pub(super) async fn announce(self) {
        let Some(config) = self.0.config.broker.clone() else { return };
        let app = self.clone();
        let (publisher, run) = Publisher::new(config, move || {
            let app = app.clone();
            async move { app.0.store.waiting(app.now(), LOOK_MAX).await.unwrap_or_default() }
        });
        // Nobody else sets it.
        let _ = self.0.publisher.set(publisher);
        run.await;
    }

    /// What of an action others should know.
    pub(super) fn publish(&self, action: &Action) {
        let Some(publisher) = self.0.publisher.get() else { return };
        match action {
            // What has a pause is found when the rows are looked at.
            Action::Ready { job_id, tags, not_before }
                if not_before.0 <= self.now().0.saturating_add(AT_ONCE_MILLIS) =>
            {
                publisher.tell(Announcement::Ready { job_id: job_id.clone(), tags: tags.clone() });
            }
            Action::Cancel(runner, message) => {
                publisher.tell(Announcement::Cancel(runner.clone(), message.clone()));
            }
            _ => {}
        }
    }
}
