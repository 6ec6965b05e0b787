#include "rules/fusion/nest.h"

#include <algorithm>
#include <bit>

#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

// The number of outermost free loops that bind all free axes of `live`.
int prefix(const Live& live) { return static_cast<int>(std::bit_width(live.free)); }

}  // namespace

Nest::Nest(const Values& values, const std::vector<ValueId>& roots, const ir::Shape& shape)
    : values_(values), extents_(shape), order_(reachable(values, roots)) {
  for (std::size_t i = order_.size(); i-- > 0;)  // inner reductions come before outer ones in order_
    if (values_[order_[i]].reduces()) reductions_.push_back(order_[i]);
  for (const ValueId id : reductions_) {
    const Live& live = values_.live(id);
    Place place{prefix(live), -1};
    int depth = place.free;
    for (const int r : live.reduces)
      if (depth_.at(r) > depth || place.reduce < 0) place.reduce = r, depth = std::max(depth, depth_.at(r));
    if (place.reduce < 0) breaks_.push_back(place.free);
    reduce_places_[values_[id].axis] = place;
    depth_[values_[id].axis] = depth + 1;
  }
  if (const int scan = scan_axis(values, roots); scan >= 0) breaks_.push_back(scan);
  std::sort(breaks_.begin(), breaks_.end());
  breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
  for (const ValueId id : reductions_)
    if (const Value& value = values_[id]; value.kind == Value::Kind::softmax)
      for (const ValueId part : reachable(values_, value.args[0]))
        if (stands_in(place(part), value.axis)) score_axes_[part] |= values_.live(value.args[0]).free;
}

bool Nest::stands_in(Place place, int reduce) const {
  while (place.reduce >= 0 && place.reduce != reduce) place = reduce_places_.at(place.reduce);
  return place.reduce == reduce;
}

Place Nest::place_of(const Live& live) const {
  if (live.reduces.empty()) return place(prefix(live));
  const auto deepest = std::max_element(live.reduces.begin(), live.reduces.end(),
                                        [&](int a, int b) { return depth_.at(a) < depth_.at(b); });
  return {0, *deepest};
}

Place Nest::place(int axes) const {
  const auto at = std::lower_bound(breaks_.begin(), breaks_.end(), axes);
  return {at == breaks_.end() ? rank() : *at, -1};
}

Place Nest::place(ValueId id) const {
  const Value& value = values_[id];
  return value.reduces() ? reduce_places_.at(value.axis) : place_of(values_.live(id));
}

double Nest::executions(ValueId id) const {
  const auto known = score_axes_.find(id);
  return executions(place(id), known == score_axes_.end() ? ~0U : known->second);
}

double Nest::executions(Place place, std::uint32_t free) const {
  double count = 1;
  while (place.reduce >= 0) {
    count *= static_cast<double>(values_.extent(place.reduce));
    place = reduce_places_.at(place.reduce);
  }
  for (int d = 0; d < place.free; ++d)
    if ((free >> d & 1) != 0) count *= static_cast<double>(extents_[static_cast<std::size_t>(d)]);
  return count;
}

Place place_of_write(const Fusion& fusion, const LoopOp& op, const Nest& nest, int tensor) {
  if (tensor == op.output) return {nest.rank(), -1};
  const ir::Shape& shape = fusion.type(tensor).shape;
  const auto last = std::find_if(shape.rbegin(), shape.rend(), [](std::int64_t extent) { return extent > 1; });
  return nest.place(static_cast<int>(shape.rend() - last));
}

}  // namespace deplo::rules::fusion
