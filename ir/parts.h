// What each statement declares in addition to its members: the levels that permit it, and its parts. All walks follow
// from the parts (walk.h).
#pragma once
#include <cstdint>
#include <type_traits>
#include <variant>

namespace deplo::ir {

enum class Level : std::uint8_t { loop, tile, kernel };

/// The levels that permit a statement: its member `levels`. A statement of Kernel IR alone has no such member.
enum class Levels : std::uint8_t { all, loop_and_tile, tile_and_kernel, tile };
/// Whether the level permits statements of type S.
template <class S>
constexpr bool permits(Level level) {
  if constexpr (requires { S::levels; }) {
    if (S::levels == Levels::loop_and_tile) return level != Level::kernel;
    if (S::levels == Levels::tile_and_kernel) return level != Level::loop;
    return S::levels == Levels::all || level == Level::tile;
  } else {
    return level == Level::kernel;
  }
}

/// What a statement does with a name. `parts(statement, see)` lists the parts of a statement, const or not. It calls
/// see(use, name) for each name, and see(part) for each index expression, each Arg, each axis that the statement opens
/// and its body. A list of parts takes one call. The order is that of evaluation: what is read, what is defined, the
/// body.
enum class Use : std::uint8_t {
  value,     // reads this value
  defines,   // defines this value, or accumulates into it
  reads,     // reads or prefetches this buffer
  writes,    // writes to this buffer
  declares,  // declares a buffer, a barrier or a descriptor of this name
  refers,    // refers to this barrier or descriptor
  axis,      // names this axis outside of an index expression
};

/// The statements of one header. The result type of `joined` is the variant of all statements (stmt.h).
template <class... S>
struct Statements {};
/// Whether S is in the list.
template <class S, class... Listed>
constexpr bool is_listed(Statements<Listed...>) {
  return (std::is_same_v<S, Listed> || ...);
}
template <class... A, class... B, class... C, class... D>
std::variant<A..., B..., C..., D...> joined(Statements<A...>, Statements<B...>, Statements<C...>, Statements<D...>);

}  // namespace deplo::ir
