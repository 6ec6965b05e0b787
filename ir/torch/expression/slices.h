// Slices of sequences and of tensors, and writing through views.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/torch/expression/values/session.h"

namespace deplo::ir::torch::python {

/// Returns the indices that a slice selects among `count` items.
std::vector<std::int64_t> places_of(const Slice&, std::int64_t count);
/// Returns x[start:stop:step] along one dimension, or x itself for `x[:]`.
Id slice(Session&, Id x, std::int64_t dim, const Slice&);
/// Returns x with the selected part replaced by changed(part). A slice with a step is written through a tensor of
/// indices.
Id with_slice(Session&, Id x, std::int64_t dim, const Slice&, const std::function<Id(Id)>& changed);
/// Whether elements of a view share memory with each other, as in `expand` and in windows that overlap.
bool overlaps(const Session&, const Node& view);
/// Returns x with the part that `view` shows replaced by `value`; nullopt if elements of the view may share memory, or
/// if the view has windows with a gap between them.
std::optional<Id> with_view(Session&, Id x, const Node& view, Id value);

}  // namespace deplo::ir::torch::python
