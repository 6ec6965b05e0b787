// Which process wrote something, so that another can tell whether it still runs.
#pragma once
#include <string>
#include <string_view>

namespace deplo::measure {

/// The system's start, the number and the start of this process: no later process has the same.
std::string this_process();
/// "" where the system does not say.
std::string host_name();
/// Whether the process of this machine that called itself so is there. A text that no process wrote names none.
bool is_running(std::string_view process);

}  // namespace deplo::measure
