// The meaning of operations on scalars. The interpreter of Kernel IR uses it as well.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program {

/// True if the operation computes each element of its result only from the elements of its operands at the same place.
bool is_elementwise(const Form&);

/// Numbers of one type: floats as doubles, integers and pointers as bits.
struct Scalars {
  std::vector<double> reals;
  std::vector<std::uint64_t> bits;
};

/// An elementwise operation on any number of elements at once.
class ElementwiseOperation {
 public:
  /// `numbers`: the values of the attributes, in the form's order. `operands`: the types of the operands.
  ElementwiseOperation(const Form&, const std::vector<std::int64_t>& numbers, const std::vector<DType>& operands,
                       DType result);
  ~ElementwiseOperation();
  ElementwiseOperation(ElementwiseOperation&&) noexcept;
  ElementwiseOperation& operator=(ElementwiseOperation&&) = delete;

  /// Computes the results. All operands must have `count` elements. Throws Error for undefined behaviour, such as a
  /// division by 0.
  Scalars run(const std::vector<Scalars>& operands, std::size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the bits that an atomic update leaves in memory.
std::uint64_t updated(Rmw, std::uint64_t before, std::uint64_t argument, DType);

/// Formats a number by a conversion of C's printf ("%+08.3f", "%i", "%lld"). Length modifiers such as `ll` are ignored;
/// "%" prints the number according to its type. `real` is used for floats, `bits` for integers and pointers.
std::string formatted(const std::string& conversion, double real, std::uint64_t bits, DType, bool pointer = false);

}  // namespace deplo::ir::tile_program
