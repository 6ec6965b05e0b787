// An experiment as text, where no file of a user's was its beginning.
#pragma once
#include <string>

#include "engine/source/experiment_kernels.h"

namespace deplo::engine {

/// Of an experiment with this one entry, without a name, restrictions and inputs: parse_experiment() makes the same of
/// it. JSON, which is YAML; what is not UTF-8 is replaced.
std::string print(const Experiment&, const Entry&);

}  // namespace deplo::engine
