//! Secrets on their way through: what one side sends in a header, the other may repeat in a message.

use std::{collections::VecDeque, fmt};

use mcp_loadtest_core::secrets::{Given, Secrets};

/// So many values of secret headers are remembered.
const MOST_HEARD: usize = 32;

/// Values of secret headers that came by: whoever gets one may repeat it in a message.
#[derive(Default)]
pub(super) struct Heard {
    values: VecDeque<String>,
    secrets: Secrets,
}

impl fmt::Debug for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Heard({})", self.values.len())
    }
}

impl Heard {
    pub(super) fn hear(&mut self, value: &str) {
        if self.values.iter().any(|known| known == value) {
            return;
        }
        self.values.push_back(value.to_owned());
        if self.values.len() > MOST_HEARD {
            self.values.pop_front();
        }
        let given = Given::default();
        let given = self.values.iter().fold(given, |given, one| given.header("authorization", one));
        self.secrets = given.secrets();
    }

    /// What came by.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut heard = Heard::default();
        for number in 0..=MOST_HEARD {
            heard.hear(&format!("Bearer t0ken-number-{number:04}"));
        }
        assert_eq!(heard.secrets().text("t0ken-number-0001"), "***");
        assert_eq!(heard.secrets().text("t0ken-number-0000"), "t0ken-number-0000");
    }
}
