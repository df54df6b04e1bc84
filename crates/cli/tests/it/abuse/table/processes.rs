//! What a server does to processes.

use super::{
    super::proof::{Case, Proof::Tested},
    case,
};

pub(super) const PROCESSES: &[Case] = &[
    case(
        "P-1",
        "a server that ends at once, without reading, or after a silence",
        "(2) with its exit code, the end of its stderr and a hint",
        Tested(&[
            "cli abuse::processes::a_server_that_ends_before_it_has_said_anything_is_told_with_a_hint",
            "cli bad_input::a_server_that_cannot_be_started_says_why",
        ]),
    ),
    case(
        "P-2",
        "a server that leaves a daemon behind in a session of its own",
        "the daemon is ended; found `stray_process` with its command line",
        Tested(&[
            "engine matrix::every_cold_start_ends_as_the_table_says",
            "wire process::ladder::a_daemon_is_swept",
        ]),
    ),
    case(
        "P-3",
        "a server that starts processes without end",
        "ended at more than 512 processes with all of them, found `too_many_processes` (1), or (2) where no session has begun; a real bomb is not tried, for the sake of the machine",
        Tested(&[
            "cli abuse::processes::a_server_that_starts_too_many_processes_is_ended_and_told",
            "cli abuse::processes::a_server_that_starts_some_processes_is_let_alone",
            "cli abuse::processes::a_crowd_of_daemons_is_swept_to_the_last",
            "wire process::ladder::a_process_that_moves_on_all_the_time_is_swept",
            "core analysis::crash::tests::a_crowd_is_told_as_such_and_not_as_a_crash",
        ]),
    ),
    case(
        "P-4",
        "a server that is deaf to the end of its input and to SIGTERM",
        "killed; found `shutdown_needs_signal`",
        Tested(&[
            "engine matrix::every_deadlock_probe_ends_as_the_table_says",
            "wire process::ladder::deaf_to_both_takes_a_sigkill",
        ]),
    ),
    case(
        "P-5",
        "a server that reads no more while much is sent to it",
        "a deadlock (1) on time; nothing of ours waits for the pipe",
        Tested(&[
            "cli abuse::processes::a_server_that_reads_nothing_more_is_a_deadlock_and_blocks_nobody",
            "engine regressions::a_server_that_asks_for_ever_and_reads_nothing_is_given_up",
        ]),
    ),
    case(
        "P-6",
        "a server that closes its output and goes on; one that closes its input",
        "output: found `disconnected` at once and no crash; input: its calls are a deadlock, when their time is over",
        Tested(&[
            "cli abuse::processes::a_server_that_closes_its_output_is_told_at_once_and_not_as_a_crash",
            "cli abuse::processes::a_server_that_reads_nothing_more_is_a_deadlock_and_blocks_nobody",
        ]),
    ),
    case(
        "P-7",
        "stderr without end",
        "it is read; the log stays small; no call waits for it",
        Tested(&[
            "wire process::stderr::a_flood_is_drained_and_the_log_stays_small",
            "cli abuse::bounds::memory_stays_small_over_pipes",
            "engine matrix::every_sustained_load_ends_as_the_table_says",
        ]),
    ),
    case(
        "P-8",
        "a server that stops itself with SIGSTOP",
        "a deadlock whose evidence says that it is stopped by a signal (1)",
        Tested(&[
            "engine matrix::every_deadlock_probe_ends_as_the_table_says",
            "wire process::inspection::a_stopped_server_is_seen_to_be_stopped",
        ]),
    ),
    case(
        "P-9",
        "a server that kills its group, or us",
        "its group is its own: found `server_crash`; where we are killed, it does not survive us",
        Tested(&[
            "cli abuse::processes::a_server_that_kills_its_group_takes_only_itself_along",
            "cli abuse::processes::a_server_that_kills_us_does_not_survive_us",
        ]),
    ),
    case(
        "P-10",
        "a server that takes all memory",
        "the system ends it before us; what we have written can be read",
        Tested(&[
            "cli abuse::processes::a_server_is_preferred_to_us_when_memory_runs_out",
            "engine killed::a_killed_run_leaves_no_process_and_a_directory_that_can_be_read",
        ]),
    ),
    case(
        "P-11",
        "a server that puts links where the files of the run will be",
        "the links are replaced and not followed; the server does not run in that directory",
        Tested(&[
            "cli abuse::processes::files_of_a_run_are_never_written_through_links_of_the_server",
        ]),
    ),
    case(
        "P-12",
        "a command that is a folder, cannot be executed, or is written for a shell",
        "(2) with what it is and what to do; no shell reads it; `PATHEXT` counts on Windows",
        Tested(&[
            "cli abuse::processes::a_command_that_is_no_program_says_what_it_is",
            "wire process::launches::each_reason_not_to_start_has_its_own_words",
            "wire process::lookup::tests::windows_endings_win_over_the_bare_name",
        ]),
    ),
    case(
        "P-13",
        "SIGTERM, SIGHUP, a reader that goes away",
        "SIGTERM as Ctrl-C (130) with the report; SIGHUP ends us, nothing is left and the run can be read; a closed pipe is no failure",
        Tested(&[
            "cli abuse::signals::asked_to_end_we_tell_what_was_measured",
            "cli abuse::signals::ended_without_a_word_we_leave_a_run_that_can_be_read_and_no_process",
            "cli abuse::signals::a_reader_that_goes_away_in_the_middle_of_a_run_is_no_panic",
            "wire process::ends::a_signal_that_ends_us_leaves_nothing",
        ]),
    ),
    case(
        "P-14",
        "we are stopped for seconds in the middle of a load",
        "no call is a deadlock; found `generator_stopped`, and the run is INVALID",
        Tested(&[
            "cli abuse::signals::time_that_we_slept_through_is_not_blamed_on_the_server",
            "core analysis::validity::tests::a_run_in_which_we_stood_still_is_told_and_invalid",
        ]),
    ),
    case(
        "P-15",
        "a disk that fills up, a directory that cannot be written",
        "what was measured is printed all the same, with what is missing (2); a bad directory is told before anything starts",
        Tested(&[
            "cli abuse::files::a_disk_that_fills_up_in_the_middle_costs_nobody_the_result",
            "cli abuse::files::a_directory_that_cannot_be_used_is_told_before_anything_starts",
            "engine trace_writer::tests::no_load_waits_for_a_stuck_disk_and_what_it_was_too_slow_for_comes_back",
            "wire process::stderr::tests::a_full_disk_is_told_and_harms_nothing_else",
        ]),
    ),
];
