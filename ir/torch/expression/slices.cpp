#include "ir/torch/expression/slices.h"

#include <algorithm>
#include <functional>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {

std::vector<std::int64_t> places_of(const Slice& s, std::int64_t count) {
  const std::int64_t step = s.step.value_or(1);
  if (step == 0) throw Error("expected a step other than 0 in a slice");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
  const auto bound = [&](std::optional<std::int64_t> b, std::int64_t otherwise) {
    if (!b) return otherwise;
    return std::clamp(*b < 0 ? std::max(*b, -count - 1) + count : *b, low, high);
  };
  const std::int64_t start = bound(s.start, step > 0 ? low : high), stop = bound(s.stop, step > 0 ? high : low);
  std::vector<std::int64_t> places;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += std::clamp(step, -count - 1, count + 1))
    places.push_back(i);
  return places;
}

Id slice(Session& session, Id x, std::int64_t dim, const Slice& s) {
  if (!s.start && !s.stop && !s.step) return x;
  Attributes attributes = {{"dim", dim}};
  if (s.start) attributes.emplace("start", *s.start);
  if (s.stop) attributes.emplace("end", *s.stop);
  if (s.step) attributes.emplace("step", *s.step);
  return session.call("slice", {x}, std::move(attributes));
}

Id with_slice(Session& session, Id x, std::int64_t dim, const Slice& s, const std::function<Id(Id)>& changed) {
  const std::int64_t extent = session.type(x).shape[static_cast<std::size_t>(dim)];
  const std::vector<std::int64_t> places = places_of(s, extent);
  if (s.step.value_or(1) < 1) throw Error("expected a step of at least 1 in a slice of a tensor");
  if (places.empty()) return x;
  const Id part = changed(slice(session, x, dim, s));
  if (places.size() == static_cast<std::size_t>(extent)) return part;
  if (s.step.value_or(1) != 1) {
    const Id numbers =
        session.call("arange", {}, {{"start", places.front()}, {"end", places.back() + 1}, {"step", *s.step}});
    std::vector<std::optional<Id>> indices(static_cast<std::size_t>(dim) + 1);
    indices.back() = numbers;
    return put_by_tensors(caller_of(session, "[]"), x, indices, part, false);
  }
  std::vector<Id> parts;
  if (places.front() > 0) parts.push_back(slice(session, x, dim, {{}, places.front(), {}}));
  parts.push_back(part);
  if (places.back() + 1 < extent) parts.push_back(slice(session, x, dim, {places.back() + 1, {}, {}}));
  return session.call("cat", parts, {{"dim", dim}});
}

bool overlaps(const Session& session, const Node& view) {
  if (view.op == "windows")
    return !std::ranges::equal(view.integers("stride"), view.integers("kernel"), std::ranges::greater_equal());
  return view.op == "expand" && element_count(session.type(view.args[0]).shape) != element_count(view.type.shape);
}

// Returns x with the windows along its last dimension replaced; nullopt if that does not leave the order of the
// elements.
std::optional<Id> with_windows(Session& session, Id x, const Node& view, Id value) {
  const Shape &kernel = view.integers("kernel"), &dilation = view.integers("dilation");
  if (kernel.size() != 1 || kernel != view.integers("stride") || dilation[0] != 1) return std::nullopt;
  Shape shape = session.type(x).shape;
  const auto dim = static_cast<std::int64_t>(shape.size()) - 1;
  const std::int64_t covered = view.type.shape[static_cast<std::size_t>(dim)] * kernel[0];
  shape.back() = covered;
  return with_slice(session, x, dim, {{}, covered, {}}, [&](Id) {
    return session.call("reshape", {value}, {{"shape", shape}});
  });
}

std::optional<Id> with_view(Session& session, Id x, const Node& view, Id value) {
  const auto written = [&](Slice part, const std::function<Id(Id)>& changed) {
    return with_slice(session, x, view.integer("dim"), part, changed);
  };
  if (overlaps(session, view)) return std::nullopt;
  if (view.op == "windows") return with_windows(session, x, view, value);
  if (view.op == "reshape" || view.op == "squeeze" || view.op == "unsqueeze" || view.op == "expand")
    return session.call("reshape", {value}, {{"shape", session.type(x).shape}});
  if (view.op == "transpose") return session.call("transpose", {value}, view.attributes);
  if (view.op == "permute") {
    const Shape& dims = view.integers("dims");
    Shape inverse(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      inverse[static_cast<std::size_t>(dims[d])] = static_cast<std::int64_t>(d);
    return session.call("permute", {value}, {{"dims", inverse}});
  }
  if (view.op == "select") {
    const std::int64_t index = view.integer("index");
    return written({index, index + 1, {}}, [&](Id) {
      return session.call("unsqueeze", {value}, {{"dim", view.integer("dim")}});
    });
  }
  if (view.op == "slice")
    return written({view.integer("start"), view.integer("end"), view.integer("step")}, [&](Id) { return value; });
  return std::nullopt;
}

}  // namespace deplo::ir::torch::python
