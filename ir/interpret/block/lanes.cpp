#include "ir/interpret/block/lanes.h"

#include <algorithm>

#include "core/error.h"
#include "ir/program.h"
#include "ir/simplify/simplify_impl.h"

namespace deplo::ir::exec {
namespace {

// Returns an arbitrary index for values out of range, because an inactive lane may hold anything.
std::int64_t to_index(double value) {
  return value >= -1e18 && value <= 1e18 ? static_cast<std::int64_t>(value) : INT64_MIN / 2;
}

}  // namespace

bool Lanes::all(Mask mask) const {
  return mask == nullptr || std::all_of(mask, mask + count, [](auto m) { return m != 0; });
}

std::int64_t Lanes::add_scalar_atoms(std::int64_t sum, const Index& index) const {
  for (const Atom& a : index.atoms)
    if (!a.varies) sum = multiply_add(sum, a.coefficient, fold(a.op, scalar(a.lhs), scalar(a.rhs)));
  return sum;
}

std::int64_t Lanes::at(const Index& index, int lane) const {
  if (!index.varies) return scalar(index);
  const auto l = static_cast<std::size_t>(lane);
  std::int64_t sum = index.constant;
  for (const auto& [slot, coefficient] : index.uniform)
    sum = multiply_add(sum, coefficient, variables[static_cast<std::size_t>(slot)].scalar);
  for (const auto& [slot, coefficient] : index.varying)
    sum = multiply_add(sum, coefficient, variables[static_cast<std::size_t>(slot)].lanes[l]);
  for (const auto& [value, coefficient] : index.values)
    sum = multiply_add(sum, coefficient, to_index(values[value + l]));
  for (const Atom& a : index.atoms)
    sum = multiply_add(sum, a.coefficient, fold(a.op, at(a.lhs, lane), at(a.rhs, lane)));
  return sum;
}

void Lanes::evaluate(Index& index, std::int64_t* out) const {
  const auto n = static_cast<std::size_t>(count);
  std::fill(out, out + n, scalar(index));
  for (const auto& [slot, coefficient] : index.varying) {
    const std::int64_t* v = variables[static_cast<std::size_t>(slot)].lanes.data();
    for (std::size_t l = 0; l < n; ++l) out[l] = multiply_add(out[l], coefficient, v[l]);
  }
  for (const auto& [value, coefficient] : index.values)
    for (std::size_t l = 0; l < n; ++l) out[l] = multiply_add(out[l], coefficient, to_index(values[value + l]));
  for (Atom& a : index.atoms) {
    if (!a.varies) continue;
    evaluate(a.lhs, a.left.data());
    evaluate(a.rhs, a.right.data());
    for (std::size_t l = 0; l < n; ++l) out[l] = multiply_add(out[l], a.coefficient, fold(a.op, a.left[l], a.right[l]));
  }
}

std::string Lanes::place(int lane) const {
  return "block " + std::to_string(block) + ", thread " + std::to_string(thread(lane));
}

std::string Lanes::text() const { return text_of(*statement); }

void Lanes::fail(const std::string& what, int lane) const {
  throw Error(what + ", in " + place(lane) + " at `" + text() + "`");
}

std::string text_of(const Stmt& stmt) {
  const std::string text = print(Body{stmt});
  const std::size_t from = text.find_first_not_of(" \n");
  return from == std::string::npos ? text : text.substr(from, text.find('\n', from) - from);
}

}  // namespace deplo::ir::exec
