// The sizes that dynamic_shapes leaves open in a program. Private to program.cpp.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/torch/pt2/program/json.h"
#include "ir/torch/pt2/program/program.h"
#include "ir/torch/pt2/program/size_expression.h"

namespace deplo::ir::torch::pt2 {

/// Whether the symbol is one of those that depend on elements of a tensor: integers "u0" and floats "zuf0".
bool depends_on_elements(std::string_view symbol);

/// Gives each symbol of a program ("s27") one value: that of the example inputs, which the file states as hints of the
/// inputs' sizes, or a given one. Symbols that depend on elements of a tensor have none, except those of `constants`.
class Sizes {
 public:
  /// `program`: the whole JSON. Throws Error if a given size is not open in the program, or out of its range.
  Sizes(const Json& program, const Symbols& given, const Constants& constants);

  /// Returns the value of {"as_expr": {"expr_str": …, "hint": …}} or {"as_int": 3}.
  Evaluated value(const Json& number) const;
  /// Returns the values of the names that a graph gives to such numbers ("sym_size_int"). Leaves out those without one.
  std::map<std::string, SizeValue, std::less<>> named_values(const Json& graph) const;
  /// Says which sizes are those of the example, and which guards of given sizes are not checked; "" if none are.
  const std::string& note() const { return note_; }

 private:
  struct OpenSize {
    std::string name, place;  // "s27", "dimension 0 of x" or "dimension 0 of x is 32*s27"
    std::int64_t value;
  };

  void solve(const Json& size, const std::string& place);
  void take(const Symbols& given);
  void name_constants(const Json& graph, const Constants& constants);
  void check_ranges(const Json& ranges) const;
  void check_guards(const Json& guards, const Json& module);
  Evaluated value_of(std::string_view expression) const;
  std::optional<std::int64_t> find(std::string_view symbol) const;

  std::vector<OpenSize> symbols_;  // in the order of the inputs
  Constants constants_;            // by their symbols
  bool given_ = false;             // whether a size is not that of the example, so that hints are not valid
  std::string note_;
};

}  // namespace deplo::ir::torch::pt2
