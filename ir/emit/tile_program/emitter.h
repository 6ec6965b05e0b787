// The state of an entry that is written as source. Private to the room.
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

/// An element of a tile: its number in row-major order, and, if it is one that the thread itself has, where in the
/// thread's part. Both are expressions.
struct At {
  std::string i, slot;  // slot "": of another thread
};
inline const At only = {"0", "0"};  // of a value of one element

/// Memory of a tile: a C array, `name[slot]` in registers and `name[i]` else.
struct Stored {
  enum class Place : std::uint8_t { registers, shared, scratch };
  Place place = Place::registers;
  std::string name;
  DType element = DType::f32;
  bool pointer = false;
  std::int64_t count = 0;
};

/// A tensor view and all views of it: where it begins, and its extents and strides in elements, i64 expressions.
struct View {
  std::string base;
  std::vector<std::string> shape, strides;
};

/// What threads may have to wait for: a kept tile by its value, memory by the number of its array.
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

  // --- Values ------------------------------------------------------------------------------------------------------------
  /// An expression of an element; lines that it needs are written before.
  std::string element(ValueId, const At&);
  /// Of a value of one element.
  std::string scalar(ValueId id) { return element(id, only); }
  /// `const TYPE NAME = value;`, and the name; of a name or number itself.
  std::string named(std::string_view type, const std::string& value);
  std::string fresh(std::string_view prefix) { return std::string(prefix) + std::to_string(next_name_++); }
  void bind(ValueId id, std::string name) { names_[id] = std::move(name); }
  void bind(ValueId id, View view) { views_[id] = std::move(view); }
  const View& view(ValueId id) const;
  /// Declares a result that is kept, or a variable of one element.
  void declare(ValueId);
  /// `name[…] = value;`, or of one element `name = value;`.
  void set(ValueId, const At&, const std::string& value);
  void share(ValueId result, ValueId with);  // they are one memory

  /// Memory of this region that is no value's.
  Stored allocate(DType, bool pointer, std::int64_t count, bool crosses);
  std::string read(const Stored&, const At&) const;
  void write(const Stored&, const At&, const std::string& value);

  // --- Threads -----------------------------------------------------------------------------------------------------------
  /// A loop over the elements that the thread has of a tile.
  void each(std::int64_t count, const std::function<void(const At&)>& body);
  /// The same of a value's elements; of one element, by the first thread.
  void for_elements(ValueId, const std::function<void(const At&)>& body);
  /// By the first thread: lines that set a result of one element, which all threads have then.
  void once(ValueId result, const std::function<void()>& body);
  /// `{` … `}` behind a head: what is worked out within is not known after it.
  void within(const std::string& head, const std::function<void()>& body);
  /// The thread's elements of a tile; 1 where there are fewer elements than threads.
  std::int64_t slots(std::int64_t count) const { return std::max<std::int64_t>(1, count / threads); }
  /// Asks the compiler to unroll a loop whose index says which register is meant.
  void unroll(std::int64_t trips);
  /// Writes a barrier where what is read was written before it, or what is written was touched before.
  void order(const Resources& reads, const Resources& writes);
  /// The same of an operation: its operands, kept results, and the memory that it reads and writes.
  void order(const Operation&, const Resources& memory_reads = {}, const Resources& memory_writes = {});
  void barrier();
  Resource new_resource() { return next_resource_++; }
  /// The kept tiles that other threads wrote and that an element of this value is made of.
  void collect(ValueId, Resources&) const;
  /// The arrays that a pointer, or a view, may lead to.
  Resources arrays_behind(ValueId) const;

  // --- Control -----------------------------------------------------------------------------------------------------------
  void region(const Region&);
  /// An if: what threads may have to wait for behind it is what either side leaves.
  void branch(const std::string& condition, const Region& yes, const Region& no);
  /// Of a body without loops and memory, with its arguments' values: what it yields.
  std::vector<std::string> body(const Operation& owner, const std::vector<std::string>& arguments);
  /// Copies values to where a loop or an if has them, all at once.
  void assign(const std::vector<ValueId>& to, const std::vector<ValueId>& from);

  // --- The kernel --------------------------------------------------------------------------------------------------------
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
  std::vector<const Operation*> owners;  // of the regions around

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
  std::map<ValueId, std::string> names_;  // of one element
  std::map<ValueId, Stored> stored_;
  std::map<ValueId, View> views_;
  std::map<ValueId, const Operation*> definitions_;
  std::map<std::pair<ValueId, std::string>, std::string> known_;  // elements that have a name where we are
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
