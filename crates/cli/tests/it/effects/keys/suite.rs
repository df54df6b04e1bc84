//! Keys of a suite, the faults among them.

use super::{Key, Same};
use crate::{
    effects::{
        bench::Bench,
        proof::{
            Proof::{Of, Tested, Written},
            written_keys,
        },
    },
    process::{Listening, binary},
};

/// Types that other files have, too.
pub(super) const SAME: &[Same] = &[
    Same("Answer", "tools", "Answer"),
    Same("Arm", "tools", "Arm"),
    Same("ErrorAnswer", "tools", "ErrorAnswer"),
    Same("PromptArgument", "tools", "PromptArgument"),
    Same("PromptEntry", "tools", "PromptEntry"),
    Same("ResourceEntry", "tools", "ResourceEntry"),
    Same("ScenarioConfig", "config", "scenario"),
    Same("Sequence", "config", "scenario.sequence"),
    Same("SequenceStep", "config", "scenario.sequence.steps"),
    Same("StageSettings", "config", "scenario.stage"),
    Same("TemplateEntry", "tools", "TemplateEntry"),
    Same("Thresholds", "config", "thresholds"),
    Same("ToolCallConfig", "config", "scenario.tool_call"),
    Same("ToolEntry", "tools", "ToolEntry"),
    Same("ToolThresholds", "config", "thresholds.tool"),
];

pub(super) const SUITE: &[Key] = &[
    Key(
        "AgentTest.command",
        Tested(&["cli suite::live::an_agent_that_starts_its_server_is_watched_on_the_pipes"]),
    ),
    Key(
        "AgentTest.env",
        Tested(&["cli suite::live::an_agent_is_watched_before_a_server_of_others_too"]),
    ),
    Key(
        "AgentTest.expect",
        Tested(&["cli suite::live::the_wire_can_be_asked_about_and_what_cannot_be_set_is_refused"]),
    ),
    Key(
        "AgentTest.inject",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key(
        "AgentTest.max_tokens",
        Tested(&["core agent::dialect::tests::requests_have_the_form_of_each_api"]),
    ),
    Key(
        "AgentTest.max_tool_calls",
        Tested(&["cli suite::agents::budgets_end_an_agent_and_the_others_go_on"]),
    ),
    Key(
        "AgentTest.max_turns",
        Tested(&["cli suite::agents::budgets_end_an_agent_and_the_others_go_on"]),
    ),
    Key("AgentTest.model", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key("AgentTest.name", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key("AgentTest.prompt", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key(
        "AgentTest.recovery",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key("AgentTest.runs", Tested(&["cli suite::agents::each_run_of_several_must_pass"])),
    Key("AgentTest.servers", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key(
        "AgentTest.skip",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {}}}\nagents: [{name: a, command: ['true'], servers: [m], prompt: x}]\n",
            "servers: {m: {mock: {}}}\nagents: [{name: a, command: ['true'], servers: [m], prompt: x, skip: why-not}]\n",
            "why-not",
        ),
    ),
    Key(
        "AgentTest.system_prompt",
        Tested(&["cli effects::keys::suite::a_model_is_told_how_to_behave"]),
    ),
    Key(
        "AgentTest.tags",
        Tested(&[
            "cli suite::choosing::names_tags_and_parts_choose",
            "core suite::select::tests::names_and_tags_choose",
        ]),
    ),
    Key(
        "AgentTest.time_budget",
        Tested(&["cli suite::live::an_agent_is_watched_before_a_server_of_others_too"]),
    ),
    Key(
        "AgentTest.token_budget",
        Tested(&["cli suite::agents::budgets_end_an_agent_and_the_others_go_on"]),
    ),
    Key(
        "Assertion.matcher",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key(
        "Assertion.message",
        Tested(&["core suite::expect::tests::time_is_limited_and_messages_are_told"]),
    ),
    Key(
        "Assertion.target",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key(
        "Auth.bearer_token_env",
        Tested(&["cli effects::keys::suite::headers_and_tokens_of_a_server_are_sent"]),
    ),
    Key(
        "Call.args",
        Tested(&["core suite::script::tests::calls_are_repeated_while_they_fail_and_waits_double"]),
    ),
    Key(
        "Call.back_off_ms",
        Tested(&["core suite::script::tests::calls_are_repeated_while_they_fail_and_waits_double"]),
    ),
    Key("Call.retry", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key("Call.tool", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key(
        "ExpectObject.assertions",
        Tested(&["core suite::expect::tests::time_is_limited_and_messages_are_told"]),
    ),
    Key(
        "ExpectObject.max_duration_ms",
        Tested(&["core suite::expect::tests::time_is_limited_and_messages_are_told"]),
    ),
    Key(
        "Fault.bytes",
        Tested(&[
            "core fault::tests::files_say_the_same",
            "core fault::tests::names_are_unique_sentences_are_sentences_and_keys_are_known_to_files",
        ]),
    ),
    Key(
        "Fault.code",
        Tested(&[
            "core fault::tests::files_say_the_same",
            "core fault::tests::names_are_unique_sentences_are_sentences_and_keys_are_known_to_files",
        ]),
    ),
    Key("Fault.delay_ms", Tested(&["core fault::tests::files_say_the_same"])),
    Key(
        "Fault.exit_code",
        Tested(&[
            "core fault::tests::files_say_the_same",
            "core fault::tests::names_are_unique_sentences_are_sentences_and_keys_are_known_to_files",
        ]),
    ),
    Key(
        "Fault.failures",
        Tested(&["cli suite::live::an_agent_is_watched_before_a_server_of_others_too"]),
    ),
    Key(
        "Fault.kind",
        Tested(&["cli suite::live::an_agent_is_watched_before_a_server_of_others_too"]),
    ),
    Key("Fault.name", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key("Fault.probability", Tested(&["cli suite::agents::each_run_of_several_must_pass"])),
    Key(
        "Fault.rate",
        Tested(&[
            "core fault::tests::names_are_unique_sentences_are_sentences_and_keys_are_known_to_files",
            "core fault::drip::tests::pieces_add_up_to_the_rate",
        ]),
    ),
    Key(
        "Fault.seed",
        Tested(&[
            "core fault::tests::files_say_the_same",
            "mock faults::selectors::the_same_seed_makes_the_same_calls_fail",
        ]),
    ),
    Key(
        "Fault.status",
        Tested(&[
            "core fault::tests::files_say_the_same",
            "core fault::tests::names_are_unique_sentences_are_sentences_and_keys_are_known_to_files",
        ]),
    ),
    Key(
        "Fault.target",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key("Fault.when", Tested(&["cli suite::agents::each_run_of_several_must_pass"])),
    Key(
        "File.agents",
        Tested(&["cli suite::choosing::what_is_wrong_is_told_before_anything_is_started"]),
    ),
    Key(
        "File.faults",
        Tested(&["cli suite::live::an_agent_is_watched_before_a_server_of_others_too"]),
    ),
    Key("File.loads", Tested(&["cli suite::requests::loads_are_gates"])),
    Key("File.models", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key("File.prompts", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key("File.resources", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key(
        "File.run_options",
        Tested(&["cli suite::outputs::an_interrupted_run_tells_what_was_done"]),
    ),
    Key("File.servers", Tested(&["core suite::tests::servers_are_a_map_or_a_list"])),
    Key("File.tools", Tested(&["cli suite::requests::a_deadline_is_kept_and_the_server_is_told"])),
    Key(
        "FromEnv.env",
        Tested(&["cli effects::keys::suite::headers_and_tokens_of_a_server_are_sent"]),
    ),
    Key(
        "Fuzz.cases",
        Tested(&["cli suite::requests::the_fuzzer_passes_what_survives_and_fails_what_dies"]),
    ),
    Key(
        "Fuzz.expect",
        Tested(&["cli suite::requests::the_fuzzer_passes_what_survives_and_fails_what_dies"]),
    ),
    Key(
        "Fuzz.max_call_ms",
        Tested(&["cli suite::requests::the_fuzzer_passes_what_survives_and_fails_what_dies"]),
    ),
    Key(
        "Fuzz.seed",
        Tested(&["cli suite::requests::the_fuzzer_passes_what_survives_and_fails_what_dies"]),
    ),
    Key("LoadTest.name", Tested(&["cli suite::requests::loads_are_gates"])),
    Key("LoadTest.scenario", Tested(&["cli suite::requests::loads_are_gates"])),
    Key("LoadTest.server", Tested(&["cli suite::requests::loads_are_gates"])),
    Key(
        "LoadTest.skip",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {}}}\nloads: [{name: l, server: m, scenario: {type: deadlock_probe, concurrent: 2}}]\n",
            "servers: {m: {mock: {}}}\nloads: [{name: l, server: m, scenario: {type: deadlock_probe, concurrent: 2}, skip: why-not}]\n",
            "why-not",
        ),
    ),
    Key("LoadTest.tags", Tested(&["core suite::select::tests::names_and_tags_choose"])),
    Key("LoadTest.thresholds", Tested(&["cli suite::requests::loads_are_gates"])),
    Key(
        "Matcher.all-of",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.any-of",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.contains",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.contains-all",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.contains-any",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.exact",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.greater-than",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.icontains",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.less-than",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.not",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.one-of",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.regex",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.schema",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.starts-with",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key(
        "Matcher.subset",
        Tested(&["core suite::expect::tests::every_matcher_takes_one_value_and_refuses_another"]),
    ),
    Key("MockEntry.fault", Tested(&["cli suite::requests::loads_are_gates"])),
    Key(
        "MockEntry.prompts",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key("MockEntry.resource_templates", Of("tools", "File.resource_templates")),
    Key(
        "MockEntry.resources",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key(
        "MockEntry.seed",
        Tested(&["mock faults::selectors::the_same_seed_makes_the_same_calls_fail"]),
    ),
    Key(
        "MockEntry.tools",
        Tested(&["cli suite::requests::a_deadline_is_kept_and_the_server_is_told"]),
    ),
    Key(
        "MockEntry.tools_from",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {}}}\ntools: [{name: x, tool: special}]\n",
            "servers: {m: {mock: {tools_from: tools.yml}}}\ntools: [{name: x, tool: special}]\n",
            "exit 0",
        ),
    ),
    Key(
        "Model.api_key_env",
        Tested(&["cli suite::agents::a_model_that_cannot_be_reached_is_no_failure_of_the_agent"]),
    ),
    Key(
        "Model.base_url",
        Tested(&["cli suite::agents::a_model_that_cannot_be_reached_is_no_failure_of_the_agent"]),
    ),
    Key("Model.fixtures", Tested(&["cli suite::agents::fixtures_speak_for_a_model"])),
    Key("Model.id", Tested(&["core agent::dialect::tests::requests_have_the_form_of_each_api"])),
    Key("Model.name", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key(
        "Model.provider",
        Tested(&["cli suite::agents::a_model_that_cannot_be_reached_is_no_failure_of_the_agent"]),
    ),
    Key("Model.script", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key(
        "NegativePath.checks",
        Tested(&[
            "cli suite::requests::bad_input_is_refused_by_a_good_server_and_taken_by_a_bad_one",
        ]),
    ),
    Key(
        "NegativePath.expect",
        Tested(&[
            "cli suite::requests::bad_input_is_refused_by_a_good_server_and_taken_by_a_bad_one",
        ]),
    ),
    Key("PromptTest.args", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key(
        "PromptTest.expect",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key("PromptTest.name", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key(
        "PromptTest.prompt",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key(
        "PromptTest.server",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key(
        "PromptTest.skip",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {}}}\nprompts: [{name: a, prompt: x}]\n",
            "servers: {m: {mock: {}}}\nprompts: [{name: a, prompt: x, skip: why-not}]\n",
            "why-not",
        ),
    ),
    Key("PromptTest.tags", Tested(&["core suite::select::tests::names_and_tags_choose"])),
    Key(
        "PromptTest.timeout_ms",
        Tested(&["cli suite::requests::a_deadline_is_kept_and_the_server_is_told"]),
    ),
    Key(
        "Recovery.accept",
        Tested(&["core suite::recovery::tests::what_is_accepted_can_be_widened_and_narrowed"]),
    ),
    Key(
        "Recovery.evidence",
        Tested(&["cli suite::live::an_agent_is_watched_before_a_server_of_others_too"]),
    ),
    Key(
        "Recovery.fallback",
        Tested(&["core suite::recovery::tests::second_best_must_be_disclosed_where_that_is_asked"]),
    ),
    Key(
        "Recovery.max_detection_ms",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key(
        "Recovery.max_recovery_ms",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key(
        "Recovery.must_disclose",
        Tested(&["core suite::recovery::tests::second_best_must_be_disclosed_where_that_is_asked"]),
    ),
    Key(
        "Recovery.non_idempotent",
        Tested(&["core suite::recovery::tests::what_may_have_been_done_must_not_be_done_again"]),
    ),
    Key(
        "Recovery.require_clean_timeout",
        Tested(&[
            "cli suite::agents::a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do",
        ]),
    ),
    Key(
        "ResourceTest.expect",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key(
        "ResourceTest.name",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key(
        "ResourceTest.server",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key(
        "ResourceTest.skip",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {}}}\nresources: [{name: a, uri: 'x://a'}]\n",
            "servers: {m: {mock: {}}}\nresources: [{name: a, uri: 'x://a', skip: why-not}]\n",
            "why-not",
        ),
    ),
    Key("ResourceTest.tags", Tested(&["core suite::select::tests::names_and_tags_choose"])),
    Key(
        "ResourceTest.timeout_ms",
        Tested(&["cli suite::requests::a_deadline_is_kept_and_the_server_is_told"]),
    ),
    Key(
        "ResourceTest.uri",
        Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"]),
    ),
    Key("RunOptions.parallel", Tested(&["cli suite::choosing::repeated_tests_tell_their_share"])),
    Key(
        "RunOptions.restart_policy",
        Tested(&["cli suite::requests::each_test_can_have_a_server_of_its_own"]),
    ),
    Key(
        "ServerEntry.auth",
        Tested(&["cli effects::keys::suite::headers_and_tokens_of_a_server_are_sent"]),
    ),
    Key(
        "ServerEntry.command",
        Tested(&["cli suite::live::an_agent_that_starts_its_server_is_watched_on_the_pipes"]),
    ),
    Key(
        "ServerEntry.env",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {command: [sh, -c, 'echo seen-$SEEN > {here}/env; exec {bin} mock']}}\ntools: [{name: x, tool: echo}]\n",
            "servers: {m: {command: [sh, -c, 'echo seen-$SEEN > {here}/env; exec {bin} mock'], env: {SEEN: 'yes'}}}\ntools: [{name: x, tool: echo}]\n",
            "seen-yes",
        ),
    ),
    Key(
        "ServerEntry.headers",
        Tested(&["cli effects::keys::suite::headers_and_tokens_of_a_server_are_sent"]),
    ),
    Key("ServerEntry.mock", Tested(&["cli suite::agents::a_model_that_nobody_uses_is_told"])),
    Key("ServerEntry.name", Tested(&["core suite::tests::servers_are_a_map_or_a_list"])),
    Key(
        "ServerEntry.url",
        Tested(&[
            "cli effects::keys::suite::headers_and_tokens_of_a_server_are_sent",
            "cli suite::live::an_agent_is_watched_before_a_server_of_others_too",
        ]),
    ),
    Key(
        "ServerEntry.working_dir",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {command: [sh, -c, 'pwd > {here}/pwd; exec {bin} mock']}}\ntools: [{name: x, tool: echo}]\n",
            "servers: {m: {command: [sh, -c, 'pwd > {here}/pwd; exec {bin} mock'], working_dir: sub}}\ntools: [{name: x, tool: echo}]\n",
            "/sub\n",
        ),
    ),
    Key("Step.answer", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key(
        "Step.back_off",
        Tested(&[
            "core suite::script::tests::calls_are_repeated_while_they_fail_and_waits_double",
            "core suite::script::tests::it_falls_back_only_when_something_failed",
        ]),
    ),
    Key("Step.call", Tested(&["cli suite::agents::a_script_is_spoken_in_each_api"])),
    Key("Step.fabricate", Tested(&["cli suite::agents::the_gate_survives_record_and_replay"])),
    Key(
        "Step.fall_back",
        Tested(&["core suite::script::tests::it_falls_back_only_when_something_failed"]),
    ),
    Key("Step.loop", Tested(&["core suite::script::tests::a_loop_never_ends_and_a_script_does"])),
    Key("Step.refuse", Tested(&["core suite::script::tests::a_loop_never_ends_and_a_script_does"])),
    Key(
        "Target2.server",
        Tested(&["cli suite::requests::what_cannot_be_reached_is_no_failure_of_the_test"]),
    ),
    Key("Target2.tool", Tested(&["cli suite::outputs::an_interrupted_run_tells_what_was_done"])),
    Key("ToolTest.args", Tested(&["cli suite::outputs::an_interrupted_run_tells_what_was_done"])),
    Key("ToolTest.expect", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key(
        "ToolTest.fuzz",
        Tested(&["cli suite::requests::the_fuzzer_passes_what_survives_and_fails_what_dies"]),
    ),
    Key("ToolTest.name", Tested(&["cli suite::requests::each_kind_of_request_passes_and_fails"])),
    Key(
        "ToolTest.negative_path",
        Tested(&[
            "cli suite::requests::bad_input_is_refused_by_a_good_server_and_taken_by_a_bad_one",
        ]),
    ),
    Key(
        "ToolTest.server",
        Tested(&["cli suite::requests::what_cannot_be_reached_is_no_failure_of_the_test"]),
    ),
    Key(
        "ToolTest.skip",
        Written(
            &["test", "given", "--json"],
            "servers: {m: {mock: {}}}\ntools: [{name: a, tool: echo}]\n",
            "servers: {m: {mock: {}}}\ntools: [{name: a, tool: echo, skip: why-not}]\n",
            "why-not",
        ),
    ),
    Key("ToolTest.tags", Tested(&["core suite::select::tests::names_and_tags_choose"])),
    Key(
        "ToolTest.timeout_ms",
        Tested(&["cli suite::requests::a_deadline_is_kept_and_the_server_is_told"]),
    ),
    Key("ToolTest.tool", Tested(&["cli suite::outputs::an_interrupted_run_tells_what_was_done"])),
    Key("When.after", Tested(&["mock faults::selectors::a_window_opens_and_closes"])),
    Key("When.every", Tested(&["cli suite::choosing::repeated_tests_tell_their_share"])),
    Key("When.first", Tested(&["cli suite::agents::fixtures_speak_for_a_model"])),
    Key(
        "When.method",
        Tested(&["mock faults::selectors::numbers_choose_the_same_calls_everywhere"]),
    ),
    Key("When.nth", Tested(&["cli suite::requests::each_test_can_have_a_server_of_its_own"])),
    Key("When.probability", Tested(&["cli suite::agents::each_run_of_several_must_pass"])),
    Key("When.session", Tested(&["mock faults::selectors::a_session_is_chosen_by_its_name"])),
    Key("When.until", Tested(&["mock faults::selectors::a_window_opens_and_closes"])),
];

#[test]
fn each_key_shows() {
    written_keys(SUITE);
}

#[test]
fn headers_and_tokens_of_a_server_are_sent() {
    for (entry, sent) in [
        ("headers: {X-Seen: as-it-stands}", "as-it-stands"),
        ("headers: {X-Seen: {env: SEEN_BY_SUITE}}", "from-a-variable"),
        ("auth: {bearer_token_env: SEEN_BY_SUITE}", "Authorization"),
    ] {
        let bench = Bench::new();
        let heard = format!("jsonl:{}", bench.path().join("heard.jsonl").display());
        let mock = Listening::start(&["mock", "--transport", "http", "--audit", heard.as_str()]);
        let suite = |entry: &str| {
            let tools = "tools: [{name: x, tool: headers}]";
            bench.write(
                "given",
                &format!("servers: {{m: {{url: '{}'{entry}}}}}\n{tools}\n", mock.url),
            );
            let mut ours = binary();
            ours.current_dir(bench.path())
                .args(["test", "given"])
                .env("SEEN_BY_SUITE", "from-a-variable");
            let ran = ours.output().unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        };
        suite(&format!(", {entry}"));
        mock.stop();
        let log = std::fs::read_to_string(bench.path().join("heard.jsonl")).unwrap();
        assert!(log.contains(sent), "{entry}: {log}");
    }
}

#[test]
fn a_model_is_told_how_to_behave() {
    let answered = |more: &str| {
        let bench = Bench::new();
        bench.write(
            "told.yml",
            "fixtures:\n  - match: {system_prompt: be brief}\n    response: {content: as-told}\n  - response: {content: untold}\n",
        );
        bench.write(
            "given",
            &format!(
                "servers: {{m: {{mock: {{}}}}}}\nmodels: [{{name: f, fixtures: told.yml, provider: openai}}]\n\
                 agents: [{{name: a, model: f, servers: [m], prompt: x{more}}}]\n"
            ),
        );
        bench.transcript(&["test", "given", "--json"])
    };
    assert!(
        answered(", system_prompt: be brief").contains("\"as-told"),
        "{}",
        answered(", system_prompt: be brief")
    );
    assert!(answered("").contains("\"untold"), "{}", answered(""));
}
