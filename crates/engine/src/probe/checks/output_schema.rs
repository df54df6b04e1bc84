//! Results of tools that promise what their results look like.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    display::visible,
    mcp::{Revision, Tool},
    report::Severity,
};
use serde_json::Value;

use super::{Check, Running};
use crate::probe::{bench::Bench, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "output_schema",
    family: Family::Output,
    taxonomy: None,
    depth: Depth::Quick,
    about: "holds the results of tools against their `outputSchema`",
    meaning: "clients that rely on the promised form refuse the result, or work with what is wrong",
    run,
};

const CONFORM: &str = "MCP tools, output schema: servers MUST provide structured results that \
                       conform to it";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if bench.revision < Revision::V2025_06_18 {
            return bench.skip(&CHECK, "this revision has no output schemas");
        }
        let mut promised = 0;
        for (tool, arguments) in bench.subjects() {
            let Some(schema) = &tool.output_schema else { continue };
            promised += 1;
            let session = match bench.session().await {
                Ok(session) => session,
                Err(error) => return bench.no_session(&CHECK, &error),
            };
            let (seen, _) = bench.call(&session, tool, arguments).await;
            let result = judge(tool, schema, &seen).tool(&tool.name);
            bench.tell(match seen {
                Seen::Taken { .. } => result,
                _ => bench.unless_dead(&session, result).await,
            });
        }
        if promised == 0 {
            bench.skip(&CHECK, "no tool that may be called has an `outputSchema`");
        }
    })
}

fn judge(tool: &Tool, schema: &Value, seen: &Seen) -> CaseResult {
    let case = |verdict| CHECK.case("its result", verdict);
    let Seen::Taken { result, .. } = seen else {
        return case(CaseVerdict::CouldNotTell).detail(seen.words());
    };
    let Some(structured) = result.get("structuredContent") else {
        return case(CaseVerdict::Broken)
            .severity(Severity::Warning)
            .reference(CONFORM)
            .detail("`structuredContent` is missing");
    };
    match violation(schema, structured) {
        Ok(None) => case(CaseVerdict::Held),
        Ok(Some(wrong)) => case(CaseVerdict::Broken).reference(CONFORM).detail(wrong),
        Err(why) => case(CaseVerdict::CouldNotTell)
            .detail(format!("the schema of `{}` cannot be used: {why}", tool.name)),
    }
}

/// What in the value is not as the schema says. Nothing is fetched to find out.
fn violation(schema: &Value, value: &Value) -> Result<Option<String>, String> {
    // What a format means differs from one make to the next, so it forbids nothing here.
    let validator = jsonschema::options()
        .should_validate_formats(false)
        .build(schema)
        .map_err(|error| visible(&error.to_string(), 160))?;
    Ok(validator.iter_errors(value).next().map(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { "the whole".to_owned() } else { at };
        format!("{}: {}", visible(&at, 80), visible(&error.to_string(), 160))
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let schema = json!({ "properties": { "count": { "type": "integer" } } });
        assert_eq!(violation(&schema, &json!({ "count": 1 })), Ok(None));
        let wrong = violation(&schema, &json!({ "count": "many" })).unwrap().unwrap();
        assert!(wrong.starts_with("/count: "), "{wrong}");
    }

    #[test]
    fn hostile_schemas_do_no_harm() {
        let far = json!({ "$ref": "http://127.0.0.1:9/schema.json" });
        assert!(violation(&far, &json!({})).is_err());
        let file = json!({ "$ref": "file:///etc/passwd" });
        assert!(violation(&file, &json!({})).is_err());
        for endless in [json!({ "$ref": "#" }), json!({ "allOf": [{ "$ref": "#" }] })] {
            let _ = violation(&endless, &json!({ "a": 1 }));
        }
    }
}
