// Names processes uniquely, so that another process can tell whether the writer of a row still runs.
#pragma once
#include <string>
#include <string_view>

namespace deplo::measure {

/// The name of this process: the system's boot id, the process id and the process's start time. No later process has
/// the same name.
std::string this_process();
/// "" if the system does not tell.
std::string host_name();
/// True if the process with this name (of this_process()) runs on this machine. False for any other text.
bool is_running(std::string_view process);

}  // namespace deplo::measure
