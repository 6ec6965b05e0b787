#include "ir/text/statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.h"

namespace deplo::ir::text {
namespace {

constexpr std::size_t max_depth = 64;  // bounds the recursion, so that the stack cannot overflow

Stmt statement(Terms& in) {
  const Keyword* keyword = find_keyword(in.peek().text);
  if (keyword != nullptr) in.take();
  Stmt stmt = keyword != nullptr ? keyword->parse(in) : named(in, in.new_name("a statement"));
  if (inner_body(stmt) == nullptr) in.next_line();
  return stmt;
}

}  // namespace

const Keyword* find_keyword(std::string_view word) {
  for (const std::span<const Keyword> keywords :
       {loop_keywords(), tile_keywords(), formed_keywords(), block_keywords()}) {
    const auto found = std::ranges::find(keywords, word, &Keyword::word);
    if (found != keywords.end()) return &*found;
  }
  return nullptr;
}

Body body(Terms& in, std::size_t depth) {
  Body out;
  while (!in.done() && in.indent() == 2 * depth) out.push_back(statement(in));
  if (!in.done() && in.indent() > 2 * depth) in.fail(fmt::format("at most {} spaces before this line", 2 * depth));
  if (!in.done() && in.indent() % 2 != 0) in.fail("two spaces per level");
  return out;
}

Body nested(Terms& in) {
  const std::size_t depth = in.indent() / 2;
  if (depth >= max_depth) in.fail(fmt::format("at most {} levels", max_depth));
  in.next_line();
  return body(in, depth + 1);
}

}  // namespace deplo::ir::text
