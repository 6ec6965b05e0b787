// Imports baselines that other programs measured into a store.
#pragma once
#include <cstddef>
#include <string>

namespace deplo::apps {

struct ImportedBaselines {
  std::size_t times = 0, kernels = 0;
  std::size_t ours = 0;     // lines left out because they are deplo's own times, which `deplo bench --store` stores
  std::size_t several = 0;  // lines left out because their expression becomes several kernels without a time of each
};

/// Returns true for a file of torch_suite.py, as opposed to a recorded space. The file's name and first line tell.
bool is_baselines(const std::string& file);

/// Imports the lines of experiments/baselines/torch_suite.py (docs/measurement.md names the fields). The kernel of a
/// line is the one that its expression becomes. Throws Error `file:line: …`, and then stores nothing.
ImportedBaselines import_baselines(const std::string& file, const std::string& store);

}  // namespace deplo::apps
