#include "ir/tile_program/text/locations.h"

#include <fmt/format.h>

#include <vector>

#include "core/text/nearest.h"

namespace deplo::ir::tile_program::text {
namespace {

constexpr int deepest_location = 64;  // limit, so that no text can exhaust the stack
constexpr std::string_view opening = "([{<", closing = ")]}>";

bool is_bracket(const Lexer& from, std::string_view brackets) {
  return from.at(Token::Kind::sign) && from.peek().text.size() == 1 &&
         brackets.find(from.peek().text[0]) != std::string_view::npos;
}

/// Skips a token, or a bracket with everything up to its closing bracket.
void skip_item(Lexer& from) {
  std::string expected;  // closing brackets, innermost last
  do {
    if (from.at(Token::Kind::end)) from.fail(expected.empty() ? "an attribute" : fmt::format("'{}'", expected.back()));
    if (is_bracket(from, opening)) {
      expected += closing[opening.find(from.peek().text[0])];
    } else if (is_bracket(from, closing)) {
      if (expected.empty()) from.fail("an attribute");
      if (from.peek().text[0] != expected.back()) from.fail(fmt::format("'{}'", expected.back()));
      expected.pop_back();
    }
    from.take();
  } while (!expected.empty());
}

}  // namespace

void skip_attribute(Lexer& from) {
  const Token first = from.peek();
  while (!from.at(",") && !is_bracket(from, closing)) skip_item(from);
  if (from.peek().begin == first.begin) from.fail("an attribute");
}

void Locations::read() {
  if (!from_.at("loc") || from_.peek().prefix != '\0') return;
  from_.take();
  from_.expect("(");
  read_location(0);
  from_.expect(")");
}

void Locations::read_location(int depth) {
  if (depth >= deepest_location) from_.fail(fmt::format("at most {} nested locations", deepest_location));
  if (from_.at(Token::Kind::string)) {
    from_.take();
    if (from_.at(":")) {
      read_file();
    } else if (from_.take_if("(")) {
      read_location(depth + 1);
      from_.expect(")");
    }
  } else if (from_.peek().prefix == '#') {
    use_alias();
  } else if (from_.take_if("callsite")) {
    from_.expect("(");
    read_location(depth + 1);
    from_.expect("at");
    read_location(depth + 1);
    from_.expect(")");
  } else if (from_.take_if("fused")) {
    if (from_.take_if("<")) {
      skip_attribute(from_);
      from_.expect(">");
    }
    from_.expect("[");
    do read_location(depth + 1);
    while (from_.take_if(","));
    from_.expect("]");
  } else if (from_.take_if("loc")) {
    from_.expect("(");
    read_location(depth + 1);
    from_.expect(")");
  } else if (!from_.take_if("unknown")) {
    from_.fail("a location: unknown, a file or name in quotes, callsite, fused, or an alias with #");
  }
}

/// Reads `:LINE:COLUMN`, optionally followed by an end: `to :COLUMN` or `to LINE:COLUMN`.
void Locations::read_file() {
  from_.expect(":");
  from_.integer("a line");
  from_.expect(":");
  from_.integer("a column");
  if (!from_.take_if("to")) return;
  if (!from_.at(":")) from_.integer("a line");
  from_.expect(":");
  from_.integer("a column");
}

/// Reads `#loc3`, or an attribute of a dialect: `#cuda_tile.di_loc<#loc in #di_subprogram>`.
void Locations::use_alias() {
  const Token name = from_.take();
  if (from_.take_if("<")) {
    skip_attribute(from_);
    while (from_.take_if(",")) skip_attribute(from_);
    from_.expect(">");
  } else {
    used_.emplace(name.text, name);
  }
}

bool Locations::read_alias() {
  if (from_.peek().prefix != '#') return false;
  const Token name = from_.take();
  from_.expect("=");
  if (!defined_.emplace(name.text).second)
    from_.fail_with(name, fmt::format("expected each alias once, found #{} twice", name.text));
  if (from_.at("loc") && from_.peek().prefix == '\0') {
    read();
  } else {
    skip_item(from_);
    if (from_.at("<")) skip_item(from_);
  }
  return true;
}

void Locations::check() const {
  for (const auto& [name, token] : used_)
    if (!defined_.contains(name))
      from_.fail_with(token,
                      fmt::format("expected an alias that the text defines, found #{}{}", name,
                                  did_you_mean(name, std::vector<std::string>(defined_.begin(), defined_.end()))));
}

}  // namespace deplo::ir::tile_program::text
