// Machine code as text: what nvdisasm prints, read into functions of instructions.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deplo::measure::cuda::sass {

struct Instruction {
  std::string guard;     // "@!P0"; "": it is always executed
  std::string opcode;    // "LDG.E.128.CONSTANT"
  std::string operands;  // "R4, desc[UR6][R4.64]"
  std::size_t line = 0;  // of the text that it was read from, from 1 on
  /// "LDG"
  std::string_view mnemonic() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  /// Whether it is among the words behind the mnemonic, such as "CONSTANT".
  bool has_modifier(std::string_view) const;
};

/// A kernel, or a function that it calls and that stands behind it: "$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath".
struct Function {
  std::string name;
  std::vector<Instruction> instructions;  // without what fills the code up to a multiple of 128 bytes
  /// And the instruction that each stands before, ascending; what stands at the end of the code is before none.
  std::vector<std::pair<std::string, std::size_t>> labels;
};

struct Listing {
  std::string architecture;  // "sm_90"
  std::vector<Function> functions;
};

/// Of any text. Throws Error with the line where it is none of nvdisasm's, or names a label that there is not.
Listing parse_listing(std::string_view text);

/// The same without directives, addresses and padding: labels and instructions.
std::string print(const Listing&);

/// The names of labels and functions that an instruction's operands mention.
std::vector<std::string> mentioned(const Instruction&);

}  // namespace deplo::measure::cuda::sass
