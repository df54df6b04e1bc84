//! What is tried on the servers that we run.

use super::{
    super::proof::{
        Case,
        Proof::{Tested, Untried},
    },
    case,
};

pub(super) const OURS: &[Case] = &[
    case(
        "M1",
        "`serve --mcp`: a client that brings its own command",
        "refused; nothing is started",
        Tested(&[
            "cli serve::attacks::no_command_is_run_that_a_client_names",
            "cli serve::attacks::an_allowed_command_meets_no_shell",
        ]),
    ),
    case(
        "M2",
        "`serve --mcp`: a server that is not on the list, or a list that has changed since",
        "refused; what the file says later is ignored, and what was read at the start counts",
        Tested(&[
            "cli serve::attacks::what_the_file_says_later_does_not_count",
            "cli serve::attacks::no_command_is_run_that_a_client_names",
        ]),
    ),
    case(
        "M3",
        "`serve --mcp`: addresses that lead into the private network",
        "refused",
        Tested(&[
            "cli serve::attacks::urls_lead_to_allowed_hosts_alone",
            "cli serve::attacks::a_name_that_leads_to_this_machine_is_not_followed",
            "cli serve::attacks::a_pinned_name_is_reached_where_it_was_pinned",
            "cli serve::attacks::redirects_are_not_followed",
        ]),
    ),
    case(
        "M4",
        "`serve --mcp`: a path in place of a run",
        "refused",
        Tested(&["cli serve::attacks::runs_are_read_below_their_root_alone"]),
    ),
    case(
        "M5",
        "`serve --mcp`: many runs at once, or without end",
        "limited, and told so",
        Tested(&[
            "cli serve::attacks::of_a_hundred_calls_at_once_one_is_carried_out",
            "cli serve::attacks::more_than_the_caps_is_refused",
        ]),
    ),
    case(
        "M6",
        "`serve --mcp`: a client that goes away in the middle of a run",
        "the run ends and nothing is left",
        Tested(&[
            "cli serve::attacks::a_client_that_goes_takes_its_run_along",
            "cli serve::http::a_session_that_is_left_alone_takes_its_run_along",
            "cli serve::http::the_end_of_a_connection_withdraws_a_call_without_a_session",
        ]),
    ),
    case(
        "M7",
        "a web page that asks the mock, the proxy, the mock of models or the admin port; a name of its own that leads to this machine",
        "403; the admin port also wants its token (401); the mock of models looks at `Origin` alone",
        Tested(&[
            "cli abuse::ours::a_page_in_a_browser_reaches_none_of_our_servers",
            "mock refusals::strangers_are_not_let_in",
            "mock admin::strangers_are_kept_out",
            "mock admin::guard::tests::only_this_machine_may_ask",
            "cli proxy::http::strangers_and_impossible_faults_are_refused",
        ]),
    ),
    case(
        "M8",
        "listening on addresses that others can reach",
        "refused (2); the admin port only with leave and a token",
        Tested(&[
            "mock refusals::only_loopback_addresses_are_listened_on",
            "mock admin::guard::tests::other_machines_need_leave_and_a_token",
            "cli bad_input::bad_values_are_refused_before_anything_starts",
            "cli llm_command::what_does_not_go_together_is_refused",
        ]),
    ),
    case(
        "M9",
        "hundreds of clients that never finish a request, heads and bodies without end",
        "refused or given up in time; others are served meanwhile",
        Tested(&[
            "cli abuse::ours::slow_and_greedy_clients_keep_nobody_else_waiting",
            "mock limits::a_request_that_never_ends_is_given_up",
            "mock limits::a_body_that_is_too_large_is_refused_before_it_is_read",
            "mock llm::abuse::chunks_without_end_are_refused_when_there_are_too_many",
            "mock llm::abuse::slow_senders_do_not_keep_others_waiting",
        ]),
    ),
    case(
        "M10",
        "a client that chooses a fault with a header",
        "-",
        Untried("no header chooses a fault: only flags, files and the admin port do"),
    ),
    case(
        "M11",
        "Ctrl-C while calls hang on purpose",
        "the mock ends (0); its clients get no result, but the end of the connection",
        Tested(&["cli abuse::ours::a_mock_that_hangs_on_purpose_ends_when_it_is_told_to"]),
    ),
    case(
        "M12",
        "a proxy that dies while a fault is on",
        "its server does not survive it; faults are in its memory alone and end with it",
        Tested(&[
            "cli proxy::stdio::a_killed_proxy_leaves_no_server_behind",
            "cli proxy::stdio::a_proxy_that_is_killed_while_a_call_hangs_ends_everything_and_begins_anew",
            "cli proxy::http::connections_that_are_cut",
        ]),
    ),
    case(
        "M13",
        "tokens on their way through the proxy",
        "masked in the log",
        Tested(&[
            "cli proxy::log::every_request_leaves_a_row_with_its_envelope",
            "mock audit::redaction::tests::secrets_are_masked_at_any_depth_and_nothing_else_changes",
            "mock audit::redaction::tests::header_values_are_masked_by_their_names",
        ]),
    ),
    case(
        "M14",
        "a proxy before itself, or two before each other",
        "refused at the start (2), or 508",
        Tested(&["cli proxy::http::a_loop_is_refused"]),
    ),
    case(
        "M15",
        "a real API key at the mock of models",
        "never written down; a warning, once",
        Tested(&[
            "mock llm::journal::no_key_is_ever_written_down",
            "core llm::recording::tests::keys_are_masked_on_both_sides",
        ]),
    ),
    case(
        "M16",
        "fixtures that become wrong while they are used, repeat themselves without end, or fill a gigabyte",
        "the old ones stay, and the reason is told; the rest is refused (2)",
        Tested(&[
            "cli llm_command::changed_files_are_read_again_and_bad_ones_are_not",
            "core yaml::tests::hostile_documents_are_given_up",
            "cli abuse::ours::a_fixture_file_that_is_far_too_large_is_refused",
        ]),
    ),
    case(
        "M17",
        "a port that is taken; port 0",
        "(2) with a hint; the real port is the first thing that is printed, as JSON",
        Tested(&["cli abuse::ours::a_port_that_is_taken_is_told_and_a_free_one_is_printed_first"]),
    ),
    case(
        "M18",
        "a batch of very many messages, of none, or of batches, to the mock or through the proxy",
        "beyond a limit it is not taken apart: the mock refuses it, the proxy passes it on and notes it; what is no message is refused alone",
        Tested(&[
            "cli proxy::batch::rows::a_batch_has_a_limit",
            "cli proxy::batch::rows::rows_say_what_became_of_each_call",
            "cli proxy::batch::http::a_batch_that_the_server_refuses",
            "mock mcp::batch::tests::a_batch_has_an_end",
        ]),
    ),
];
