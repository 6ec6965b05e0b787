// The table row of a PyTorch operation, which holds everything that deplo knows about it. The rows of a family stand in
// the family's file.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/torch/evaluate.h"
#include "ir/torch/expression/values/function.h"
#include "ir/torch/pt2/program/function.h"

namespace deplo::ir::tensor {
class Emitter;
}

namespace deplo::ir::torch {

class Inference;    // infer.h
struct Operands;    // operands.h
struct TensorCall;  // tensor_call.h

/// `literal`: a Python number. It becomes a double, and its Python type determines the default dtype.
enum class AttributeKind : std::uint8_t { flag, integer, number, literal, text, integers, dtype };

struct Required {};
struct Computed {};  // `infer` sets the attribute if the call has none
struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  std::variant<Required, Computed, bool, std::int64_t, double, std::string_view> fallback;
};

inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

struct Operation {
  std::string_view name;
  std::size_t min, max;  // bounds on the number of tensor arguments
  std::span<const AttributeSpec> attributes;
  /// Normalises the attributes and returns the type of the result. Throws Error.
  TensorType (*infer)(const Inference&);
  /// Computes the values in double, without using the decomposition.
  Values (*evaluate)(const Operands&);
  /// Returns the node of Tensor IR with the result, which has the inferred type.
  int (*decompose)(tensor::Emitter&, const TensorCall&);
  std::vector<python::Function> functions;  // the operation's names in expressions
  std::vector<pt2::Function> readers;       // its names in `.pt2` files
};

/// Every operation, sorted by name.
std::span<const Operation> operations();
const Operation* find_operation(std::string_view name);  // nullptr if there is none

/// Names that have no operation of their own: each becomes no call at all, or several calls. A family's names stand in
/// the family's file; names without a family stand in composite.cpp.
struct Composites {
  std::vector<python::Function> functions;
  std::vector<pt2::Function> readers;
};
std::vector<Composites> composites();

}  // namespace deplo::ir::torch
