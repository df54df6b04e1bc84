//! What the table says about a kind of fault: its words, its argument, where it is possible, when it
//! fires and what it does.

use super::treatment::Treatment;
use crate::{
    config::TransportName,
    mcp::{Era, method},
    seed::Dice,
    units::parse_duration,
};

/// One kind of fault.
#[derive(Debug)]
pub struct Entry {
    /// Its word on the command line; files write it with underscores.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What may follow its name.
    pub argument: Option<Form>,
    /// The method it touches unless a selector names another one; [`super::START`] for a fault that
    /// begins with the connection.
    pub method: &'static str,
    /// Where it is possible.
    pub place: Place,
    /// Whether it fires at a call that its selector chose.
    pub(super) fires: fn(Turn, &mut Dice) -> bool,
    /// What is then done to the call.
    pub(super) treat: fn(Turn, &mut Treatment),
}

impl Entry {
    /// What most kinds have in common: no argument, `tools/call`, possible everywhere, always.
    pub(super) const USUAL: Self = Self {
        name: "",
        about: "",
        argument: None,
        method: method::TOOLS_CALL,
        place: Place::EVERYWHERE,
        fires: |_, _| true,
        treat: |_, _| {},
    };

    /// Its word in files.
    pub fn snake_name(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The name and what may follow it: `slow:<ms>`, `error[:<code>]`.
    pub fn usage(&self) -> String {
        match &self.argument {
            None => self.name.to_owned(),
            Some(Form { unit, default: None, .. }) => format!("{}:<{unit}>", self.name),
            Some(Form { unit, .. }) => format!("{}[:<{unit}>]", self.name),
        }
    }
}

/// The argument that a kind takes.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Its key in files.
    pub key: &'static str,
    /// What it counts, as help shows it.
    pub unit: &'static str,
    /// The values that it may have.
    pub values: Values,
    /// Its value when none is written; without one it must be.
    pub default: Option<Argument>,
}

impl Form {
    /// The argument, if the text is one. Milliseconds may also be written as times are everywhere else.
    pub(super) fn read(&self, text: &str) -> Option<Argument> {
        self.values.read(text).or_else(|| {
            let time = (self.unit == "ms").then(|| parse_duration(text).ok())??;
            let whole = time.subsec_nanos() % 1_000_000 == 0;
            let ms = i64::try_from(time.as_millis()).ok().filter(|_| whole)?;
            self.values.admit(Argument::Whole(ms))
        })
    }

    /// What to write on the command line, for errors.
    pub(super) fn wanted(&self) -> String {
        let wanted = self.values.wanted();
        match self.unit {
            "ms" => format!("{wanted}, in milliseconds, or a time such as `500ms`"),
            _ => wanted,
        }
    }
}

/// The values that an argument may have.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// Whole numbers, both ends included.
    Whole(i64, i64),
    /// A share between 0 and 1.
    Share,
}

impl Values {
    /// What to write, for errors.
    pub(super) fn wanted(self) -> String {
        match self {
            Self::Whole(least, most) => format!("a whole number between {least} and {most}"),
            Self::Share => "a number between 0 and 1".into(),
        }
    }

    /// The argument, if the text is one of these values.
    pub(super) fn read(self, text: &str) -> Option<Argument> {
        match self {
            Self::Whole(..) => self.admit(Argument::Whole(text.parse().ok()?)),
            Self::Share => self.admit(Argument::Share(text.parse().ok()?)),
        }
    }

    /// The same for a value that was read as a number.
    pub(super) fn admit(self, argument: Argument) -> Option<Argument> {
        let right = match (self, argument) {
            (Self::Whole(least, most), Argument::Whole(value)) => (least..=most).contains(&value),
            (Self::Share, Argument::Share(value)) => (0.0..=1.0).contains(&value),
            _ => false,
        };
        right.then_some(argument)
    }
}

/// What was written behind a kind's name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// Nothing, for kinds that take nothing.
    Nothing,
    /// A whole number.
    Whole(i64),
    /// A share.
    Share(f64),
}

/// The call at which a fault is asked: its argument, and which of the calls that its selector
/// counts this is, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub(super) argument: Argument,
    pub(super) ordinal: u64,
}

impl Turn {
    pub(super) fn whole(self) -> i64 {
        if let Argument::Whole(value) = self.argument { value } else { 0 }
    }

    /// For arguments whose values begin at zero or above.
    pub(super) fn count(self) -> u64 {
        self.whole().unsigned_abs()
    }

    pub(super) fn share(self) -> f64 {
        if let Argument::Share(value) = self.argument { value } else { 0.0 }
    }
}

/// Where a kind is possible.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The transports that can carry it.
    pub transports: &'static [TransportName],
    /// The eras that know it.
    pub eras: &'static [Era],
    /// Why it is not possible elsewhere.
    pub why: &'static str,
}

impl Place {
    pub(super) const EVERYWHERE: Self =
        Self { transports: &TransportName::ALL, eras: &[Era::Legacy, Era::Modern], why: "" };

    pub(super) const fn only(transports: &'static [TransportName], why: &'static str) -> Self {
        Self { transports, why, ..Self::EVERYWHERE }
    }

    pub(super) fn has(&self, transport: TransportName, era: Option<Era>) -> bool {
        self.transports.contains(&transport) && era.is_none_or(|era| self.eras.contains(&era))
    }
}

impl std::fmt::Display for Argument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Whole(value) => value.fmt(f),
            Self::Share(value) => value.fmt(f),
        }
    }
}

/// Entries are compared by what they are called: names are unique in the table.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
