//! What clients send, and who they say they are.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_loadtest_core::llm::Oauth;

use super::{Denied, Visit};

/// No form of a client is longer.
const LONGEST: usize = 64 << 10;

/// The fields of a form or a query.
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a form. A field without a value counts as none; one that comes twice is an error.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Denied> {
        if bytes.len() > LONGEST {
            return Err(Denied::new("invalid_request", "the form is too long"));
        }
        let mut fields: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(bytes).filter(|(_, value)| !value.is_empty()) {
            if fields.iter().any(|(own, _)| *own == name) {
                return Err(Denied::new("invalid_request", "a field comes twice"));
            }
            fields.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(fields))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn need(&self, name: &str) -> Result<&str, Denied> {
        let why = || format!("`{name}` is missing; a body is application/x-www-form-urlencoded");
        self.get(name).ok_or_else(|| Denied::new("invalid_request", why()))
    }
}

/// Who asks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) id: Option<String>,
    pub(super) secret: Option<String>,
}

impl Client {
    /// Who the header or the form says it is, if such a client may ask at all.
    pub(super) fn of(visit: &Visit<'_>, form: &Form) -> Result<Self, Denied> {
        let said = |name| form.get(name).map(str::to_owned);
        let client = match visit.keys.iter().find_map(|key| key.strip_prefix("Basic ")) {
            Some(pair) => Self::basic(pair)?,
            None => Self { id: said("client_id"), secret: said("client_secret") },
        };
        client.is_known_to(visit.settings)?;
        Ok(client)
    }

    /// Both are written as in a form before they are joined (RFC 6749, 2.3.1).
    fn basic(pair: &str) -> Result<Self, Denied> {
        let wrong = || Denied::new("invalid_client", "the Basic header cannot be read");
        let bytes = BASE64_STANDARD.decode(pair.trim()).map_err(|_| wrong())?;
        let text = String::from_utf8(bytes).map_err(|_| wrong())?;
        let (id, secret) = text.split_once(':').ok_or_else(wrong)?;
        let plain = |text: &str| {
            // Many clients write them as they are; both marks would end a name.
            let text = text.replace('&', "%26").replace('=', "%3D");
            let mut names = form_urlencoded::parse(text.as_bytes()).map(|(name, _)| name);
            names.next().map(std::borrow::Cow::into_owned)
        };
        Ok(Self { id: plain(id), secret: plain(secret) })
    }

    fn is_known_to(&self, settings: &Oauth) -> Result<(), Denied> {
        let differs =
            |wanted: &Option<String>, said: &Option<String>| wanted.is_some() && wanted != said;
        if differs(&settings.client_id, &self.id) {
            return Err(Denied::new("invalid_client", "this client is not known here"));
        }
        if differs(&settings.client_secret, &self.secret) {
            return Err(Denied::new("invalid_client", "the secret of the client is another"));
        }
        Ok(())
    }

    /// What it is called where it has said nothing.
    pub(super) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| "anybody".into())
    }
}
