// What an operation of a tile program says besides its operands.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/hardware/float_format.h"

namespace deplo::ir::tile_program {

/// The elements of a constant tile in row-major order, as bits of their type; one alone stands for all.
using Dense = std::shared_ptr<const std::vector<std::uint64_t>>;

/// A number with its type, as `0.0 : f32`.
struct Scalar {
  DType element = DType::f32;
  std::uint64_t bits = 0;
  bool operator==(const Scalar&) const = default;
};

/// What an `assume` states of its value (specification, "assume", div_by, same_elements and bounded).
struct Predicate {
  enum class Kind : std::uint8_t { div_by, same_elements, bounded };
  Kind kind = Kind::div_by;
  std::uint64_t divisor = 1;                 // div_by: a power of two
  std::optional<std::int64_t> every, along;  // div_by: of the first element of each group alone, the others count on
  std::vector<std::int64_t> groups;          // same_elements: extents of the groups of equal elements
  std::optional<std::int64_t> low, high;     // bounded: inclusive
  bool operator==(const Predicate&) const = default;
};

/// What a compiler may try, by target: `sm_100 = {latency = 4, allow_tma = false}`. The meaning does not depend on it.
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

/// monostate: not given. An integer also holds a boolean, a flag that is set (1), and an enumeration's number.
using Attribute = std::variant<std::monostate, std::int64_t, std::string, std::vector<std::int64_t>, Dense, Predicate,
                               std::vector<Scalar>, Hints>;

enum class AttributeKind : std::uint8_t {
  flag,
  integer,
  boolean,
  string,
  symbol,
  integers,
  booleans,  // as integers; one that is not given is all false
  dense,
  predicate,
  scalars,
  hints,
  enumeration,
};

/// Words that the text has for numbers of the bytecode.
struct Enumeration {
  std::string_view name;
  std::vector<std::string_view> words;
};
/// By name: "rounding", "signedness", "overflow", "comparison", …
const Enumeration& enumeration(std::string_view name);

enum class Signedness : std::uint8_t { is_unsigned, is_signed };
enum class Overflow : std::uint8_t { none, no_signed_wrap, no_unsigned_wrap, no_wrap };
enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };
enum class Ordering : std::uint8_t { weak, relaxed, acquire, release, acq_rel };
enum class Scope : std::uint8_t { tl_blk, device, sys };
enum class Rmw : std::uint8_t { band, bor, bxor, add, addf, max, min, umax, umin, xchg };

}  // namespace deplo::ir::tile_program
