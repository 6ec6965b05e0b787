// Places the tensors of a module in device memory. Computed tensors share memory if their live ranges do not overlap.
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

/// Inputs, parameters and outputs have slots of their own. A computed tensor is live from the kernel that writes it to
/// the last kernel that reads it, inclusive. It gets the free slot that fits best; if none is large enough, the largest
/// free slot grows.
Plan plan_buffers(const ir::Module&);

/// The bytes of a tensor's slot: at least 4, and a multiple of 4.
std::int64_t slot_bytes(const ir::TensorType&);

}  // namespace deplo::engine
