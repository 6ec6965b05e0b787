// Places the tensors of a module in device memory. Computed tensors share memory if their live ranges do not overlap.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/module.h"
#include "measure/device.h"

namespace deplo::engine {

struct Plan {
  std::vector<std::int64_t> slots;                               // bytes of each, a multiple of 4
  std::map<std::string, measure::Place, std::less<>> placement;  // tensor → where it lies in which slot
  double bytes() const;                                          // of all slots
};

/// Inputs, parameters and outputs have slots of their own. A computed tensor is live from the first kernel that writes
/// it, or a part of it, to the last kernel that reads it, inclusive. It gets the free slot that fits best; if none is
/// large enough, the largest free slot grows. A part lies in the slot of its whole.
Plan plan_buffers(const ir::Module&);

/// The bytes of a tensor's slot: at least 4, and a multiple of 4.
std::int64_t slot_bytes(const ir::TensorType&);

}  // namespace deplo::engine
