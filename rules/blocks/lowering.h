// The state of lowering an entry. Private to the room.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rules/blocks/block_kernel.h"
#include "rules/blocks/kernel_buffers.h"
#include "rules/blocks/plan.h"
#include "rules/blocks/thread_code.h"
#include "rules/blocks/tile_memory.h"
#include "rules/blocks/waits.h"

namespace deplo::rules::blocks {

using tp::Operation;
using tp::Region;
using tp::Type;
using tp::ValueId;

/// A tensor view, and all views derived from it: the address of its first element, and its extents and strides in
/// elements. All are i64.
struct View {
  Name base;
  std::vector<Name> shape, strides;
};

/// The values of an entry, and its operations in order. They are in one class because a value that is not kept is
/// lowered where it is used: its row (rows.h) asks for the elements of other values. Statements, memory, buffers and
/// barriers have classes of their own.
class Lowering : public ThreadCode {
 public:
  Lowering(const tp::Program&, const tp::Entry&, const tp::Launch&, std::span<const tp::Array> arrays,
           const BlockSchedule&, const Target&);
  Lowering(const Lowering&) = delete;  // its parts refer to it
  Lowering& operator=(const Lowering&) = delete;
  BlockKernel run();

  const Type& type(ValueId id) const { return *entry.values[id].type; }
  const Type& result_type(const Operation& op, std::size_t at = 0) const { return type(op.results.at(at)); }
  /// The type of a tile's elements in the kernel. Pointers are i64.
  DType dtype(ValueId id) const { return type(id).pointer ? DType::i64 : type(id).element; }
  bool is_scalar(ValueId id) const { return blocks::is_scalar(type(id)); }
  /// The operation that defines the value; nullptr if it is a parameter, or an argument of a region.
  const Operation* definition(ValueId) const;
  [[noreturn]] void refuse(const Operation&, const std::string& message) const;

  // --- Values
  /// Adds the statements that compute an element, and returns its name.
  Name element(ValueId, const At&);
  /// The same for an element that another thread may hold. The index is clamped to the tile.
  Name element_at(ValueId, const Expr& i);
  Name scalar(ValueId id) { return element(id, only); }
  void bind(ValueId id, Name name) { names_[id] = std::move(name); }
  void bind(ValueId id, View view) { views_[id] = std::move(view); }
  const View& view(ValueId id) const;
  /// Declares the memory of a kept result, or the variable of a one-element result.
  void declare(ValueId);
  void set(ValueId, const At&, const Name& value);
  void share(ValueId result, ValueId with);  // gives both values the same memory
  /// Allocates memory for this region that is not bound to a value. `crosses`: threads read elements of other threads.
  Stored allocate(DType dtype, std::int64_t count, bool crosses) {
    return memory_.allocate(*this, dtype, count, crosses);
  }
  /// The name of a table with the constant's elements.
  Name table(const Operation& constant);

  // --- Operations
  using Code::compute;
  /// Computes operation `op` with other arguments. Throws Error if the target's language lacks the operation.
  Name compute(const Operation& op, DType result, std::vector<Name> args);
  void operation(const Operation&);
  void region(const Region&);
  /// Adds a barrier if threads must wait for what an operation uses: its operands, its kept results, and the memory
  /// that it reads and writes.
  void order(const Operation&, const Resources& memory_reads = {}, const Resources& memory_writes = {});
  /// Collects the kept tiles from which an element of this value is computed and whose elements other threads may have
  /// written.
  void collect(ValueId, Resources&) const;

  const tp::Program& program;
  const tp::Entry& entry;
  const tp::Launch& launch;
  const Target& target;
  const BlockSchedule schedule;
  Plan plan;
  KernelBuffers buffers;
  Waits waits{*this};
  ResourceNumbers resources;
  std::vector<const Operation*> owners;     // operations that own the enclosing regions
  std::vector<std::function<void()>> next;  // what each enclosing loop does before its next iteration
  std::array<Expr, 3> block_id;             // x, y, z
  bool allow_tf32 = false;

 private:
  void bind_parameters();
  BlockKernel finish(Body);

  std::map<ValueId, const Operation*> definitions_;
  std::map<ValueId, Name> names_;           // one-element values that never change
  std::map<ValueId, Stored> stored_;        // kept tiles and variables
  std::map<ValueId, ValueId> shared_with_;  // results that lie in the memory of another value
  std::map<ValueId, View> views_;
  Body tables_;
  std::set<ValueId> tabled_;
  TileMemory memory_;
  Resources written_memory_;  // memory that any part of the kernel writes
};

}  // namespace deplo::rules::blocks
