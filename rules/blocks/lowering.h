// The state of lowering an entry. Private to the room.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/stmt.h"
#include "rules/blocks/block_kernel.h"
#include "rules/blocks/plan.h"

namespace deplo::rules::blocks {

using ir::Body;
using ir::DType;
using ir::Expr;
using tp::Operation;
using tp::Region;
using tp::Type;
using tp::ValueId;

/// The name of a scalar in the kernel.
using Name = std::string;

/// An element of a tile: its row-major number `i` and, if the thread itself holds it, its `slot` in the thread's part.
struct At {
  Expr i;
  std::optional<Expr> slot;  // nullopt: another thread holds the element
};
inline const At only = {0, 0};  // the element of a one-element value

/// The memory of a tile: a Local, indexed by an element's slot in registers and by its number elsewhere.
struct Stored {
  Name array;
  DType dtype = DType::f32;
  ir::Space space = ir::Space::thread;
};

/// A tensor view, and all views of it: its beginning, and its extents and strides in elements. All are i64.
struct View {
  Name base;
  std::vector<Name> shape, strides;
};

/// Something that threads may have to wait for: a kept tile, by its value, or memory, by the number of its array.
using Resource = std::int64_t;
using Resources = std::set<Resource>;

/// A value of an attribute of an operation that a lowering makes.
struct Number {
  std::string_view attribute;
  std::int64_t value = 0;
};

class Lowering {
 public:
  Lowering(const tp::Program&, const tp::Entry&, const tp::Launch&, std::span<const tp::Array> arrays,
           const BlockSchedule&, const Target&);
  BlockKernel run();

  const Type& type(ValueId id) const { return *entry.values[id].type; }
  const Type& result_type(const Operation& op, std::size_t at = 0) const { return type(op.results.at(at)); }
  /// The type of a tile's elements in the kernel. Pointers are i64.
  DType dtype(ValueId id) const { return type(id).pointer ? DType::i64 : type(id).element; }
  bool is_scalar(ValueId id) const { return blocks::is_scalar(type(id)); }
  [[noreturn]] void refuse(const Operation&, const std::string& message) const;

  // --- Statements
  // --------------------------------------------------------------------------------------------------------
  void add(ir::Stmt);
  std::string fresh(std::string_view prefix);
  // Each returns the name of a scalar, which it defines unless it is known here.
  Name constant(DType, std::uint64_t bits);
  Name whole(DType dtype, std::int64_t number);  // of an integer type
  Expr simplified(const Expr& e) const { return ir::simplify(e, ranges_); }
  Name index(const Expr&);      // an i32
  Name condition(const Expr&);  // a boolean
  /// An operation of Tile IR. `numbers`: attributes that are not the default.
  Name compute(std::string_view operation, DType result, std::vector<Name> args, std::vector<Number> numbers = {});
  /// The operation `op` on other arguments. Refuses it if the target's language lacks it.
  Name compute(const Operation& op, DType result, std::vector<Name> args);
  /// An integer as one of another width.
  Name converted(const Name&, DType from, DType to, bool with_sign);
  Name select(const Name& condition, DType, const Name& yes, const Name& no);

  // --- Values
  // ------------------------------------------------------------------------------------------------------------
  /// Adds the statements that compute an element, and returns its name.
  Name element(ValueId, const At&);
  /// The same for an element of another thread's part, perhaps; the index is clamped to the tile.
  Name element_at(ValueId, const Expr& i);
  Name scalar(ValueId id) { return element(id, only); }
  void bind(ValueId id, Name name) { names_[id] = std::move(name); }
  void bind(ValueId id, View view) { views_[id] = std::move(view); }
  /// A one-element integer as a term of an index expression.
  Expr term(ValueId);
  const View& view(ValueId id) const;
  /// Declares the memory of a kept result, or the variable of a one-element value.
  void declare(ValueId);
  void set(ValueId, const At&, const Name& value);
  void share(ValueId result, ValueId with);  // gives both the same memory

  /// Declares memory for this region that is not bound to a value. `crosses`: threads read elements of other threads.
  Stored allocate(DType, std::int64_t count, bool crosses);
  Name read(const Stored&, const At&);
  void write(const Stored&, const At&, const Name& value);
  /// A table of a constant's elements.
  Name table(const Operation& constant);

  // --- Threads
  // -----------------------------------------------------------------------------------------------------------
  const Expr& thread() const { return thread_; }
  /// A loop over the thread's elements of a tile of `count` elements.
  void each(std::int64_t count, const std::function<void(const At&)>& body);
  /// The same for a tile of this shape. One thread alone has a loop for each dimension, which leaves no divisions.
  void each(const tp::Extents& shape, const std::function<void(const At&)>& body);
  /// The same for the elements of a value. The first thread executes the body for a one-element value.
  void for_elements(ValueId, const std::function<void(const At&)>& body);
  void by_first_thread(const std::function<void()>& body);
  /// The first thread executes `body`, which sets a one-element result. Afterwards all threads have it.
  void once(ValueId result, const std::function<void()>& body);
  /// for axis in 0..extent.
  void loop(std::int64_t extent, bool unrolled, const std::function<void(const Expr& axis)>& body);
  /// If the condition, whose variables are axes, holds.
  void guarded(const Expr& condition, const std::function<void()>& body);
  /// If the value is not 0 (or with `otherwise`, if it is 0).
  void branch(const Name& condition, bool otherwise, const std::function<void()>& body);
  /// The number of elements of a tile per thread; 1 if there are fewer elements than threads.
  std::int64_t slots(std::int64_t count) const { return std::max<std::int64_t>(1, count / threads); }
  /// Whether a loop whose index selects registers is unrolled.
  bool unrolls(std::int64_t trips) const;
  /// Adds a Sync if, since the last one, one of `reads` was written, or one of `writes` was read or written.
  void order(const Resources& reads, const Resources& writes);
  /// The same for an operation: its operands, its kept results, and the memory that it reads and writes.
  void order(const Operation&, const Resources& memory_reads = {}, const Resources& memory_writes = {});
  void barrier();
  Resource new_resource() { return next_resource_++; }
  /// Collects the kept tiles that an element of this value is computed from and that other threads may have written.
  void collect(ValueId, Resources&) const;
  /// The arrays that a pointer or a view may refer to.
  Resources arrays_behind(ValueId) const;

  // --- Control
  // -----------------------------------------------------------------------------------------------------------
  void region(const Region&);
  /// The statements that `body` adds, in a scope of their own.
  Body within(const std::function<void()>& body);
  /// The statements that `body` adds; what they compute is not known after them.
  void scoped(const std::function<void()>& body);
  /// Two branches. After them, threads may have to wait for the accesses of either.
  void fork(const Name& condition, const Region& yes, const Region& no);
  /// Adds a body without loops and memory operations. `arguments`: the values of its arguments. Returns what it yields.
  std::vector<Name> body(const Operation& owner, const std::vector<Name>& arguments);
  /// Copies values to the variables of a loop or an if, all at once: every value is read before any is written.
  void assign(const std::vector<ValueId>& to, const std::vector<ValueId>& from);

  // --- The kernel
  // --------------------------------------------------------------------------------------------------------
  Name global_address(const std::string& name);
  Name alloca_address(ValueId);
  /// The number by which the kernel reports that this assertion failed.
  std::int64_t add_assertion(const Operation&);
  Name assertion_address();
  void allow_tf32() { kernel_.kernel.allow_tf32 = true; }

  const tp::Program& program;
  const tp::Entry& entry;
  const tp::Launch& launch;
  const Target& target;
  const BlockSchedule schedule;
  const std::int64_t threads;  // the schedule's
  Plan plan;
  std::vector<const Operation*> owners;     // owners of the enclosing regions
  std::vector<std::function<void()>> next;  // what each enclosing loop does before its next iteration
  std::array<Expr, 3> block_id;             // x, y, z

 private:
  void operation(const Operation&);
  void check_pure(const Region&) const;
  void bind_parameters();
  void place_globals();
  void place_allocas();
  void add_buffers();
  void finish(Body);
  Name address(const std::string& buffer);
  Name known(const std::string& key, const std::function<ir::Stmt(const Name&)>& make);
  Resource memory_resource(std::size_t array) const { return static_cast<Resource>(entry.values.size() + array); }
  Resources all_memory() const;

  std::span<const tp::Array> arrays_;
  BlockKernel kernel_;
  Body* out_ = nullptr;
  Expr thread_ = 0;
  ir::Ranges ranges_;                       // of the axes in scope
  std::map<ValueId, Name> names_;           // one-element values that never change
  std::map<ValueId, Stored> stored_;        // kept tiles, and variables
  std::map<ValueId, ValueId> shared_with_;  // results that are in the memory of another value
  std::map<ValueId, View> views_;
  std::map<ValueId, const Operation*> definitions_;
  std::map<std::string, Name> known_;       // scalars that are visible here, by what they are
  std::map<Name, std::int64_t> constants_;  // integers
  Body tables_;
  std::set<ValueId> tabled_;
  std::set<std::string, std::less<>> taken_;  // names of buffers
  std::vector<std::string> array_buffers_;    // by number of the array
  std::map<std::string, std::int64_t> global_offsets_;
  std::vector<std::uint8_t> globals_;
  Resources read_, written_;  // since the last barrier
  Resources written_memory_;  // by the whole kernel
  std::map<ValueId, std::int64_t> alloca_offsets_;
  // Bytes of a block.
  std::int64_t shared_ = 0, scratch_ = 0, max_scratch_ = 0, alloca_bytes_ = 0;
  int next_name_ = 0;
  Resource next_resource_ = 0;
};

}  // namespace deplo::rules::blocks
