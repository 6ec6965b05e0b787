#include "ir/hardware/pairs.h"

#include <algorithm>

#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"

namespace deplo::ir {

namespace {

std::vector<Expr> further(std::vector<Expr> at, int dim, int by) {
  Expr& along = at[static_cast<std::size_t>(dim)];
  along = along + by;
  return at;
}

}  // namespace

std::vector<Expr> CopyPairs::next() const { return further(at, dim, 1); }
std::vector<Expr> CopyTransposed::row(int j) const { return further(at, dim, j); }

namespace pairs {
namespace {

const std::string* vector_axis(const Program& program) {
  const std::string* found = nullptr;
  for_each<Tile>(program.body, [&](const Tile& tile) {
    for (const Axis& axis : tile.axes)
      if (axis.bind == Bind::vector && axis.extent == lanes) found = &axis.name;
  });
  return found;
}

/// Does the index step by 1 with the axis in dimension `at`, and depend on the axis in no other dimension?
bool steps_in(const std::vector<Expr>& index, std::size_t at, const std::string& axis) {
  for (std::size_t d = 0; d < index.size(); ++d)
    if (d != at && depends_on(index[d], axis)) return false;
  return at < index.size() && coefficient(index[at], axis) == 1;
}

/// Whether the buffer or Stage of this name has bf16 elements in rows along the last dimension.
bool has_rows(const Program& program, const std::string& name) {
  if (const Buffer* buffer = program.find(name))
    return buffer->dtype == DType::bf16 && !buffer->strides.empty() && buffer->strides.back() == 1;
  const Stage* stage = find_stage(program.body, name);
  return stage != nullptr && stage->dtype == DType::bf16 && !stage->pairs && stage->panel == 0 && stage->swizzle == 0;
}

}  // namespace

bool along_rows(const Stage& stage, const Buffer& source) {
  return stage.slab.back().dim + 1 == std::ssize(source.shape);
}

std::string fault(const Stage& stage, const Buffer& source) {
  if (stage.dtype != DType::bf16 || source.dtype != DType::bf16) return "pairs must be of bf16";
  if (stage.slab.size() != 2 || stage.slab[0].extent % depth != 0) return "pairs need an even number of rows";
  if (source.strides.back() != 1) return "pairs of elements that are not adjacent";
  if (stage.transport != Transport::copy || stage.slots != 1 || stage.swizzle != 0 || stage.pad != 0)
    return "pairs must be copied by loads and stores to one slot, without a pad";
  if (along_rows(stage, source))
    return row_elements(stage) % lanes == 0 ? "" : "the rows of pairs are not a multiple of the vector length";
  return stage.slab[0].dim + 1 == std::ssize(source.shape) ? "" : "pairs of elements that are not adjacent";
}

std::string find_product(const Program& program, const Loop& loop, Product& product) {
  const std::string* const vector = vector_axis(program);
  if (vector == nullptr) return "no vectors of 16 lanes";
  if (!loop.start.is_constant(0) || loop.step != 1 || loop.axis.extent % depth != 0) return "an odd number of trips";
  if (loop.body.size() != 4) return "more than a product and a sum";
  const auto* first = loop.body[0].as<Load>();
  const auto* second = loop.body[1].as<Load>();
  const auto* times = loop.body[2].as<Assign>();
  const auto* sum = loop.body[3].as<Accum>();
  const bool adds = first != nullptr && second != nullptr && times != nullptr && sum != nullptr &&
                    times->op == Op::multiply && sum->op == Op::add && sum->args.front() == Arg(times->dst) &&
                    first->dst != second->dst;
  const auto takes = [&](const Load* load) { return std::ranges::count(times->args, Arg(load->dst)) == 1; };
  if (!adds || !takes(first) || !takes(second)) return "not a sum of products of two loads";
  const bool second_is_wide = depends_on(second->index, *vector);
  product = {second_is_wide ? first : second, second_is_wide ? second : first, sum->dst};
  const auto& [a, b, acc] = product;
  if (depends_on(a->index, *vector) || !steps_in(a->index, a->index.size() - 1, loop.axis.name))
    return "an operand whose pairs are not adjacent";
  if (b->index.size() != 2 || !steps_in(b->index, 0, loop.axis.name) || !steps_in(b->index, 1, *vector))
    return "an operand that is not read by rows";
  return "";
}

std::string fault(const Program& program, const Product& product) {
  const Stage* stage = find_stage(program.body, product.b->buffer);
  if (stage == nullptr || !stage->pairs) return "an operand that is not staged in pairs";
  return has_rows(program, product.a->buffer) ? "" : "an operand that is not of bf16, in rows";
}

}  // namespace pairs
}  // namespace deplo::ir
