//! Files, several machines, and measuring.

use super::{
    super::proof::{
        Case,
        Proof::{Tested, Untried},
    },
    case,
};

pub(super) const REST: &[Case] = &[
    case(
        "C1",
        "a file of a client, in a folder of others, whose command does harm",
        "nothing of it runs until its name is given; then file and command are told",
        Tested(&["cli abuse::files::a_command_in_a_file_runs_only_when_its_name_is_given"]),
    ),
    case(
        "C2",
        "a variable that is not set",
        "(2) with its name; never an empty text",
        Tested(&["core clients::tests::a_variable_without_value_is_never_empty"]),
    ),
    case(
        "C3",
        "one name in several files",
        "(2) with the candidates, where they differ",
        Tested(&["core clients::tests::two_files_that_disagree_are_not_guessed_between"]),
    ),
    case(
        "C4",
        "an output directory that is a file, a dead link, or one without the right to write",
        "(2) before anything starts; a link to a directory is a directory",
        Tested(&[
            "cli abuse::files::a_directory_that_cannot_be_used_is_told_before_anything_starts",
        ]),
    ),
    case(
        "C5",
        "runs that begin at the same moment",
        "each has a directory of its own",
        Tested(&["cli abuse::files::runs_that_begin_together_do_not_share_a_directory"]),
    ),
    case(
        "C6",
        "the clock of the machine is set by an hour, forwards and backwards, while a load runs",
        "nothing changes: times are those of a clock that only goes on, the time of day is read once",
        Tested(&["cli abuse::clock::a_clock_that_is_set_changes_nothing"]),
    ),
    case(
        "D1",
        "workers, controllers and networks that fail",
        "-",
        Untried("one machine makes the load"),
    ),
    case("D2", "a worker of another version", "-", Untried("one machine makes the load")),
    case("D3", "a plan from a stranger", "-", Untried("one machine makes the load")),
    case("D4", "a worker whose clock is wrong", "-", Untried("one machine makes the load")),
    case(
        "L1",
        "times at the edge of a bucket, of nothing, of more than an hour",
        "kept, at the bound where they are beyond it",
        Tested(&[
            "core histogram::tests::times_beyond_the_bound_are_kept_at_the_bound",
            "core histogram::tests::pairs_read_back_to_the_same_histogram",
        ]),
    ),
    case(
        "L2",
        "not one call succeeds, or none is made",
        "figures are null; never a pass",
        Tested(&[
            "core analysis::accounting::tests::a_run_without_a_call_is_invalid_and_never_a_pass",
            "core analysis::errors::tests::a_run_without_a_success_is_critical",
            "core report::tests::a_run_without_a_call",
            "core thresholds::tests::a_limit_without_samples_is_violated",
        ]),
    ),
    case(
        "L3",
        "we are the limit, or are stopped for a while",
        "found `client_bound` or `load_not_offered`, with the figures of our threads",
        Tested(&[
            "core analysis::validity::tests::a_generator_without_rest_is_told_and_an_idle_one_is_not",
            "engine bars::generator::calls_that_find_no_room_are_dropped_and_counted",
            "cli abuse::signals::time_that_we_slept_through_is_not_blamed_on_the_server",
        ]),
    ),
    case(
        "L4",
        "a limit on a figure or a tool that is not there",
        "(2) with the nearest name",
        Tested(&[
            "cli bad_input::a_wrong_configuration_names_file_line_and_key",
            "engine bars::gates::a_limit_on_a_tool_that_is_not_called_is_an_error_with_a_suggestion",
        ]),
    ),
    case(
        "L5",
        "a tenth of a call a second, a million, a millisecond, nobody",
        "honest figures or (2); nothing infinite, nothing that is no number",
        Tested(&["cli abuse::files::odd_rates_and_lengths_are_refused_or_give_honest_figures"]),
    ),
    case(
        "L6",
        "a rare error and few calls",
        "a comparison says that it is undecided; a single run is judged by what it measured, and says up to \
         where the true share may lie",
        Tested(&[
            "core analysis::few_calls::tests::a_limit_that_few_calls_kept_is_told_with_its_interval",
            "core compare::tests::too_few_calls_or_seconds_are_undecided_and_say_so",
            "core stats::interval::tests::shares_have_the_intervals_of_the_tables",
        ]),
    ),
];
