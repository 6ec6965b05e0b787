// Baselines that other programs measured, as rows of the store.
#pragma once
#include <cstddef>
#include <string>

namespace deplo::apps {

struct ImportedBaselines {
  std::size_t times = 0, kernels = 0;
  std::size_t ours = 0;     // lines of deplo's own times, which `deplo run --bench --store` stores: left out
  std::size_t several = 0;  // lines whose expression becomes more than one kernel, of which no time is known: left out
};

/// Lines of experiments/baselines/torch_suite.py (docs/measurement.md names the fields). The kernel of a line is what
/// its expression becomes. Throws Error `file:line: …`; then nothing was stored.
ImportedBaselines import_baselines(const std::string& file, const std::string& store);

}  // namespace deplo::apps
