// The text of an experiment that does not come from a user's file.
#pragma once
#include <string>

#include "engine/source/experiment_kernels.h"

namespace deplo::engine {

/// Prints an experiment with only this entry. The experiment's name, restrictions and inputs are left out. The text is
/// JSON, which is valid YAML; parse_experiment() reads it. Bytes that are not UTF-8 are replaced.
std::string print(const Experiment&, const Entry&);

}  // namespace deplo::engine
