// The commands of the program. Each function adds its description, flags and examples to `command`, which then runs
// after its flags are parsed.
#pragma once
#include "apps/cli/command.h"

namespace deplo::apps {

void add_tune(Command command, int& exit_code);
void add_compile(Command command);
void add_run(Command command, int& exit_code);
void add_bench(Command command, int& exit_code);
void add_check(Command command, int& exit_code);
void add_space(Command command, int& exit_code);
void add_compare(Command command, int& exit_code);
void add_db(Command command, int& exit_code);
void add_report(Command command);
void add_strategies(Command command);
void add_model(Command command);
void add_devices(Command command);
void add_completion(Command command);
void add_man(Command command);
void add_worker(Command command, int& exit_code);

}  // namespace deplo::apps
