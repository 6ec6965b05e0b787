// What deplo knows of an operation of PyTorch: one row, in the file of its family.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/torch/evaluate.h"
#include "ir/torch/expression/function.h"
#include "ir/torch/pt2/function.h"

namespace deplo::ir::tensor {
class Emitter;
}

namespace deplo::ir::torch {

class Inference;    // infer.h
struct Operands;    // operands.h
struct TensorCall;  // tensor_call.h

/// `literal`: a Python number; becomes a double, its kind says the default dtype.
enum class AttributeKind : std::uint8_t { flag, integer, number, literal, text, integers, dtype };

struct Required {};
struct Computed {};  // `infer` fills it in
struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  std::variant<Required, Computed, bool, std::int64_t, double, std::string_view> fallback;
};

inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

struct Operation {
  std::string_view name;
  std::size_t least, most;  // tensor arguments
  std::span<const AttributeSpec> attributes;
  /// Normalises the attributes and gives the type of the result. Throws Error.
  TensorType (*infer)(const Inference&);
  /// The values in double, written without the decomposition.
  Values (*evaluate)(const Operands&);
  /// The node of Tensor IR that holds the result, of the type that was inferred.
  int (*decompose)(tensor::Emitter&, const TensorCall&);
  std::vector<python::Function> functions;  // its names in expressions
  std::vector<pt2::Function> readers;       // its names in `.pt2` files
};

/// Every operation, sorted by name.
std::span<const Operation> operations();
const Operation* find_operation(std::string_view name);  // nullptr: none

/// Names for what is no operation of its own: nothing at all, or several calls (composite.cpp).
std::vector<python::Function> composite_functions();
std::vector<pt2::Function> composite_readers();

}  // namespace deplo::ir::torch
