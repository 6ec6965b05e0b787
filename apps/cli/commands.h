// The subcommands: each adds its description, its flags and examples to the CLI11 app it is given, and runs when they
// are parsed.
#pragma once

namespace CLI {
class App;
}

namespace deplo::apps {

void add_tune(CLI::App& command, int& exit_code);
void add_compile(CLI::App& command);
void add_run(CLI::App& command, int& exit_code);
void add_space(CLI::App& command, int& exit_code);
void add_compare(CLI::App& command, int& exit_code);
void add_db(CLI::App& command, int& exit_code);
void add_report(CLI::App& command);
void add_strategies(CLI::App& command);
void add_model(CLI::App& command);
void add_devices(CLI::App& command);
void add_completion(CLI::App& command);
void add_man(CLI::App& command);
void add_worker(CLI::App& command, int& exit_code);

}  // namespace deplo::apps
