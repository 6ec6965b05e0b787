// The device that runs Kernel IR through the interpreter: truth, not speed. Its time is that of a machine on which
// every statement of every thread takes 10 ns: the same in every run, so a search with a seed finds the same; of no
// device.
#pragma once
#include <memory>

#include "measure/device.h"

namespace deplo::measure {

DeviceInfo interpreter_info();
std::unique_ptr<Device> open_interpreter();

}  // namespace deplo::measure
