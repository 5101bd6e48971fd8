"""What an author begins with: a small flow that shows each part once, in comments, and tests that take all its transitions.

Invariant: for every name both are canonical text, the flow compiles without a warning, and the tests pass and leave no transition out.
"""

from typing import Final

_FLOW: Final = """\
# A flow is a graph of states. A worker is in one state at a time: it reads the instructions there, works, and asks to leave.
# It never chooses where to: a verifier judges each condition below against the evidence, and at most one may be met.
#
# Check it with `stateward compile NAME.dcdl`, draw it with `stateward graph NAME.dcdl`,
# walk it with `stateward simulate NAME.dcdl`, and test it with `stateward test NAME.dcdl`.
schema_version = 1;
name = "NAME";

# Where every run begins.
initial = "work";

states = {
    work = {
        # What is to be done here. Say it as to somebody who knows nothing of the flow.
        instructions = "Do what the task asks for.";

        # The ways out, each under a name of its own.
        transitions = {
            submit = {
                target = "review";
                # What must be shown to hold. Name what can be looked at: files, commits, test results, not intentions.
                condition = "Everything that the task asks for is there, and its tests pass.";
            };
        };
    };

    review = {
        instructions = "Look at the work as somebody who did not do it, and write down what you find.";
        transitions = {
            accept = {
                target = "done";
                condition = "A review was written down, and it names nothing that has to change.";
            };
            # Conditions of one state should exclude each other: when two are met, the worker stays.
            send_back = {
                target = "work";
                condition = "A review was written down, and it names something that has to change.";
            };
        };
    };

    # An end. A worker that cannot go on at all leaves by `$cancel`, which every state has without being told.
    done = {
        instructions = "";
        terminal = true;
    };
};
"""

_TESTS: Final = """\
# Tests of the flow NAME: each step says what the verifier answers, and what must come of it.
schema_version = 1;

tests = {
    accepted_at_once = {
        steps = [
            {
                met = "submit";
                enters = "review";
            },
            {
                met = "accept";
                enters = "done";
            },
        ];
        ends = "completed";
    };

    sent_back_once = {
        steps = [
            {
                met = "submit";
                enters = "review";
            },
            {
                met = "send_back";
                enters = "work";
            },
        ];
        ends = "active";
    };

    two_conditions_at_once_move_nothing = {
        # Begins in the state that is tested, on a shortest way.
        from = "review";
        steps = [
            {
                verdicts = {
                    accept = "met";
                    send_back = "met";
                };
                refused = "multiple_conditions_met";
            },
            {
                verdicts = {
                    accept = "indeterminate";
                };
                refused = "indeterminate";
            },
        ];
    };
};
"""


def starter_flow(name: str) -> str:
    """Give the source of a first flow of that name, which has to be one that a flow can have."""
    return _FLOW.replace("NAME", name)


def starter_tests(name: str) -> str:
    """Give the tests of that flow."""
    return _TESTS.replace("NAME", name)
