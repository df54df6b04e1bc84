//! A fault as text: `kind[:argument][@selector=value,…]`. A comma or backslash in a value is written
//! behind a backslash. What is shown reads back as the same fault.

use std::{fmt, mem, str::FromStr};

use super::{
    Fault,
    entry::{Argument, Entry},
    error::FaultError,
    kind,
    selector::Selector,
};

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (what, conditions) = match text.split_once('@') {
            Some((what, conditions)) => (what, Some(conditions)),
            None => (text, None),
        };
        let (name, written) = match what.split_once(':') {
            Some((name, written)) => (name.trim(), Some(written.trim())),
            None => (what.trim(), None),
        };
        let kind = kind::find(name).ok_or_else(|| FaultError::UnknownKind(name.to_owned()))?;
        let argument = argument(kind, written)?;
        let mut when = Selector::default();
        for condition in conditions.map(split).unwrap_or_default() {
            let (key, value) = condition.split_once('=').unwrap_or((&condition, ""));
            if value.is_empty() {
                return Err(FaultError::NoValue(key.trim().to_owned()));
            }
            when.set(key.trim(), value)?;
        }
        Self::new(kind, argument, when)
    }
}

fn argument(kind: &'static Entry, written: Option<&str>) -> Result<Argument, FaultError> {
    match (&kind.argument, written) {
        (None, None) => Ok(Argument::Nothing),
        (None, Some(written)) => {
            Err(FaultError::NeedlessArgument { kind: kind.name, written: written.to_owned() })
        }
        (Some(form), None) => form
            .default
            .ok_or_else(|| FaultError::MissingArgument { kind: kind.name, usage: kind.usage() }),
        (Some(form), Some(written)) => form.read(written).ok_or_else(|| FaultError::Value {
            key: kind.name,
            written: written.to_owned(),
            wanted: form.wanted(),
        }),
    }
}

/// Splits at commas that no backslash protects, and takes the backslashes away.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut plain) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            _ if mem::take(&mut plain) => part.push(c),
            '\\' => plain = true,
            ',' => parts.push(mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name)?;
        if self.argument != Argument::Nothing {
            write!(f, ":{}", self.argument)?;
        }
        let mut sign = '@';
        for (key, value) in self.when.texts() {
            write!(f, "{sign}{key}={}", value.replace('\\', r"\\").replace(',', r"\,"))?;
            sign = ',';
        }
        Ok(())
    }
}
