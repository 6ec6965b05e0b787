#include "ir/tensor/inverse.h"

#include <algorithm>
#include <cstddef>

#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor {
namespace {

/// A dimension of the source, as a part of a dimension of the view: (coordinate / unit) % extent. A dimension that is
/// walked from its end is always a whole dimension of the view.
struct Part {
  std::size_t of;
  std::int64_t unit, extent;
  std::size_t source;
  bool from_end = false;
};

std::optional<std::size_t> dimension(const Expr& e, const Shape& view) {
  if (e.kind() != Expr::Kind::variable) return std::nullopt;
  for (std::size_t d = 0; d < view.size(); ++d)
    if (e == coordinate(d)) return d;
  return std::nullopt;
}

bool is_by_constant(const Expr& e, ExprOp op) {
  return e.kind() == Expr::Kind::binary && e.op() == op && e.rhs().kind() == Expr::Kind::constant;
}

// Recognises d, d / unit, d % extent, (d / unit) % extent and extent - 1 - d, where d is a dimension of the view.
std::optional<Part> part_of(Expr e, std::int64_t extent, std::size_t source, const Shape& view) {
  std::int64_t unit = 1;
  if (e.kind() == Expr::Kind::binary && e.op() == ExprOp::sub && e.lhs().is_constant(extent - 1)) {
    const auto of = dimension(e.rhs(), view);
    return of && view[*of] == extent ? std::optional(Part{*of, unit, extent, source, true}) : std::nullopt;
  }
  if (is_by_constant(e, ExprOp::mod)) {
    if (e.rhs().value() != extent) return std::nullopt;
    e = e.lhs();
  }
  if (is_by_constant(e, ExprOp::div)) unit = e.rhs().value(), e = e.lhs();
  const auto of = dimension(e, view);
  return of ? std::optional(Part{*of, unit, extent, source}) : std::nullopt;
}

}  // namespace

std::optional<std::vector<Expr>> inverse(const std::vector<Expr>& index, const Shape& source, const Shape& view) {
  if (element_count(source) != element_count(view)) return std::nullopt;
  std::vector<Part> parts;
  for (std::size_t s = 0; s < source.size(); ++s) {
    if (source[s] == 1) continue;
    const auto part = part_of(index[s], source[s], s, view);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  std::ranges::sort(parts, {}, &Part::unit);
  std::vector<Expr> result;
  for (std::size_t d = 0; d < view.size(); ++d) {
    std::int64_t covered = 1;
    Expr place = 0;
    for (const Part& part : parts) {
      if (part.of != d) continue;
      if (part.unit != covered) return std::nullopt;
      const Expr walked = part.from_end ? Expr(part.extent - 1) - coordinate(part.source) : coordinate(part.source);
      place = covered == 1 ? walked : walked * covered + place;
      covered *= part.extent;
    }
    if (covered != view[d]) return std::nullopt;
    result.push_back(std::move(place));
  }
  return result;
}

}  // namespace deplo::ir::tensor
