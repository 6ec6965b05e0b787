// einops.rearrange, repeat and reduce, which name the dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch::python {
namespace einops {
namespace {

using Group = std::vector<std::string>;  // the axes of one dimension

/// Parses one side of a pattern, such as "b (c l) ...". `...` stands for `others` axes.
std::vector<Group> groups_of(const Call& c, std::string_view text, std::size_t others) {
  std::vector<Group> groups;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    const std::size_t end = std::min(text.find_first_of(" ()", at), text.size());
    if (letter == ' ' || letter == ')') {
      if (letter == ')') inside = false;
      ++at;
    } else if (letter == '(') {
      if (inside) c.fail("pattern", "no parentheses inside parentheses");
      inside = true;
      groups.emplace_back();
      ++at;
    } else {
      const std::string name(text.substr(at, end - at));
      if (!inside && name != "...") groups.emplace_back();
      for (std::size_t i = 0; name == "..." && i < others; ++i) {
        if (!inside) groups.emplace_back();
        groups.back().push_back(fmt::format("...{}", i));
      }
      if (name != "..." && name != "1") groups.back().push_back(name);
      at = end;
    }
  }
  return groups;
}

/// Returns the extents of all axes of the left side, by name. In each group, the extent of one axis may be unknown.
std::map<std::string, std::int64_t> extents_of(const Call& c, const std::vector<Group>& left, const Shape& shape,
                                               std::map<std::string, std::int64_t> known) {
  if (left.size() != shape.size()) c.fail("pattern", fmt::format("{} dimensions on the left", shape.size()));
  for (std::size_t d = 0; d < left.size(); ++d) {
    std::int64_t rest = shape[d];
    const std::string* unknown = nullptr;
    for (const std::string& axis : left[d]) {
      const auto found = known.find(axis);
      if (found == known.end() && unknown) c.fail("pattern", fmt::format("the extent of {} or {}", *unknown, axis));
      if (found == known.end()) unknown = &axis;
      if (found == known.end()) continue;
      if (found->second < 1 || rest % found->second != 0)
        c.fail("pattern", fmt::format("extents whose product is {}", shape[d]));
      rest /= found->second;
    }
    if (unknown) known[*unknown] = rest;
    if (!unknown && rest != 1) c.fail("pattern", fmt::format("extents whose product is {}", shape[d]));
  }
  return known;
}

Group joined(const std::vector<Group>& groups) {
  Group all;
  for (const Group& g : groups) all.insert(all.end(), g.begin(), g.end());
  return all;
}

enum class Form : std::uint8_t { rearrange, repeat, reduce };

/// Reduces a tensor over `dims` by 'mean', 'sum', 'max', 'min' or 'prod', or by a function of the tensor and the
/// dimensions.
Id reduced(const Call& c, Id x, const Shape& dims) {
  if (dims.empty()) return x;
  const auto* name = c.value("reduction").as<std::string_view>();
  const bool extreme = name && (*name == "max" || *name == "min");
  if (!name) {
    const Value result = c.session.invoke(c.value("reduction"), {{Value{Tensor{x}}, python::make_tuple(dims)}, {}});
    if (!is_tensor(result)) c.fail("reduction", "a function that gives a tensor");
    return c.session.tensor(result);
  }
  if (*name == "prod") {
    for (auto d = dims.rbegin(); d != dims.rend(); ++d) x = c.session.call("prod", {x}, {{"dims", Shape{*d}}});
    return x;
  }
  if (!extreme && *name != "mean" && *name != "sum")
    c.fail("reduction", "'mean', 'sum', 'max', 'min', 'prod' or a function");
  return c.session.call(extreme ? (*name == "max" ? "amax" : "amin") : *name, {x}, {{"dims", dims}});
}

Value rearranged(const Call& c, Form form) {
  const Given g(c);
  const std::string pattern(c.text("pattern"));
  const std::size_t arrow = pattern.find("->");
  if (arrow == std::string::npos) c.fail("pattern", "a text such as 'b (h w) c -> b c h w'");
  std::map<std::string, std::int64_t> known;
  for (const auto& [key, item] : (*c.value("axes").as<Dict*>())->items) {
    const auto* extent = item.as<std::int64_t>();
    if (!extent) throw Error(fmt::format("{}: expected extents of axes, found {}", c.name, describe(item)));
    known[std::string(*key.as<std::string_view>())] = *extent;
  }
  const bool listed = c.value("tensor").as<List>() != nullptr;
  const Id x = listed ? c.session.call("stack", c.tensors("tensor"), {{"dim", std::int64_t{0}}}) : c.tensor("tensor");
  const Shape shape = c.type(x).shape;
  const std::size_t named = groups_of(c, std::string_view(pattern).substr(0, arrow), 0).size();
  const std::size_t others = shape.size() - std::min(shape.size(), named);
  const std::vector<Group> left = groups_of(c, std::string_view(pattern).substr(0, arrow), others);
  const std::vector<Group> right = groups_of(c, std::string_view(pattern).substr(arrow + 2), others);
  const auto extents = extents_of(c, left, shape, known);
  Group from = joined(left);
  const Group to = joined(right);
  Shape apart, order, wide, whole, spread, gone;
  for (const std::string& axis : from) apart.push_back(extents.at(axis));
  Id parts = g.reshape(x, apart);
  if (form == Form::reduce) {
    const auto is_gone = [&](const std::string& axis) { return std::ranges::find(to, axis) == to.end(); };
    for (std::size_t d = 0; d < from.size(); ++d)
      if (is_gone(from[d])) gone.push_back(static_cast<std::int64_t>(d));
    std::erase_if(from, is_gone);
    parts = reduced(c, parts, gone);
  }
  for (const std::string& axis : to) {
    const auto place = std::ranges::find(from, axis);
    const auto extent = extents.find(axis);
    if (extent == extents.end() || (place == from.end() && form != Form::repeat))
      c.fail("pattern", fmt::format("axis {} on the left", axis));
    if (place != from.end()) order.push_back(place - from.begin());
    wide.push_back(place == from.end() ? 1 : extent->second);
    spread.push_back(extent->second);
  }
  if (order.size() != from.size()) c.fail("pattern", "every axis of the left once on the right");
  for (const Group& group : right) {
    std::int64_t extent = 1;
    for (const std::string& axis : group) extent *= extents.at(axis);
    whole.push_back(extent);
  }
  const Id permuted = g.permute(parts, order);
  return {Tensor{g.reshape(g.expand(g.reshape(permuted, wide), spread), whole)}};
}

Value rearrange(const Call& c) { return rearranged(c, Form::rearrange); }
Value repeat(const Call& c) { return rearranged(c, Form::repeat); }
Value reduce(const Call& c) { return rearranged(c, Form::reduce); }

constexpr std::array rows = {
    Function{"rearrange", in_einops, "tensor, pattern, **axes", rearrange},
    Function{"repeat", in_einops, "tensor, pattern, **axes", repeat},
    Function{"reduce", in_einops, "tensor, pattern, reduction, **axes", reduce},
};

}  // namespace
}  // namespace einops

std::span<const Function> einops_functions() { return einops::rows; }

}  // namespace deplo::ir::torch::python
