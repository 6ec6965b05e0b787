// Finds the program in an archive, and says what a file without one is.
#pragma once
#include <filesystem>
#include <string>

#include "ir/torch/pt2/zip.h"

namespace deplo::ir::torch::pt2 {

/// Throws Error if the file certainly is no zip archive, as an ONNX model or an old file of torch.save.
void check_begin(const std::filesystem::path& file);

/// Where an archive has its program: the entry, the common prefix of all entries, and the program's name.
struct Place {
  std::string entry, prefix, name = "model";
};
/// Finds the program that torch.export.save, or package_pt2 under a name of its own, wrote. Throws Error.
Place place_of_program(const Zip& archive);

}  // namespace deplo::ir::torch::pt2
