// Places the tensors of a module in device memory. Computed tensors may share memory if their live ranges do not
// overlap.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/module.h"
#include "measure/device.h"

namespace deplo::engine {

struct Plan {
  std::vector<std::int64_t> slots;                               // size of each slot in bytes, a multiple of 4
  std::map<std::string, measure::Place, std::less<>> placement;  // tensor → its slot and its offset in the slot
  double bytes() const;                                          // sum over all slots
};

/// Inputs, parameters and outputs have slots of their own. A computed tensor is live from the first kernel that writes
/// the tensor, or a part of it, to the last kernel that reads it, inclusive. The tensor gets the smallest free slot
/// that is large enough; if there is none, the largest free slot grows. A part lies in the slot of its whole tensor.
Plan plan_buffers(const ir::Module&);

/// Returns the size in bytes of a tensor's slot: a multiple of 4, and at least 4.
std::int64_t slot_bytes(const ir::TensorType&);

}  // namespace deplo::engine
