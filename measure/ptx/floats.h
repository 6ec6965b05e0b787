// Floats that are not numbers, in registers and memory: an element of an ir::Arithmetic as the bits of an f32, f16 or
// bf16.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/types/types.h"
#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

/// Why nothing can be said about a kernel in an arithmetic. No fault of the kernel.
class Unproved : public Error {
 public:
  using Error::Error;
};

/// Elements, each with a pattern of 32 bits that stands for it. Instructions that move bits need to know nothing of it.
///
/// An f32 that is not a NaN stands for the element of its number, so literals are what they are. Every element that an
/// instruction computes gets a pattern in the space of NaNs, the same for equal elements; only 0, infinities and NaN
/// are themselves. The sign bit negates, as it does in numbers: the pattern without it is that of the element that is
/// positive as a double.
///
/// Of 16 bits there are few patterns. Those in the text of the kernel are numbers, the others stand for elements in the
/// order in which these come. An f32 whose lower half is 0 stands for the bf16 of its upper half, because programs
/// convert so.
///
/// Not thread-safe. Throws Unproved where patterns run out.
class Floats {
 public:
  /// `constants`: those of the program whose text is executed. The text has them rounded to f32. Throws Unproved if two
  /// of them are one f32 and not one element.
  Floats(const ir::Arithmetic&, std::span<const double> constants);

  /// What stands in the text is a number. Before the first element.
  void reserve(const Function&);

  const ir::Arithmetic& arithmetic() const { return arithmetic_; }
  double decode(std::uint32_t bits);
  std::uint32_t encode(double element);
  /// `type`: f16 or bf16. The element is not rounded.
  double decode(std::uint16_t bits, ir::DType type) { return half(type).decode(*this, bits); }
  std::uint16_t encode(double element, ir::DType type) { return half(type).encode(element); }

 private:
  /// The patterns of one type of 16 bits.
  class Half {
   public:
    explicit Half(ir::DType type);
    void reserve(std::uint16_t bits) { kinds_[bits] = Kind::number; }
    double decode(Floats&, std::uint16_t bits);
    std::uint16_t encode(double element);

   private:
    enum class Kind : std::uint8_t { unknown, number, element };
    ir::DType type_;
    std::vector<Kind> kinds_;
    std::vector<double> elements_;
    std::unordered_map<std::uint64_t, std::uint16_t> patterns_;
    std::size_t next_ = 1;
  };

  Half& half(ir::DType type) { return type == ir::DType::f16 ? f16_ : bf16_; }
  void reserve(const Operand&);
  double number(double value);
  double negative(double element) const;
  std::size_t find(double element) const;
  void insert(std::uint32_t number, std::uint32_t with_sign);
  void grow();

  const ir::Arithmetic& arithmetic_;
  std::unordered_map<std::uint64_t, double> numbers_;  // bits of an f32 as a double → the element
  Half f16_{ir::DType::f16}, bf16_{ir::DType::bf16};
  std::vector<std::array<double, 2>> elements_;  // by the number of the pattern: without and with the sign bit
  std::vector<std::uint32_t> slots_;             // hashed: 1 + twice the number, + 1 with the sign bit; 0: none
  std::size_t used_ = 0;
};

}  // namespace deplo::measure::ptx
