#include "ir/tile_program/bytecode/sections.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"

namespace deplo::ir::tile_program::bytecode {
namespace {

constexpr std::string_view magic("\x7FTileIR\0", 8);
enum class SectionId : std::uint8_t { end, string, function, debug, constant, type, global, count };
constexpr std::array<std::string_view, 7> section_names = {"end",      "string", "function", "debug",
                                                           "constant", "type",   "global"};
constexpr std::array<std::uint64_t, 7> section_alignment = {1, 4, 8, 8, 8, 4, 1};

/// The tags of composite types (NVIDIA/cuda-tile: BytecodeTypeOpcodes.td); the tags of elements are in ir/types/dtype.
enum TypeTag : std::uint64_t {
  pointer = 0x0C,
  tile = 0x0D,
  tensor_view = 0x0E,
  partition_view = 0x0F,
  function = 0x10,
  token = 0x11,
  gather_scatter_view = 0x14,
  strided_view = 0x15,
  f8e5m3fnu = 0x82
};

/// Returns the end of the error message for a newer version: the operations that it adds, as far as the table of
/// operations lists them, and how to export an older version.
std::string newer(Version found) {
  std::string lacking;
  for (const Form& form : operations())
    if (form.since > newest_version && form.since <= found)
      lacking += fmt::format("{}{}", lacking.empty() ? ", which adds " : ", ", form.name);
  return fmt::format("{}: export the program with bytecode_version=\"{}\" or older", lacking, print(newest_version));
}

Version read_header(Bytes& from, std::string_view where) {
  from.part(magic.size(), "the magic");
  const std::uint64_t major = from.fixed(1, "a version"), minor = from.fixed(1, "a version");
  from.fixed(2, "the tag of the version");
  const Version found = {static_cast<int>(major), static_cast<int>(minor)};
  if (found < oldest_version || found > newest_version)
    throw Error(fmt::format("{}: expected bytecode of version {} to {}, found {}{}", where, print(oldest_version),
                            print(newest_version), print(found), found > newest_version ? newer(found) : ""));
  return found;
}

std::string_view view_name(std::uint64_t tag) {
  return tag == partition_view ? "partition_view" : tag == strided_view ? "strided_view" : "gather_scatter_view";
}

}  // namespace

File::File(std::string_view bytes, std::string_view where) : where_(where), may_copy_(16 * bytes.size() + 65536) {
  Bytes from(bytes, where);
  version = read_header(from, where);
  std::array<std::optional<Bytes>, static_cast<std::size_t>(SectionId::count)> sections;
  for (;;) {
    const std::uint8_t head = from.byte("a section");
    const std::size_t id = head & 0x7F;
    if (id == 0) break;
    if (id >= sections.size()) from.fail(fmt::format("expected a section below {}, found {}", sections.size(), id));
    const std::uint64_t size = from.varint("the size of a section");
    std::uint64_t alignment = 1;
    if ((head & 0x80) != 0) alignment = from.varint("an alignment");
    if (alignment == 0 || alignment > 4096 || alignment % section_alignment.at(id) != 0)
      from.fail(fmt::format("expected an alignment of the {} section by {}, found {}", section_names.at(id),
                            section_alignment.at(id), alignment));
    from.align(alignment);
    if (sections.at(id)) from.fail(fmt::format("expected one {} section, found a second", section_names.at(id)));
    sections.at(id) = from.part(size, fmt::format("the {} section", section_names.at(id)));
  }
  if (!from.done())
    from.fail(fmt::format("expected the end of the file after its last section, found {} bytes", from.left()));
  const auto section = [&](SectionId id) { return sections.at(static_cast<std::size_t>(id)); };
  for (const SectionId id : {SectionId::string, SectionId::function})
    if (!section(id))
      from.fail(fmt::format("expected a {} section, found none", section_names.at(static_cast<std::size_t>(id))));
  read_strings(*section(SectionId::string));
  if (section(SectionId::type)) read_types(*section(SectionId::type));
  if (auto constants = section(SectionId::constant)) constants_ = read_table(*constants, 8, "constants");
  if (section(SectionId::debug)) read_debug(*section(SectionId::debug));
  functions = section(SectionId::function);
  globals = section(SectionId::global);
}

void File::read_strings(Bytes from) {
  for (const Bytes& row : read_table(from, 4, "strings")) strings_.push_back(row.rest());
}

std::string File::string(Bytes& from, std::string_view what) {
  const std::string_view found = strings_[from.index(strings_.size(), what)];
  copied_ += found.size();
  if (copied_ > may_copy_)
    from.fail(fmt::format("expected fewer uses of long strings, found {} bytes of them", copied_));
  return std::string(found);
}

// --- Types -----------------------------------------------------------------------------------------------------------

void File::read_types(Bytes from) {
  types_ = read_table(from, 4, "types");
  type_rows_.resize(types_.size());
  for (std::size_t i = 0; i < type_rows_.size(); ++i) type_at(i, 0, types_[i]);
}

const TypeRow& File::type_at(std::uint64_t index, std::size_t depth, const Bytes& from) {
  if (index >= type_rows_.size())
    from.fail(fmt::format("expected a type below {}, found {}", type_rows_.size(), index));
  // The deepest nesting is a function of tiles of pointers to elements; anything deeper is circular.
  if (depth > 4) from.fail("expected types that do not contain themselves, found one");
  if (!type_rows_[index]) type_rows_[index] = read_type(types_[index], depth);
  return *type_rows_[index];
}

TypeRow File::read_type(Bytes from, std::size_t depth) {
  const auto other = [&]() -> const TypeRow& { return type_at(from.varint("a type"), depth + 1, from); };
  const std::uint64_t tag = from.varint("a type");
  TypeRow row;
  if ((row.element = dtype_of_tile_tag(tag))) return row;
  Type type;
  switch (tag) {
    case token:
      row.value = token_type();
      return row;
    case pointer: {
      const bool attributed = has_pointer_attribute(from);
      row.pointee = other().element;
      if (!row.pointee) from.fail("expected a pointer to a number, found one to another type");
      if (attributed) read_pointer_attribute(from);
      return row;
    }
    case f8e5m3fnu:
      from.fail("expected a type that deplo reads, found f8E5M3FNU, which is of version 13.4");
    case function: {
      row.parameters.emplace();
      for (std::size_t i = from.count(1, "parameters"); i > 0; --i) {
        row.parameters->push_back(other().value);
        if (!row.parameters->back()) from.fail("expected the type of a parameter, found an element's");
      }
      row.results = from.varint("results") != 0;
      return row;
    }
    case tile: {
      const TypeRow& element = other();
      if (!element.element && !element.pointee) from.fail("expected a tile of numbers or pointers, found another type");
      type.kind = Kind::tile;
      type.pointer = element.pointee.has_value();
      type.element = type.pointer ? *element.pointee : *element.element;
      type.shape = from.integers(8, "extents");
      break;
    }
    case tensor_view: {
      const bool attributed = has_pointer_attribute(from);
      const TypeRow& element = other();
      if (!element.element) from.fail("expected a tensor view of numbers, found another type");
      type.kind = Kind::tensor_view;
      type.element = *element.element;
      type.shape = from.integers(8, "extents");
      type.strides = from.integers(8, "strides");
      if (attributed) read_pointer_attribute(from);
      break;
    }
    case partition_view:
    case strided_view:
    case gather_scatter_view:
      return read_view(tag, from, depth);
    default:
      from.fail(fmt::format("expected the tag of a type of version {}, found {}", print(version), tag));
  }
  if (const std::string why = unsound(type); !why.empty()) from.fail(fmt::format("{}: {}", name(type.kind), why));
  row.value = std::make_shared<Type>(std::move(type));
  return row;
}

/// Reads the flags before the pointee of a pointer or tensor view, which exist since 13.4. The only flag says that an
/// attribute follows.
bool File::has_pointer_attribute(Bytes& from) const {
  if (version < Version{13, 4}) return false;
  const std::uint64_t flags = from.varint("flags");
  if (flags > 1) from.fail(fmt::format("expected flags of a pointer below 2, found {}", flags));
  return flags == 1;
}

/// Reads the attribute of a pointer. In 13.4 only the default attribute exists.
void File::read_pointer_attribute(Bytes& from) { from.index(1, "an attribute of a pointer"); }

TypeRow File::read_view(std::uint64_t tag, Bytes& from, std::size_t depth) {
  // Before 13.3, a byte after the map says whether a padding follows. Since 13.3, flags at the beginning say so.
  const bool flags_first = version >= Version{13, 3};
  bool padded = flags_first && (from.varint("flags") & 1) != 0;
  const Extents extents = from.integers(4, "extents");
  const Extents traversal = tag == strided_view ? from.integers(4, "traversal strides") : Extents();
  const TypeRow& base = type_at(from.varint("a type"), depth + 1, from);
  if (!base.value || base.value->kind != Kind::tensor_view)
    from.fail(fmt::format("{}: expected the type of a tensor view, found another", view_name(tag)));
  Type type = *base.value;
  type.tile = extents;
  type.traversal = traversal;
  if (tag == gather_scatter_view) {
    type.kind = Kind::gather_scatter_view;
    type.sparse_dim = static_cast<int>(from.index(max_rank, "a sparse dimension"));
  } else {
    type.kind = tag == strided_view ? Kind::strided_view : Kind::partition_view;
    for (const std::int64_t d : from.integers(4, "a map of dimensions")) type.dim_map.push_back(static_cast<int>(d));
  }
  if (!flags_first) padded = from.byte("whether there is padding") != 0;
  if (padded) type.padding = static_cast<Padding>(from.index(5, "a padding"));
  if (const std::string why = unsound(type); !why.empty()) from.fail(fmt::format("{}: {}", view_name(tag), why));
  TypeRow row;
  row.value = std::make_shared<Type>(std::move(type));
  return row;
}

const TypeRow& File::type_row(Bytes& from, std::string_view what) const {
  return *type_rows_[from.index(type_rows_.size(), what)];
}

TypePtr File::type(Bytes& from, std::string_view what) const {
  const std::uint64_t at = from.position();
  const TypeRow& row = type_row(from, what);
  if (!row.value)
    from.fail_at(at, fmt::format("expected {} that a value can have, found an element's or a function's", what));
  return row.value;
}

// --- Constants -------------------------------------------------------------------------------------------------------

namespace {

/// Returns the elements of `data`: a single element that stands for all, or every element (LLVM's DenseElementsAttr).
/// Elements of i1 are bits, lowest first; a single byte 00 or FF stands for all.
std::vector<std::uint64_t> unpack(Bytes data, DType element, std::int64_t elements) {
  const std::size_t size = data.left();
  std::vector<std::uint64_t> values;
  if (element == DType::boolean) {
    const std::string_view bits = data.rest();
    if (size == 1 && (bits[0] == '\0' || bits[0] == '\xFF')) return {bits[0] == '\0' ? 0ULL : 1ULL};
    if (size != static_cast<std::size_t>(elements + 7) / 8)
      data.fail(fmt::format("expected {} bits of i1, found {} bytes", elements, size));
    for (std::int64_t i = 0; i < elements; ++i)
      values.push_back(static_cast<std::uint8_t>(bits[static_cast<std::size_t>(i / 8)]) >> (i % 8) & 1);
    return values;
  }
  const int element_bytes = (width(element) + 7) / 8;  // a tf32 takes three bytes
  if (size != static_cast<std::size_t>(element_bytes) && size != static_cast<std::size_t>(element_bytes * elements))
    data.fail(fmt::format("expected 1 or {} elements of {} bytes, found {} bytes", elements, element_bytes, size));
  for (std::size_t i = 0; i < size / static_cast<std::size_t>(element_bytes); ++i)
    values.push_back(wrap(data.fixed(element_bytes, "an element"), width(element)));
  return values;
}

}  // namespace

Dense File::constant(Bytes& from, const Type& type) {
  const std::uint64_t index = from.index(constants_.size(), "a constant");
  if (type.kind != Kind::tile || type.pointer)
    from.fail(fmt::format("expected a constant tile of numbers, found {}", print(type)));
  Dense& dense = dense_[{index, type.element, element_count(type)}];
  if (!dense) {
    Bytes row = constants_[index];
    const std::uint64_t size = row.varint("the size of a constant");
    dense = std::make_shared<std::vector<std::uint64_t>>(
        unpack(row.part(size, "a constant"), type.element, element_count(type)));
  }
  return dense;
}

// --- Debug info ------------------------------------------------------------------------------------------------------

void File::read_debug(Bytes from) {
  const std::size_t functions_here = from.count(4, "functions");
  from.align(4);
  for (std::size_t i = 0; i < functions_here; ++i)
    debug_begins_.push_back(static_cast<std::uint32_t>(from.fixed(4, "debug info")));
  const std::size_t indices = from.count(8, "operations");
  from.align(8);
  for (std::size_t i = 0; i < indices; ++i) debug_indices_.push_back(from.fixed(8, "debug info"));
  debug_ = read_table(from, 4, "debug info");
  locations_.resize(debug_.size());
}

std::uint32_t File::source(const std::string& name) {
  const auto [at, is_new] = source_numbers_.try_emplace(name, static_cast<std::uint32_t>(sources.size() + 1));
  if (is_new) sources.push_back(name);
  return at->second;
}

const Location& File::debug_location(std::uint64_t index, int depth) {
  static const Location unknown;
  constexpr int deepest = 32;  // limit on nested inlined calls; deeper locations are not useful
  if (index == 0 || index > locations_.size() || depth > deepest) return unknown;  // index 0: unknown
  std::optional<Location>& known = locations_[index - 1];
  if (known) return *known;
  Bytes row = debug_[index - 1];
  Location found;
  enum : std::uint64_t { loc = 4, subprogram = 5, call_site = 6 };
  switch (row.varint("debug info")) {
    case loc:
      row.varint("a scope");
      found.source = source(string(row, "a file"));
      found.line = static_cast<std::uint32_t>(row.varint("a line"));
      found.column = static_cast<std::uint32_t>(row.varint("a column"));
      break;
    case call_site:  // use the call in the user's own code, not the place inside of the called function
      row.varint("the callee");
      found = debug_location(row.varint("the caller"), depth + 1);
      break;
    default:
      break;  // compile units, files, blocks and functions are not locations of operations
  }
  known = found;
  return *known;
}

Location File::location(std::uint64_t function_row, std::size_t operation, std::uint64_t byte) {
  Location at;
  if (function_row > 0 && function_row <= debug_begins_.size()) {
    const std::uint64_t index = debug_begins_[function_row - 1] + static_cast<std::uint64_t>(operation);
    if (index < debug_indices_.size()) at = debug_location(debug_indices_[index], 0);
  }
  at.byte = byte;
  return at;
}

}  // namespace deplo::ir::tile_program::bytecode
