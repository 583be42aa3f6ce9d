//! The broker, as the settings of orchestrators and workers have it.

use crate::failure::Failure;
use remuda_fleet::broker::Config;
use remuda_fleet::http::Trust;
use serde::Deserialize;
use std::time::Duration;

/// What names at the broker begin with, unless fleets share one.
const PREFIX: &str = "remuda";
const PREFIX_BYTES_MAX: usize = 64;

/// `[broker]`: where work is announced.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Broker {
    url: String,
    #[serde(default = "prefix")]
    prefix: String,
}

fn prefix() -> String {
    PREFIX.to_owned()
}

// The URL may have a password in it.
impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Broker {
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if !is_url(&self.url) {
            return Err("url under [broker] is nats://HOST:PORT, or tls://HOST:PORT");
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
        if !(1..=PREFIX_BYTES_MAX).contains(&self.prefix.len()) || !self.prefix.bytes().all(plain) {
            return Err(
                "prefix under [broker] has 1 to 64 letters, digits, dashes and underscores",
            );
        }
        Ok(())
    }

    /// As the library wants it.
    pub(crate) fn config(&self, trust: Trust, look_again: Option<Duration>) -> Config {
        let mut config = Config::new(&self.url);
        config.trust = trust;
        config.prefix.clone_from(&self.prefix);
        config.look_again = look_again.unwrap_or(config.look_again);
        config
    }
}

fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("nats://").or_else(|| url.strip_prefix("tls://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['"', '\\', ' ']))
}

/// The URL of `--nats`. Everybody on the machine can read a command line.
pub(crate) fn from_command_line(url: &str) -> Result<&str, Failure> {
    if url.contains('@') {
        return Err(Failure::Usage(
            "a broker's URL with a password does not belong on the command line: leave --nats out, and \
             write it under [broker] in the settings, which only their owner can read",
        ));
    }
    match is_url(url) {
        true => Ok(url),
        false => Err(Failure::Usage("--nats is nats://HOST:PORT, or tls://HOST:PORT")),
    }
}

/// The text of new settings.
pub(crate) fn template(url: Option<&str>) -> String {
    let example = "# [broker]\n# url = \"nats://127.0.0.1:4222\"\n";
    let table = url.map(|url| format!("[broker]\nurl = \"{url}\"\n"));
    let mark = if url.is_some() { "" } else { "# " };
    format!(
        "# A NATS server (with JetStream) that announces work at once. Orchestrator and workers name the same;\n\
         # while it is away, workers ask the orchestrator as they do without. A name and a password may be in\n\
         # the URL: tls://NAME:PASSWORD@HOST:4222. On other machines it must speak TLS, unless `insecure` is set.\n\
         {}\
         # What all names there begin with: fleets that share a server have different ones.\n\
         {mark}prefix = \"{PREFIX}\"\n",
        table.as_deref().unwrap_or(example),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_taken_from_the_command_line() {
        assert_eq!(from_command_line("nats://a:1").expect("a URL"), "nats://a:1");
        for wrong in ["nats://u:p@a:1", "http://a", "nats://", "a:1"] {
            assert!(from_command_line(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let broker = |text: &str| {
            let table: toml::Table = toml::from_str(text).expect("TOML");
            table.get("broker").cloned().map(|it| it.try_into::<Broker>().expect("settings"))
        };
        assert!(broker(&template(None)).is_none());
        let found = broker(&template(Some("nats://a:1"))).expect("a broker");
        found.check().expect("sound");
        assert_eq!(found.config(Trust::default(), None), Config::new("nats://a:1"));
        assert!(!format!("{found:?}").contains("nats://"));
    }
}
