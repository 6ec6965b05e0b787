// Captured output of nvdisasm for deplo's kernels. The first line of each file says how it was captured.
#pragma once
#include <filesystem>
#include <string>

#include "core/file.h"

namespace deplo::measure::cuda::sass {

/// Reads the file with this name, for example "softmax_sm_80".
inline std::string captured(const std::string& name) {
  return read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/sass" / (name + ".sass"));
}

}  // namespace deplo::measure::cuda::sass
