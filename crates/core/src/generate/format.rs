//! One plain value for each `format`: nothing that exists, nothing outside this machine.

use crate::seed::Dice;

/// Writes a value; `n` is 0 for the first and differs for others.
type Write = fn(n: u64, dice: &mut Dice) -> String;

/// Every format that is understood. Others are treated as plain text.
static FORMATS: [(&str, Write); 23] = [
    ("date", |n, _| format!("2024-01-{:02}", 15 + n % 14)),
    ("date-time", |n, _| format!("2024-01-15T12:{:02}:00Z", n % 60)),
    ("time", |n, _| format!("12:{:02}:00Z", n % 60)),
    ("duration", |n, _| format!("PT{}S", n + 1)),
    ("email", email),
    ("idn-email", email),
    ("hostname", hostname),
    ("idn-hostname", hostname),
    ("ipv4", |n, _| format!("127.0.0.{}", 1 + n % 250)),
    ("ipv6", |n, _| format!("::{:x}", 1 + n % 0xffff)),
    ("uri", address),
    ("url", address),
    ("iri", address),
    ("uri-reference", address),
    ("iri-reference", address),
    ("uuid", |_, dice| uuid(dice)),
    ("json-pointer", |n, _| format!("/{n}")),
    ("relative-json-pointer", |n, _| n.to_string()),
    ("regex", |n, _| format!("a{{{}}}", n + 1)),
    ("uri-template", address),
    ("byte", |n, _| ["aGVsbG8=", "aGk="][(n % 2) as usize].to_owned()),
    ("path", path),
    ("directory-path", path),
];

/// A value of a format, or `None` when the format is unknown.
pub(super) fn format(name: &str, n: u64, dice: &mut Dice) -> Option<String> {
    let (_, write) = FORMATS.iter().find(|(known, _)| *known == name)?;
    Some(write(n, dice))
}

fn email(n: u64, _: &mut Dice) -> String {
    if n == 0 { "user@example.com".to_owned() } else { format!("user{n}@example.com") }
}

fn hostname(n: u64, _: &mut Dice) -> String {
    if n == 0 { "localhost".to_owned() } else { format!("host{n}.localhost") }
}

fn address(n: u64, _: &mut Dice) -> String {
    if n == 0 { "http://127.0.0.1/".to_owned() } else { format!("http://127.0.0.1/{n}") }
}

fn path(n: u64, _: &mut Dice) -> String {
    if n == 0 { ".".to_owned() } else { format!("./{n}") }
}

/// A random identifier of version 4.
fn uuid(dice: &mut Dice) -> String {
    let (high, low) = (dice.next_u64(), dice.next_u64());
    let version = (high & 0xffff_ffff_ffff_0fff) | 0x4000;
    let variant = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    let (first, second, third) = (version >> 32, (version >> 16) & 0xffff, version & 0xffff);
    let (fourth, fifth) = (variant >> 48, variant & 0xffff_ffff_ffff);
    format!("{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{fifth:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use serde_json::json;

    #[test]
    fn every_value_has_its_format() {
        let mut dice = Seed(3).dice(0);
        for (name, write) in FORMATS {
            let schema = json!({ "format": name });
            let validator =
                jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
            for n in 0..20 {
                let value = write(n, &mut dice);
                assert!(validator.is_valid(&json!(value)), "{name}: {value}");
            }
        }
        assert_eq!(format("colour", 0, &mut dice), None);
    }

    #[test]
    fn the_first_value_is_the_plainest_and_the_next_differs() {
        let mut dice = Seed(3).dice(0);
        for (name, first, second) in [
            ("date", "2024-01-15", "2024-01-16"),
            ("date-time", "2024-01-15T12:00:00Z", "2024-01-15T12:01:00Z"),
            ("duration", "PT1S", "PT2S"),
            ("email", "user@example.com", "user1@example.com"),
            ("hostname", "localhost", "host1.localhost"),
            ("ipv4", "127.0.0.1", "127.0.0.2"),
            ("ipv6", "::1", "::2"),
            ("uri", "http://127.0.0.1/", "http://127.0.0.1/1"),
            ("byte", "aGVsbG8=", "aGk="),
            ("path", ".", "./1"),
            ("directory-path", ".", "./1"),
        ] {
            let made = [0, 1].map(|n| format(name, n, &mut dice).unwrap());
            assert_eq!(made, [first, second], "{name}");
        }
    }

    #[test]
    fn a_uuid_has_all_bits_of_the_dice_but_for_version_and_variant() {
        for seed in 0..20 {
            let mut dice = Seed(seed).dice(0);
            let (high, low) = (dice.next_u64(), dice.next_u64());
            let text = uuid(&mut Seed(seed).dice(0));
            let lengths: Vec<_> = text.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{text}");
            let bits = (u128::from(high) << 64) | u128::from(low);
            let version = (bits & !(0xf << 76)) | (0x4 << 76);
            let variant = (version & !(0b11 << 62)) | (0b10 << 62);
            assert_eq!(u128::from_str_radix(&text.replace('-', ""), 16), Ok(variant), "{text}");
        }
    }
}
