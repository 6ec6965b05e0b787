// Strategies of examples/strategies and small programs of tests, as --search takes them.
#pragma once
#include <string>

namespace deplo::search::exec {

/// Whether this machine has python3, which runs the programs.
bool has_python();
/// examples/strategies/NAME.py. `arguments` follow its name.
std::string example(const std::string& name, const std::string& arguments = {});
/// A program with this text; `space` is what deplo_search.connect() returned.
std::string program(const std::string& text);

}  // namespace deplo::search::exec
