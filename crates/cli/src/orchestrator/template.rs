//! What `remuda orchestrator init` is told, and the settings that it writes.

use super::bucket::{ACCESS_KEY, SECRET_KEY, anywhere};
use super::certificate::{CERTIFICATE, KEY};
use super::settings::{Lease, fifty_gib, five, one_gib, sixteen_gib, thirty};
use crate::failure::Failure;
use crate::fleet::broker;
use std::net::SocketAddr;
use std::path::{Path, PathBuf, absolute};

/// Whether a database's URL has one in it.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let user = host.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || rest.contains("password=")
}

#[derive(clap::Args, Clone, Debug)]
pub(super) struct InitOptions {
    /// Where it listens; port 0 takes a free one at each start, for tests.
    #[arg(long, default_value = crate::fleet::DEFAULT_LISTEN)]
    pub(super) listen: SocketAddr,
    /// Keep rows in PostgreSQL instead of a file; others may share it.
    #[arg(long, value_name = "URL")]
    pub(super) postgres: Option<String>,
    /// No tokens: every client has full access. Requires a loopback address.
    #[arg(long)]
    pub(super) open: bool,
    /// Serve TLS with this certificate chain, in PEM, the server's own certificate first.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(super) tls_certificate: Option<PathBuf>,
    /// The certificate's private key, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(super) tls_key: Option<PathBuf>,
    /// Create a certificate for this host name or address and serve TLS with it; may be given several times.
    /// Clients pass the directory's ca.pem with --ca-file.
    #[arg(long = "tls-name", value_name = "HOST", conflicts_with = "tls_certificate")]
    pub(super) tls_names: Vec<String>,
    /// Allow plain HTTP for other machines: anyone on the network path can read tokens, leases and job variables.
    #[arg(long)]
    pub(super) insecure: bool,
    /// Announce work through a NATS server with JetStream, tls://HOST:4222, so that it is taken at
    /// once; workers name the same.
    #[arg(long, value_name = "URL")]
    pub(super) nats: Option<String>,
    /// Most MiB of objects on this machine's disk. More are refused until old runs are forgotten.
    #[arg(long, value_name = "MIB", default_value_t = fifty_gib())]
    pub(super) objects_mib_max: u64,
    /// Keep objects in a bucket of a store that speaks S3, http://HOST:9000; others may share it.
    #[arg(long, value_name = "URL", requires = "s3_bucket")]
    pub(super) s3_endpoint: Option<String>,
    /// The bucket. It must be there.
    #[arg(long, value_name = "NAME", requires = "s3_endpoint")]
    pub(super) s3_bucket: Option<String>,
    /// What the store calls its place.
    #[arg(long, value_name = "NAME", default_value_t = anywhere(), requires = "s3_endpoint")]
    pub(super) s3_region: String,
    /// What all names in the bucket begin with, if it is shared: fleet/
    #[arg(long, value_name = "PREFIX", default_value = "", requires = "s3_endpoint")]
    pub(super) s3_prefix: String,
    /// A file with the bucket's keys, two lines: AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…;
    /// otherwise they are in the environment of `orchestrator run`. Never on a command line.
    #[arg(long, value_name = "FILE", requires = "s3_endpoint")]
    pub(super) s3_keys_file: Option<PathBuf>,
}

impl InitOptions {
    /// Everything as it is unless said otherwise.
    #[cfg(test)]
    pub(super) fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            postgres: None,
            open: false,
            tls_certificate: None,
            tls_key: None,
            tls_names: vec![],
            insecure: false,
            nats: None,
            objects_mib_max: fifty_gib(),
            s3_endpoint: None,
            s3_bucket: None,
            s3_region: anywhere(),
            s3_prefix: String::new(),
            s3_keys_file: None,
        }
    }

    /// What would make no sense in a file is said before one is written.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.open && !self.listen.ip().is_loopback() {
            let text = "--open is for this machine alone: listen on 127.0.0.1, or take tokens";
            return Err(Failure::Usage(text));
        }
        if !self.has_tls() && !self.insecure && !self.listen.ip().is_loopback() {
            return Err(Failure::Usage(
                "other machines would reach this address over plain HTTP, and anyone on the network path could read \
                 tokens, leases and job variables: add --tls-name HOST, or --tls-certificate and --tls-key, or --insecure",
            ));
        }
        // Everybody on the machine can read a command line.
        if self.postgres.as_deref().is_some_and(has_password) {
            return Err(Failure::Usage(
                "a database's URL with a password does not belong on the command line: leave --postgres out, and \
                 write it as postgres = \"…\" into the settings, which only their owner can read, or keep the \
                 password in ~/.pgpass",
            ));
        }
        self.nats.as_deref().map(broker::from_command_line).transpose()?;
        Ok(())
    }

    pub(super) fn has_tls(&self) -> bool {
        self.tls_certificate.is_some() || !self.tls_names.is_empty()
    }

    fn tls_text(&self) -> String {
        let mark = if self.has_tls() { "" } else { "# " };
        // They were named from here; the settings are read from elsewhere.
        let whole = |file: &PathBuf| absolute(file).unwrap_or_else(|_| file.clone());
        let name = |file: &Option<PathBuf>, made: &str| match file {
            Some(file) => whole(file),
            None => made.into(),
        };
        format!(
            "# TLS: the certificate chain, the server's own certificate first, and its private key, both in PEM.\n\
             # Both are reloaded when the files change.\n\
             {mark}[tls]\n\
             {mark}certificate_file = {:?}\n\
             {mark}key_file = {:?}\n",
            name(&self.tls_certificate, CERTIFICATE),
            name(&self.tls_key, KEY),
        )
    }

    /// Their text, with a word on each.
    pub(super) fn text(&self) -> String {
        let Lease { ttl_seconds, heartbeat_seconds, ack_seconds, cancel_seconds, losses_max } =
            Lease::default();
        let Self { listen, open, insecure, objects_mib_max, .. } = self;
        let postgres = match &self.postgres {
            // A debug string of Rust is a basic string of TOML, as far as URLs go.
            Some(url) => format!("postgres = {url:?}"),
            None => "# postgres = \"postgres://fleet@localhost/fleet\"".to_owned(),
        };
        format!(
            "# Settings of an orchestrator. `remuda orchestrator run` reads them at its start.\n\n\
             # Where it listens, for workers and people alike. Port 0 takes a free one.\n\
             listen = \"{listen}\"\n\n\
             # Rows are in fleet.db beside this file, or in PostgreSQL, which others may share.\n\
             {postgres}\n\n\
             # No tokens: every client has full access. For a single machine only.\n\
             open = {open}\n\
             # Without [tls] it listens on an address of this machine only, unless `insecure` is set. Then anyone\n\
             # on the network path can read tokens, leases and job variables.\n\
             insecure = {insecure}\n\
             # PEM file of private certificate authorities to trust for the broker and the bucket.\n\
             # ca_file = \"ca.pem\"\n\n\
             # Runs that ended so long ago are forgotten, with their logs and objects. Nothing else is ever\n\
             # removed: while objects are at their bound, new ones are refused.\n\
             keep_days = {}\n\
             # Rows in fleet.db are in memory, too: about so many MiB at most. From three quarters of it on, runs that\n\
             # ended first are forgotten before their time; when it is full, no more runs are taken.\n\
             memory_mib_max = {}\n\
             # Logs are in fleet.db: so many MiB of all together at most. Beyond it jobs go on without.\n\
             logs_mib_max = {}\n\
             # Most MiB of objects in objects/ beside this file. With a bucket, of those on their way there.\n\
             objects_mib_max = {objects_mib_max}\n\n\
             # How often work that waits is announced again, if there is a broker.\n\
             announce_seconds = {}\n\n\
             [lease]\n\
             # A lease ends so long after the last heartbeat; the job then goes to another worker.\n\
             ttl_seconds = {ttl_seconds}\n\
             # How often workers say that they are alive. At most half of the above.\n\
             heartbeat_seconds = {heartbeat_seconds}\n\
             # A worker that was granted a job has so long to accept it.\n\
             ack_seconds = {ack_seconds}\n\
             # A worker that is asked to stop a job has so long.\n\
             cancel_seconds = {cancel_seconds}\n\
             # So many workers may vanish with the same job before it is given up.\n\
             losses_max = {losses_max}\n\n\
             {}\n\
             {}\n\
             {}",
            thirty(),
            one_gib(),
            sixteen_gib(),
            five(),
            self.tls_text(),
            broker::template(self.nats.as_deref()),
            self.bucket_text(),
        )
    }

    fn bucket_text(&self) -> String {
        let (endpoint, bucket) = (self.s3_endpoint.as_deref(), self.s3_bucket.as_deref());
        let mark = if endpoint.is_some() { "" } else { "# " };
        // It was named from here; the settings are read from elsewhere.
        let keys =
            self.s3_keys_file.as_deref().map(|file| absolute(file).unwrap_or(file.to_owned()));
        let keys = keys.as_deref().and_then(Path::to_str);
        let keys_mark = if keys.is_some() { "" } else { "# " };
        format!(
            "# Objects may be in a bucket of a store that speaks S3 and honours `If-None-Match: *`.\n\
             {mark}[bucket]\n\
             {mark}endpoint = {:?}\n\
             {mark}bucket = {:?}\n\
             {mark}region = {:?}\n\
             # What all names begin with, if the bucket is shared.\n\
             {mark}prefix = {:?}\n\
             # Its keys are in the environment ({ACCESS_KEY}, {SECRET_KEY}),\n\
             # or in a file that only its owner can read, with these two as lines: NAME=value.\n\
             {keys_mark}keys_file = {:?}\n",
            endpoint.unwrap_or("http://127.0.0.1:9000"),
            bucket.unwrap_or("artifacts"),
            self.s3_region,
            self.s3_prefix,
            keys.unwrap_or("bucket.keys"),
        )
    }
}
