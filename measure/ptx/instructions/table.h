// The instructions that the machine executes: one row for each family.
#pragma once
#include <span>
#include <string_view>

#include "measure/ptx/decode.h"

namespace deplo::measure::ptx {

/// `pattern`: the opcode and its modifiers, in order, between dots. "{rn|rz}" may be absent; "f32|f64" is one of these.
/// `bind` binds the operands and chooses the function that is the instruction's meaning.
struct Row {
  std::string_view pattern;
  void (*bind)(Binder&);
};

std::span<const Row> arithmetic_rows();
std::span<const Row> conversion_rows();
std::span<const Row> control_rows();
std::span<const Row> memory_rows();
std::span<const Row> warp_rows();
/// The operands of an atom or red, in its Detail (access.cpp).
void bind_atomic(Binder&);
std::span<const Row> async_rows();
std::span<const Row> matrix_rows();
/// The meaning of instructions in an arithmetic (floats.h), and of those of exact_prelude().
std::span<const Row> exact_rows();

/// Whether an opcode, split into words, is of the row.
bool matches(std::string_view pattern, std::span<const std::string_view> words);

/// The row of an opcode; null: the machine does not execute it.
const Row* find_row(std::span<const std::string_view> words);
/// The same among exact_rows().
const Row* find_exact_row(std::span<const std::string_view> words);
/// Whether an instruction does more with floats than to move their bits.
bool computes_with_floats(std::span<const std::string_view> words);

}  // namespace deplo::measure::ptx
