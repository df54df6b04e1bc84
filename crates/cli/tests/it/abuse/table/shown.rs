//! What reaches a terminal, a report or a CI server.

use super::{
    super::proof::{Case, Proof::Tested},
    case,
};

pub(super) const SHOWN: &[Case] = &[
    case(
        "T1",
        "escape sequences in names, descriptions, errors and stderr",
        "shown as visible text everywhere",
        Tested(&[
            "cli abuse::lists::names_of_tools_are_shown_as_text_and_never_become_paths",
            "cli bad_input::a_server_that_cannot_be_started_says_why",
            "core report::tests::nothing_hostile_survives",
            "core display::tests::terminal_tricks_become_visible",
            "wire process::stderr::what_is_shown_is_made_safe",
        ]),
    ),
    case(
        "T2",
        "text that runs backwards, characters that show nothing, lines without end",
        "made visible; every line fits",
        Tested(&[
            "core display::tests::terminal_tricks_become_visible",
            "core report::tests::nothing_hostile_survives",
            "core report::wrap::tests::every_line_fits_and_nothing_is_lost",
        ]),
    ),
    case(
        "T3",
        "markup and scripts in any text of a server",
        "shown as text; no script of theirs runs, no tag of theirs opens",
        Tested(&[
            "core report::html::tests::nothing_hostile_opens_a_tag",
            "core report::html::escape::tests::data_never_ends_its_element_and_reads_back",
            "cli browser::hostile_names_do_nothing",
            "core compare::tests::the_page_tells_the_same_and_opens_no_tag_of_a_peer",
        ]),
    ),
    case(
        "T4",
        "Markdown: tables, images, mentions, references to issues",
        "shown as text",
        Tested(&[
            "core display::tests::markdown_shows_text_and_nothing_else",
            "core report::tests::nothing_hostile_survives",
            "core report::markup::tests::a_name_with_backticks_opens_no_markup",
        ]),
    ),
    case(
        "T5",
        "cells of a table that a spreadsheet would take for formulas",
        "a `'` stands before them",
        Tested(&["cli commands::audit::export::tests::no_cell_is_a_formula"]),
    ),
    case(
        "T6",
        "JUnit: control characters, `]]>`, markup",
        "replaced or escaped",
        Tested(&[
            "core check::junit::tests::what_failed_what_held_and_what_was_skipped_can_be_told_apart",
            "core suite::render::tests::for_ci_servers",
        ]),
    ),
    case(
        "T7",
        "commands of CI servers in what a server writes",
        "no line begins with one; relayed lines are marked as the server's",
        Tested(&[
            "core display::tests::runners_find_no_commands",
            "core report::wrap::tests::a_break_makes_no_command",
            "wire process::tee::tests::each_line_is_marked_and_made_safe",
        ]),
    ),
    case(
        "T8",
        "names that would end a label of Prometheus; more names than anybody counts",
        "escaped; only tools that were called have labels, and a probe calls 250 at most unasked",
        Tested(&[
            "core report::openmetrics::tests::text_from_a_server_cannot_leave_its_label",
            "engine outputs::a_server_cannot_write_lines_into_files_for_other_tools",
            "cli abuse::bounds::memory_stays_small_whatever_is_listed",
        ]),
    ),
    case(
        "T9",
        "names that would break a line of a histogram log",
        "encoded; another reader reads it",
        Tested(&[
            "core report::hlog::tests::names_that_would_break_a_line_are_encoded",
            "engine outputs::another_reader_of_histogram_logs_finds_the_figures_of_the_report",
        ]),
    ),
    case(
        "T10",
        "SARIF for a server with thousands of failures",
        "one result for each check, however many cases failed",
        Tested(&["core check::findings::tests::cases_of_one_check_are_one_finding"]),
    ),
    case(
        "T11",
        "a page that is opened from a disk without a network",
        "whole; it asks for nothing",
        Tested(&[
            "cli abuse::terminal::a_page_needs_nothing_from_elsewhere",
            "cli browser::plots_are_drawn_and_follow_each_other",
        ]),
    ),
    case(
        "T12",
        "text of a tool that speaks to the model which reads our answer",
        "stays quoted data, never a sentence of ours",
        Tested(&[
            "cli serve::attacks::the_words_of_a_server_stay_apart",
            "cli serve::attacks::the_last_words_of_a_server_stay_apart",
        ]),
    ),
    case(
        "T13",
        "`NO_COLOR`, `TERM=dumb`, no terminal, `LANG=C`, a terminal of twenty columns",
        "plain text; no colour or cursor codes where they are not wanted. A narrow terminal breaks lines of eighty characters by itself, and keeps nothing of what moved",
        Tested(&[
            "cli abuse::terminal::colours_and_cursors_are_for_terminals_that_want_them",
            "cli abuse::terminal::a_narrow_terminal_shows_the_report_and_nothing_of_what_moved",
            "cli abuse::terminal::without_a_terminal_there_are_plain_lines",
        ]),
    ),
];
