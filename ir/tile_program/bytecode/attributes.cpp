#include "ir/tile_program/bytecode/attributes.h"

#include <fmt/format.h>

#include <algorithm>

namespace deplo::ir::tile_program::bytecode {
namespace {

/// The tags that precede attributes whose kind the operation's form does not determine (NVIDIA/cuda-tile:
/// BytecodeAttrOpcodes.td).
enum AttributeTag : std::uint64_t {
  integer = 1,
  floating = 2,
  boolean = 3,
  div_by = 8,
  same_elements = 9,
  dictionary = 10,
  hints = 11,
  bounded = 12
};

std::uint64_t read_tag(Bytes& from) { return from.varint("the tag of an attribute"); }

std::optional<std::int64_t> optional_zigzag(Bytes& from, bool is_there) {
  return is_there ? std::optional(from.zigzag("a bound")) : std::nullopt;
}

Predicate read_predicate(Bytes& from) {
  Predicate predicate;
  switch (const std::uint64_t tag = read_tag(from)) {
    case div_by: {
      predicate.kind = Predicate::Kind::div_by;
      predicate.divisor = from.varint("a divisor");
      const std::uint8_t flags = from.byte("flags");
      predicate.every = optional_zigzag(from, (flags & 1) != 0);
      predicate.along = optional_zigzag(from, (flags & 2) != 0);
      return predicate;
    }
    case same_elements:
      predicate.kind = Predicate::Kind::same_elements;
      predicate.groups = from.integers(8, "extents of groups");
      return predicate;
    case bounded: {
      predicate.kind = Predicate::Kind::bounded;
      const std::uint8_t flags = from.byte("flags");
      predicate.low = optional_zigzag(from, (flags & 1) != 0);
      predicate.high = optional_zigzag(from, (flags & 2) != 0);
      return predicate;
    }
    default:
      from.fail(fmt::format("expected div_by, same_elements or bounded, found an attribute of tag {}", tag));
  }
}

Scalar read_scalar(Bytes& from, File& file) {
  const std::uint64_t tag = read_tag(from);
  if (tag == boolean) return {DType::boolean, from.byte("a boolean") != 0 ? 1ULL : 0ULL};
  if (tag != integer && tag != floating) from.fail(fmt::format("expected a number, found an attribute of tag {}", tag));
  const std::optional<DType> element = file.type_row(from, "the type of a number").element;
  if (!element || is_integral(*element) != (tag == integer)) from.fail("expected a number of its type, found another");
  std::uint64_t bits = 0;
  if (*element == DType::boolean)
    bits = from.byte("a boolean") != 0 ? 1 : 0;
  else if (is_integral(*element))
    bits = from.varint("a number");
  else if (width(*element) <= 8)
    bits = from.byte("a number");
  else
    bits = static_cast<std::uint64_t>(from.zigzag("a number"));
  return {*element, wrap(bits, width(*element))};
}

std::vector<Hint> read_target_hints(Bytes& from, File& file) {
  std::vector<Hint> list;
  for (std::size_t i = from.count(3, "hints"); i > 0; --i) {
    Hint hint;
    hint.name = file.string(from, "the name of a hint");
    const Scalar value = read_scalar(from, file);
    hint.is_boolean = value.element == DType::boolean;
    hint.value = hint.is_boolean ? static_cast<std::int64_t>(value.bits) : as_signed(value.bits, width(value.element));
    list.push_back(std::move(hint));
  }
  return list;
}

Hints read_hints(Bytes& from, File& file) {
  Hints all;
  for (std::size_t i = from.count(3, "targets of hints"); i > 0; --i) {
    TargetHints target;
    target.target = file.string(from, "the target of hints");
    if (const std::uint64_t tag = read_tag(from); tag != dictionary)
      from.fail(fmt::format("expected hints by name, found an attribute of tag {}", tag));
    target.hints = read_target_hints(from, file);
    all.push_back(std::move(target));
  }
  return all;
}

std::vector<Scalar> read_scalars(Bytes& from, File& file) {
  std::vector<Scalar> list;
  for (std::size_t i = from.count(2, "identities"); i > 0; --i) list.push_back(read_scalar(from, file));
  return list;
}

}  // namespace

Attribute read_attribute(Bytes& from, File& file, const AttributeForm& form, const TypePtr& value_type) {
  switch (form.kind) {
    case AttributeKind::flag:
    case AttributeKind::boolean:
      return static_cast<std::int64_t>(from.byte(form.name) != 0);
    case AttributeKind::integer:
      return static_cast<std::int64_t>(from.varint(form.name));
    case AttributeKind::string:
    case AttributeKind::symbol:
      return file.string(from, form.name);
    case AttributeKind::integers:
      return from.integers(4, form.name);
    case AttributeKind::booleans: {
      std::vector<std::int64_t> list = from.integers(1, form.name);
      const bool all_false = std::all_of(list.begin(), list.end(), [](std::int64_t b) { return b == 0; });
      return all_false ? Attribute() : Attribute(std::move(list));
    }
    case AttributeKind::dense:
      return file.constant(from, *value_type);
    case AttributeKind::predicate:
      return read_predicate(from);
    case AttributeKind::scalars:
      return read_scalars(from, file);
    case AttributeKind::hints:
      return read_hints(from, file);
    case AttributeKind::enumeration:
      return static_cast<std::int64_t>(from.index(form.words->words.size(), form.name));
  }
  from.fail("expected an attribute of a known kind, found another");
}

Hints read_tagged_hints(Bytes& from, File& file) {
  if (const std::uint64_t tag = read_tag(from); tag != hints)
    from.fail(fmt::format("expected optimization hints, found an attribute of tag {}", tag));
  return read_hints(from, file);
}

}  // namespace deplo::ir::tile_program::bytecode
