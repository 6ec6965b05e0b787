// What each statement says once, beside its members: the levels where it may stand, and its parts. All walks follow
// from the parts (walk.h).
#pragma once
#include <cstdint>
#include <variant>

namespace deplo::ir {

enum class Level : std::uint8_t { loop, tile, kernel };

/// The levels where a statement may stand: its member `levels`.
enum class Levels : std::uint8_t { all, loop_and_tile, tile_and_kernel, tile, kernel };
constexpr bool permits(Levels levels, Level level) {
  if (levels == Levels::loop_and_tile) return level != Level::kernel;
  if (levels == Levels::tile_and_kernel) return level != Level::loop;
  return levels == Levels::all || (levels == Levels::tile ? level == Level::tile : level == Level::kernel);
}

/// What a name is to a statement. `parts(statement, see)`, where the statement may be const, calls see(use, name) for
/// each name, and see(part) for each index expression, each Arg, each axis that it opens and the body inside it; for a
/// list of them see once. In the order of evaluation: what is read, what is defined, the body.
enum class Use : std::uint8_t {
  value,     // reads this value
  defines,   // defines this value, or accumulates into it
  reads,     // reads this buffer, or asks for it
  writes,    // writes to this buffer
  declares,  // gives a buffer, a barrier or a descriptor this name
  refers,    // to this barrier or descriptor
  axis,      // names this axis, outside of index expressions
};

/// The statements of a header; `joined` is the variant of them all (stmt.h).
template <class... S>
struct Statements {};
template <class... A, class... B, class... C>
std::variant<A..., B..., C...> joined(Statements<A...>, Statements<B...>, Statements<C...>);

}  // namespace deplo::ir
