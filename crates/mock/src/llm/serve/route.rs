//! Which API a request is for, and what it says there.

use mcp_loadtest_core::{
    display::visible,
    llm::{Problem, Provider, Request},
};
use serde_json::Value;

use super::incoming::Asked;
use crate::llm::dialect::{self, DIALECTS, Dialect, Route};

/// The API that a request is for.
pub(super) fn find(asked: &Asked) -> Result<(&'static Dialect, Route), Box<(Provider, Problem)>> {
    let mut known = None;
    for dialect in DIALECTS {
        let Some(route) = (dialect.route)(&asked.path, &asked.query) else { continue };
        if dialect.verb == asked.verb {
            return Ok((dialect, route));
        }
        known = Some(dialect);
    }
    Err(Box::new(match known {
        Some(dialect) => (dialect.provider, wrong_verb(dialect, asked)),
        None => {
            let paths: Vec<_> = DIALECTS.iter().map(|dialect| dialect.path).collect();
            let shown = visible(&asked.path, 120);
            let why = format!("nothing is served at {shown}; there is {}", paths.join(", "));
            (dialect::likely_provider(&asked.path), Problem::new(404, why))
        }
    }))
}

fn wrong_verb(dialect: &Dialect, asked: &Asked) -> Problem {
    let shown = visible(&asked.path, 120);
    let why = format!("{shown} takes {}, not {}", dialect.verb, visible(&asked.verb, 20));
    let mut problem = Problem::new(405, why);
    problem.headers.push(("allow".into(), dialect.verb.into()));
    problem
}

/// What a request says.
pub(super) fn read(
    dialect: &Dialect,
    route: &Route,
    asked: &mut Asked,
) -> Result<Request, Problem> {
    let body = match dialect.verb {
        "GET" => Value::Null,
        _ => serde_json::from_slice(&asked.body)
            .map_err(|error| Problem::new(400, format!("the body is no JSON: {error}")))?,
    };
    let mut request = (dialect.read)(route, body)?;
    request.headers = std::mem::take(&mut asked.headers);
    request.length = asked.body.len();
    Ok(request)
}
