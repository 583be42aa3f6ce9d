//! A lease, from its grant to the answer to its last message.

use super::IDLE_PAUSE;
use super::beat::Beats;
use super::blocking::blocking;
use super::cache::{self, Caches};
use super::config::{Config, Images};
use super::image::{self, Image, ImageError};
use super::job_dir::JobDir;
use super::leftover;
use super::link::Link;
use super::log::Log;
use super::mask::Mask;
use super::retry::{self, RETRY_FOR, retry_until_answered};
use super::status::{CANCEL_ACK_RESERVE, Control, Status};
use super::steps::{Ended, Steps};
use crate::auth::random_hex;
use crate::broker::Cancels;
use crate::id::RunnerId;
use crate::message::{AckLease, AckLeaseAck, Failure, JobSpec, LeaseGranted, Phase};
use crate::time::Timestamp;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Time for the rest of the log after the job ended. Then its end is reported.
const LOG_PATIENCE: Duration = Duration::from_secs(60);
/// Time for removing the job's directory at shutdown.
const REMOVE_PATIENCE: Duration = Duration::from_secs(60);

async fn restore(spec: &JobSpec, caches: &Caches, dir: &Arc<JobDir>) -> io::Result<()> {
    let (specs, caches, dir) = (spec.caches.clone(), caches.clone(), dir.clone());
    let restored = blocking(move |cancel| {
        specs.iter().try_for_each(|spec| caches.restore(spec, &dir, cancel).map(|_| ()))
    });
    restored.await?
}

/// Waits until the lease has been expired for `grace`, as far as this side knows: no report can arrive then.
/// Answered heartbeats postpone it. Never returns before `first` or after `last`.
async fn until_lease_unreachable(
    mut held_until: watch::Receiver<Instant>,
    grace: Duration,
    (first, last): (Instant, Instant),
) {
    loop {
        let over = *held_until.borrow_and_update() + grace;
        tokio::select! {
            biased;
            Ok(()) = held_until.changed() => {}
            () = sleep_until(over.max(first).min(last)) => return,
        }
    }
}

/// State of a worker shared by all its leases.
pub(super) struct WorkerContext {
    pub(super) config: Config,
    pub(super) link: Link,
    pub(super) runner_id: RunnerId,
    pub(super) caches: Caches,
    /// Set if it runs containers.
    pub(super) images: Option<Arc<image::Store>>,
}

pub(super) struct LeaseRun<'a> {
    pub(super) context: &'a WorkerContext,
    pub(super) granted: &'a LeaseGranted,
    pub(super) control: watch::Sender<Control>,
    pub(super) status: watch::Sender<Status>,
    pub(super) held_until: watch::Sender<Instant>,
    pub(super) mask: Mask,
    pub(super) started: Timestamp,
}

/// Whether a variable's name suggests a secret.
fn secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

impl WorkerContext {
    /// Runs a granted job and reports its end. Returns when the orchestrator has answered, or the lease is
    /// lost. `drain` becomes true at shutdown.
    pub(super) async fn work(
        &self,
        granted: LeaseGranted,
        cancels: Option<&mut Cancels>,
        mut drain: watch::Receiver<bool>,
    ) {
        let ack = AckLease {
            job_id: granted.job_id.clone(),
            lease_id: granted.lease_id.clone(),
            runner_id: self.runner_id.clone(),
            accepted_at: Some(self.time()),
        };
        let sent = Instant::now();
        let taken = tokio::select! {
            taken = retry_until_answered(|| self.link.send("ack-lease", &ack)) => taken,
            // Not acknowledged, so nothing has started.
            () = self.drained(&mut drain) => return,
        };
        let acked: AckLeaseAck = match taken {
            Ok(acked) => acked,
            Err(error) => {
                tracing::warn!(%error, job = %granted.job_id, "lease not acknowledged");
                // The lease may be granted again until it expires.
                tokio::select! {
                    () = tokio::time::sleep(self.pause()) => {}
                    _ = drain.wait_for(|drain| *drain) => {}
                }
                return;
            }
        };
        let env = granted.job_spec.iter().flat_map(|spec| &spec.env);
        let marked = env.filter(|(name, _)| secret_name(name)).map(|(_, value)| value);
        let tokens = granted.cancel_token.iter().map(|token| token.as_str());
        let secrets = self.config.secrets.values().chain(marked).map(String::as_str);
        let mask = Mask::new(secrets.chain(tokens).chain([granted.lease_id.as_str()]));
        let ttl = Duration::from_secs(acked.lease_ttl_seconds.into());
        let run = LeaseRun {
            context: self,
            granted: &granted,
            control: watch::channel(Control::Go).0,
            status: watch::channel(Status::default()).0,
            held_until: watch::channel(sent + ttl).0,
            mask,
            started: self.time(),
        };
        let beats = Beats {
            link: self.link.clone(),
            runner_id: self.runner_id.clone(),
            granted: granted.clone(),
            status: run.status.subscribe(),
            mask: run.mask.clone(),
            control: run.control.clone(),
            clock: self.config.clock,
            held_until: run.held_until.clone(),
        };
        let patience = async {
            self.drained(&mut drain).await;
            run.control.send_if_modified(|control| control.raise(Control::Shutdown));
            // Steps get their grace period even under a lost lease. Bounded, in case only heartbeats are
            // answered.
            let first = Instant::now() + ttl + self.config.grace;
            let last = first + LOG_PATIENCE + REMOVE_PATIENCE;
            until_lease_unreachable(run.held_until.subscribe(), self.config.grace, (first, last))
                .await;
            tracing::warn!(job = %granted.job_id, "lease unreachable, result dropped");
        };
        let stops = async {
            // Without a broker cancellations come with heartbeats.
            let Some(cancels) = cancels else { return };
            if let Some(cancel) = cancels.next(&granted).await {
                let until = Instant::now() + Duration::from_secs(cancel.deadline_seconds.into());
                run.control.send_if_modified(|control| control.raise(Control::Cancel { until }));
            }
        };
        // Heartbeats continue until the last message is answered.
        tokio::select! {
            () = run.run(sent) => {}
            () = patience => {}
            () = async { tokio::join!(beats.run(), stops, std::future::pending::<()>()); } => {}
        }
    }

    /// Waits for shutdown and the drain time.
    async fn drained(&self, drain: &mut watch::Receiver<bool>) {
        if drain.wait_for(|drain| *drain).await.is_err() {
            // The sender is gone: no shutdown will come.
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(self.config.drain).await;
    }

    /// Pause between two requests for a job.
    pub(super) fn pause(&self) -> Duration {
        retry::jittered(IDLE_PAUSE)
    }

    pub(super) fn time(&self) -> Timestamp {
        self.config.clock.now().timestamp()
    }
}

impl LeaseRun<'_> {
    async fn run(&self, acked: Instant) {
        tracing::info!(job = %self.granted.job_id, fence = %self.granted.fence, "job started");
        let until = acked + Duration::from_secs(self.granted.max_runtime_seconds.into());
        let Some(spec) = &self.granted.job_spec else {
            let why = "this worker supports embedded job specs only";
            return self.broken(why, Some(Failure::SpecInvalid)).await;
        };
        if let Some(call) = &spec.call {
            return self.call(call, until).await;
        }
        let caches = &self.context.caches.of(self.granted.cache_scope.as_deref());
        let image = match self.image(spec).await {
            Ok(image) => image,
            Err(why) => return self.broken(&why, Some(Failure::ImageUnavailable)).await,
        };
        if let Some((first, second)) = cache::overlap(&spec.caches) {
            let why = format!("paths of caches overlap: {first:?} and {second:?}");
            return self.broken(&why, Some(Failure::SpecInvalid)).await;
        }
        let dir = match JobDir::make(&self.context.config, self.granted, spec) {
            Ok(Some(dir)) => Arc::new(dir),
            Ok(None) => {
                let why = "the workdir leads out of the job's directory";
                return self.broken(why, Some(Failure::SpecInvalid)).await;
            }
            Err(error) => {
                let why = format!("failed to create the job's directory: {error}");
                return self.broken(&why, None).await;
            }
        };
        let ended = self.steps(spec, caches, &dir, image.as_ref(), until).await;
        if ended == Ended::Stale {
            return self.clear(dir).await;
        }
        self.status.send_modify(|status| status.phase = Phase::Uploading);
        let mut control = self.control.subscribe();
        let (ended, failure, artifacts) = tokio::select! {
            biased;
            // A cancellation has a deadline; a lost lease makes uploads pointless.
            by = Ended::demanded(&mut control) => (ended.cut(by), None, vec![self.log_artifact()]),
            (artifacts, kept) = self.store_outputs(spec, caches, &dir, &ended) => match kept {
                Err((why, failure)) if ended == Ended::Succeeded => {
                    (Ended::Broken(why), failure, artifacts)
                }
                _ => (ended, None, artifacts),
            },
        };
        // Removed before the end is reported.
        self.clear(dir).await;
        self.end(ended, failure, artifacts, None).await;
    }

    /// Removes the job's directory, waiting no longer than a cancellation allows.
    async fn clear(&self, dir: Arc<JobDir>) {
        let cleared = tokio::spawn(dir.clear());
        tokio::select! {
            _ = cleared => {}
            () = self.until_cancel_deadline() => {
                tracing::warn!(job = %self.granted.job_id, "job directory not removed before the cancellation deadline");
            }
        }
    }

    /// Waits until a cancellation's deadline is near.
    async fn until_cancel_deadline(&self) {
        let mut control = self.control.subscribe();
        let canceled = control.wait_for(|control| matches!(control, Control::Cancel { .. })).await;
        let Ok(Control::Cancel { until }) = canceled.map(|control| *control) else {
            return std::future::pending().await;
        };
        let left = until.saturating_duration_since(Instant::now());
        sleep(left - CANCEL_ACK_RESERVE.min(left / 2)).await;
    }

    async fn broken(&self, why: &str, failure: Option<Failure>) {
        self.end(Ended::Broken(why.to_owned()), failure, vec![], None).await;
    }

    /// Prepares the job's image, if it needs one here.
    async fn image(&self, spec: &JobSpec) -> Result<Option<Image>, String> {
        let Some(reference) = &spec.image else { return Ok(None) };
        let images = match (&self.context.config.images, &self.context.images) {
            (Images::Ignore, _) => return Ok(None),
            (Images::Runc(_), Some(images)) => images.clone(),
            _ => {
                let why = "this worker does not run images; set `images` to \"runc\" or \"ignore\" in its settings, or give the job a tag that only workers with images have";
                return Err(why.to_owned());
            }
        };
        let reference = reference.clone();
        let prepared = blocking(move |_| images.prepare(&reference)).await;
        let prepared = prepared.map_err(ImageError::Disk);
        prepared.and_then(|image| image).map(Some).map_err(|error| error.to_string())
    }

    async fn steps(
        &self,
        spec: &JobSpec,
        caches: &Caches,
        dir: &Arc<JobDir>,
        image: Option<&Image>,
        until: Instant,
    ) -> Ended {
        let broken =
            |error: std::io::Error| Ended::Broken(format!("failed to start the job: {error}"));
        let mut control = self.control.subscribe();
        let restored = tokio::select! {
            restored = restore(spec, caches, dir) => restored,
            () = sleep_until(until) => return Ended::TimedOut,
            ended = Ended::demanded(&mut control) => return ended,
        };
        if let Err(error) = restored {
            return broken(error);
        }
        let (input, output) = match std::io::pipe() {
            Ok(ends) => ends,
            Err(error) => return broken(error),
        };
        let input = match pipe::Receiver::from_owned_fd(input.into()) {
            Ok(input) => input,
            Err(error) => return broken(error),
        };
        let log = Log {
            link: self.context.link.clone(),
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.context.runner_id.clone(),
            mask: self.mask.clone(),
            status: self.status.clone(),
            tolerance: RETRY_FOR,
        };
        let mark = random_hex::<16>();
        // If the worker is killed, its successor finds the processes by this mark.
        let _noted = match leftover::note(&self.context.config.folder, &mark) {
            Ok(noted) => noted,
            Err(error) => return broken(error),
        };
        let steps = Steps {
            config: &self.context.config,
            granted: self.granted,
            spec,
            dir,
            image,
            mark: &mark,
            output,
            control: self.control.subscribe(),
            status: &self.status,
            until,
        };
        let log = log.run(input);
        tokio::pin!(log);
        let mut logged = false;
        let steps = steps.run();
        tokio::pin!(steps);
        let ended = loop {
            tokio::select! {
                ended = &mut steps => break ended,
                () = &mut log, if !logged => logged = true,
            }
        };
        // All writers are gone, so the log is finite.
        if !logged && ended != Ended::Stale {
            tokio::select! {
                sent = timeout(LOG_PATIENCE, log) => if sent.is_err() {
                    tracing::warn!(job = %self.granted.job_id, "log upload timed out");
                },
                _ = control.wait_for(|control| *control == Control::Stale) => return Ended::Stale,
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_secret_are() {
        for name in ["API_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY"] {
            assert!(secret_name(name), "{name}");
        }
        assert!(!secret_name("CI") && !secret_name("PATH"));
    }

    #[tokio::test]
    async fn a_job_is_not_given_up_while_its_lease_is_extended() {
        const HELD: Duration = Duration::from_secs(1);
        const GRACE: Duration = Duration::from_millis(100);
        let (held, until) = watch::channel(Instant::now() + HELD);
        let (began, hour) = (Instant::now(), Duration::from_secs(3_600));
        let beats = async {
            while began.elapsed() < 2 * HELD {
                held.send_replace(Instant::now() + HELD);
                sleep(HELD / 20).await;
            }
            Instant::now()
        };
        let given_up = async {
            until_lease_unreachable(until, GRACE, (began, began + hour)).await;
            Instant::now()
        };
        let (last_beat, given_up) = tokio::join!(beats, given_up);
        assert!(given_up > last_beat, "it was, by {:?}", last_beat - given_up);
        assert!(given_up - last_beat < 2 * HELD, "it must end");
    }

    #[tokio::test]
    async fn a_worker_ends_though_its_lease_never_does() {
        let (began, soon) = (Instant::now(), Duration::from_millis(50));
        let (_held, until) = watch::channel(began + Duration::from_secs(3_600));
        let given_up = until_lease_unreachable(until, Duration::ZERO, (began, began + soon));
        timeout(Duration::from_secs(30), given_up).await.expect("in time");
        // Not before the grace of steps, even if the lease expired before shutdown.
        let (_held, until) = watch::channel(began);
        let began = Instant::now();
        until_lease_unreachable(until, Duration::ZERO, (began + soon, began + 2 * soon)).await;
        assert!(began.elapsed() >= soon);
    }
}
