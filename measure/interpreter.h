// The device that runs Kernel IR in the interpreter, for correctness, not speed. Its times are those of an imaginary
// machine on which every statement of every thread takes 10 ns. They are the same in every run, so a search with a
// given seed always has the same result.
#pragma once
#include <memory>

#include "measure/device.h"

namespace deplo::measure {

DeviceInfo interpreter_info();
std::unique_ptr<Device> open_interpreter();

}  // namespace deplo::measure
