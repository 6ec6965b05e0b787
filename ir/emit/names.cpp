#include "ir/emit/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.h"

namespace deplo::ir::emitter {
namespace {

// True if the index contains an xor, as a swizzle does (stage_layout.h).
bool has_flips(const Expr& index) {
  return index.kind() == Expr::Kind::binary &&
         (index.op() == ExprOp::bxor || has_flips(index.lhs()) || has_flips(index.rhs()));
}

// Replaces the sum of the thread axes by the thread's number.
Expr by_thread(const Expr& e, const Expr& thread) {
  if (e.kind() != Expr::Kind::binary) return e;
  if (e == thread) return var("thread");
  return e.op() == ExprOp::eq && e.lhs() == thread ? equal(var("thread"), e.rhs()) : e;
}

}  // namespace

std::string Names::code(const Expr& e) const { return index_code(by_thread(e, thread), ranges, spell); }

std::string Names::offset(const std::string& buffer, const std::vector<Expr>& index) const {
  const Memory& in = memory.at(buffer);
  return offset_code(index, in.strides, ranges, spell, in.span > INT32_MAX);
}

// For a swizzled index, ptxas (13.0) shifts by the element size after the swizzle's flips and all additions, so every
// address is computed separately. With offsets in bytes, the addresses share the result of the flips and differ only by
// constants in the loads.
std::string Names::place(const std::string& buffer, const std::vector<Expr>& index, std::string_view type) const {
  const Memory& in = memory.at(buffer);
  if (std::ranges::none_of(index, has_flips))
    return type == element_name({in.dtype, 1}, spell.dialect)
               ? element(buffer, index)
               : fmt::format("*reinterpret_cast<const {}*>(&{})", type, element(buffer, index));
  std::vector<std::int64_t> strides = in.strides;
  for (std::int64_t& stride : strides) stride *= bytes(in.dtype);
  return fmt::format("*reinterpret_cast<const {}*>(reinterpret_cast<const char*>({}) + ({}))", type, buffer,
                     offset_code(index, strides, ranges, spell, in.span * bytes(in.dtype) > INT32_MAX));
}

Type Names::type_of(const Arg& arg, DType of_constant) const {
  const auto* value = std::get_if<std::string>(&arg);
  return value == nullptr ? Type{of_constant, 1} : types.at(*value);
}

std::string Names::argument(const Arg& arg, DType of_constant, int lane) const {
  if (const auto* constant = std::get_if<double>(&arg)) return literal(*constant, of_constant, spell.dialect);
  const std::string& value = std::get<std::string>(arg);
  return lane >= 0 && !spell.vectors && types.at(value).lanes > 1 ? lane_name(value, lane) : value;
}

std::string Names::broadcast(const Arg& arg, Type type) const {
  std::string text = argument(arg, type.dtype, -1);
  if (type.lanes == 1) return text;
  const Type own = type_of(arg, type.dtype);
  if (own.lanes > 1) return text;
  return "(" + type_name({own.dtype, type.lanes}, spell.dialect) + (own.dtype == DType::boolean ? ")(-" : ")(") + text +
         ")";
}

std::string Names::scalars(const Arg& value, Type type, int first) const {
  std::string parts;
  for (int i = first; i < first + type.lanes; ++i) parts += (i == first ? "" : ", ") + argument(value, type.dtype, i);
  return parts;
}

std::vector<std::string> Names::words(const std::string& fragment) const {
  const int lanes = types.at(fragment).lanes;
  std::vector<std::string> result;
  for (int i = 0; i < lanes / 2; ++i) result.push_back(lanes == 2 ? fragment : fragment + "." + "xyzw"[i]);
  return result;
}

}  // namespace deplo::ir::emitter
