// The strategies of examples/strategies and small programs of tests, in the form that --search takes.
#pragma once
#include <string>

namespace deplo::search::exec {

/// Returns whether this machine has python3, which runs the programs.
bool has_python();
/// Returns the strategy examples/strategies/NAME.py. `arguments` follow its name.
std::string example(const std::string& name, const std::string& arguments = {});
/// Returns a strategy that runs a program with this text, in which `space` is the result of deplo_search.connect().
std::string program(const std::string& text);

}  // namespace deplo::search::exec
