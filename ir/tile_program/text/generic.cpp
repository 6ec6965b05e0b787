#include "ir/tile_program/text/generic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/tile_program/text/locations.h"

namespace deplo::ir::tile_program::text {
namespace {

bool is_alone(const Lexer& from) { return from.at(",") || from.at("}"); }

/// Reads `#cuda_tile.rounding<zero>` or `#cuda_tile<rounding zero>`.
std::int64_t read_enumeration(Lexer& from, const AttributeForm& form) {
  from.expect(Token::Kind::name, fmt::format("#cuda_tile.NAME<…> of {}", form.name));
  from.expect("<");
  Token word = from.take();
  if (!from.at(">")) word = from.take();
  from.expect(">");
  return number_of_word(from, word, form);
}

}  // namespace

void read_dictionary(Lexer& from, const std::function<bool(const Token& name)>& read) {
  from.expect("{");
  from.items("}", [&] {
    const Token name =
        from.at(Token::Kind::string) ? from.take() : from.expect(Token::Kind::name, "an attribute's name");
    if (!is_alone(from)) from.expect("=");
    if (!read(name) && !is_alone(from)) skip_attribute(from);
  });
}

std::vector<std::int64_t> read_array(Lexer& from) {
  from.expect({"array", "<"});
  const DType element = read_element(from);
  std::vector<std::int64_t> list;
  if (from.take_if(":")) {
    do {
      if (element == DType::boolean && (from.at("true") || from.at("false")))
        list.push_back(from.take().is("true") ? 1 : 0);
      else
        list.push_back(from.integer("a number"));
    } while (from.take_if(","));
  }
  from.expect(">");
  return list;
}

DenseText read_generic_dense(Lexer& from) {
  if (from.at("<")) return read_dense(from);
  DenseText dense;
  dense.at = from.peek();
  from.expect({"dense", "<"});
  if (!from.at(">")) read_elements(from, dense);
  from.expect({">", ":"});
  dense.type = read_type(from);
  dense.element = dense.type->element;
  return dense;
}

Attribute read_generic_attribute(Lexer& from, const AttributeForm& form) {
  if (form.kind == AttributeKind::flag) {
    if (is_alone(from) || from.take_if("unit") || from.take_if("true")) return std::int64_t{1};
    if (from.take_if("false")) return {};
    from.fail("unit, or nothing after the name");
  }
  switch (form.kind) {
    case AttributeKind::integer: {
      const std::int64_t value = from.integer(form.name);
      if (from.take_if(":")) read_element(from);
      return value;
    }
    case AttributeKind::integers:
      return from.at("[") ? read_attribute(from, form) : Attribute(read_array(from));
    case AttributeKind::booleans: {
      if (from.at("[")) return read_attribute(from, form);
      const std::vector<std::int64_t> list = read_array(from);
      return std::ranges::any_of(list, [](std::int64_t b) { return b != 0; }) ? Attribute(list) : Attribute();
    }
    case AttributeKind::hints:
      from.expect("optimization_hints");
      return read_hints(from);
    case AttributeKind::enumeration:
      return read_enumeration(from, form);
    default:
      return read_attribute(from, form);
  }
}

}  // namespace deplo::ir::tile_program::text
