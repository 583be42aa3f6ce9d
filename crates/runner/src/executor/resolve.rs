//! From names to addresses, for connections.

use futures::future::BoxFuture;
use std::io;
use std::net::IpAddr;

/// Looks up names. The answer is checked, and connections use it without a second lookup.
pub trait Resolve: Send + Sync {
    /// All addresses of a name, best first.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// As this machine looks up names.
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // The port plays no part; the call wants one.
            Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
        })
    }
}
