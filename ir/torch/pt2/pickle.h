// Reads the part of Python's pickle format that torch.save writes for tensors and dictionaries of tensors. It calls
// nothing and refuses all names except a few.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "ir/torch/pt2/program/tensor.h"

namespace deplo::ir::torch::pt2 {

/// The tensors of a `data.pkl`: those of a dictionary by their keys, or a lone tensor under "". Their `storage` is the
/// storage's key. Throws Error `where: byte 12: expected …, found …`.
std::map<std::string, StoredTensor> read_pickle(std::string_view bytes, const std::string& where);

}  // namespace deplo::ir::torch::pt2
