// The device that runs Kernel IR through the interpreter: truth, not speed. Times are wall clock and mean nothing.
#pragma once
#include <memory>

#include "measure/device.h"

namespace deplo::measure {

DeviceInfo interpreter_info();
std::unique_ptr<Device> open_interpreter();

}  // namespace deplo::measure
