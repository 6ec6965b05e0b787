// The text of an experiment that does not come from a user's file.
#pragma once
#include <string>

#include "core/text/json.h"
#include "engine/source/experiment_kernels.h"

namespace deplo::engine {

/// Returns the keys of an entry that name the source, without its options and decisions. The text of a file with an
/// expression is part of the entry. Throws Error if such a file cannot be read.
Json entry_of(const Source&);
/// Prints an experiment with only this entry. The experiment's name, restrictions and inputs are left out. The text is
/// JSON, which is valid YAML; parse_experiment() reads it. Bytes that are not UTF-8 are replaced.
std::string print(const Experiment&, const Entry&);

}  // namespace deplo::engine
