// The command line: parses flags into options, and turns errors into one line and an exit code.
#pragma once

namespace deplo::apps {

/// Runs the whole program. `tune_only`: the program is deplo-tune, which is `deplo tune` under its own name. Returns 0:
/// done, 1: a user's mistake, 2: a failure of the environment, 128 + signal: interrupted.
int run_program(int argc, char** argv, bool tune_only);

}  // namespace deplo::apps
