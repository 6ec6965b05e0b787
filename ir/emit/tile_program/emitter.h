// The state of emitting an entry as source. Private to the room.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/emit/source_text.h"
#include "ir/emit/tile_program/block_kernel.h"
#include "ir/emit/tile_program/plan.h"
#include "ir/emit/tile_program/words.h"

namespace deplo::ir::tile_program::blocks {

/// An element of a tile: its row-major number `i` and, if the thread itself holds it, its `slot` in the thread's part.
/// Both are expressions.
struct At {
  std::string i, slot;  // slot "": another thread holds the element
};
inline const At only = {"0", "0"};  // the element of a one-element value

/// The memory of a tile: a C array, indexed as `name[slot]` in registers and as `name[i]` elsewhere.
struct Stored {
  enum class Place : std::uint8_t { registers, shared, scratch };
  Place place = Place::registers;
  std::string name;
  DType element = DType::f32;
  bool pointer = false;
  std::int64_t count = 0;
};

/// A tensor view, and all views of it: its beginning, and its extents and strides in elements, as i64 expressions.
struct View {
  std::string base;
  std::vector<std::string> shape, strides;
};

/// Something that threads may have to wait for: a kept tile, by its value, or memory, by the number of its array.
using Resource = std::int64_t;
using Resources = std::set<Resource>;

class Emitter : public SourceText {
 public:
  Emitter(const Program&, const Entry&, const Launch&, std::span<const Array> arrays, std::int64_t threads,
          const Target&);
  BlockKernel run();

  using SourceText::line;
  using SourceText::print;
  const Type& type(ValueId id) const { return *entry.values[id].type; }
  const Type& result_type(const Operation& op, std::size_t at = 0) const { return type(op.results.at(at)); }
  bool is_scalar(ValueId id) const { return blocks::is_scalar(type(id)); }
  bool cuda() const { return target.dialect == Dialect::cuda; }
  [[noreturn]] void refuse(const Operation&, const std::string& message) const;

  // --- Values
  // ------------------------------------------------------------------------------------------------------------
  /// Returns an expression of an element, after emitting the lines that it needs.
  std::string element(ValueId, const At&);
  /// The same for a one-element value.
  std::string scalar(ValueId id) { return element(id, only); }
  /// Emits `const TYPE NAME = value;` and returns the name. Returns `value` itself if it is a name or a number.
  std::string named(std::string_view type, const std::string& value);
  std::string fresh(std::string_view prefix) { return std::string(prefix) + std::to_string(next_name_++); }
  void bind(ValueId id, std::string name) { names_[id] = std::move(name); }
  void bind(ValueId id, View view) { views_[id] = std::move(view); }
  const View& view(ValueId id) const;
  /// Declares the memory of a kept result, or the variable of a one-element value.
  void declare(ValueId);
  /// Emits `name[…] = value;`, or `name = value;` for a one-element value.
  void set(ValueId, const At&, const std::string& value);
  void share(ValueId result, ValueId with);  // gives both the same memory

  /// Allocates memory for this region that is not bound to a value. `crosses`: threads read elements of other threads.
  Stored allocate(DType, bool pointer, std::int64_t count, bool crosses);
  std::string read(const Stored&, const At&) const;
  void write(const Stored&, const At&, const std::string& value);

  // --- Threads
  // -----------------------------------------------------------------------------------------------------------
  /// Emits a loop over the thread's elements of a tile of `count` elements.
  void each(std::int64_t count, const std::function<void(const At&)>& body);
  /// The same for the elements of a value. The first thread executes the body for a one-element value.
  void for_elements(ValueId, const std::function<void(const At&)>& body);
  /// The first thread executes the lines of `body`, which set a one-element result. Afterwards all threads have it.
  void once(ValueId result, const std::function<void()>& body);
  /// Emits `{` … `}` after a head. Names of elements that `body` defines are forgotten afterwards.
  void within(const std::string& head, const std::function<void()>& body);
  /// The number of elements of a tile per thread; 1 if there are fewer elements than threads.
  std::int64_t slots(std::int64_t count) const { return std::max<std::int64_t>(1, count / threads); }
  /// Asks the compiler to unroll a loop whose index selects registers.
  void unroll(std::int64_t trips);
  /// Emits a barrier if, since the last barrier, one of `reads` was written, or one of `writes` was read or written.
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
  /// Emits an if. After it, threads may have to wait for the accesses of either side.
  void branch(const std::string& condition, const Region& yes, const Region& no);
  /// Emits a body without loops and memory operations. `arguments`: the values of its arguments. Returns what it
  /// yields.
  std::vector<std::string> body(const Operation& owner, const std::vector<std::string>& arguments);
  /// Copies values to the variables of a loop or an if, all at once: every value is read before any is written.
  void assign(const std::vector<ValueId>& to, const std::vector<ValueId>& from);

  // --- The kernel
  // --------------------------------------------------------------------------------------------------------
  std::string table(const Operation& constant);
  void function(const std::string& name, const std::string& text) { functions_.emplace(name, text); }
  std::string global_address(const std::string& name) const;
  std::string allocate_alloca(std::int64_t bytes, std::int64_t alignment);
  std::string fail_assertion(const Operation&);

  const Program& program;
  const Entry& entry;
  const Launch& launch;
  const Target& target;
  const Words& words;
  const std::int64_t threads;
  Plan plan;
  std::vector<const Operation*> owners;  // owners of the enclosing regions

 private:
  void operation(const Operation&);
  void check_pure(const Region&) const;
  void bind_parameters();
  void place_globals();
  std::int64_t add_buffer(const std::string& name, DType, std::int64_t elements);
  std::string parameters() const;
  void finish();
  Resource memory_resource(std::size_t array) const { return static_cast<Resource>(entry.values.size() + array); }
  Resources all_memory() const;

  std::span<const Array> arrays_;
  BlockKernel kernel_;
  std::map<ValueId, std::string> names_;  // of one-element values
  std::map<ValueId, Stored> stored_;
  std::map<ValueId, View> views_;
  std::map<ValueId, const Operation*> definitions_;
  std::map<std::pair<ValueId, std::string>, std::string> known_;  // names of elements that are visible here
  std::map<std::string, std::string> functions_;
  std::set<std::string> tabled_;
  std::string tables_;
  std::map<std::string, std::int64_t> global_offsets_;
  std::vector<std::uint8_t> globals_;
  Resources read_, written_;                                                                  // since the last barrier
  std::int64_t shared_ = 0, shared_most_ = 0, scratch_ = 0, scratch_most_ = 0, allocas_ = 0;  // bytes
  int next_name_ = 0;
  Resource next_resource_ = 0;
};

}  // namespace deplo::ir::tile_program::blocks
