// A kernel at one of the three statement levels, its text, its rules of form and its meaning.
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
  /// A sum of products of f32 may take its factors rounded to tf32, as tensor cores multiply them: the error of a
  /// result is then that of 11 bits (docs/measurement.md). Where it is not set, no schedule does.
  bool allow_tf32 = false;
  bool operator==(const Program&) const = default;
  const Buffer* find(std::string_view buffer) const;  // nullptr where there is none
};

using Symbols = std::map<std::string, std::int64_t, std::less<>>;

/// The text is the identity of a program: parse(print(p)) == p at every level.
std::string print(const Program&);
std::string print(const Body&, int indent = 0);
/// `symbols` bind the names that a `.loop` file declares in its `symbols` line; `where` names the source in messages.
/// Throws Error `where:line:column: expected …, found …`. Never crashes on any bytes.
Program parse(std::string_view text, const Symbols& symbols = {}, std::string_view where = "<text>");
/// Names of the `symbols` line of a `.loop` text, in order.
std::vector<std::string> declared_symbols(std::string_view text, std::string_view where = "<text>");

/// What its level permits: definitions before uses, names unique where they must be, ranks and types that agree,
/// indices in range (for all values of the axes, under the conditions around them), level-specific statements only.
/// Returns the first violation as one line, "" when there is none.
std::string verify(const Program&);

/// Buffers with a += Write, or with one to elements that values choose, by their index or by a condition around it: in
/// order. Every launch starts with them 0, also in interpret(): so are the elements that no Write reaches.
std::vector<std::size_t> zeroed_buffers(const Program&);

/// FLOPs (multiply, add … 1 each, transcendental functions 1) and compulsory bytes (each buffer once) of a Loop
/// program.
struct Work {
  double flops = 0, bytes = 0;
};
Work work(const Program& loop);

}  // namespace deplo::ir
