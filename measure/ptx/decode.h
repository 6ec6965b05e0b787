// Binds the operands of one instruction, for the rows of the table (table.h).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// Names of a kernel: registers, variables, labels.
class Names;

/// The rows of the table ask it for each kind of word and of operand that an instruction may have.
class Binder {
 public:
  Binder(Program&, Names&, const Statement&, std::vector<std::string_view> words, Instruction&);

  // ---- the opcode
  bool has(std::string_view word) const;
  std::string_view word(std::size_t i) const { return words_.at(i); }  // word 0 is the base
  std::size_t words() const { return words_.size(); }
  /// The last word, which is the type of most instructions.
  std::string_view type() const { return words_.back(); }

  // ---- operands. All throw Error with the instruction's line and what was expected.
  void expect_operands(std::size_t least, std::size_t most) const;
  std::size_t operands() const { return statement_.operands.size(); }
  const Operand& operand(std::size_t i) const;
  /// The elements of {…}, or the operand itself.
  std::vector<Operand> elements(std::size_t i) const;
  RegisterPlace read(const Operand&, int bits);
  RegisterPlace read(std::size_t i, int bits) { return read(operand(i), bits); }
  /// A sink ("_") has a place, too.
  RegisterPlace write(const Operand&, int bits);
  RegisterPlace write(std::size_t i, int bits) { return write(operand(i), bits); }
  /// Whether no other operand of the kernel names the register.
  bool is_unused(const Operand&) const;
  /// The register's own bits, of at least `bits`, because loads, stores and conversions take wider ones.
  int bits_of(const Operand&, int bits) const;
  /// [base + offset] of operand i.
  void address(std::size_t i);
  void address(const Operand&);
  std::int64_t integer(std::size_t i) const;  // an immediate
  RegisterPlace constant(std::uint64_t value, int bits);
  void label(std::size_t i);
  Detail& detail();
  Program& program() { return program_; }
  bool is_exact() const { return program_.exact; }
  Instruction& to() { return instruction_; }
  [[noreturn]] void fail(const std::string& expected) const;

 private:
  Program& program_;
  Names& names_;
  const Statement& statement_;
  std::vector<std::string_view> words_;
  Instruction& instruction_;
};

/// Bits of a type: "b32", "f16x2", "pred"; 0: none.
int type_bits(std::string_view type);

}  // namespace deplo::measure::ptx
