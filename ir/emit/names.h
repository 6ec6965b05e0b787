// The text for the names that statements use. Private to ir/emit.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/emit/dialect.h"
#include "ir/emit/expression.h"
#include "ir/stmt.h"

namespace deplo::ir::emitter {

/// A buffer, or an array in shared memory.
struct Memory {
  DType dtype = DType::f32;
  std::vector<std::int64_t> strides;
  std::int64_t span = 0;  // number of elements from the first to the last, inclusive
  std::string_view space;
};

/// What is known about names at a statement, and the text for them.
struct Names {
  const Speller& spell;
  Ranges ranges = {};                                     // ranges of the axes in scope
  Expr thread = 0;                                        // CUDA: the thread's number as the sum of the thread axes
  std::unordered_map<std::string_view, Type> types = {};  // types of values; the keys refer to strings of the kernel
  std::unordered_map<std::string_view, Memory> memory = {};

  std::string code(const Expr&) const;
  std::string offset(const std::string& buffer, const std::vector<Expr>& index) const;
  std::string element(const std::string& buffer, const std::vector<Expr>& index) const {
    return buffer + "[" + offset(buffer, index) + "]";
  }
  /// CUDA: returns the contents of a place in memory, as a C type of one or more elements.
  std::string place(const std::string& buffer, const std::vector<Expr>& index, std::string_view type) const;

  Type type_of(const Arg&, DType of_constant) const;
  std::string argument(const Arg&, DType of_constant, int lane) const;
  /// Returns the argument with as many lanes as the type, because OpenCL's functions take arguments of one type.
  std::string broadcast(const Arg&, Type) const;
  /// CUDA: returns the lanes from `first` on: "acc0_0, acc0_1".
  std::string scalars(const Arg&, Type, int first = 0) const;
  /// CUDA: returns the 32-bit registers of a value of two or more 16-bit elements.
  std::vector<std::string> words(const std::string& fragment) const;
};

/// CUDA: returns the name of a lane's scalar.
inline std::string lane_name(const std::string& value, int lane) { return value + "_" + std::to_string(lane); }

}  // namespace deplo::ir::emitter
