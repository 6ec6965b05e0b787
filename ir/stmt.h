// The one statement variant of Loop, Tile and Kernel IR. Plain values: copy = clone, == is structural equality.
#pragma once
#include <utility>
#include <variant>

#include "ir/block.h"
#include "ir/kernel.h"
#include "ir/loop.h"
#include "ir/tile.h"

namespace deplo::ir {

template <class T>
concept Statement = is_listed<T>(LoopStatements()) || is_listed<T>(TileStatements()) || is_listed<T>(
    KernelStatements()) || is_listed<T>(BlockStatements());

struct Stmt {
  using Node = decltype(joined(LoopStatements(), TileStatements(), KernelStatements(), BlockStatements()));
  Node node;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&node);
  }
  // Defined in stmt.cpp: each is a table over all statements, or a chain of unions as long as that, which otherwise every
  // file that makes or copies a statement would compile.
  template <Statement T>
  Stmt(T statement);  // NOLINT(google-explicit-constructor): a node is a statement
  Stmt(const Stmt&);
  Stmt(Stmt&&) noexcept;
  Stmt& operator=(const Stmt&);
  Stmt& operator=(Stmt&&) noexcept;
  ~Stmt();
  bool operator==(const Stmt&) const;
};

/// Whether it is a statement of ir/block.h.
bool is_block_statement(const Stmt&);

}  // namespace deplo::ir
