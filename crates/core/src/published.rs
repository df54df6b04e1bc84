//! The schemas in `schemas/` are those of the types here. The command line looks at all of them, by
//! their names; this is for whoever changes a type and runs the tests of this crate alone.

use serde_json::Value;

use crate::{
    compare, config,
    doctor::DoctorReport,
    fuzz, llm,
    report::{json, summary},
    suite::{Suite, SuiteReport},
    tools_file, trace,
};

#[test]
fn every_schema_of_ours_is_the_published_one() {
    type Make = fn() -> Value;
    let ours: [(&str, Make); 13] = [
        ("config", config::schema),
        ("metrics", json::schema),
        ("trace", trace::schema::schema),
        ("summary", summary::schema),
        ("comparison", compare::json::schema),
        ("tools", tools_file::schema),
        ("doctor", DoctorReport::json_schema),
        ("fixtures", llm::FixtureFile::json_schema),
        ("llm-journal", llm::Entry::json_schema),
        ("llm-verdict", llm::ClientReport::json_schema),
        ("case", fuzz::schema),
        ("suite", Suite::json_schema),
        ("test", SuiteReport::json_schema),
    ];
    for (name, schema) in ours {
        let file = format!("{}/../../schemas/{name}.v1.json", env!("CARGO_MANIFEST_DIR"));
        let published = std::fs::read_to_string(&file).unwrap();
        let published: Value = serde_json::from_str(&published).unwrap();
        assert!(published == schema(), "run `make schemas` to refresh {file}");
    }
}
