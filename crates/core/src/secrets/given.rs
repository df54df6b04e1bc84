//! Collects what was given to us in confidence.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    MASK, Secrets,
    names::{can_be_told, looks_made_up, names_a_secret},
    places,
};
use crate::server::Server;

/// Headers whose values everybody may know.
const PUBLIC_HEADERS: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "mcp-protocol-version",
    "origin",
    "referer",
    "traceparent",
    "tracestate",
    "user-agent",
    "x-request-id",
];

/// What was given, as far as it may be secret.
///
/// ```
/// use mcp_loadtest_core::secrets::Given;
///
/// let given = Given::default().header("Authorization", "Bearer abc-123-def");
/// assert_eq!(given.secrets().text("wrong token: abc-123-def"), "wrong token: ***");
/// ```
#[derive(Default)]
pub struct Given {
    values: Vec<String>,
}

impl Given {
    /// All that a server is given.
    pub fn to(server: &Server) -> Self {
        let mut given = Self::default().arguments(&server.args);
        for (name, value) in &server.env {
            given = given.variable(name, value);
        }
        for (name, value) in server.transport.headers().into_iter().flatten() {
            given = given.header(name, value);
        }
        match server.transport.url() {
            Some(url) => given.url(url),
            None => given,
        }
    }

    /// A variable: secret where its name says so, or where its value holds credentials.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.text(value);
        if names_a_secret(name) {
            self.value(value);
        }
        self
    }

    /// A header: secret unless it is known to be harmless, or an ordinary text.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.text(value);
        let is_public = PUBLIC_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known));
        let says_so = names_a_secret(name);
        // `Bearer X`, `a=X; b=Y`: each part may be repeated by itself.
        let parts = value.split([' ', ';', ',']).map(|part| match part.split_once('=') {
            Some((_, value)) if !value.is_empty() && !value.starts_with('=') => value,
            _ => part,
        });
        for part in parts.filter(|part| says_so || !is_public && looks_made_up(part)) {
            self.value(part);
        }
        if let Some(encoded) = value.strip_prefix("Basic ")
            && let Ok(pair) = STANDARD.decode(encoded.trim())
            && let Ok(pair) = String::from_utf8(pair)
        {
            self.credentials(&pair);
        }
        self
    }

    /// An address: its credentials, and what its query gives under a secret name.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        self.text(url);
        self
    }

    /// The arguments of a command.
    #[must_use]
    pub fn arguments(mut self, args: &[String]) -> Self {
        for (arg, secret) in args.iter().zip(places::in_arguments(args)) {
            for place in secret {
                self.value(&arg[place.clone()]);
                if places::userinfo(arg) == Some(place.clone()) {
                    self.credentials(&arg[place]);
                }
            }
        }
        self
    }

    /// What is to be kept.
    pub fn secrets(self) -> Secrets {
        Secrets::new(self.values)
    }

    /// Whatever holds credentials in a text.
    fn text(&mut self, text: &str) {
        for place in places::in_text(text) {
            self.value(&text[place.clone()]);
            if places::userinfo(text) == Some(place.clone()) {
                self.credentials(&text[place]);
            }
        }
    }

    /// `user:password`: the password is what is secret.
    fn credentials(&mut self, pair: &str) {
        if let Some((_, password)) = pair.split_once(':') {
            self.value(password);
        }
    }

    fn value(&mut self, value: &str) {
        let value = value.trim();
        if value != MASK && can_be_told(value) {
            self.values.push(value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_a_server_is_given_is_kept() {
        let server = Server::http("https://me:pa55word@h/mcp?api_key=qu3ry-key&page=long-page-2")
            .header("Authorization", "Bearer b34rer-token")
            .header("Cookie", "theme=dark; sid=c00kie-sid")
            .header("X-Tenant", "t3nant-of-us")
            .header("Accept", "application/json; q=0.9")
            .started_by("x")
            .args(["--token", "4rgument-token"])
            .env("LOG_LEVEL", "information")
            .env("GITHUB_TOKEN", "v4riable-token")
            .env("DATABASE_URL", "postgres://u:d4tabase-pw@db/x")
            .build();
        let secrets = Given::to(&server).secrets();
        let told = "pa55word qu3ry-key b34rer-token c00kie-sid t3nant-of-us 4rgument-token \
                    v4riable-token d4tabase-pw";
        assert_eq!(secrets.text(told), ["***"; 8].join(" "));
        let public = "application/json dark information long-page-2 Bearer postgres db me";
        assert_eq!(secrets.text(public), public);
    }

    #[test]
    fn credentials_of_basic_are_kept_in_both_forms() {
        let encoded = STANDARD.encode("aladdin:open-s3same");
        let secrets =
            Given::default().header("Authorization", &format!("Basic {encoded}")).secrets();
        assert_eq!(secrets.text(&format!("{encoded} open-s3same")), "*** ***");
    }

    #[test]
    fn ordinary_values_are_not_kept_even_under_secret_names() {
        let given = Given::default().variable("AUTH", "true").variable("MAX_TOKENS", "128000");
        assert!(given.header("X-Auth-Mode", "none").variable("TOKEN", MASK).secrets().is_empty());
    }

    #[test]
    fn an_equals_sign_at_the_end_belongs_to_the_value() {
        let given = Given::default().header("X-Api-Key", "a1b2c3d4e=");
        let secrets = given.header("X-Api-Key", "b1b2c3d4e==").secrets();
        assert_eq!(secrets.text("a1b2c3d4e= b1b2c3d4e=="), "*** ***");
    }

    #[test]
    fn ordinary_and_public_headers_are_not_kept() {
        let given = Given::default().header("X-Region", "europe-west");
        assert!(given.header("User-Agent", "agent-1.2.3-x").secrets().is_empty());
    }

    #[test]
    fn a_password_in_an_argument_is_kept_by_itself() {
        let secrets =
            Given::default().arguments(&["postgres://u:d4tabase-pw@db/x".to_owned()]).secrets();
        assert_eq!(secrets.text("pw d4tabase-pw of u:d4tabase-pw"), "pw *** of ***");
    }
}
