// Where the tensors of a module lie on a device: computed ones share memory when their lives do not overlap.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/module.h"

namespace deplo::engine {

struct Plan {
  std::vector<std::int64_t> slots;                            // bytes of each, a multiple of 4
  std::map<std::string, std::size_t, std::less<>> placement;  // tensor → slot
  double bytes() const;                                       // of all slots
};

/// Inputs, parameters and outputs have slots of their own. A computed tensor lives from the kernel that writes it to
/// the last that reads it, both included; best fit by bytes, and where nothing fits the largest free slot grows.
Plan plan_buffers(const ir::Module&);

/// Of a tensor, at least 4 and a multiple of 4.
std::int64_t slot_bytes(const ir::TensorType&);

}  // namespace deplo::engine
