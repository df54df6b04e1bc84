//! What we promise, and what holds us to it.

use super::proof::Proof::{self, Tested};

/// One promise.
pub(super) struct Promise {
    pub(super) id: &'static str,
    pub(super) says: &'static str,
    pub(super) proof: Proof,
}

const fn promise(id: &'static str, says: &'static str, proof: Proof) -> Promise {
    Promise { id, says, proof }
}

/// All of them.
pub(super) const PROMISES: &[Promise] = &[
    promise(
        "P1",
        "Every call that was due ended in exactly one way: well, in one kind of failure, withdrawn, or not sent. Where the sums differ, the run is INVALID and says so.",
        Tested(&[
            "core tally::tests::the_accounting_closes_however_calls_end_and_workers_merge",
            "core analysis::accounting::tests::a_call_that_is_unaccounted_for_makes_the_run_invalid",
            "engine matrix::every_sustained_load_ends_as_the_table_says",
            "cli interrupted::every_scenario_can_be_interrupted",
            "cli torture::runs::every_scenario_over_pipes_survives_the_failure_of_anything",
            "cli torture::runs::every_scenario_over_http_survives_the_failure_of_anything",
            "cli torture::runs::other_transports_survive_the_failure_of_anything",
            "cli torture::stores::every_row_of_an_audit_log_is_there_or_missed",
        ]),
    ),
    promise(
        "P2",
        "On a schedule, the time of a call counts from the moment when it was due, so a server that freezes is seen as its users see it; the time from sending on is shown beside it.",
        Tested(&[
            "engine bars::freezes::a_server_that_stops_once_for_two_seconds_is_seen_on_a_schedule_only",
            "core tally::tests::a_late_start_counts_in_the_response_and_not_in_the_service",
            "core report::omission::tests::a_pause_that_a_closed_model_hides_is_told_and_a_steady_server_is_not",
        ]),
    ),
    promise(
        "P3",
        "A rate that was asked for is offered: every arrival of the schedule is sent or counted as dropped, and who was the limit is said.",
        Tested(&[
            "core pace::course::tests::arrivals_come_in_order_and_as_many_as_the_area_says",
            "engine bars::generator::calls_that_find_no_room_are_dropped_and_counted",
            "engine bars::generator::a_slow_server_is_never_taken_for_a_slow_generator",
            "core analysis::validity::tests::dropped_calls_are_told_by_how_many_they_are",
        ]),
    ),
    promise(
        "P4",
        "What we add ourselves is known: `doctor` measures it on the user's machine.",
        Tested(&[
            "cli doctor::what_we_add_to_a_call_is_measured",
            "cli commands::doctor::checks::overhead::tests::a_slow_machine_is_told_and_a_usual_one_is_well",
        ]),
    ),
    promise(
        "P5",
        "The same seed makes the same plan, the same faults and the same bytes, on every machine.",
        Tested(&[
            "core seed::tests::the_same_seed_gives_the_same_choices_on_every_machine",
            "core fault::tests::the_same_choices_are_made_on_every_machine",
            "cli probe::determinism::the_same_seed_sends_the_same_bytes",
            "mock llm::determinism::a_thousand_runs_are_the_same",
        ]),
    ),
    promise(
        "P6",
        "No process that we started outlives us, however we end.",
        Tested(&[
            "wire process::ends::a_signal_that_ends_us_leaves_nothing",
            "wire process::ends::an_end_of_our_own_making_leaves_nothing",
            "engine killed::a_killed_run_leaves_no_process_and_a_directory_that_can_be_read",
            "cli abuse::processes::a_server_that_kills_us_does_not_survive_us",
            "cli abuse::signals::ended_without_a_word_we_leave_a_run_that_can_be_read_and_no_process",
        ]),
    ),
    promise(
        "P7",
        "Whatever a server sends, we need less than 300 MB, a megabyte for each caller, and `--max-message` for each reply that is under way.",
        Tested(&[
            "cli abuse::bounds::memory_stays_small_over_pipes",
            "cli abuse::bounds::memory_stays_small_over_http",
            "cli abuse::bounds::memory_stays_small_whatever_is_listed",
        ]),
    ),
    promise(
        "P8",
        "A run that was killed can be read, and is never a pass.",
        Tested(&[
            "engine killed::a_killed_run_leaves_no_process_and_a_directory_that_can_be_read",
            "engine run_directory::half_a_line_at_the_end_is_tolerated_and_anywhere_else_it_is_named",
            "cli abuse::signals::ended_without_a_word_we_leave_a_run_that_can_be_read_and_no_process",
            "cli torture::runs::every_scenario_over_pipes_survives_the_failure_of_anything",
        ]),
    ),
    promise(
        "P9",
        "What machines read keeps its form: it follows a published schema, and readers pass over members of newer versions.",
        Tested(&[
            "cli commands::schema::tests::published_schemas_are_fresh",
            "engine run_directory::every_file_is_there_and_is_what_its_schema_says",
            "core report::tests::members_of_a_newer_version_are_ignored",
            "core trace::read::tests::lines_of_older_versions_are_read",
        ]),
    ),
    promise(
        "P10",
        "A finding of a run, a probe, a suite or the fuzzer that warns or says more comes with the command that shows it again. A remark of `gateway` names its check, which `--only` makes again; `llm verdict` judges a journal, which can be judged again.",
        Tested(&[
            "cli abuse::again::the_command_of_a_finding_finds_it_again",
            "cli abuse::again::the_command_of_a_load_finds_it_again_and_asks_for_its_secrets",
            "cli suite::outputs::failures_come_last_with_the_command_that_shows_them_again",
            "cli fuzzer::a_case_is_made_small_saved_and_seen_again",
        ]),
    ),
    promise(
        "P11",
        "No pass without evidence: no call, no sample, no test that ran, a trace with holes, a run that was cut short.",
        Tested(&[
            "core analysis::accounting::tests::a_run_without_a_call_is_invalid_and_never_a_pass",
            "core analysis::aborted::tests::a_run_that_did_not_happen_is_never_a_pass",
            "core thresholds::tests::a_limit_without_samples_is_violated",
            "core check::findings::tests::a_gate_needs_something_that_was_tried",
            "core llm::judge::tests::nothing_seen_is_no_pass",
            "cli commands::a_trace_with_holes_is_refused_and_the_run_is_still_told_in_every_form",
            "core analysis::ours::tests::a_run_whose_files_are_missing_is_never_a_pass",
            "cli torture::runs::every_scenario_over_pipes_survives_the_failure_of_anything",
        ]),
    ),
    promise(
        "P12",
        "Faults end: after so many calls, at their time, when they are taken back, and with the process that makes them.",
        Tested(&[
            "mock faults::selectors::numbers_choose_the_same_calls_everywhere",
            "mock faults::selectors::a_window_opens_and_closes",
            "mock admin::faults_are_switched_while_it_runs",
            "cli proxy::stdio::a_proxy_that_is_killed_while_a_call_hangs_ends_everything_and_begins_anew",
            "cli abuse::ours::a_mock_that_hangs_on_purpose_ends_when_it_is_told_to",
        ]),
    ),
    promise(
        "P13",
        "Without a fault the proxy changes nothing: not a byte over pipes, no body and no header that matters over HTTP.",
        Tested(&[
            "cli proxy::stdio::without_a_fault_not_a_byte_is_changed",
            "cli proxy::http::without_a_fault_bodies_and_headers_are_those_of_the_server",
            "cli proxy::batch::rows::a_batch_goes_on_to_the_byte",
            "cli proxy::batch::http::what_nothing_touches_goes_through_to_the_byte",
            "cli proxy::batch::real::batches_to_the_typescript_sdk",
            "cli gateway::ours::it_keeps_everything_over_http_in_the_modern_era",
            "cli gateway::ours::it_keeps_everything_over_http_in_the_legacy_era",
            "cli gateway::ours::it_keeps_everything_over_pipes",
        ]),
    ),
    promise(
        "P14",
        "Slow, stuck and dead are three things, told apart by fixed rules and by evidence.",
        Tested(&[
            "core silence::tests::each_meaning_of_silence_is_told_apart",
            "core analysis::silence::tests::late_answers_are_slow_and_not_a_deadlock",
            "engine matrix::every_deadlock_probe_ends_as_the_table_says",
            "cli commands::a_slow_server_is_slow_and_not_deadlocked",
        ]),
    ),
    promise(
        "P15",
        "Secrets that were given to us, in headers, addresses, arguments and variables whose names say so, are in no file and on no screen, also when the server repeats them.",
        Tested(&[
            "cli abuse::secrets::secrets_in_headers_and_addresses_are_told_to_the_server_only",
            "cli abuse::secrets::secrets_in_variables_are_told_to_the_server_only",
            "cli abuse::secrets::secrets_of_a_clients_file_are_told_to_the_server_only",
            "cli abuse::canaries::a_server_that_tells_its_variables_tells_nobody_else",
            "cli abuse::canaries::a_server_that_tells_its_arguments_tells_nobody_else",
            "cli abuse::canaries::a_server_that_tells_headers_and_queries_tells_nobody_else",
            "cli abuse::canaries::secrets_of_a_clients_file_are_kept_when_the_server_tells_them",
            "cli abuse::canaries::suites_gateways_and_proxies_keep_what_they_hear",
            "cli abuse::canaries::a_masked_argument_or_address_is_refused_when_a_run_is_repeated",
            "cli abuse::canaries::without_a_secret_nothing_is_masked",
            "core secrets::forms::tests::a_secret_is_found_in_every_form",
            "core secrets::forms::tests::base64_is_found_wherever_it_stands",
            "core secrets::veil::tests::cuts_make_no_difference",
            "core secrets::names::tests::ordinary_words_and_figures_are_not_looked_for",
            "mock llm::journal::no_key_is_ever_written_down",
            "wire process::launch::tests::secrets_stay_with_us_unless_everything_is_passed",
        ]),
    ),
];
