//! Addresses that are public in form but local: this machine's own, and those of its IPv6 subnets.
//!
//! A server on this machine, or a neighbour behind the same firewall, trusts local clients. So both are
//! refused like private addresses. The system is asked again for each connection, because addresses
//! change. Neighbours with public IPv4 addresses can be reached by anyone and are not local in this sense.

use super::address::AddressRefusal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Lists the IPv6 addresses of the links. Linux only.
const LINKS: &str = "/proc/net/if_inet6";
/// Any port: nothing is sent there.
const PORT: u16 = 9;

/// Whether an address is far enough away.
pub(super) fn check(address: IpAddr) -> Result<(), AddressRefusal> {
    let near = |why| Err(AddressRefusal::NotPublic(address, why));
    if is_own(address) {
        return near("it belongs to this machine");
    }
    match address {
        IpAddr::V6(v6) if on_link(v6) => near("it is in the subnet of a local interface"),
        _ => Ok(()),
    }
}

/// Who sends to itself has the same address at both ends. Connecting a UDP socket finds the route,
/// and with it the address of this end, and sends nothing.
fn is_own(address: IpAddr) -> bool {
    let any: SocketAddr = match address {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    // Without a socket a connection is impossible, too.
    let Ok(socket) = UdpSocket::bind(any) else { return true };
    if socket.connect((address, PORT)).is_err() {
        return false;
    }
    let here = socket.local_addr().map(|here| here.ip());
    here.map_or(true, |here| here == address || here.is_loopback())
}

fn on_link(address: Ipv6Addr) -> bool {
    let links = std::fs::read_to_string(LINKS).unwrap_or_default();
    prefixes(&links).any(|(link, length)| {
        let differ = link.to_bits() ^ address.to_bits();
        differ.leading_zeros() >= length
    })
}

/// Addresses of links, and bits of each that all neighbours share. An address that nothing shares a
/// bit with is no link.
fn prefixes(text: &str) -> impl Iterator<Item = (Ipv6Addr, u32)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        let length = u32::from_str_radix(words.nth(1)?, 16).ok()?;
        (1..=128).contains(&length).then_some((Ipv6Addr::from_bits(address), length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_linux_writes_them() {
        let text = "20010db80000000000fc00fffe000001 04 40 00 80     eth0\n\
                    00000000000000000000000000000001 01 80 10 80       lo\n\
                    20010db8000000010000000000000000 0a 00 00 80     tun0\nnonsense\n";
        let links: Vec<_> = prefixes(text).collect();
        let first = "2001:db8::fc:ff:fe00:1".parse().unwrap();
        assert_eq!(links, [(first, 64), (Ipv6Addr::LOCALHOST, 128)]);
    }

    #[test]
    fn the_loopback_is_this_machines_own() {
        for address in ["127.0.0.1", "127.1.2.3", "::1"] {
            assert!(check(address.parse().unwrap()).is_err(), "{address}");
        }
    }
}
