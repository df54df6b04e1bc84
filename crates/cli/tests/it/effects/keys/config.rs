//! Keys of a configuration. Most of them are flags, too, and flags do nothing but set their key.

use super::Key;
use crate::effects::proof::{
    Proof::{Flagged, Tested, Written},
    written_keys,
};

pub(super) const CONFIG: &[Key] = &[
    Key(
        "compare",
        Tested(&[
            "cli bad_input::a_wrong_policy_names_file_line_and_key",
            "cli compare::a_tag_names_the_baseline_and_may_not_be_there_yet",
        ]),
    ),
    Key("compare.allow_deadlocks", Flagged("--compare-allow-deadlocks")),
    Key("compare.baseline", Flagged("--baseline")),
    Key("compare.error_rate", Flagged("--compare-error-rate")),
    Key("compare.p50", Flagged("--compare-p50")),
    Key("compare.p95", Flagged("--compare-p95")),
    Key("compare.p99", Flagged("--compare-p99")),
    Key("compare.throughput", Flagged("--compare-throughput")),
    Key("compare.undecided", Flagged("--compare-undecided")),
    Key(
        "output",
        Written(
            &["run", "--config", "given", "--json"],
            "[server]\ncommand = '{bin}'\nargs = ['mock']\n[scenario]\ntype = 'deadlock_probe'\nconcurrent = 1\nsteady_calls = 0\n",
            "[server]\ncommand = '{bin}'\nargs = ['mock']\n[scenario]\ntype = 'deadlock_probe'\nconcurrent = 1\nsteady_calls = 0\n[output]\nreport_dir = 'kept'\n",
            "file kept/",
        ),
    ),
    Key("output.formats", Flagged("--format")),
    Key("output.report_dir", Flagged("--output-dir")),
    Key("output.tags", Flagged("--tag")),
    Key("output.trace", Flagged("--trace")),
    Key("scenario", Tested(&["cli commands::a_configuration_file_runs_and_flags_win_over_it"])),
    Key("scenario.abort_on_fail", Flagged("--abort-on-fail")),
    Key("scenario.args", Flagged("--args")),
    Key("scenario.args_file", Flagged("--args-file")),
    Key(
        "scenario.args_list",
        Tested(&[
            "core arguments::source::tests::lists_are_taken_in_order_and_from_the_first_again",
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
        ]),
    ),
    Key("scenario.args_order", Flagged("--args-order")),
    Key("scenario.bail_early", Flagged("--bail-early")),
    Key("scenario.concurrent", Flagged("--concurrent")),
    Key("scenario.drops", Flagged("--drops")),
    Key("scenario.duration", Flagged("--duration")),
    Key("scenario.generate", Flagged("--generate")),
    Key("scenario.grace_period", Flagged("--grace-period")),
    Key("scenario.hang_threshold", Flagged("--hang-threshold")),
    Key("scenario.hold", Flagged("--hold")),
    Key("scenario.iterations", Flagged("--iterations")),
    Key("scenario.latency_drift_ms_per_sec", Flagged("--latency-drift")),
    Key("scenario.leak_check_interval", Flagged("--leak-check-interval")),
    Key("scenario.max_in_flight", Flagged("--max-in-flight")),
    Key("scenario.pattern", Flagged("--pattern")),
    Key("scenario.payloads", Flagged("--payloads")),
    Key("scenario.precision", Flagged("--precision")),
    Key("scenario.ramp_from", Flagged("--ramp-from")),
    Key("scenario.ramp_step", Flagged("--ramp-step")),
    Key("scenario.ramp_to", Flagged("--ramp-to")),
    Key("scenario.rate", Flagged("--rate")),
    Key("scenario.rate_from", Flagged("--rate-from")),
    Key("scenario.rate_limit", Flagged("--rate-limit")),
    Key("scenario.rate_to", Flagged("--rate-to")),
    Key("scenario.rounds", Flagged("--rounds")),
    Key("scenario.seed", Flagged("--seed")),
    Key(
        "scenario.sequence",
        Tested(&["engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for"]),
    ),
    Key(
        "scenario.sequence.error_behavior",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.name",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.steps",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.steps.args",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.steps.method",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.steps.tool",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.think_time",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key(
        "scenario.sequence.weight",
        Tested(&[
            "engine bars::sequences::what_follows_a_step_that_fails_is_as_it_was_asked_for",
            "engine bars::sequences::a_step_that_fails_may_end_the_run",
        ]),
    ),
    Key("scenario.sessions", Flagged("--sessions")),
    Key("scenario.slow_args", Flagged("--slow-args")),
    Key("scenario.slow_share", Flagged("--slow-share")),
    Key("scenario.slow_tool", Flagged("--slow-tool")),
    Key("scenario.spike_at", Flagged("--spike-at")),
    Key("scenario.spike_duration", Flagged("--spike-duration")),
    Key("scenario.spike_multiplier", Flagged("--spike-multiplier")),
    Key(
        "scenario.stage",
        Tested(&[
            "core pace::tests::callers_come_and_go_with_the_stages",
            "engine bars::told_again::steps_are_told_again_from_their_trace",
        ]),
    ),
    Key(
        "scenario.stage.duration",
        Tested(&[
            "core config::tests::a_run_described_in_code_reads_back_from_its_file",
            "core pace::course::tests::a_level_is_steady_to_the_end_of_its_stage_unless_it_moves",
            "core pace::tests::callers_come_and_go_with_the_stages",
        ]),
    ),
    Key(
        "scenario.stage.load",
        Tested(&[
            "core config::tests::a_run_described_in_code_reads_back_from_its_file",
            "core pace::course::tests::a_level_is_steady_to_the_end_of_its_stage_unless_it_moves",
            "core pace::tests::callers_come_and_go_with_the_stages",
        ]),
    ),
    Key(
        "scenario.stage.shape",
        Tested(&[
            "core config::tests::a_run_described_in_code_reads_back_from_its_file",
            "core pace::course::tests::a_level_is_steady_to_the_end_of_its_stage_unless_it_moves",
            "core pace::tests::callers_come_and_go_with_the_stages",
        ]),
    ),
    Key("scenario.steady_calls", Flagged("--steady-calls")),
    Key("scenario.strict", Flagged("--strict")),
    Key("scenario.think_time", Flagged("--think-time")),
    Key("scenario.timeout", Flagged("--timeout")),
    Key("scenario.tool", Flagged("--tool")),
    Key(
        "scenario.tool_call",
        Tested(&[
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.args",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.args_file",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.args_list",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.args_order",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.generate",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.name",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key(
        "scenario.tool_call.weight",
        Tested(&[
            "core config::call_arguments::tests::each_way_to_write_arguments_is_a_recipe_and_can_be_saved",
            "engine library::several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice",
        ]),
    ),
    Key("scenario.type", Flagged("--scenario")),
    Key("scenario.warmup", Flagged("--warmup")),
    Key("server", Tested(&["cli commands::a_configuration_file_runs_and_flags_win_over_it"])),
    Key("server.args", Flagged("--server")),
    Key("server.ca_cert", Flagged("--ca-cert")),
    Key("server.command", Flagged("--server")),
    Key("server.env", Flagged("--env")),
    Key("server.headers", Flagged("--header")),
    Key("server.inherit_env", Flagged("--inherit-env")),
    Key("server.max_message", Flagged("--max-message")),
    Key("server.mcp_config", Flagged("--mcp-config")),
    Key("server.name", Flagged("--name")),
    Key("server.pid", Flagged("--pid")),
    Key("server.protocol", Flagged("--protocol")),
    Key("server.shutdown_timeout", Flagged("--shutdown-timeout")),
    Key("server.startup_timeout", Flagged("--startup-timeout")),
    Key("server.transport", Flagged("--transport")),
    Key("server.url", Flagged("--url")),
    Key("server.working_dir", Flagged("--working-dir")),
    Key(
        "thresholds",
        Written(
            &["run", "--config", "given", "--json"],
            "[server]\ncommand = '{bin}'\nargs = ['mock']\n[scenario]\ntype = 'deadlock_probe'\nconcurrent = 1\nsteady_calls = 0\n",
            "[server]\ncommand = '{bin}'\nargs = ['mock']\n[scenario]\ntype = 'deadlock_probe'\nconcurrent = 1\nsteady_calls = 0\n[thresholds]\np50_latency = '1us'\n",
            "p50_latency",
        ),
    ),
    Key("thresholds.error_rate", Flagged("--error-rate")),
    Key("thresholds.grace_period", Flagged("--grace-period")),
    Key("thresholds.hang_timeout", Flagged("--hang-timeout")),
    Key("thresholds.memory_growth_mb", Flagged("--memory-growth-mb")),
    Key("thresholds.min_rps", Flagged("--min-rps")),
    Key("thresholds.p50_latency", Flagged("--p50-latency")),
    Key("thresholds.p95_latency", Flagged("--p95-latency")),
    Key("thresholds.p999_latency", Flagged("--p999-latency")),
    Key("thresholds.p99_latency", Flagged("--p99-latency")),
    Key(
        "thresholds.tool",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.error_rate",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.min_rps",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.name",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.p50_latency",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.p95_latency",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.p999_latency",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
    Key(
        "thresholds.tool.p99_latency",
        Tested(&[
            "engine bars::gates::limits_on_single_tools_fail_and_hold_by_themselves",
            "core thresholds::tests::a_tool_is_judged_by_its_own_limits",
        ]),
    ),
];

#[test]
fn each_key_shows() {
    written_keys(CONFIG);
}
