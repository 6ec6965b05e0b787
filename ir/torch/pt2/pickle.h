// Reads the part of Python's pickle format that torch.save writes for tensors and dictionaries of tensors. The reader
// calls no Python functions and rejects all but a few names.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "ir/torch/pt2/program/tensor.h"

namespace deplo::ir::torch::pt2 {

/// Returns the tensors of a `data.pkl`: the tensors of a dictionary by their keys, or a single tensor under "". The
/// member `storage` of each tensor is the storage's key. Throws Error `where: byte 12: expected …, found …`.
std::map<std::string, StoredTensor> read_pickle(std::string_view bytes, const std::string& where);

}  // namespace deplo::ir::torch::pt2
