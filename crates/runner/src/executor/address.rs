//! Which addresses a job may make this runner talk to.
//!
//! A job's submitter chooses a name and thereby, through DNS, an address. Unless the operator allows
//! more, only public addresses are reachable: none of this machine, its network or its cloud
//! provider's network, and none that embeds such an address. This module classifies addresses by
//! form; `near` knows which public ones belong to this machine and its links.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use thiserror::Error;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AddressRules {
    /// Networks that are reached although they are not public.
    pub allow: Vec<IpNet>,
    /// Networks that are not reached although they are public: one's own, say. Stronger than
    /// `allow`.
    pub deny: Vec<IpNet>,
}

/// Why an address is not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AddressRefusal {
    #[error("{0} is in {1}, which the operator denies")]
    Denied(IpAddr, IpNet),
    #[error("{0} is not a public address: {1}")]
    NotPublic(IpAddr, &'static str),
}

impl AddressRules {
    /// Everything is reached: for servers that the operator named, not a job.
    pub fn anywhere() -> Self {
        Self { allow: vec![Ipv4Net::default().into(), Ipv6Net::default().into()], deny: vec![] }
    }

    /// Whether the operator allows an address by name.
    pub(super) fn names(&self, address: IpAddr) -> bool {
        self.allow.iter().any(|net| net.contains(&address))
    }

    /// Whether an address may be connected to. It is taken as it stands: an IPv4 address inside an
    /// IPv6 one is not what `allow` means by the former.
    pub fn check(&self, address: IpAddr) -> Result<(), AddressRefusal> {
        if let Some(net) = self.deny.iter().find(|net| covers(net, address)) {
            return Err(AddressRefusal::Denied(address, *net));
        }
        if self.names(address) {
            return Ok(());
        }
        let reason = match address {
            IpAddr::V4(address) => special_v4(address),
            IpAddr::V6(address) => special_v6(address),
        };
        reason.map_or(Ok(()), |reason| Err(AddressRefusal::NotPublic(address, reason)))
    }
}

/// Whether a denied network holds an address, however it is wrapped.
fn covers(net: &IpNet, address: IpAddr) -> bool {
    let inside = match address {
        IpAddr::V4(_) => [None; 2],
        IpAddr::V6(address) => embedded(address),
    };
    net.contains(&address) || inside.into_iter().flatten().any(|v4| net.contains(&IpAddr::V4(v4)))
}

/// IPv4 addresses that an IPv6 one may lead to: at its end (mapped, compatible, translated by NAT64,
/// ISATAP), in the middle (6to4), and turned over at its end (a Teredo client).
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let v4 =
        |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    let [.., c, d] = address.segments();
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, ..] => [v4(c, d), None],
        [0x2002, middle, end, ..] => [v4(middle, end), None],
        [0x2001, 0, server, end, ..] => [v4(!c, !d), v4(server, end)],
        _ => [None; 2],
    }
}

/// IPv4 that is not of the public internet (IANA's special-purpose registry), and one address that
/// is, but answers from inside a cloud.
const SPECIAL_V4: [(Ipv4Addr, u8, &str); 18] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a carrier's customers"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "this machine"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud's metadata"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local, and clouds' metadata"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "anycast for reverse zones"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "multicast tunnels"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relays"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// Of IPv6 only 2000::/3 is public, without these. Everything else, be it loopback, unspecified,
/// unique local (where fd00:ec2::254 is), link-local, multicast, IPv4-mapped or NAT64, lies
/// outside.
const SPECIAL_V6: [(Ipv6Addr, u8, &str); 5] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "reserved for protocols"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "IPv4 inside 6to4"),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, "anycast for reverse zones"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within =
        |net: Ipv4Addr, prefix: u8| (bits ^ net.to_bits()).leading_zeros() >= u32::from(prefix);
    SPECIAL_V4.iter().find(|(net, prefix, _)| within(*net, *prefix)).map(|(.., reason)| *reason)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within =
        |net: Ipv6Addr, prefix: u8| (bits ^ net.to_bits()).leading_zeros() >= u32::from(prefix);
    if !within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3) {
        return Some("not global unicast");
    }
    // ISATAP: the last half is 0000:5efe or 0200:5efe, then an IPv4 address.
    let [.., a, b, _, _] = address.segments();
    if (a & !0x0200, b) == (0, 0x5efe) {
        return Some("IPv4 inside ISATAP");
    }
    SPECIAL_V6.iter().find(|(net, prefix, _)| within(*net, *prefix)).map(|(.., reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rules: &AddressRules, address: &str) -> bool {
        rules.check(address.parse().unwrap()).is_err()
    }

    #[test]
    fn only_public_addresses_are_reached() {
        let rules = AddressRules::default();
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "2a00:1450::5efe:127.0.0.1",
            "2a00:1450::200:5efe:7f00:1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(refused(&rules, address), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.17",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(!refused(&rules, address), "{address}");
        }
    }

    #[test]
    fn an_operator_opens_exactly_what_it_names() {
        let allow = vec!["127.0.0.2/32".parse().unwrap(), "fd00:1::/32".parse().unwrap()];
        let rules = AddressRules { allow, ..Default::default() };
        assert!(!refused(&rules, "127.0.0.2"));
        assert!(!refused(&rules, "fd00:1::5"));
        for address in ["127.0.0.1", "127.0.0.3", "::ffff:127.0.0.2", "fd00:ec2::254"] {
            assert!(refused(&rules, address), "{address}");
        }
    }

    #[test]
    fn a_denied_network_is_closed_in_every_wrapping() {
        let rules =
            AddressRules { deny: vec!["8.8.8.0/24".parse().unwrap()], ..AddressRules::anywhere() };
        for address in [
            "8.8.8.8",
            "::ffff:8.8.8.8",
            "::8.8.8.8",
            "::ffff:0:808:808",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2001:0:808:808::1",
            "2001:0:101:101::f7f7:f7f7",
            "fd00::200:5efe:808:808",
        ] {
            assert!(refused(&rules, address), "{address}");
        }
        assert!(!refused(&rules, "2001:0:101:101::808:808"), "a Teredo client is turned over");
        assert!(!refused(&rules, "127.0.0.1"));
    }
}
