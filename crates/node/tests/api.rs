//! The API as a stranger sees it: a real socket, the real client, the real rules behind it.
#![allow(unreachable_pub)]

#[path = "api/chain.rs"]
mod chain;
#[path = "api/entitlements.rs"]
mod entitlements;
#[path = "api/errors.rs"]
mod errors;
#[path = "api/events.rs"]
mod events;
#[path = "api/jobs.rs"]
mod jobs;
#[path = "api/limits.rs"]
mod limits;
#[path = "api/links.rs"]
mod links;
#[path = "api/reading.rs"]
mod reading;
#[path = "api/submitting.rs"]
mod submitting;
#[path = "api/threads.rs"]
mod threads;
#[path = "api/world.rs"]
mod world;
