// The colour of a statement: a hash of its kind, its operations and the colours of the names in it. Private to
// ir/canonical.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace deplo::ir {

using Colour = std::uint64_t;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline Colour mix(Colour a, Colour b = 0) {
  Colour z = a * 0x9e3779b97f4a7c15U + b;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// The colours of a program's buffers, axes and values.
struct SymbolColours {
  std::unordered_map<std::string_view, int> number;  // views into the program
  std::vector<Colour> colours;

  /// Returns the colour of a statement, without the statements inside it.
  Colour describe(const Stmt&) const;

 private:
  // The hash of an index expression. It is linear in sums and constant multiples, so that neither the order of terms
  // nor the form of a sum matters.
  struct Term {
    Colour hash = 0;
    bool constant = false;
    std::int64_t value = 0;
  };
  Term evaluate(const Expr& e) const;
  Colour expression(const Expr& e) const { return mix(evaluate(e).hash); }
  Colour of(const Arg& arg) const;
  Colour arguments(Op op, const std::vector<Arg>& args) const;
  Colour at(const std::string& name) const { return colours[static_cast<std::size_t>(number.at(name))]; }
};

}  // namespace deplo::ir
