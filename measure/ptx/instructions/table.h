// The instructions that the machine executes: one row per family.
#pragma once
#include <span>
#include <string_view>

#include "measure/ptx/decode.h"

namespace deplo::measure::ptx {

/// `pattern`: the opcode and its modifiers in order, separated by dots. "{rn|rz}" is an optional modifier; "f32|f64" is
/// one of these. `bind` binds the operands and chooses the function that executes the instruction.
struct Row {
  std::string_view pattern;
  void (*bind)(Binder&);
};

std::span<const Row> arithmetic_rows();
std::span<const Row> half_rows();
std::span<const Row> conversion_rows();
std::span<const Row> control_rows();
std::span<const Row> memory_rows();
std::span<const Row> warp_rows();
/// Binds the operands of an atom or red to its Detail (access.cpp).
void bind_atomic(Binder&);
std::span<const Row> async_rows();
std::span<const Row> matrix_rows();
/// The instructions on floats that are elements of an arithmetic (floats.h), and the instructions of exact_prelude().
std::span<const Row> exact_rows();

/// Returns the row of an opcode, or null if the machine does not execute it.
const Row* find_row(std::span<const std::string_view> words);
/// Returns the row of an opcode among exact_rows(), or null.
const Row* find_exact_row(std::span<const std::string_view> words);
/// True if an instruction does more with floats than moving their bits.
bool computes_with_floats(std::span<const std::string_view> words);

}  // namespace deplo::measure::ptx
