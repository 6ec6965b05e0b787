// Expressions of sizes as PyTorch writes them into a `.pt2` file and its guards.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace deplo::ir::torch::pt2 {

/// A number of Python. Its alternatives are alternatives of an Argument, too.
using SizeValue = std::variant<bool, std::int64_t, double>;

/// Finds the value of a symbol ("s27"), or of a guard's size ("L['x'].size()[0]").
using FindSize = std::function<std::optional<std::int64_t>(std::string_view name)>;

struct Evaluated {
  std::optional<SizeValue> value;
  std::string unknown;  // without a value: the symbol, function or text that has none
};

/// Evaluates an expression in one of three forms: SymPy's text "2*s27 + 1" (PyTorch up to 2.6), SymPy's constructors
/// "Add(Mul(Integer(2), Symbol('s27', integer=True)), Integer(1))", or a guard "2*L['x'].size()[0] >= 5".
Evaluated evaluate_size(std::string_view text, const FindSize&);

/// Returns the value as an integer. Returns nullopt for other numbers, for truth values, and if there is no value.
std::optional<std::int64_t> whole(const std::optional<SizeValue>&);

}  // namespace deplo::ir::torch::pt2
