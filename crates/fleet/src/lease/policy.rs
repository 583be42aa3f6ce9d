//! Numbers that an operator may choose. Defaults are the seed's ("Recommended Defaults").

use std::time::Duration;

/// How patient the orchestrator is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// A lease ends so long after the last heartbeat.
    pub lease_ttl_seconds: u32,
    /// How often runners should beat.
    pub heartbeat_interval_seconds: u32,
    /// A grant that is not acknowledged in this time is revoked.
    pub ack_window_seconds: u32,
    /// The time that a runner has to stop gracefully.
    pub cancel_deadline_seconds: u32,
    /// The runner ends the work at `max_runtime_seconds`; the orchestrator so much later, because it
    /// only does so for runners that do not (SPEC §14).
    pub runtime_buffer_seconds: u32,
    /// How often the same attempt is granted again after its lease was lost. Then the job is dead:
    /// a job that kills its runners must not kill all of them.
    pub losses_max: u32,
    /// How often the same attempt may be given back by runners that were told to end, which is nobody's
    /// fault. Beyond it each is a loss: a job that takes longer than its machines last must not go round
    /// for ever.
    pub returns_max: u32,
    /// If the orchestrator saw nothing for longer, not even a sweep, then no worker could be heard, and the time does
    /// not count ([`LeaseClock`](super::LeaseClock)).
    pub outage_after_seconds: u32,
    /// Leases that one sweep ends at most: the rest waits for the next, so that a sweep never holds
    /// up heartbeats that would have come in time.
    pub sweep_lapses_max: usize,
    /// What runners without work are told.
    pub retry_after_seconds: u32,
    /// Objects that one lease may write.
    pub uploads_max: u32,
    /// Bytes of objects that one lease may write: one job does not take the room of all.
    pub upload_bytes_max: u64,
    /// Bytes of log that one lease may write.
    pub log_bytes_max: u64,
    /// The longest pause between attempts.
    pub backoff_seconds_max: u32,
    /// Bytes of all logs together, in stores that count them. Beyond it jobs go on without. Runs of one submitter
    /// have three quarters of it at most.
    pub logs_bytes_max: u64,
    /// Bytes of all objects together, where their folder has a bound. Runs of one submitter have three quarters of
    /// it at most, in stores that count them; the folder sees to the rest.
    pub objects_bytes_max: u64,
    /// Memory that rows may take in stores that keep them there. From three quarters on, runs that
    /// ended are forgotten before their time; at the end of it no more are taken. Open runs of one
    /// submitter take half of it at most.
    pub rows_bytes_max: u64,
    /// Most distinct sets of tags and labels among one submitter's open jobs; at the limit its further runs are
    /// refused. For stores that keep rows in memory: a request for work may scan every set.
    pub tag_sets_max: usize,
}

impl Policy {
    pub fn outage_after(&self) -> Duration {
        Duration::from_secs(self.outage_after_seconds.into())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lease_ttl_seconds: 120,
            heartbeat_interval_seconds: 20,
            ack_window_seconds: 30,
            cancel_deadline_seconds: 30,
            runtime_buffer_seconds: 30,
            losses_max: 5,
            returns_max: 20,
            outage_after_seconds: 2,
            sweep_lapses_max: 256,
            retry_after_seconds: 1,
            uploads_max: 1_000,
            upload_bytes_max: 16 * 1024 * 1024 * 1024,
            log_bytes_max: 256 * 1024 * 1024,
            backoff_seconds_max: 600,
            logs_bytes_max: 16 * 1024 * 1024 * 1024,
            objects_bytes_max: u64::MAX,
            rows_bytes_max: 1024 * 1024 * 1024,
            tag_sets_max: 1_024,
        }
    }
}
