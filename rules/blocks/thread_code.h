// Code of the threads of a block. Each thread holds a part of every tile. Private to the room.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "ir/tile_program/type.h"
#include "rules/blocks/code.h"

namespace deplo::rules::blocks {

/// An element of a tile: its row-major index `i` and, if the thread itself holds it, its `slot` in the thread's part.
struct At {
  Expr i;
  std::optional<Expr> slot;  // nullopt: another thread holds the element
};
inline const At only = {0, 0};  // the element of a one-element value

/// The memory of a tile, a Local. In registers it is indexed by an element's slot, in other memory by its row-major
/// index.
struct Stored {
  Name array;
  DType dtype = DType::f32;
  ir::Space space = ir::Space::thread;
};

class ThreadCode : public Code {
 public:
  ThreadCode(std::int64_t threads, bool on_cpu);

  const Expr& thread() const { return thread_; }
  /// The number of a tile's elements per thread; 1 if there are fewer elements than threads.
  std::int64_t slots(std::int64_t count) const { return std::max<std::int64_t>(1, count / threads); }
  /// Returns true if a loop whose index selects registers is unrolled.
  bool unrolls(std::int64_t trips) const;

  /// Adds a loop over the thread's elements of a tile of `count` elements.
  void each(std::int64_t count, const std::function<void(const At&)>& body);
  /// The same for a tile of this shape. If a block has only one thread, there is a loop for each dimension, so that no
  /// divisions are needed.
  void each(const ir::tile_program::Extents& shape, const std::function<void(const At&)>& body);
  void by_first_thread(const std::function<void()>& body);

  Name read(const Stored&, const At&);
  void write(const Stored&, const At&, const Name& value);

  const std::int64_t threads;

 private:
  bool on_cpu_;
  Expr thread_ = 0;
};

}  // namespace deplo::rules::blocks
