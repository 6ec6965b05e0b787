// The entries of an experiment's `kernels:` list. docs in experiments/smoke.yaml.
#pragma once
#include <filesystem>
#include <vector>

#include "core/config.h"
#include "engine/source/experiment.h"

namespace deplo::engine {

/// The kernels of one entry: a kernel, or all that an expression, an exported program or a block of a model becomes.
/// Files may be named as seen from `folder`. The entry's own restrictions come after `restrictions`, which are of all.
/// `inputs` come after the entry's own. Throws Error `file:line: …`.
std::vector<KernelCase> read_entry(const Config&, const std::filesystem::path& folder, const Restrictions& restrictions,
                                   Inputs& inputs);

/// Equal kernels with equal restrictions become one, the first, that counts for all. Throws Error where a name comes
/// twice.
std::vector<KernelCase> merge_equal(std::vector<KernelCase>);

}  // namespace deplo::engine
