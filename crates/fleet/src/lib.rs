//! The fleet: jobs shared over many machines under leases, so that each is finalised once.
//!
//! The protocol is Delta's (seed 002 with SPEC §14). Its words are kept: here a *runner* is a worker,
//! one process that does one job at a time, and the *orchestrator* is the authority on who may.
//!
//! # Layout
//!
//! - [`message`]: messages, parsed under limits into types or errors
//! - [`lease`]: every rule, as pure decisions over a few rows each; no clock, no I/O, no randomness
//! - [`store`]: rows in memory, SQLite or PostgreSQL
//! - [`orchestrator`]: the rules behind HTTP (transport B), pages for people, `/openapi.json` for programs;
//!   [`orchestrator::serve`]
//! - [`broker`]: announcements and cancellations by NATS (transport A)
//! - [`worker`]: leases jobs, runs them and reports their ends; [`worker::run`]. A job is shell steps or a
//!   call of an [`worker::Executor`]
//! - [`auth`]: tokens, workers' keys and signatures, the audit log
//! - [`object`]: stored files of jobs, written once, in a directory or a bucket
//! - [`client`], [`view`]: the client of the API, and the views that it returns
//! - [`http`]: the HTTP client: TLS and trusted servers
//! - [`id`], [`time`]: a type per kind of id, counter and time
//! - [`bench`](mod@bench): a benchmark of stores
//!
//! # Design
//!
//! **Rows, decisions, transactions.** An event (a message, a sweep, a request of a person) reads a
//! handful of rows: a lease, its job, the job's run and labels, the jobs that need it. A pure function
//! maps rows and event to rows and answer. A store supplies the rows and makes the whole atomic; it
//! decides nothing. So one set of rules, one model and one set of histories serve every store.
//!
//! **One row per heartbeat.** The state under a lease (STARTING, RUNNING, progress, log
//! position, a cancellation) is in the lease's row; a job's row only names the lease. Thousands of
//! heartbeats write one small row each.
//!
//! **A grant is a row.** An attempt that loses its lease continues under a new lease with a higher
//! fence; the old lease's row stays, STALE. The table of leases is the history of grants.
//!
//! **Time is judged when a message arrives.** A lease ends at its deadline. Sweeps only make it
//! visible, so they may be late, bounded and concurrent, and a race with a `Complete` does not matter.
//!
//! **Nothing else must arrive.** [`lease::Action`]s (wake a poller, push a cancellation, publish a
//! job) save time; each can be lost and is found again from rows.
//!
//! # Faults
//!
//! Faults that other systems failed on, and the tests that cover them. The tests use real processes, which are killed, stopped,
//! starved, cut off and lied to by proxies; `parts` need other programs. In `parts::postgres::time`, `cut` and `locks` the database
//! is a process and the orchestrator's store is in the test; in `parts::bwrap` the job is, and the worker is in the test.
//!
//! | | fault | test |
//! |---|---|---|
//! | 1 | SIGKILL mid-step | `faults::killed::a_killed_workers_job_is_queued_once_and_ended_once` |
//! | 2 | worker suspended past its TTL, or cut off | `faults::stopped::a_worker_that_was_suspended_cannot_end_or_leave_anything`, `nothing_that_comes_under_a_lost_lease_is_taken`, `a_result_that_comes_too_late_changes_nothing`, `parts::netns::a_worker_that_was_cut_off_changes_nothing` |
//! | 3 | sweeper races `Complete` | `faults::races::a_result_that_races_the_sweeper_counts_wholly_or_not_at_all` |
//! | 4 | `CompleteAck` lost | `faults::lost::a_result_whose_answer_is_lost_is_accepted_again`, `parts::netns::an_end_whose_answer_is_lost_is_one_end` |
//! | 5 | grant lost | `faults::lost::a_worker_whose_grant_is_lost_is_not_locked_out_by_it` |
//! | 6, 7 | orchestrator away, suspended, or restarted; its database killed, or hung | `faults::killed::an_orchestrator_that_was_away_loses_no_work_and_repeats_none`, `faults::stopped::an_orchestrator_that_was_suspended_for_a_while_ends_no_lease`, `an_orchestrator_that_is_killed_again_and_again_ends_every_job_once`, `parts::postgres::killed`, `parts::postgres::time::a_database_that_hangs_costs_no_lease`, `parts::postgres::cut` |
//! | 8 | clocks off by an hour | `faults::clocks::workers_with_clocks_an_hour_ahead_and_an_hour_behind_keep_their_leases`, `parts::postgres::orchestrators_with_clocks_apart_stand_in_for_each_other`, `parts::postgres::time::a_clock_that_is_set_back_keeps_nobody_waiting` |
//! | 9 | cancellation of a silent worker | `faults::stopped::a_cancellation_is_forced_while_the_worker_is_silent` |
//! | 10 | cancellation races `Complete` | `faults::cancels::a_job_that_is_canceled_at_any_moment_ends_once`, `a_job_that_is_canceled_before_it_begins_never_begins` |
//! | 11 | processes that ignore SIGTERM | `faults::stubborn::a_canceled_tree_that_ignores_sigterm_is_gone_when_its_job_has_ended`, `parts::bwrap::nothing_outlives_its_sandbox` |
//! | 12 | a job that kills its workers, by memory too | `faults::killed::a_job_that_kills_its_workers_becomes_a_dead_letter`, `faults::memory` |
//! | 13 | thousands that beat in phase | `faults::crowd::runners_that_beat_in_phase_keep_their_leases_while_others_expire`; without processes: jitter in `worker::retry`, bounded sweeps in `tests/lease.rs` and `tests/sqlite.rs` |
//! | 14 | last lines of a log, secrets across two pieces | `faults::logs::a_secret_in_two_writes_is_masked_and_the_last_line_is_whole`, `a_log_is_whole_and_masked_though_the_orchestrator_is_killed_while_it_comes` |
//! | 15 | broker repeats or loses | `parts::nats::hints_that_are_repeated_or_false_start_nothing_twice`, `hints_that_are_lost_are_published_again`, `a_broker_that_was_away_and_forgot_everything_costs_no_job` |
//!
//! Full disks are in `faults::disk`, and answers of every kind that are lost in `faults::lost`.
//!
//! # Departures from the seed
//!
//! | here | seed | reason |
//! |---|---|---|
//! | `LeaseGranted.fence`, `.attempt` | only `lease_id` | a random id cannot order writes |
//! | `LeaseGranted.cache_scope` | none | one submitter's jobs must not run what another's left in a cache |
//! | `CancelRequested.cancel_token`, required by runners that were granted one | a token in no message | otherwise any publisher could stop any job |
//! | `Heartbeat.log_cursor` decides nothing | none said | the received log is in the rows |
//! | `Heartbeat.seq`, optional | none | a heartbeat that was overtaken must not extend a lease |
//! | `Heartbeat.phase`, optional | states without a message | STARTING and UPLOADING need a message |
//! | `Complete.failure`, optional | exit code and summary | only the runner can tell its own full disk from a failing test; the orchestrator still decides what follows |
//! | `job_spec.call`, `Complete.output` | scripts and artifacts | a worker may have executors; a call's output is accepted or refused with the message that carries it |
//! | `lease_ttl_seconds`, `retry.once` of a job | one TTL, and every loss is repeated | some jobs must leave time for another runner, and some must not start twice |
//! | `LogChunk`, `UploadRequest`, `Enrol` and their answers | left to others | logs resume, objects are bound to the lease, and a worker has a key |
//! | `Leave` and `Left` | none | a runner that shuts down is not listed as idle until it times out; nothing is decided by it |
//! | a job given back by a worker that shuts down is no loss, 20 times in an attempt | a lost lease | rolling restarts make no dead letters |
//! | a worker that cannot reach the orchestrator continues | may | an outage extends every lease, so its work is not lost; a heartbeat must be answered before it reports |
//! | `AckLeaseAck`, `CancelAckAck` | no answer | a runner resends until it has one |
//! | `StaleLease` has `stale: true, extend_lease: false` | two different answers to a stale heartbeat | it is both |
//! | only an acknowledged lease can complete | open | a grant that was not acknowledged has no result |
//! | a lost lease keeps its attempt | open | a crashed machine is not the job's failure |
//! | `job_spec_ref` is refused by workers | may be referenced | a spec has at most 1 MiB and fits into the grant; a worker fetches nothing unchecked |
//! | a message of the queue is a hint | a lease may come from the queue | a broker may lose or repeat messages; a lease is a row |
//! | a job whose need failed is CANCELED | no needs | every job ends |

pub mod auth;
pub mod bench;
pub mod broker;
pub mod client;
pub mod http;
pub mod id;
pub mod lease;
pub mod message;
pub mod object;
pub mod orchestrator;
pub mod store;
mod text;
pub mod time;
pub mod view;
pub mod worker;
