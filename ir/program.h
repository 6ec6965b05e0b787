// A kernel at one of the three statement levels: its text, its verifier and its work.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/stmt.h"

namespace deplo::ir {

std::string_view name(Level);  // "loop", "tile", "kernel"

struct Program {
  Level level = Level::loop;
  std::string name;
  std::vector<Buffer> buffers;  // launch arguments, in order
  Body body;
  /// Schedules may round the factors of an f32 sum of products to tf32, which tensor cores multiply. The result then
  /// has the error of factors with 11 bits (docs/measurement.md). If false, no schedule rounds the factors.
  bool allow_tf32 = false;
  bool operator==(const Program&) const = default;
  const Buffer* find(std::string_view buffer) const;  // nullptr: there is none
};

using Symbols = std::map<std::string, std::int64_t, std::less<>>;

/// The text is the identity of a program: parse(print(p)) == p at every level.
std::string print(const Program&);
std::string print(const Body&, int indent = 0);
/// `symbols`: values of the names that a `.loop` file declares in its `symbols` line. `where`: the source, for
/// messages. Throws Error `where:line:column: expected …, found …`. Never crashes, whatever the bytes.
Program parse(std::string_view text, const Symbols& symbols = {}, std::string_view where = "<text>");
/// Names of the `symbols` line of a `.loop` text, in order.
std::vector<std::string> declared_symbols(std::string_view text, std::string_view where = "<text>");

/// Checks that definitions precede uses, that names are unique as required, that ranks and types agree, that indices
/// are in range (for all values of the axes, under the conditions around them), and that the level permits each
/// statement. Returns the first violation as one line, or "" if there is none.
std::string verify(const Program&);

/// Returns the numbers of the buffers that are 0 at the start of each launch, also in interpret(), in ascending order.
/// Such a buffer has a += Write, or a Write whose elements depend on loaded values, through the index or a condition
/// around the Write. Elements that no Write reaches stay 0.
std::vector<std::size_t> zeroed_buffers(const Program&);

/// FLOPs and compulsory bytes (each buffer once) of a Loop program. An operation is 1 FLOP, transcendental functions
/// included; an fma is 2 and a copy 0.
struct Work {
  double flops = 0, bytes = 0;
};
Work work(const Program& loop);

}  // namespace deplo::ir
