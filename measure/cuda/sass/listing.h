// Parses machine code from nvdisasm's text into functions and instructions.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deplo::measure::cuda::sass {

struct Instruction {
  std::string guard;     // the predicate: "@!P0"; "": it is always executed
  std::string opcode;    // "LDG.E.128.CONSTANT"
  std::string operands;  // "R4, desc[UR6][R4.64]"
  std::size_t line = 0;  // line number in the text, from 1
  /// "LDG"
  std::string_view mnemonic() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  /// True if the opcode has this modifier after the mnemonic, such as "CONSTANT".
  bool has_modifier(std::string_view) const;
};

/// A kernel, or a function that it calls: "$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath". Such functions follow it.
struct Function {
  std::string name;
  std::vector<Instruction> instructions;  // without the padding to a multiple of 128 bytes
  /// Each label with the index of the instruction after it, ascending. For a label at the end of the code, the index is
  /// instructions.size().
  std::vector<std::pair<std::string, std::size_t>> labels;
};

struct Listing {
  std::string architecture;  // "sm_90"
  std::vector<Function> functions;
};

/// Accepts any text. Throws Error with the line that is not nvdisasm's, or that names a label that does not exist.
Listing parse_listing(std::string_view text);

/// The listing as text: labels and instructions, without directives, addresses and padding.
std::string print(const Listing&);

/// The names of labels and functions that an instruction's operands mention.
std::vector<std::string> mentioned(const Instruction&);

}  // namespace deplo::measure::cuda::sass
