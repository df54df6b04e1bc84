//! Keys of a file behind `mock --tools-from`.

use super::Key;
use crate::effects::proof::{
    Proof::{Tested, Written},
    written_keys,
};

pub(super) const TOOLS: &[Key] = &[
    Key("Answer.error", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("Answer.result", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("Arm.default", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("Arm.delay_ms", Tested(&["cli effects::keys::tools::an_arm_may_take_its_time"])),
    Key("Arm.error", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("Arm.result", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key(
        "Arm.sequence",
        Tested(&["mock catalog::file::tests::a_sequence_begins_anew_with_each_connection"]),
    ),
    Key("Arm.when", Tested(&["core tools_file::tests::arguments_match_in_several_ways"])),
    Key(
        "ErrorAnswer.code",
        Tested(&["mock catalog::builtin::error::tests::the_two_kinds_of_errors_are_kept_apart"]),
    ),
    Key(
        "ErrorAnswer.data",
        Tested(&["mock catalog::builtin::error::tests::the_two_kinds_of_errors_are_kept_apart"]),
    ),
    Key(
        "ErrorAnswer.message",
        Tested(&[
            "mock catalog::builtin::echo::tests::arguments_come_back_with_whatever_was_added",
        ]),
    ),
    Key("File._meta", Tested(&["mock mcp::request::tests::a_request_claims_the_era_of_its_meta"])),
    Key("File.cacheScope", Tested(&["core tools_file::tests::a_saved_list_is_read_as_it_is"])),
    Key("File.mock_server", Tested(&["core tools_file::tests::the_keys_may_stand_one_level_down"])),
    Key("File.name", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("File.nextCursor", Tested(&["core tools_file::tests::a_saved_list_is_read_as_it_is"])),
    Key("File.prompts", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key(
        "File.resource_templates",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {tools_from: tools.yml}}}\nresources: [{name: r, uri: 'x://one'}]\n",
            "servers: {m: {mock: {resource_templates: [{uri_template: 'x://{id}', name: a, text: all}]}}}\nresources: [{name: r, uri: 'x://one'}]\n",
            "exit 0",
        ),
    ),
    Key("File.resources", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("File.resultType", Tested(&["core tools_file::tests::a_saved_list_is_read_as_it_is"])),
    Key("File.tools", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("File.ttlMs", Tested(&["core tools_file::tests::a_saved_list_is_read_as_it_is"])),
    Key(
        "PromptArgument.description",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "PromptArgument.name",
        Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"]),
    ),
    Key(
        "PromptArgument.required",
        Tested(&["mock catalog::file::tests::a_tool_without_a_response_gives_a_sample"]),
    ),
    Key("PromptEntry.arguments", Tested(&["core tools_file::tests::arms_are_chosen_by_arguments"])),
    Key(
        "PromptEntry.description",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "PromptEntry.messages",
        Tested(&["mock llm::errors::bad_requests_are_refused_before_any_fixture_answers"]),
    ),
    Key("PromptEntry.name", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key("PromptEntry.text", Tested(&["mock catalog::file::tests::responses_take_three_forms"])),
    Key(
        "ResourceEntry.blob",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {resources: [{uri: 'x://a', name: a, text: plain}]}}}\nresources: [{name: r, uri: 'x://a', expect: [{target: 'result.contents[0].blob', matcher: {exact: aGk=}}]}]\n",
            "servers: {m: {mock: {resources: [{uri: 'x://a', name: a, blob: aGk=}]}}}\nresources: [{name: r, uri: 'x://a', expect: [{target: 'result.contents[0].blob', matcher: {exact: aGk=}}]}]\n",
            "exit 0",
        ),
    ),
    Key(
        "ResourceEntry.description",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "ResourceEntry.mime_type",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "ResourceEntry.name",
        Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"]),
    ),
    Key("ResourceEntry.text", Tested(&["mock catalog::file::tests::responses_take_three_forms"])),
    Key(
        "ResourceEntry.uri",
        Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"]),
    ),
    Key(
        "TemplateEntry.description",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "TemplateEntry.mime_type",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "TemplateEntry.name",
        Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"]),
    ),
    Key("TemplateEntry.text", Tested(&["mock catalog::file::tests::responses_take_three_forms"])),
    Key(
        "TemplateEntry.uri_template",
        Tested(&["mock catalog::resource::tests::a_template_fills_its_part_in"]),
    ),
    Key(
        "ToolEntry._meta",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - name: t\n    response: r\n",
            "tools:\n  - name: t\n    response: r\n    _meta: {note: kept-as-is}\n",
            "kept-as-is",
        ),
    ),
    Key(
        "ToolEntry.annotations",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - name: t\n    response: r\n",
            "tools:\n  - name: t\n    response: r\n    annotations: {title: by-annotation}\n",
            "by-annotation",
        ),
    ),
    Key(
        "ToolEntry.description",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - name: t\n    response: r\n",
            "tools:\n  - name: t\n    response: r\n    description: a-description\n",
            "a-description",
        ),
    ),
    Key(
        "ToolEntry.execution",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - name: t\n    response: r\n",
            "tools:\n  - name: t\n    response: r\n    execution: {taskSupport: forbidden}\n",
            "taskSupport",
        ),
    ),
    Key(
        "ToolEntry.icons",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - name: t\n    response: r\n",
            "tools:\n  - name: t\n    response: r\n    icons: [{src: 'https://x.example/i.png'}]\n",
            "i.png",
        ),
    ),
    Key(
        "ToolEntry.input_schema",
        Tested(&["mock catalog::file::tests::a_schema_that_is_none_is_told"]),
    ),
    Key("ToolEntry.name", Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"])),
    Key(
        "ToolEntry.output_schema",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - {name: t, response: r}\n",
            "tools:\n  - {name: t, output_schema: {type: object, title: told}}\n",
            "told",
        ),
    ),
    Key(
        "ToolEntry.response",
        Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"]),
    ),
    Key(
        "ToolEntry.responses",
        Tested(&["core tools_file::tests::bad_files_are_told_where_and_what"]),
    ),
    Key(
        "ToolEntry.title",
        Written(
            &[
                "run",
                "--tool",
                "t",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--trace",
                "full",
                "-s",
                "{mock} --tools-from {here}/given",
            ],
            "tools:\n  - name: t\n    response: r\n",
            "tools:\n  - name: t\n    response: r\n    title: a-title\n",
            "a-title",
        ),
    ),
];

#[test]
fn each_key_shows() {
    written_keys(TOOLS);
}

#[test]
fn an_arm_may_take_its_time() {
    const CALL: &[&str] = &[
        "deadlock-probe",
        "--tool",
        "t",
        "--concurrent",
        "1",
        "--steady-calls",
        "0",
        "--hang-threshold",
        "100ms",
        "--json",
        "-s",
        "{mock} --tools-from {here}/given",
    ];
    let arm = |more: &str| {
        let bench = crate::effects::bench::Bench::new();
        bench.write(
            "given",
            &format!("tools:\n  - name: t\n    responses: [{{default: true, result: r{more}}}]\n"),
        );
        bench.transcript(CALL)
    };
    let late = arm(", delay_ms: 600");
    assert!(late.contains("\"hang_count\": 1"), "{late}");
    let prompt = arm("");
    assert!(prompt.contains("\"requests\": 1,"), "{prompt}");
}
