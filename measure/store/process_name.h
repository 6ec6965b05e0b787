// Names processes uniquely, so that another process can tell whether the writer of a row still runs.
#pragma once
#include <string>
#include <string_view>

namespace deplo::measure {

/// Returns the name of this process: the system's boot id, the process id and the process's start time. No later
/// process has the same name.
std::string this_process();
/// Returns the name of this host; "" if the system does not tell it.
std::string host_name();
/// Returns true if the process with this name (of this_process()) runs on this machine; false for any other text.
bool is_running(std::string_view process);

}  // namespace deplo::measure
