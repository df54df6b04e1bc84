//! Where an address leads: out into the world, or to a machine or network of somebody's own.
//!
//! Whoever lets somebody else choose a name must look at what the name stands for: a name of the
//! world may lead to this machine, to the metadata service of a cloud, or to the router.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is none of the public internet; nothing where it is one.
///
/// ```
/// # use mcp_loadtest_core::reach::not_public;
/// assert_eq!(not_public("1.1.1.1".parse().unwrap()), None);
/// assert_eq!(not_public("169.254.169.254".parse().unwrap()), Some("link-local"));
/// assert_eq!(not_public("::ffff:10.0.0.1".parse().unwrap()), Some("private"));
/// ```
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => match carried(address) {
            Some(inner) => not_public_v4(inner),
            None => not_public_v6(address),
        },
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    Some(match () {
        () if a == 0 => "this machine",
        () if address.is_loopback() => "this machine",
        () if address.is_private() => "private",
        () if address.is_link_local() => "link-local",
        () if a == 100 && b & 0xc0 == 64 => "of a carrier's own network",
        () if address.is_multicast() => "multicast",
        () if a >= 240 => "reserved",
        () if (a, b, c) == (192, 0, 0) || (a, b & 0xfe) == (198, 18) => "reserved",
        () if address.is_documentation() => "for documentation",
        () => return None,
    })
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let [first, second, ..] = address.segments();
    Some(match () {
        () if address.is_unspecified() || address.is_loopback() => "this machine",
        () if first & 0xfe00 == 0xfc00 => "private",
        () if first & 0xff80 == 0xfe80 => "link-local",
        () if address.is_multicast() => "multicast",
        () if first == 0x2001 && second == 0xdb8 => "for documentation",
        // Only 2000::/3 is given out; of it, 2001::/23 holds tunnels and protocols.
        () if first & 0xe000 != 0x2000 || (first == 0x2001 && second < 0x200) => "reserved",
        () => return None,
    })
}

/// The IPv4 address that an IPv6 address leads to: mapped, compatible, NAT64 or 6to4.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(from(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ones_own_are_known_in_every_dress() {
        for (text, why) in [
            ("127.0.0.1", "this machine"),
            ("127.9.9.9", "this machine"),
            ("0.0.0.0", "this machine"),
            ("::1", "this machine"),
            ("::", "this machine"),
            ("::ffff:127.0.0.1", "this machine"),
            ("::127.0.0.1", "this machine"),
            ("64:ff9b::7f00:1", "this machine"),
            ("2002:7f00:1::", "this machine"),
            ("10.1.2.3", "private"),
            ("172.31.0.1", "private"),
            ("192.168.1.1", "private"),
            ("fd00:ec2::254", "private"),
            ("169.254.169.254", "link-local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "link-local"),
            ("100.64.0.1", "of a carrier's own network"),
            ("224.0.0.1", "multicast"),
            ("ff02::1", "multicast"),
            ("255.255.255.255", "reserved"),
            ("198.19.0.1", "reserved"),
            ("2001::1", "reserved"),
            ("0.1.2.3", "this machine"),
            ("::ffff:10.0.0.1", "private"),
            ("::10.0.0.1", "private"),
            ("64:ff9b::a00:1", "private"),
            ("2002:a00:1::", "private"),
            ("::ffff:169.254.169.254", "link-local"),
            ("fc00::1", "private"),
            ("100.127.255.255", "of a carrier's own network"),
            ("239.255.255.255", "multicast"),
            ("240.0.0.0", "reserved"),
            ("192.0.0.8", "reserved"),
            ("198.18.0.1", "reserved"),
            ("2001:1ff::1", "reserved"),
            ("4000::1", "reserved"),
            ("192.0.2.1", "for documentation"),
            ("2001:db8::1", "for documentation"),
        ] {
            assert_eq!(not_public(text.parse().unwrap()), Some(why), "{text}");
        }
    }

    #[test]
    fn addresses_of_the_world_are_let_through() {
        for text in [
            "1.1.1.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "8.100.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2606:db8::1",
            "2606:1::1",
            "2001:200::1",
            "2001:4860::8888",
            "::ffff:1.1.1.1",
            "::1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::",
        ] {
            assert_eq!(not_public(text.parse().unwrap()), None, "{text}");
        }
    }
}
