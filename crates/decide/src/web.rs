//! Which addresses are outside, for everybody. Start at [`is_public`]. Invariant: what is not known to be
//! public is not; an address that holds another one inside (mapped, translated, tunnelled) is not either.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to the public network: no house, no machine of its own, no group of them.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether two addresses are likely of one household: the same, or in one network of 48 bits.
pub fn same_household(one: IpAddr, other: IpAddr) -> bool {
    match (one, other) {
        (IpAddr::V6(one), IpAddr::V6(other)) => one.segments()[..3] == other.segments()[..3],
        _ => one == other,
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    /// Networks that are not public (RFC 6890 and its successors), with the bits that count.
    const CLOSED: [([u8; 4], u32); 15] = [
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        // Between a provider and its customers.
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        // Groups, then what was never given out.
        ([224, 0, 0, 0], 4),
        ([240, 0, 0, 0], 4),
    ];
    let bits = address.to_bits();
    let inside = |(network, length): ([u8; 4], u32)| (bits ^ Ipv4Addr::from(network).to_bits()) >> (32 - length) == 0;
    !CLOSED.into_iter().any(inside)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    match (first, second) {
        // Teredo, benchmarks, ORCHID and other special uses; documentation.
        (0x2001, 0..=0x01FF | 0x0DB8) => false,
        // 6to4: an IPv4 address inside.
        (0x2002, _) => false,
        (0x3FFF, 0..=0x0FFF) => false,
        // All else that was given out begins with the bits 001; NAT64, local and mapped addresses do not.
        (first, _) => first >> 13 == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, public: bool) {
        assert_eq!(is_public(text.parse().unwrap()), public, "{text}");
    }

    #[test]
    fn only_what_is_outside_for_everybody_is_public() {
        for text in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.251",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:8.8.8.8",
            "::ffff:127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            check(text, false);
        }
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "223.255.255.255",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a02:8071::1",
            "240e::1",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn neighbours_in_one_prefix_are_one_household() {
        let same = |one: &str, other: &str| same_household(one.parse().unwrap(), other.parse().unwrap());
        assert!(same("2a02:8071:1:2::5", "2a02:8071:1:ff00::9"));
        assert!(!same("2a02:8071:1::5", "2a02:8071:2::5"));
        assert!(same("93.184.216.34", "93.184.216.34") && !same("93.184.216.34", "93.184.216.35"));
    }
}
