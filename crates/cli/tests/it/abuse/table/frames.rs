//! What a server sends.

use super::{
    super::proof::{
        Case,
        Proof::{Tested, Untried},
    },
    case,
};

pub(super) const FRAMES: &[Case] = &[
    case(
        "F1",
        "a line, an event or a message that never ends",
        "nothing is kept beyond `--max-message`; found `frame_too_large`; the call is a deadlock, or ends with the connection; memory stays small",
        Tested(&[
            "cli abuse::bounds::memory_stays_small_over_pipes",
            "cli abuse::bounds::memory_stays_small_over_http",
            "engine matrix::every_deadlock_probe_ends_as_the_table_says",
            "wire remote::sse::an_endless_line_is_skipped_and_costs_only_its_call",
        ]),
    ),
    case(
        "F2",
        "notifications without end in place of an answer",
        "the call is a deadlock (1); calls beside it are answered; nobody listens for ever",
        Tested(&[
            "cli abuse::answers::a_flood_beside_a_call_keeps_no_other_call_waiting",
            "cli abuse::answers::a_probe_does_not_listen_for_ever_to_a_server_that_never_pauses",
            "wire remote::websocket::a_server_that_never_pauses_is_not_listened_to_for_ever",
        ]),
    ),
    case(
        "F3",
        "an event stream of nothing but comments",
        "they do not count as an answer: the call is a deadlock (1)",
        Tested(&["cli abuse::answers::a_stream_that_only_keeps_alive_does_not_keep_a_call_alive"]),
    ),
    case(
        "F4",
        "an event that comes byte by byte and never whole",
        "the deadline of the call ends it (1)",
        Tested(&["cli abuse::answers::a_stream_that_only_keeps_alive_does_not_keep_a_call_alive"]),
    ),
    case(
        "F5",
        "an answer to an id that was never sent; two answers; the id as text or as `7.0`",
        "found `orphan_reply`; the first of two counts; found `frame_defect` where the type changed, and the answer counts",
        Tested(&["cli abuse::answers::ids_that_were_never_sent_or_changed_their_type_are_told"]),
    ),
    case(
        "F6",
        "an answer that comes after its call was withdrawn",
        "written down as late; no further failure, no `orphan_reply`",
        Tested(&[
            "cli abuse::answers::a_reply_that_comes_after_its_call_was_given_up_is_no_second_failure",
        ]),
    ),
    case(
        "F7",
        "`result` and `error` together, or neither",
        "the call is malformed; found `malformed_reply` (1)",
        Tested(&[
            "cli abuse::answers::replies_with_both_or_neither_of_result_and_error_are_malformed",
        ]),
    ),
    case(
        "F8",
        "JSON ten thousand levels deep; a million members; a member twice; a member called `__proto__`",
        "too deep is malformed; twice is found as `frame_defect`; the rest is taken as it is; memory stays small",
        Tested(&[
            "cli abuse::answers::deep_wide_and_doubled_json_is_taken_or_told",
            "core jsonrpc::scan::tests::depth_is_limited_as_in_serde",
        ]),
    ),
    case(
        "F9",
        "bytes that are no UTF-8, a byte order mark, NUL, CRLF, two messages on a line, one over two lines, a comma too many",
        "each costs its call at most; the next line is read again; found with the bytes made visible",
        Tested(&[
            "cli abuse::answers::bytes_that_are_no_message_cost_only_their_call",
            "core jsonrpc::read::tests::each_defect_is_named",
        ]),
    ),
    case(
        "F10",
        "log lines on stdout",
        "found `frame_defect` with the line; calls succeed",
        Tested(&["engine matrix::every_sustained_load_ends_as_the_table_says"]),
    ),
    case(
        "F11",
        "a batch where the revision has none",
        "its parts are not taken; the call is malformed (1)",
        Tested(&["cli abuse::answers::bytes_that_are_no_message_cost_only_their_call"]),
    ),
    case(
        "F12",
        "`1e999`, `-0`, 2^63; an id of 2^53 + 1",
        "what no number holds is malformed; everything else is kept as written, the id too",
        Tested(&["cli abuse::answers::numbers_are_kept_as_they_are_written"]),
    ),
    case(
        "F13",
        "a length that is too long, too short, there twice, or larger than memory; chunks that lie; a length beside chunks",
        "malformed or disconnected (1); the connection is not used again",
        Tested(&[
            "cli abuse::answers::lengths_and_chunks_that_lie_are_noticed",
            "wire transport::http::head::tests::contradictory_lengths_are_refused",
            "wire transport::http::body::tests::broken_framing_is_an_error",
        ]),
    ),
    case(
        "F14",
        "200 with a page, with half a document, 202 or 204 to a request",
        "malformed, with the status and the beginning of the body (1)",
        Tested(&["cli abuse::answers::replies_that_are_none_are_malformed"]),
    ),
    case(
        "F15",
        "HTTP/2: GOAWAY in mid-stream, resets, floods of settings",
        "-",
        Untried("we speak HTTP/1.1 only, and never offer another version"),
    ),
    case(
        "F16",
        "WebSocket: a frame that claims 2^60 bytes, fragments without end, messages beyond the limit, pings",
        "refused by its head; found `frame_too_large`; the session ends, we do not; of empty fragments a call is a deadlock, when its time is over",
        Tested(&[
            "wire remote::websocket::a_frame_that_claims_to_be_huge_is_refused_by_its_head",
            "wire remote::websocket::a_message_that_is_too_long_ends_the_session_and_not_us",
            "wire remote::websocket::fragments_without_end_are_cut_off_at_the_limit",
            "wire remote::websocket::empty_fragments_without_end_keep_no_call_alive",
            "wire remote::websocket::messages_may_come_in_pieces_and_pings_are_answered",
            "wire remote::websocket::a_server_that_asks_for_ever_and_reads_nothing_is_left",
        ]),
    ),
    case(
        "F17",
        "a compressed body, small on the wire and huge when unpacked",
        "only `identity` is asked for and nothing is unpacked: malformed (1); memory stays small",
        Tested(&[
            "cli abuse::answers::replies_that_are_none_are_malformed",
            "cli abuse::bounds::memory_stays_small_over_http",
        ]),
    ),
    case(
        "F18",
        "a redirect to another host, while we carry a token",
        "told with the address and not followed (2); nobody else hears the token",
        Tested(&[
            "cli abuse::elsewhere::a_token_is_not_carried_to_where_a_server_points",
            "cli bad_input::redirects_are_told_and_not_followed",
        ]),
    ),
    case(
        "F19",
        "401 that points to metadata on another host or in a file",
        "nothing is fetched, opened or run (2); there is no OAuth here that would ask further",
        Tested(&["cli abuse::elsewhere::a_token_is_not_carried_to_where_a_server_points"]),
    ),
    case(
        "F20",
        "another revision than was asked for; revisions that are offered and then refused",
        "found `revision_mismatch`, with `--strict-protocol` (2); asked again once, then (2)",
        Tested(&[
            "cli commands::another_revision_warns_and_fails_only_when_strict",
            "cli abuse::answers::a_server_that_takes_no_version_is_not_asked_for_ever",
            "wire session::handshake::tests::a_refusal_that_names_revisions_is_an_offer",
        ]),
    ),
    case(
        "F21",
        "a modern server that asks the client, or leaves out what results must say",
        "calls go on; a probe finds `result_shape`; a question by itself is not found",
        Tested(&[
            "cli abuse::answers::questions_are_refused_and_calls_go_on",
            "cli probe::envelope::bad_results_are_told",
            "core check::shape::tests::modern_lists_say_how_long_they_hold",
        ]),
    ),
    case(
        "F22",
        "a server that takes a request whose headers say something else than its body",
        "a probe finds `http_headers`",
        Tested(&["cli probe::envelope::headers_that_are_not_looked_at_are_told"]),
    ),
    case(
        "F23",
        "`input_required` again and again, with ten megabytes of state, or asking for secrets",
        "given up after ten rounds or one megabyte: malformed (1); answers are made up, never real",
        Tested(&[
            "cli abuse::answers::input_is_never_asked_for_without_end_and_never_answered_with_real_data",
            "cli abuse::bounds::memory_stays_small_over_pipes",
        ]),
    ),
    case(
        "F24",
        "a list of tools with one cursor for ever, hundreds of thousands of tools, the same name twice, pages of megabytes, names with paths, escapes or 300 letters",
        "cut and found as `frame_defect`; names are shown as text and never become paths",
        Tested(&[
            "cli abuse::lists::lists_without_end_are_cut_and_told",
            "cli abuse::lists::lists_that_contradict_themselves_are_told",
            "cli abuse::lists::names_of_tools_are_shown_as_text_and_never_become_paths",
            "cli abuse::bounds::memory_stays_small_whatever_is_listed",
        ]),
    ),
    case(
        "F25",
        "schemas that refer to other hosts, files or themselves, that take for ever to match, with 100,000 alternatives, of an unknown dialect",
        "nothing is fetched; such tools are skipped with the reason; time and memory stay small",
        Tested(&[
            "cli abuse::elsewhere::references_of_schemas_are_not_followed",
            "cli abuse::lists::schemas_that_cannot_be_used_are_told_and_nothing_is_fetched",
            "core generate::tests::hostile_schemas_are_refused",
            "core generate::tests::large_schemas_end_in_time",
            "core generate::pattern::tests::a_pattern_that_stalls_others_does_not_stall_us",
        ]),
    ),
    case(
        "F26",
        "a list of tools that differs from one time to the next",
        "a probe finds `list_determinism`",
        Tested(&["cli probe::envelope::bad_results_are_told"]),
    ),
];
