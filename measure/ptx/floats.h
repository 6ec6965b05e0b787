// Floats in registers and memory that are not numbers: an f32, f16 or bf16 is a bit pattern that stands for an element
// of an ir::Arithmetic.
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

/// Thrown if a kernel can be neither proved nor refuted in an arithmetic. The message says why. The kernel is not at
/// fault.
class Unproved : public Error {
 public:
  using Error::Error;
};

/// Maps elements to bit patterns of 32 bits and back. Instructions that only move bits need not know about the mapping.
///
/// An f32 that is not a NaN stands for the element of its number, so literals keep their meaning. Every element that an
/// instruction computes gets a pattern in the space of NaNs; equal elements get the same pattern. Only 0, the
/// infinities and NaN stand for themselves. Flipping the sign bit negates the element, as it does for numbers: the
/// pattern without the sign bit stands for the element that is positive as a double.
///
/// 16 bits have few patterns. Patterns that occur in the text of the kernel stand for numbers; the others are given to
/// elements in the order in which the elements occur. An f32 whose lower half is 0 stands for the bf16 of its upper
/// half, because programs convert bf16 to f32 by a shift.
///
/// Not thread-safe. Throws Unproved if the patterns run out.
class Floats {
 public:
  /// `constants`: the float constants of the executed program. Its text has them rounded to f32. Throws Unproved if two
  /// constants are the same f32 but different elements.
  Floats(const ir::Arithmetic&, std::span<const double> constants);

  /// Reserves the 16-bit patterns in the text of a function for numbers. Must be called before the first element is
  /// encoded.
  void reserve(const Function&);

  const ir::Arithmetic& arithmetic() const { return arithmetic_; }
  double decode(std::uint32_t bits);
  std::uint32_t encode(double element);
  /// `type`: f16 or bf16. The element must be rounded already; encode() does not round it.
  double decode(std::uint16_t bits, ir::DType type) { return half(type).decode(*this, bits); }
  std::uint16_t encode(double element, ir::DType type) { return half(type).encode(element); }

 private:
  /// The patterns of one 16-bit type.
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
  std::unordered_map<std::uint64_t, double> numbers_;  // key: the bits of an f32 value as a double; value: its element
  Half f16_{ir::DType::f16}, bf16_{ir::DType::bf16};
  std::vector<std::array<double, 2>> elements_;  // by pattern number: the element without the sign bit, and with it
  // hash table of elements: 1 + 2 × pattern number, + 1 if the sign bit is set; 0: an empty slot
  std::vector<std::uint32_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace deplo::measure::ptx
