// Resolves the names of a program to slots, and collects the instructions of its statements. Private to the
// interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/accumulators.h"
#include "ir/interpret/lane_groups.h"
#include "ir/interpret/machine.h"

namespace deplo::ir::exec {

/// The location of an ir::Local or ir::Table.
struct LocalArray {
  bool in_memory = false;  // true: shared or scratch memory, a buffer of SharedState; false: an array of LocalState
  std::size_t number = 0;
};

/// Compiles a program statement by statement. Statements look up and declare names through this class, so that its
/// error messages can name the statement that is being compiled.
class Compiler {
 public:
  Compiler(Machine& machine, const Program& program, const FreeValues* free_values, const Limits& limits);
  void run();

  Machine& machine;
  const Program& program;
  const FreeValues* free_values;
  LaneGroups groups;
  const Tile* tile = nullptr;
  std::vector<std::string> loops;  // names of the loops around the statement
  bool opens_group = false;        // the next asynchronous Stage is the first of its group
  std::vector<const TmaDescriptor*> descriptors;
  bool producing = false;                            // the statement is inside a Produce
  bool scanning = false;                             // the statement is inside the body of a scan
  std::set<std::string, std::less<>> tf32_products;  // products whose factors may be rounded to tf32
  std::map<std::string, DType, std::less<>> dtypes;  // only of values that are not f32

  const Stmt& statement() const { return *at_; }
  [[noreturn]] void fail(const std::string& what) const;

  /// Adds an instruction for the current statement. The instruction calls run(machine, mask), which may modify `run`.
  template <class F>
  void emit(F run) {
    out_->push_back({at_, std::move(run)});
  }
  /// Like emit(), for an instruction that runs once for all blocks of a cluster. Fails unless the statement stands
  /// directly in the Tile.
  template <class F>
  void emit_of_cluster(F run) {
    if (out_ != &machine.code) fail("expected it directly in the Tile");
    out_->push_back({at_, std::move(run), true});
  }
  void append(const Body& body);  // compiles the body's statements in order
  Code code_of(const Body& body);
  /// Compiles the body of a loop over the variable.
  Code code_of(const Loop& loop, int variable);

  int variable(bool varies);
  /// Compiles indices that may name these additional axes, given with their variables.
  std::vector<Index> indices(const std::vector<Expr>&, const std::vector<std::pair<std::string, int>>& axes);
  // The following functions fail if a name is not defined before the statement.
  Index index(const Expr& e);
  const Layout& layout(const Access& access) const { return machine.layout(access); }
  Access access(const std::string& buffer, const std::vector<Expr>& indices, int lanes);
  /// Returns a constant of type `dtype`, a scalar value, or a value of `lanes` lanes (0: any number of lanes).
  Operand operand(const Arg& arg, int lanes, DType dtype = DType::f32);
  DType dtype_of(const std::string& value) const;
  std::size_t define(const std::string& name, int lanes);  // returns the start of the value's lanes

  int global(const std::string& name) const;  // returns the buffer's number, or -1 if there is none
  int shared(const std::string& name) const;
  int barrier(const std::string& name) const;
  /// Declares shared memory with cells of `shape`. It takes `count` elements, more than the cells if the stage's layout
  /// has padding.
  void declare_shared(const std::string& name, DType dtype, std::vector<std::int64_t> shape, std::int64_t count,
                      std::int64_t align);
  /// Declares an array of `count` elements for each of `lanes` lanes. Returns its number in LocalState.
  std::size_t declare_local(const std::string& name, std::int64_t count, int lanes);
  /// Declares an array in shared memory or in the block's scratch memory, at the offset that the statement gives in
  /// bytes. Returns its number in SharedState.
  std::size_t declare_local_memory(const Local&);
  const LocalArray& local(const std::string& name) const;
  void declare_barriers(const std::string& name, std::int64_t slots, std::int64_t count);
  void reserve_shared(std::int64_t size, std::int64_t align);
  int axis(const std::string& name) const;  // returns the axis's variable

 private:
  void launch(const Tile& tile);

  Limits limits_;
  std::multimap<std::int64_t, std::int64_t, std::greater<>> shared_pieces_;  // alignment → bytes
  std::map<std::string, LocalArray, std::less<>> locals_;
  std::vector<AccumulatorStart> starts_;
  std::vector<std::pair<std::string, int>> scope_;  // axis → variable
  std::map<std::string, Operand, std::less<>> values_;
  Code* out_;
  const Stmt* at_ = nullptr;  // the statement that is being compiled
};

}  // namespace deplo::ir::exec
