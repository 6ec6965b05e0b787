// Index expressions with names resolved to slots, and the memory elements that they address. Private to the
// interpreter.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/expr.h"
#include "ir/types/float16.h"

namespace deplo::ir::exec {

struct Atom;
/// constant + sum of coefficient * variable + sum of coefficient * value + sum of atoms.
struct Index {
  std::int64_t constant = 0;
  std::vector<std::pair<int, std::int64_t>> uniform = {}, varying = {};  // slot of the variable, coefficient
  std::vector<std::pair<std::size_t, std::int64_t>> values = {};         // start of the value's lanes, coefficient
  std::vector<Atom> atoms;  // no initializer: with one, clang needs Atom to be complete
  bool varies = false;
};

struct Atom {  // coefficient * (lhs op rhs): a term that is not affine
  std::int64_t coefficient = 1;
  ExprOp op = ExprOp::div;
  Index lhs, rhs;
  bool varies = false;
  std::vector<std::int64_t> left, right;  // scratch, one per lane
};

struct Operand {
  std::size_t value = 0;  // start of the value's lanes in Lanes::values
  int lanes = 1;          // 1: broadcast
};

struct Access {
  bool shared = false;
  int buffer = 0;
  int lanes = 1;
  bool varies = false;
  bool scatters = false;  // for a Write: loaded values choose the element
  std::vector<Index> index = {};
};

/// The layout of a buffer in global or shared memory.
struct Layout {
  std::string name;
  std::vector<std::int64_t> shape, strides;
  DType dtype = DType::f32;
};

/// The offset of an access in each lane.
struct Offsets {
  bool uniform;
  std::int64_t base;
  const std::int64_t* lanes;
  std::int64_t operator[](int lane) const { return uniform ? base : lanes[lane]; }
};

}  // namespace deplo::ir::exec
