// The command line: flags to options, errors to one line and an exit code.
#pragma once

namespace deplo::apps {

/// The whole program. `tune_only`: the program is `deplo tune` under a name of its own (deplo-tune).
/// Returns 0 done, 1 a user's mistake, 2 the environment, 128 + signal interrupted.
int run_program(int argc, char** argv, bool tune_only);

}  // namespace deplo::apps
