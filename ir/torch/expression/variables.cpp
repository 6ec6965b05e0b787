#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/torch/expression/expression.h"
#include "ir/torch/expression/syntax/syntax.h"

namespace deplo::ir::torch {
namespace python {
namespace {

bool assigns(const Expr& target, std::string_view name) {
  if (target.kind == Expr::Kind::name) return target.text == name;
  const bool unpacks =
      target.kind == Expr::Kind::tuple || target.kind == Expr::Kind::list || target.kind == Expr::Kind::star;
  return unpacks && std::ranges::any_of(target.children, [&](const Expr& part) { return assigns(part, name); });
}

bool assigns(const Statement& s, std::string_view name) {
  return s.kind == Statement::Kind::assign &&
         std::ranges::any_of(s.targets, [&](const Expr& target) { return assigns(target, name); });
}

std::size_t offset_of(std::string_view text, Place place) {
  std::size_t line_begin = 0;
  for (std::size_t line = 1; line < place.line; ++line) line_begin = text.find('\n', line_begin) + 1;
  return line_begin + place.column - 1;
}

}  // namespace
}  // namespace python

std::optional<std::string> replace_variable(std::string text, std::string_view where, std::string_view name,
                                            std::string_view value) {
  std::vector<std::size_t> ends;
  for (const python::Statement& s : python::parse(text, where))
    if (python::assigns(s, name)) ends.push_back(python::offset_of(text, s.end));
  if (ends.empty()) return std::nullopt;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) text.insert(*end, fmt::format("; {} = {}", name, value));
  return text;
}

}  // namespace deplo::ir::torch
