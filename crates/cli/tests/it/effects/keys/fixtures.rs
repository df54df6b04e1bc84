//! Keys of a file behind `llm --fixtures`.

use super::Key;
use crate::effects::proof::{
    Proof::{Tested, Written},
    written_keys,
};

pub(super) const FIXTURES: &[Key] = &[
    Key("At.after_chars", Tested(&["mock llm::faults::a_place_means_the_same_on_every_api"])),
    Key("At.after_tokens", Tested(&["mock llm::faults::a_place_means_the_same_on_every_api"])),
    Key("At.in_tool_argument", Tested(&["mock llm::faults::arguments_are_cut_in_the_middle"])),
    Key("BytesFault.bom", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("BytesFault.comments", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("BytesFault.line_end", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("BytesFault.merge", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("BytesFault.no_space", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("BytesFault.split", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("Delays.constant", Tested(&["mock llm::faults::stalls_and_first_tokens_take_their_time"])),
    Key("Delays.log_normal", Tested(&["core llm::fixture::tests::faults_are_read"])),
    Key("Delays.recorded", Tested(&["mock llm::faults::stalls_and_first_tokens_take_their_time"])),
    Key(
        "Delays.uniform",
        Tested(&[
            "core llm::fixture::tests::what_cannot_be_is_told_with_its_place",
            "core llm::plan::tests::delays_are_spread_as_asked",
        ]),
    ),
    Key("ErrorReply.code", Tested(&["mock llm::errors::a_fixture_may_choose_its_own_words"])),
    Key("ErrorReply.headers", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key(
        "ErrorReply.message",
        Tested(&["mock llm::faults::errors_in_the_middle_have_each_providers_form"]),
    ),
    Key("ErrorReply.retry_after_ms", Tested(&["mock llm::journal::every_ending_has_its_word"])),
    Key("ErrorReply.status", Tested(&["mock llm::errors::every_status_has_its_providers_form"])),
    Key("ErrorReply.type", Tested(&["mock llm::errors::a_fixture_may_choose_its_own_words"])),
    Key("Failure.chaos_seed", Tested(&["mock llm::failure::jitter_keeps_to_its_range"])),
    Key(
        "Failure.corrupt_body",
        Tested(&["mock llm::failure::a_corrupt_body_outweighs_everything"]),
    ),
    Key(
        "Failure.disconnect_after_ms",
        Tested(&["mock llm::failure::a_corrupt_body_outweighs_everything"]),
    ),
    Key(
        "Failure.duplicate_frames",
        Tested(&["mock llm::failure::a_corrupt_body_outweighs_everything"]),
    ),
    Key("Failure.latency_jitter_ms", Tested(&["mock llm::failure::jitter_keeps_to_its_range"])),
    Key("Failure.latency_ms", Tested(&["mock llm::failure::latency_comes_before_the_first_byte"])),
    Key(
        "Failure.probability",
        Tested(&["mock llm::failure::probability_gates_chaos_and_nothing_else"]),
    ),
    Key(
        "Failure.truncate_after_frames",
        Tested(&["mock llm::failure::a_corrupt_body_outweighs_everything"]),
    ),
    Key(
        "File.fixtures",
        Tested(&["mock llm::control::fixtures_are_switched_and_the_journal_read"]),
    ),
    Key("File.limits", Tested(&["mock llm::chosen::buckets_empty_and_tell_the_truth"])),
    Key("File.oauth", Tested(&["mock llm::oauth::nothing_is_answered_without_a_token"])),
    Key("File.recordings", Tested(&["core llm::recording::tests::keys_are_masked_on_both_sides"])),
    Key("Fixture.catch_all", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key(
        "Fixture.error",
        Tested(&["mock llm::faults::errors_in_the_middle_have_each_providers_form"]),
    ),
    Key("Fixture.failure", Tested(&["mock llm::failure::a_slow_stream_is_dropped_in_the_middle"])),
    Key("Fixture.faults", Tested(&["mock llm::journal::every_ending_has_its_word"])),
    Key("Fixture.match", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Fixture.name", Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"])),
    Key(
        "Fixture.priority",
        Tested(&["core llm::book::tests::priority_goes_before_order_and_catch_all_comes_last"]),
    ),
    Key("Fixture.provider", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Fixture.refusal", Tested(&["mock llm::apis::refusals_and_ends_have_their_own_words"])),
    Key("Fixture.response", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Fixture.scenario", Tested(&["mock llm::chosen::a_story_fails_twice_and_then_answers"])),
    Key(
        "Fixture.streaming",
        Tested(&["mock llm::failure::a_slow_stream_is_dropped_in_the_middle"]),
    ),
    Key("Fixture.when", Tested(&["mock llm::faults::faults_keep_to_their_schedule"])),
    Key(
        "Limits.requests_per_minute",
        Tested(&["mock llm::chosen::buckets_empty_and_tell_the_truth"]),
    ),
    Key(
        "Limits.tokens_per_minute",
        Tested(&["mock llm::chosen::buckets_empty_and_tell_the_truth"]),
    ),
    Key("Match.body_jsonpath", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Match.headers", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Match.metadata", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key(
        "Match.model",
        Tested(&["mock llm::errors::bad_requests_are_refused_before_any_fixture_answers"]),
    ),
    Key(
        "Match.system_prompt",
        Tested(&["mock llm::apis::system_and_developer_are_heard_on_every_api"]),
    ),
    Key("Match.temperature", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Match.tool_schema", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Match.user_message", Tested(&["mock llm::journal::every_ending_has_its_word"])),
    Key("Oauth.client_id", Tested(&["mock llm::oauth::only_a_client_that_is_known_gets_tokens"])),
    Key(
        "Oauth.client_secret",
        Tested(&["mock llm::oauth::only_a_client_that_is_known_gets_tokens"]),
    ),
    Key(
        "Oauth.expires_in",
        Tested(&[
            "mock llm::oauth::tokens::tests::a_token_is_good_until_its_time_or_its_uses_are_over",
        ]),
    ),
    Key(
        "Oauth.fail_first",
        Tested(&["mock llm::oauth::the_first_requests_for_a_token_fail_and_again_after_a_reset"]),
    ),
    Key(
        "Oauth.pending",
        Tested(&["mock llm::oauth::a_device_is_let_in_after_it_has_asked_as_often_as_told"]),
    ),
    Key(
        "Oauth.uses",
        Tested(&["mock llm::oauth::a_token_runs_out_and_whoever_gets_another_has_passed"]),
    ),
    Key("Pattern.regex", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key(
        "RecordedChunk.after_ms",
        Tested(&["mock llm::recorded::recordings_are_told_again_to_the_same_request_only"]),
    ),
    Key("RecordedChunk.base64", Tested(&["core llm::recording::tests::half_a_character_survives"])),
    Key(
        "RecordedChunk.data",
        Tested(&[
            "core llm::recording::tests::half_a_character_survives",
            "mock llm::recorded::recordings_are_told_again_to_the_same_request_only",
        ]),
    ),
    Key(
        "RecordedRequest.body",
        Tested(&["core llm::recording::tests::only_the_same_request_gets_the_answer"]),
    ),
    Key(
        "RecordedRequest.target",
        Tested(&["core llm::recording::tests::only_the_same_request_gets_the_answer"]),
    ),
    Key(
        "RecordedRequest.verb",
        Tested(&["core llm::recording::tests::only_the_same_request_gets_the_answer"]),
    ),
    Key(
        "RecordedResponse.broken",
        Tested(&[
            "core llm::recording::tests::half_a_character_survives",
            "mock llm::recorded::recordings_are_told_again_to_the_same_request_only",
        ]),
    ),
    Key(
        "RecordedResponse.chunks",
        Tested(&["mock llm::recorded::recordings_are_told_again_to_the_same_request_only"]),
    ),
    Key(
        "RecordedResponse.headers",
        Tested(&["core llm::recording::tests::keys_are_masked_on_both_sides"]),
    ),
    Key(
        "RecordedResponse.status",
        Tested(&["mock llm::recorded::recordings_are_told_again_to_the_same_request_only"]),
    ),
    Key(
        "Recording.request",
        Tested(&["core llm::recording::tests::only_the_same_request_gets_the_answer"]),
    ),
    Key(
        "Recording.response",
        Tested(&["mock llm::recorded::recordings_are_told_again_to_the_same_request_only"]),
    ),
    Key("Refusal.reason", Tested(&["mock llm::apis::refusals_and_ends_have_their_own_words"])),
    Key(
        "Response.content",
        Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"]),
    ),
    Key(
        "Response.content_template",
        Tested(&["mock llm::abuse::requests_sent_ahead_are_answered_in_order"]),
    ),
    Key("Response.embedding", Tested(&["mock llm::apis::usage_choices_and_vectors_are_as_asked"])),
    Key("Response.finish_reason", Tested(&["mock llm::faults::calls_of_tools_come_out_wrong"])),
    Key(
        "Response.stop_reason",
        Tested(&["mock llm::apis::refusals_and_ends_have_their_own_words"]),
    ),
    Key(
        "Response.tool_calls",
        Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"]),
    ),
    Key(
        "Response.usage",
        Written(
            &["llm", "--fixtures", "given", "--", "python3", "app.py"],
            "fixtures:\n  - response: {content: x}\n",
            "fixtures:\n  - response: {content: x, usage: {input_tokens: 4321, output_tokens: 8765}}\n",
            "4321",
        ),
    ),
    Key(
        "ScenarioState.name",
        Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"]),
    ),
    Key(
        "ScenarioState.required_state",
        Tested(&["mock llm::chosen::a_story_fails_twice_and_then_answers"]),
    ),
    Key(
        "ScenarioState.set_state",
        Tested(&["mock llm::chosen::a_story_fails_twice_and_then_answers"]),
    ),
    Key(
        "StreamError.event",
        Tested(&["mock llm::faults::errors_in_the_middle_have_each_providers_form"]),
    ),
    Key(
        "StreamError.message",
        Tested(&["mock llm::faults::errors_in_the_middle_have_each_providers_form"]),
    ),
    Key(
        "StreamError.status",
        Tested(&["mock llm::faults::errors_in_the_middle_have_each_providers_form"]),
    ),
    Key("StreamFault.at", Tested(&["mock llm::faults::before_headers_nothing_comes"])),
    Key("StreamFault.bytes", Tested(&["mock llm::faults::odd_bytes_say_the_same"])),
    Key("StreamFault.cut", Tested(&["mock llm::faults::every_cut_is_what_it_says_on_streams"])),
    Key(
        "StreamFault.delays",
        Tested(&["mock llm::faults::stalls_and_first_tokens_take_their_time"]),
    ),
    Key(
        "StreamFault.error",
        Tested(&["mock llm::faults::errors_in_the_middle_have_each_providers_form"]),
    ),
    Key("StreamFault.seed", Tested(&["core llm::plan::tests::delays_are_spread_as_asked"])),
    Key(
        "StreamFault.stall_ms",
        Tested(&["mock llm::faults::stalls_and_first_tokens_take_their_time"]),
    ),
    Key("StreamFault.tool_call", Tested(&["mock llm::faults::calls_of_tools_come_out_wrong"])),
    Key(
        "StreamFault.ttft_ms",
        Tested(&["mock llm::faults::stalls_and_first_tokens_take_their_time"]),
    ),
    Key("StreamFault.when", Tested(&["mock llm::faults::faults_keep_to_their_schedule"])),
    Key(
        "Streaming.chunk_size",
        Tested(&["mock llm::failure::a_slow_stream_is_dropped_in_the_middle"]),
    ),
    Key(
        "Streaming.latency",
        Tested(&["mock llm::failure::a_slow_stream_is_dropped_in_the_middle"]),
    ),
    Key("Temperature.max", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key("Temperature.min", Tested(&["mock llm::chosen::every_condition_is_looked_at"])),
    Key(
        "ToolCall.arguments",
        Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"]),
    ),
    Key("ToolCall.id", Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"])),
    Key("ToolCall.name", Tested(&["mock llm::apis::results_of_tools_leave_the_question_standing"])),
    Key(
        "Usage.input_tokens",
        Written(
            &["llm", "--fixtures", "given", "--", "python3", "app.py"],
            "fixtures:\n  - response: {content: x}\n",
            "fixtures:\n  - response: {content: x, usage: {input_tokens: 4321, output_tokens: 8765}}\n",
            "4321",
        ),
    ),
    Key(
        "Usage.output_tokens",
        Written(
            &["llm", "--fixtures", "given", "--", "python3", "app.py"],
            "fixtures:\n  - response: {content: x}\n",
            "fixtures:\n  - response: {content: x, usage: {input_tokens: 4321, output_tokens: 8765}}\n",
            "8765",
        ),
    ),
    Key(
        "When.after",
        Tested(&[
            "mock llm::faults::faults_keep_to_their_schedule",
            "core llm::book::tests::chance_is_as_often_as_it_says",
        ]),
    ),
    Key(
        "When.every",
        Tested(&[
            "mock llm::faults::faults_keep_to_their_schedule",
            "core llm::book::tests::chance_is_as_often_as_it_says",
        ]),
    ),
    Key(
        "When.first",
        Tested(&[
            "mock llm::faults::faults_keep_to_their_schedule",
            "core llm::book::tests::chance_is_as_often_as_it_says",
        ]),
    ),
    Key(
        "When.nth",
        Tested(&[
            "mock llm::faults::faults_keep_to_their_schedule",
            "core llm::book::tests::chance_is_as_often_as_it_says",
        ]),
    ),
    Key(
        "When.probability",
        Tested(&[
            "mock llm::faults::faults_keep_to_their_schedule",
            "core llm::book::tests::chance_is_as_often_as_it_says",
        ]),
    ),
    Key(
        "When.until",
        Tested(&[
            "mock llm::faults::faults_keep_to_their_schedule",
            "core llm::book::tests::chance_is_as_often_as_it_says",
        ]),
    ),
];

#[test]
fn each_key_shows() {
    written_keys(FIXTURES);
}
