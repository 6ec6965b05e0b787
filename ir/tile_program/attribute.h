// Attributes of the operations of tile programs.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/types/float_format.h"

namespace deplo::ir::tile_program {

/// The elements of a constant tile in row-major order, as bits of their type. A single element stands for all.
using Dense = std::shared_ptr<const std::vector<std::uint64_t>>;

/// A number with its type, as in `0.0 : f32`.
struct Scalar {
  DType element = DType::f32;
  std::uint64_t bits = 0;
  bool operator==(const Scalar&) const = default;
};

/// The property that an `assume` states about its value (specification, "assume": div_by, same_elements and bounded).
struct Predicate {
  enum class Kind : std::uint8_t { div_by, same_elements, bounded };
  Kind kind = Kind::div_by;
  std::uint64_t divisor = 1;  // div_by: a power of two
  // div_by: if set, only the first of each group of `every` elements along dimension `along` is divisible; the other
  // elements count up from it.
  std::optional<std::int64_t> every, along;
  std::vector<std::int64_t> groups;       // same_elements: extents of the groups of equal elements
  std::optional<std::int64_t> low, high;  // bounded: both inclusive
  bool operator==(const Predicate&) const = default;
};

/// A hint to the compiler for a target: `sm_100 = {latency = 4, allow_tma = false}`. It does not change the meaning.
struct Hint {
  std::string name;
  std::int64_t value = 0;
  bool is_boolean = false;
  bool operator==(const Hint&) const = default;
};
struct TargetHints {
  std::string target;
  std::vector<Hint> hints;
  bool operator==(const TargetHints&) const = default;
};
using Hints = std::vector<TargetHints>;

/// monostate: the attribute is not given. The integer also represents a boolean, a set flag (1), and the number of a
/// word of an enumeration.
using Attribute = std::variant<std::monostate, std::int64_t, std::string, std::vector<std::int64_t>, Dense, Predicate,
                               std::vector<Scalar>, Hints>;

enum class AttributeKind : std::uint8_t {
  flag,
  integer,
  boolean,
  string,
  symbol,
  integers,
  booleans,  // stored as integers; no attribute if all are false
  dense,
  predicate,
  scalars,
  hints,
  enumeration,
};

/// An enumeration: word i in the text is number i in the bytecode.
struct Enumeration {
  std::string_view name;
  std::vector<std::string_view> words;
};
/// Returns an enumeration by its name: "rounding", "signedness", "overflow", "comparison", …
const Enumeration& enumeration(std::string_view name);

enum class Signedness : std::uint8_t { is_unsigned, is_signed };
enum class Overflow : std::uint8_t { none, no_signed_wrap, no_unsigned_wrap, no_wrap };
enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };
enum class Ordering : std::uint8_t { weak, relaxed, acquire, release, acq_rel };
enum class Scope : std::uint8_t { tl_blk, device, sys };
enum class Rmw : std::uint8_t { band, bor, bxor, add, addf, max, min, umax, umin, xchg };

}  // namespace deplo::ir::tile_program
