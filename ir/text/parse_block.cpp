// Parsers of statements for programs that are lowered block by block, and that have no form (forms.h).
#include <fmt/format.h>

#include <algorithm>

#include "ir/text/statements.h"
#include "ir/tile_program/text/quoted.h"

namespace deplo::ir::text {
namespace {

// Reads `v1:i32 <-`. The type defaults to f32, as everywhere in the text of the IR.
void defined_value(Terms& in, std::string& name, DType& dtype) {
  name = in.new_name("a value");
  dtype = in.take_if(":") ? in.any_dtype() : DType::f32;
  in.expect({"<", "-"});
}

template <class Enum>
Enum enumerated(Terms& in, std::string_view enumeration, std::string_view what) {
  const auto& words = tile_program::enumeration(enumeration).words;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (in.take_if(words[i])) return static_cast<Enum>(i);
  in.fail(what);
}

tile_program::Scope scope(Terms& in) {
  return enumerated<tile_program::Scope>(in, "memory_scope", "tl_blk, device or sys");
}

// Reads `Compute(v3:i32 <- addi(v1, v2), overflow=1)`.
Stmt compute(Terms& in) {
  Compute s;
  defined_value(in, s.dst, s.dtype);
  s.op = tile_program::find_operation(in.peek().text);
  if (s.op == nullptr) in.fail("an operation of Tile IR");
  in.take();
  in.expect("(");
  in.separated(")", [&] { s.args.push_back(in.name("a value")); });
  for (const tile_program::AttributeForm& form : s.op->attributes) s.numbers.push_back(form.otherwise.value_or(0));
  while (in.take_if(",")) {
    const auto form = std::ranges::find(s.op->attributes, in.peek().text, &tile_program::AttributeForm::name);
    if (form == s.op->attributes.end()) in.fail(fmt::format("an attribute of {}", s.op->name));
    in.take();
    in.expect("=");
    s.numbers[static_cast<std::size_t>(form - s.op->attributes.begin())] = in.integer("a number", 0, INT32_MAX);
  }
  return s;
}

// Reads `Local v4[64] (f16) shared=128`.
Stmt local(Terms& in) {
  Local s;
  s.array = in.new_name("an array");
  in.expect("[");
  s.count = in.integer("a number of elements", 1, max_extent);
  in.expect({"]", "("});
  s.dtype = in.any_dtype();
  in.expect(")");
  if (!in.peek().is("shared") && !in.peek().is("scratch")) return s;
  s.space = in.take_if("shared") ? Space::shared : (in.expect("scratch"), Space::scratch);
  in.expect("=");
  s.offset = in.integer("a number of bytes", 0, max_extent);
  return s;
}

// Reads `Table v5 (i32) = 1, 2, 3`.
Stmt table(Terms& in) {
  Table s;
  s.array = in.new_name("an array");
  in.expect("(");
  s.dtype = in.any_dtype();
  in.expect({")", "="});
  do s.bits.push_back(in.bits());
  while (in.take_if(","));
  return s;
}

// Reads `Atomic(v8:i32 <- v6, v7, add, device)` or `Atomic(v8:i32 <- v6, v7, v9, swap_if, device)`.
Stmt atomic(Terms& in) {
  Atomic s;
  defined_value(in, s.dst, s.dtype);
  s.address = in.name("an address");
  in.expect(",");
  s.args.push_back(in.name("a value"));
  in.expect(",");
  const auto& modes = tile_program::enumeration("rmw_mode").words;
  const auto is_mode = [&](std::string_view word) { return std::ranges::find(modes, word) != modes.end(); };
  if (is_mode(in.peek().text)) {
    s.mode = enumerated<tile_program::Rmw>(in, "rmw_mode", "a mode");
  } else {
    s.args.push_back(in.name("a value"));
    in.expect({",", "swap_if"});
  }
  in.expect(",");
  s.scope = scope(in);
  return s;
}

Stmt fence(Terms& in) { return Fence{scope(in)}; }

template <bool otherwise>
Stmt branch(Terms& in) {
  Branch s;
  s.otherwise = otherwise;
  in.expect("(");
  s.condition = in.name("a value");
  in.expect({")", ":"});
  s.body = nested(in);
  return s;
}

template <Jump::To to>
Stmt jump(Terms&) {
  return Jump{to};
}

// Reads `Print("x = ", "%" v1)`.
Stmt print_values(Terms& in) {
  Print s;
  in.expect("(");
  in.separated(")", [&] {
    if (in.peek().kind != Token::Kind::string) in.fail("a text in quotes");
    const std::string_view text = in.take().text;
    s.pieces.push_back({tile_program::text::unquoted(text.substr(1, text.size() - 2))});
    if (in.peek().kind == Token::Kind::name) s.pieces.back().value = in.name("a value");
  });
  return s;
}

}  // namespace

std::span<const Keyword> block_keywords() {
  static constexpr Keyword keywords[] = {
      {"Compute", enclosed<compute>},
      {"Local", local},
      {"Table", table},
      {"Atomic", enclosed<atomic>},
      {"Fence", enclosed<fence>},
      {"Branch", branch<false>},
      {"Unless", branch<true>},
      {"Break", jump<Jump::To::after>},
      {"Continue", jump<Jump::To::next>},
      {"Return", jump<Jump::To::end>},
      {"Print", print_values},
  };
  return keywords;
}

}  // namespace deplo::ir::text
