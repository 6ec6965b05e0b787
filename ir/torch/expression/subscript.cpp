#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/expression/operators.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {
namespace {

std::int64_t in_range(std::int64_t index, std::int64_t count) {
  if (index < -count || index >= count)
    throw Error(fmt::format("expected an index from {} to {}, found {}", -count, count - 1, index));
  return index < 0 ? index + count : index;
}

// x[start:stop:step] of one dimension; the same tensor where that is all of it.
Id slice(Session& session, Id x, std::int64_t dim, const Slice& s) {
  if (!s.start && !s.stop && !s.step) return x;
  Attributes attributes = {{"dim", dim}};
  if (s.start) attributes.emplace("start", *s.start);
  if (s.stop) attributes.emplace("end", *s.stop);
  if (s.step) attributes.emplace("step", *s.step);
  return session.call("slice", {x}, std::move(attributes));
}

Id one_index(Session& session, Id x, const Value& index, std::int64_t& dim) {
  if (index.none()) return session.call("unsqueeze", {x}, {{"dim", dim++}});
  if (const Slice* s = index.as<Slice>()) return slice(session, x, dim++, *s);
  if (const auto* i = index.as<std::int64_t>()) {
    const std::int64_t at = in_range(*i, session.type(x).shape[static_cast<std::size_t>(dim)]);
    return session.call("select", {x}, {{"dim", dim}, {"index", at}});
  }
  if (is_tensor(index)) {
    const Id indices = session.tensor(index);
    const Id selected = session.call("index_select", {x, indices},
                                     {{"dim", dim}, {"wraps", may_be_negative(caller_of(session, "[]"), indices)}});
    dim += static_cast<std::int64_t>(session.type(indices).shape.size());
    return selected;
  }
  throw Error(
      fmt::format("expected an integer, a slice, None, ... or a tensor as an index, found {}", describe(index)));
}

// x[i, :, j]: among several tensors there are only whole dimensions.
Value by_tensors(Session& session, Id x, const Values& indices) {
  std::vector<std::optional<Id>> tensors;
  for (const Value& index : indices) {
    const Slice* s = index.as<Slice>();
    if (is_tensor(index))
      tensors.emplace_back(session.tensor(index));
    else if (s && !s->start && !s->stop && !s->step)
      tensors.emplace_back(std::nullopt);
    else
      throw Error(fmt::format("expected tensors and `:` beside several tensors of indices, found {}", describe(index)));
  }
  return {Tensor{pick_by_tensors(caller_of(session, "[]"), x, tensors)}};
}

Value of_tensor(Session& session, Id x, const Values& indices) {
  const auto rank = static_cast<std::int64_t>(session.type(x).shape.size());
  const auto takes_one = [](const Value& v) { return !v.none() && !v.as<Dots>(); };
  const std::int64_t taken = std::ranges::count_if(indices, takes_one);
  if (taken > rank) throw Error(fmt::format("expected at most {} indices, found {}", rank, taken));
  if (std::ranges::count_if(indices, is_tensor) > 1) return by_tensors(session, x, indices);
  if (std::ranges::count_if(indices, [](const Value& v) { return v.as<Dots>() != nullptr; }) > 1)
    throw Error("expected at most one `...`, found several");
  std::int64_t dim = 0;
  for (const Value& index : indices) {
    if (index.as<Dots>())
      dim += rank - taken;
    else
      x = one_index(session, x, index, dim);
  }
  return {Tensor{x}};
}

Value of_list(Session& session, const List& list, const Value& index) {
  const auto count = static_cast<std::int64_t>(list.items->size());
  if (const auto* i = index.as<std::int64_t>()) return (*list.items)[static_cast<std::size_t>(in_range(*i, count))];
  const Slice* s = index.as<Slice>();
  if (!s || s->step.value_or(1) != 1)
    throw Error(fmt::format("expected an integer or a slice of step 1 as an index, found {}", describe(index)));
  const auto bound = [&](std::int64_t b) {
    return std::clamp<std::int64_t>(b < 0 ? std::max(b, -count) + count : b, 0, count);
  };
  const std::int64_t start = bound(s->start.value_or(0)), stop = std::max(start, bound(s->stop.value_or(count)));
  session.spend(static_cast<std::size_t>(stop - start));
  return make_list(Values(list.items->begin() + start, list.items->begin() + stop), list.tuple);
}

}  // namespace

Value apply_subscript(Session& session, const Value& object, const Value& index) {
  if (const List* list = object.as<List>()) return of_list(session, *list, index);
  if (auto* const* o = object.as<Object*>()) {
    if (const auto* i = index.as<std::int64_t>(); i && holds_others(**o))
      return (*o)->items[static_cast<std::size_t>(in_range(*i, static_cast<std::int64_t>((*o)->items.size())))];
  }
  if (!is_tensor(object))
    throw Error(fmt::format("expected a tensor, a tuple or a list before `[`, found {}", describe(object)));
  if (const Tensor* t = object.as<Tensor>(); t && t->pair) {  // max(dim)[0]
    const auto* i = index.as<std::int64_t>();
    if (i && *i == 0) return {Tensor{t->id}};
    if (i && *i == 1) return {Tensor{extreme_index(caller_of(session, "[]"), session.node(t->id))}};
  }
  const List* several = index.as<List>();
  if (several && !several->tuple) throw Error("expected integers, slices, None or ... as indices, found a list");
  return of_tensor(session, session.tensor(object), several ? *several->items : Values{index});
}

}  // namespace deplo::ir::torch::python
