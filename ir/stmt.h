// The one statement variant of Loop, Tile and Kernel IR. Plain values: copy = clone, == is structural equality.
#pragma once
#include <cstddef>
#include <type_traits>
#include <variant>

#include "ir/block.h"
#include "ir/kernel.h"
#include "ir/loop.h"
#include "ir/tile.h"

namespace deplo::ir {

using StatementNode = decltype(joined(LoopStatements(), TileStatements(), KernelStatements(), BlockStatements()));

template <class T, class... S>
consteval std::size_t place_among(std::type_identity<std::variant<S...>> /*node*/) {
  std::size_t place = 0;
  (void)((std::is_same_v<T, S> || (++place, false)) || ...);
  return place;
}
/// The index of T in the variant, or the number of alternatives if T is not one of them.
template <class T>
inline constexpr std::size_t statement_place = place_among<T>(std::type_identity<StatementNode>());
template <class T>
concept Statement = statement_place<T> < std::variant_size_v<StatementNode>;

struct Stmt {
  using Node = StatementNode;
  Node node;
  template <Statement T>
  // NOLINTNEXTLINE(google-explicit-constructor): a node is a statement
  Stmt(T statement) : Stmt(statement_place<T>, &statement) {}
  template <class T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&node);
  }
  // Defined in stmt.cpp, like the private constructor. Each of these functions contains a table over all statements,
  // which otherwise every file that makes or copies a statement would compile.
  Stmt(const Stmt&);
  Stmt(Stmt&&) noexcept;
  Stmt& operator=(const Stmt&);
  Stmt& operator=(Stmt&&) noexcept;
  ~Stmt();
  bool operator==(const Stmt&) const;

 private:
  /// Moves the statement, whose type is alternative number `place` of Node.
  Stmt(std::size_t place, void* statement);
};

/// A body of one statement.
inline Body single(Stmt stmt) {
  Body body;
  body.push_back(std::move(stmt));
  return body;
}

/// Whether the statement is one of the statements of ir/block.h.
bool is_block_statement(const Stmt&);

}  // namespace deplo::ir
