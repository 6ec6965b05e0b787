// aten operations that make a tensor of nothing, and those that make nothing.
#include <array>
#include <cmath>

#include "core/error.h"
#include "ir/torch/pt2/call.h"

namespace deplo::ir::torch::pt2 {
namespace {

// What the file states as the result's type.
void ignore_type(Call& call) {
  call.ignore({"self", "size", "dtype", "layout", "device", "pin_memory", "memory_format"});
}

std::vector<Id> filled(Call& call, double value) {
  ignore_type(call);
  const TensorType& type = call.output_type();
  return {call.add("full", {}, {{"shape", type.shape}, {"value", value}, {"dtype", type.dtype}})};
}

std::vector<Id> full(Call& call, std::string_view) { return filled(call, call.number("fill_value", 0)); }
std::vector<Id> zeros(Call& call, std::string_view) { return filled(call, 0); }
std::vector<Id> ones(Call& call, std::string_view) { return filled(call, 1); }
std::vector<Id> scalar(Call& call, std::string_view) { return filled(call, call.number("s", 0)); }

std::int64_t whole(Call& call, std::string_view argument, std::int64_t fallback) {
  const double value = call.number(argument, static_cast<double>(fallback));
  if (value != std::trunc(value) || std::abs(value) > 0x1p53) call.fail(argument, "a whole number");
  return static_cast<std::int64_t>(value);
}

std::vector<Id> arange(Call& call, std::string_view) {
  ignore_type(call);
  const std::int64_t start = whole(call, "start", 0), end = whole(call, "end", 0), step = whole(call, "step", 1);
  const DType dtype = call.output_type().dtype;
  return {call.add("arange", {}, {{"start", start}, {"end", end}, {"step", step}, {"dtype", dtype}})};
}

// Assertions about types and sizes: the shapes are static, PyTorch has checked them.
std::vector<Id> nothing(Call& call, std::string_view) {
  call.ignore({"self", "a", "size", "stride", "dtype", "device", "layout", "assert_msg", "min", "max", "dep_token"});
  return {};
}

constexpr auto rows = std::to_array<Row>({
    {"aten.arange", arange, ""},
    {"aten._assert_async", nothing, ""},
    {"aten._assert_scalar", nothing, ""},
    {"aten._assert_tensor_metadata", nothing, ""},
    {"aten.full", full, ""},
    {"aten.full_like", full, ""},
    {"aten.new_full", full, ""},
    {"aten.new_ones", ones, ""},
    {"aten.new_zeros", zeros, ""},
    {"aten.ones", ones, ""},
    {"aten.ones_like", ones, ""},
    {"aten.scalar_tensor", scalar, ""},
    {"aten.sym_constrain_range", nothing, ""},
    {"aten.sym_constrain_range_for_size", nothing, ""},
    {"aten.zeros", zeros, ""},
    {"aten.zeros_like", zeros, ""},
});

}  // namespace

std::span<const Row> creation_rows() { return rows; }

}  // namespace deplo::ir::torch::pt2
