// Reads programs that torch.export.save wrote (.pt2), from PyTorch 2.5 to 2.15: a zip archive with JSON inside.
#pragma once
#include <filesystem>

#include "ir/program.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// Reads a program. Parameters get the file's values if the file stores them as plain bytes or as a plain pickle of
/// tensors. `sizes`: the values of sizes that dynamic_shapes leaves open, by their symbols ("s27"); other symbols have
/// their values for the example inputs. Throws Error `file: expected …, found …`. The message for an unsupported
/// operation names its node in the graph.
Graph read_pt2(const std::filesystem::path&, const Symbols& sizes = {});

}  // namespace deplo::ir::torch
