// What `deplo run` and `deplo bench` have in common: the device, the inputs, and where schedules come from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "engine/source/inputs.h"
#include "measure/protocol/protocol.h"

namespace deplo::apps {

struct DeviceOptions {
  std::string device = "opencl", target = "auto";
  std::uint64_t seed = 0;                         // of the inputs and parameters that have no values of their own
  engine::Inputs inputs = {};                     // in place of what the source says; all must be in it
  double tolerance = measure::default_tolerance;  // of every output, by its elements' scale
  std::optional<std::string> tuned;  // the store that schedules come from; nullopt: the user's own, if there is one
  bool nearest = false;              // the schedule of the nearest extents before the heuristic's
  bool require_tuned = false;        // an Error for a kernel that has no measured schedule, before anything runs
};

}  // namespace deplo::apps
