// Programs that torch.export.save wrote (.pt2), PyTorch 2.5 to 2.11: a zip archive with JSON inside.
#pragma once
#include <filesystem>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Parameters have the file's values where it stores them as plain bytes or a plain pickle of tensors. Throws Error
/// `file: expected …, found …`; an operation that is not supported is named with its node in the graph.
Graph read_pt2(const std::filesystem::path&);

}  // namespace deplo::ir::torch
