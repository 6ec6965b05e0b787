// Texts of nvdisasm, captured from kernels of ours; the first line of each says how.
#pragma once
#include <filesystem>
#include <string>

#include "core/file.h"

namespace deplo::measure::cuda::sass {

/// "softmax_sm_80"
inline std::string captured(const std::string& name) {
  return read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/sass" / (name + ".sass"));
}

}  // namespace deplo::measure::cuda::sass
