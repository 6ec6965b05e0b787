#include "ir/tile_program/text/read_type.h"
#include "ir/tile_program/text/quoted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace deplo::ir::tile_program::text {
namespace {

std::vector<std::string_view> element_names() {
  std::vector<std::string_view> names;
  for (int i = 0; i < dtype_count; ++i)
    if (const std::string_view name = tile_name(static_cast<DType>(i)); !name.empty()) names.push_back(name);
  return names;
}

}  // namespace

DType read_element(Lexer& from) {
  const Token token = from.expect(Token::Kind::name, "an element type");
  const auto element = parse_tile_dtype(token.text);
  if (!element) from.fail_at(token, fmt::format("an element type ({})", fmt::join(element_names(), ", ")));
  return *element;
}

std::int64_t number_of_word(const Lexer& from, const Token& word, const AttributeForm& form) {
  const auto& words = form.words->words;
  const auto at = std::find_if(words.begin(), words.end(), [&](std::string_view w) { return word.is(w); });
  if (at != words.end()) return at - words.begin();
  std::vector<std::string_view> allowed;
  for (const std::int64_t number : form.allowed) allowed.push_back(words[static_cast<std::size_t>(number)]);
  from.fail_at(word, fmt::format("{} ({})", form.name, fmt::join(allowed.empty() ? words : allowed, ", ")));
}

namespace {

std::vector<std::int64_t> read_list(Lexer& from, std::string_view what) {
  std::vector<std::int64_t> list;
  from.expect("[");
  from.items("]", [&] { list.push_back(from.take_if("?") ? dynamic : from.integer(what)); });
  return list;
}

/// Reads `128x64xf32` or `ptr<f32>`.
void read_shaped(Lexer& from, Type& type) {
  type.shape = from.extents(true);
  if (from.take_if("ptr")) {
    from.expect("<");
    type.element = read_element(from);
    type.pointer = true;
    from.expect(">");
  } else {
    type.element = read_element(from);
  }
}

void read_tensor_view(Lexer& from, Type& type) {
  from.expect("<");
  read_shaped(from, type);
  if (type.pointer) from.fail("a tensor view of numbers");
  if (from.take_if(",")) {
    from.expect({"strides", "="});
    type.strides = read_list(from, "a stride");
  }
  from.expect(">");
}

void read_view_part(Lexer& from, Type& type) {
  if (from.take_if("padding_value")) {
    from.expect("=");
    const Token word = from.expect(Token::Kind::name, "a padding");
    type.padding = parse_padding(word.text);
    if (!type.padding) from.fail_at(word, "zero, neg_zero, nan, pos_inf or neg_inf");
  } else if (from.take_if("traversal_strides")) {
    from.expect("=");
    type.traversal = read_list(from, "a stride");
  } else if (from.take_if("dim_map")) {
    from.expect("=");
    type.dim_map.clear();
    for (const std::int64_t d : read_list(from, "a dimension"))
      type.dim_map.push_back(d < 0 || d > 64 ? -1 : static_cast<int>(d));
  } else if (from.take_if("sparse_dim")) {
    from.expect("=");
    const std::int64_t d = from.integer("a dimension");
    type.sparse_dim = d < 0 || d > 64 ? -1 : static_cast<int>(d);
  } else {
    if (from.take_if("tensor_view") && from.take_if("=")) from.expect("tensor_view");
    read_tensor_view(from, type);
  }
}

void read_view(Lexer& from, Type& type) {
  from.expect({"<", "tile", "=", "("});
  type.tile = from.extents(false);
  from.expect(")");
  if (type.kind != Kind::gather_scatter_view)
    for (std::size_t i = 0; i < type.tile.size(); ++i) type.dim_map.push_back(static_cast<int>(i));
  while (from.take_if(",")) {
    if (from.at(">")) break;
    read_view_part(from, type);
  }
  from.expect(">");
}

std::optional<std::int64_t> read_bound(Lexer& from) {
  if (from.take_if("?")) return std::nullopt;
  return from.integer("a bound or '?'");
}

Predicate read_predicate(Lexer& from) {
  Predicate p;
  const Token word = from.expect(Token::Kind::name, "div_by, same_elements or bounded");
  from.expect("<");
  if (word.is("div_by")) {
    const std::int64_t divisor = from.integer("a divisor");
    p.divisor = divisor < 0 ? 0 : static_cast<std::uint64_t>(divisor);
    if (from.take_if(",")) {
      from.expect("every");
      p.every = from.integer("the extent of a group");
      from.expect("along");
      p.along = from.integer("a dimension");
    }
  } else if (word.is("same_elements")) {
    p.kind = Predicate::Kind::same_elements;
    p.groups = read_list(from, "the extent of a group");
  } else if (word.is("bounded")) {
    p.kind = Predicate::Kind::bounded;
    p.low = read_bound(from);
    from.expect(",");
    p.high = read_bound(from);
  } else {
    from.fail_at(word, "div_by, same_elements or bounded");
  }
  from.expect(">");
  return p;
}

/// Returns the bits of a number in the text, as an element of that type.
std::uint64_t number_bits(const Lexer& from, const Token& token, DType e) {
  if (is_integral(e)) {
    if (token.is("true") || token.is("false")) {
      if (e != DType::boolean) from.fail_at(token, fmt::format("a whole number of {}", tile_name(e)));
      return token.is("true") ? 1 : 0;
    }
    // Numbers may be signed or unsigned; a hexadecimal number gives the bits.
    const auto value = read_integer(token.text);
    const int bits = width(e);
    const bool fits = value && (value->negative ? value->magnitude <= std::uint64_t{1} << (bits - 1)
                                                : wrap(value->magnitude, bits) == value->magnitude);
    if (!fits) from.fail_at(token, fmt::format("a whole number that {} holds", tile_name(e)));
    return wrap(value->negative ? ~value->magnitude + 1 : value->magnitude, bits);
  }
  if (const auto bits = read_integer(token.text); bits && bits->hexadecimal) {
    if (bits->negative || wrap(bits->magnitude, width(e)) != bits->magnitude)
      from.fail_at(token, fmt::format("bits of {}", tile_name(e)));
    return bits->magnitude;
  }
  double value = 0;
  const char* begin = token.text.data();
  const char* end = begin + token.text.size();
  const auto result = std::from_chars(begin, end, value);
  if ((result.ec != std::errc() && result.ec != std::errc::result_out_of_range) || result.ptr != end)
    from.fail_at(token, fmt::format("a number of {}", tile_name(e)));
  if (result.ec == std::errc::result_out_of_range) value = std::strtod(std::string(token.text).c_str(), nullptr);
  return encode_float(value, e);
}

Token read_number(Lexer& from) {
  if (from.at("true") || from.at("false")) return from.take();
  if (from.at("nan") || from.at("inf"))
    from.fail("a number; the bits of a NaN or infinity, such as 0x7FC00000, are one");
  return from.expect(Token::Kind::number, "a number");
}

std::vector<Scalar> read_scalars(Lexer& from) {
  std::vector<Scalar> list;
  from.expect("[");
  from.items("]", [&] {
    const Token number = read_number(from);
    DType element = DType::boolean;  // `true` and `false` need no type
    if (from.take_if(":") || !(number.is("true") || number.is("false"))) element = read_element(from);
    list.push_back({element, number_bits(from, number, element)});
  });
  return list;
}

/// Returns the elements of a large tensor as MLIR writes it: `"0x…"`, with the bytes in memory order.
std::vector<std::uint64_t> bytes_of(const Lexer& from, const Token& token, DType e) {
  const std::string_view digits = token.text.starts_with("0x") ? token.text.substr(2) : "";
  const std::size_t size = is_integral(e) && width(e) < 8 ? 0 : static_cast<std::size_t>(width(e)) / 8;
  if (size == 0 || e == DType::tf32) from.fail_at(token, fmt::format("a list of numbers of {}", tile_name(e)));
  if (digits.empty() || digits.size() % (2 * size) != 0)
    from.fail_at(token, fmt::format("0x and {} hexadecimal digits for each {}", 2 * size, tile_name(e)));
  std::vector<std::uint64_t> bits(digits.size() / (2 * size));
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint64_t byte = 0;
    const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    if (error != std::errc() || end != digits.data() + i + 2) from.fail_at(token, "hexadecimal digits after 0x");
    bits[i / (2 * size)] |= byte << (8 * (i / 2 % size));
  }
  return bits;
}

void read_nested(Lexer& from, DenseText& into, std::size_t depth) {
  if (!from.at("[")) {
    if (depth != into.shape.size()) from.fail("lists of one depth");
    into.numbers.push_back(read_number(from));
    return;
  }
  if (depth >= max_rank) from.fail(fmt::format("at most {} nested lists", max_rank));
  const Token begin = from.take();
  const bool first = depth == into.shape.size();
  if (first && !into.numbers.empty()) from.fail_at(begin, "lists of one depth");
  if (first) into.shape.push_back(-1);
  std::int64_t count = 0;
  from.items("]", [&] {
    ++count;
    read_nested(from, into, depth + 1);
  });
  if (into.shape[depth] >= 0 && into.shape[depth] != count)
    from.fail_at(begin, fmt::format("a list of {} numbers, as before", into.shape[depth]));
  into.shape[depth] = count;
}

}  // namespace

TypePtr read_type(Lexer& from) {
  const Token token = from.expect(Token::Kind::name, "a type");
  if (token.is("token")) return token_type();
  Type type;
  if (token.is("tile")) {
    type.kind = Kind::tile;
    from.expect("<");
    read_shaped(from, type);
    from.expect(">");
  } else if (token.is("tensor_view")) {
    type.kind = Kind::tensor_view;
    read_tensor_view(from, type);
  } else if (token.is("partition_view") || token.is("strided_view") || token.is("gather_scatter_view")) {
    type.kind = token.is("partition_view") ? Kind::partition_view
                : token.is("strided_view") ? Kind::strided_view
                                           : Kind::gather_scatter_view;
    read_view(from, type);
  } else {
    from.fail_at(token, "a type: tile, token, tensor_view, partition_view, strided_view or gather_scatter_view");
  }
  if (const std::string why = unsound(type); !why.empty())
    from.fail_with(token, fmt::format("{}: {}", name(type.kind), why));
  return std::make_shared<Type>(std::move(type));
}

DenseText read_dense(Lexer& from) {
  DenseText dense;
  dense.at = from.peek();
  if (!from.take_if("<")) from.fail("the type and values of elements, such as <f32: 1.0>");
  dense.element = read_element(from);
  from.expect(":");
  read_elements(from, dense);
  from.expect(">");
  return dense;
}

void read_elements(Lexer& from, DenseText& into) {
  if (from.at(Token::Kind::string))
    into.bytes = from.take();
  else
    read_nested(from, into, 0);
}

Dense make_dense(const Lexer& from, const DenseText& text, const Type& type) {
  if (type.kind != Kind::tile || type.pointer || type.element != text.element)
    from.fail_with(text.at, fmt::format("expected numbers of {}, found {}", print(type), tile_name(text.element)));
  const bool one_of_one = text.numbers.size() == 1 && element_count(type) == 1;
  if (!text.shape.empty() && text.shape != type.shape && !one_of_one)
    from.fail_with(text.at,
                   fmt::format("expected numbers of the shape {}, found {}", print(type.shape), print(text.shape)));
  auto bits = std::make_shared<std::vector<std::uint64_t>>();
  if (text.bytes) *bits = bytes_of(from, *text.bytes, text.element);
  const auto elements = static_cast<std::size_t>(element_count(type));
  if (text.bytes && bits->size() != 1 && bits->size() != elements)
    from.fail_with(*text.bytes,
                   fmt::format("expected bytes of 1 or {} numbers, found those of {}", elements, bits->size()));
  for (const Token& number : text.numbers) bits->push_back(number_bits(from, number, text.element));
  return bits;
}

Hints read_hints(Lexer& from) {
  Hints all;
  from.expect("<");
  from.items(">", [&] {
    TargetHints target;
    target.target = from.expect(Token::Kind::name, "a target of hints").text;
    from.expect({"=", "{"});
    from.items("}", [&] {
      Hint hint;
      hint.name = from.expect(Token::Kind::name, "the name of a hint").text;
      from.expect("=");
      hint.is_boolean = from.at("true") || from.at("false");
      hint.value = hint.is_boolean ? (from.take().is("true") ? 1 : 0) : from.integer("the value of a hint");
      if (from.take_if(":")) read_element(from);  // the type in `8 : i32` is ignored
      target.hints.push_back(std::move(hint));
    });
    all.push_back(std::move(target));
  });
  return all;
}

Attribute read_attribute(Lexer& from, const AttributeForm& form) {
  switch (form.kind) {
    case AttributeKind::integer:
      return from.integer(form.name);
    case AttributeKind::boolean: {
      const Token word = from.take();
      if (!word.is("true") && !word.is("false")) from.fail_at(word, "true or false");
      return static_cast<std::int64_t>(word.is("true"));
    }
    case AttributeKind::string:
      return unquoted(from.expect(Token::Kind::string, "a text in quotes").text);
    case AttributeKind::symbol:
      return std::string(from.expect(Token::Kind::symbol, "a name with @").text);
    case AttributeKind::integers:
      return read_list(from, form.name);
    case AttributeKind::booleans: {
      std::vector<std::int64_t> list;
      from.expect("[");
      from.items("]", [&] {
        if (!from.at("true") && !from.at("false")) from.fail("true or false");
        list.push_back(from.take().is("true") ? 1 : 0);
      });
      return std::ranges::any_of(list, [](std::int64_t b) { return b != 0; }) ? Attribute(list) : Attribute();
    }
    case AttributeKind::predicate:
      return read_predicate(from);
    case AttributeKind::scalars:
      return read_scalars(from);
    case AttributeKind::hints:
      return read_hints(from);
    case AttributeKind::enumeration: {
      const Token word = from.take();
      return number_of_word(from, word, form);
    }
    case AttributeKind::flag:
    case AttributeKind::dense:
      break;  // read by the callers
  }
  from.fail("an attribute");
}

}  // namespace deplo::ir::tile_program::text
