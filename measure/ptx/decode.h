// Binds the operands of one instruction. The rows of the table (table.h) use it.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// The names of a kernel: registers, variables and labels.
class Names;

/// Gives the rows of the table the words of an opcode and the operands, each checked for its kind. It has a method for
/// each kind of operand.
class Binder {
 public:
  Binder(Program&, Names&, const Statement&, std::vector<std::string_view> words, Instruction&);

  // ---- the opcode
  bool has(std::string_view word) const;
  // word 0 is the name without modifiers, such as "add"
  std::string_view word(std::size_t i) const { return words_.at(i); }
  std::size_t words() const { return words_.size(); }
  /// The last word. In most instructions it is the type.
  std::string_view type() const { return words_.back(); }

  // ---- operands. All functions throw Error with the instruction's line and what was expected.
  void expect_operands(std::size_t min, std::size_t max) const;
  std::size_t operands() const { return statement_.operands.size(); }
  const Operand& operand(std::size_t i) const;
  /// The elements of a list {…}, or the operand itself if it is not a list.
  std::vector<Operand> elements(std::size_t i) const;
  RegisterPlace read(const Operand&, int bits);
  RegisterPlace read(std::size_t i, int bits) { return read(operand(i), bits); }
  /// The place to write a result to. A sink ("_") gets a place, too.
  RegisterPlace write(const Operand&, int bits);
  RegisterPlace write(std::size_t i, int bits) { return write(operand(i), bits); }
  /// Binds all operands of an instruction: the result d, and then a, b, c and e. Each argument is a number of bits.
  void registers(int result, std::initializer_list<int> operands);
  /// True if no other operand of the kernel uses the register.
  bool is_unused(const Operand&) const;
  /// Number of bits of the register. It must have at least `bits`, because loads, stores and conversions accept wider
  /// registers.
  int bits_of(const Operand&, int bits) const;
  /// Binds operand i, an address [base + offset].
  void address(std::size_t i) { address(operand(i)); }
  void address(const Operand&);
  std::int64_t integer(std::size_t i) const;  // operand i, an immediate
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

/// Number of bits of a type such as "b32", "f16x2" or "pred"; 0 if the word is not a type.
int type_bits(std::string_view type);

}  // namespace deplo::measure::ptx
