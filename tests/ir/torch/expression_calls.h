// Short forms of what an expression gives: its calls, or its error.
#pragma once
#include <string>
#include <string_view>

#include "core/error.h"
#include "ir/torch/expression/expression.h"

namespace deplo::ir::torch {

/// Returns the calls of the graph, one per line, without their names: "exp(x) -> (2, 3) float32
/// ".
inline std::string calls(std::string_view text) {
  const std::string all = print(parse_expression(text));
  std::string out;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    if (const std::size_t equals = line.find(" = "); line.find(" -> ") != std::string::npos)
      out += line.substr(equals + 3) + "\n";
    at = end + 1;
  }
  return out;
}

/// Returns the message of the Error that the text gives; "" if it gives none.
inline std::string error_of(std::string_view text) {
  try {
    parse_expression(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace deplo::ir::torch
