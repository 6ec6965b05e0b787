// Parses nvdisasm's text of machine code into functions and instructions.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deplo::measure::cuda::sass {

struct Instruction {
  std::string guard;     // the predicate, such as "@!P0"; "": the instruction is always executed
  std::string opcode;    // for example "LDG.E.128.CONSTANT"
  std::string operands;  // for example "R4, desc[UR6][R4.64]"
  std::size_t line = 0;  // line number in the text, from 1
  /// The opcode without modifiers, such as "LDG".
  std::string_view mnemonic() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  /// True if the opcode has this modifier after the mnemonic, such as "CONSTANT".
  bool has_modifier(std::string_view) const;
};

/// A kernel, or a function that it calls, such as "$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath". The called
/// functions follow the kernel.
struct Function {
  std::string name;
  std::vector<Instruction> instructions;  // without the padding to a multiple of 128 bytes
  /// Each label with the index of the instruction that follows it, in ascending order. For a label at the end of the
  /// code, the index is instructions.size().
  std::vector<std::pair<std::string, std::size_t>> labels;
};

struct Listing {
  std::string architecture;  // for example "sm_90"
  std::vector<Function> functions;
};

/// Parses a listing. Accepts any text. Throws Error with the line if a line does not have nvdisasm's form, or if it
/// names a label that does not exist.
Listing parse_listing(std::string_view text);

/// Returns the listing as text: labels and instructions, without directives, addresses and padding.
std::string print(const Listing&);

/// Returns the names of labels and functions that the operands of an instruction mention.
std::vector<std::string> mentioned(const Instruction&);

}  // namespace deplo::measure::cuda::sass
