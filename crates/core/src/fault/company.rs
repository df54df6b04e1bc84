//! How the reply to one call of a batch travels: with those to the other calls, or not.

use super::treatment::{Instead, Mangle, Treatment};

/// What a treatment means for the other calls of the same batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// The reply is a whole message, which stands among the others in one array.
    Together,
    /// The reply never comes or is no whole message any more. It travels by itself, so that the
    /// others neither wait for it nor suffer with it.
    Alone,
    /// There is no reply but an end or a status, which all calls of the batch share.
    Whole,
}

impl Treatment {
    /// How the reply travels if the call is one of a batch.
    pub fn company(&self) -> Company {
        match &self.instead {
            Some(
                Instead::Http { .. } | Instead::SessionLost | Instead::Cut(_) | Instead::Crash(_),
            ) => Company::Whole,
            Some(Instead::Hang | Instead::LazyInit) => Company::Alone,
            None | Some(Instead::Error { .. } | Instead::ToolError { .. }) => {
                let whole = self.mangles.iter().all(|mangle| mangle.keeps_messages());
                if whole { Company::Together } else { Company::Alone }
            }
        }
    }
}

impl Mangle {
    /// Whether what is left of a reply are whole messages, to be sent at once.
    pub const fn keeps_messages(self) -> bool {
        match self {
            Self::Malformed | Self::Truncate(_) | Self::Noise | Self::Reorder | Self::Drip(_) => {
                false
            }
            Self::WrongId
            | Self::Duplicate
            | Self::Oversized(_)
            | Self::SchemaViolation
            | Self::NextCursor(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Cut;

    fn company(instead: Option<Instead>, mangles: &[Mangle]) -> Company {
        Treatment { instead, mangles: mangles.to_vec(), ..Treatment::default() }.company()
    }

    #[test]
    fn only_whole_messages_share_an_array() {
        assert_eq!(company(None, &[]), Company::Together);
        assert_eq!(company(None, &[Mangle::WrongId, Mangle::Duplicate]), Company::Together);
        assert_eq!(company(None, &[Mangle::WrongId, Mangle::Malformed]), Company::Alone);
        assert_eq!(company(Some(Instead::Hang), &[]), Company::Alone);
        assert_eq!(company(Some(Instead::Cut(Cut::Reset)), &[]), Company::Whole);
        let error = Instead::ToolError { text: String::new() };
        assert_eq!(company(Some(error.clone()), &[]), Company::Together);
        assert_eq!(company(Some(error), &[Mangle::Drip(9)]), Company::Alone);
    }
}
