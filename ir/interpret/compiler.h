// Private to the interpreter: resolves the names of a program to slots, and collects the instructions of its statements.
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

class Compiler {
 public:
  Compiler(Machine& machine, const Program& program, const FreeValues* free_values, const Limits& limits);
  void run();

  Machine& machine;
  const Program& program;
  const FreeValues* free_values;
  LaneGroups groups;
  const Tile* tile = nullptr;
  std::vector<std::string> loops;  // around the statement
  bool opens_group = false;        // a Stage: it is the first of those that are waited for together
  std::vector<const TmaDescriptor*> descriptors;
  bool producing = false;                            // inside a Produce
  std::set<std::string, std::less<>> tf32_products;  // whose factors may be rounded
  std::map<std::string, DType, std::less<>> dtypes;  // of values that are not f32

  const Stmt& statement() const { return *at_; }
  [[noreturn]] void fail(const std::string& what) const;

  /// The statement does run(machine, mask), which may change what `run` holds.
  template <class F>
  void emit(F run) {
    out_->push_back({at_, std::move(run)});
  }
  /// Once for all blocks of a cluster; of a statement that stands directly in the Tile.
  template <class F>
  void emit_of_cluster(F run) {
    if (out_ != &machine.code) fail("expected it directly in the Tile");
    out_->push_back({at_, std::move(run), true});
  }
  void append(const Body& body);  // its statements, one after the other
  Code code_of(const Body& body);
  /// The same inside a loop over the variable.
  Code code_of(const Loop& loop, int variable);

  int variable(bool varies);
  // Each fails where a name is not defined before the statement.
  Index index(const Expr& e);
  Access access(const std::string& buffer, const std::vector<Expr>& indices, int lanes);
  /// A constant, or a value of so many lanes or one; 0: of any.
  Operand operand(const Arg& arg, int lanes);
  std::size_t define(const std::string& name, int lanes);  // where its lanes start

  int global(const std::string& name) const;  // the buffer's number; -1: there is none
  int shared(const std::string& name) const;
  int barrier(const std::string& name) const;
  /// `count` elements of memory for cells of the shape: a stage's layout may need more.
  void declare_shared(const std::string& name, DType dtype, std::vector<std::int64_t> shape, std::int64_t count,
                      std::int64_t align);
  void declare_barriers(const std::string& name, std::int64_t slots, std::int64_t count);
  void reserve_shared(std::int64_t size, std::int64_t align);
  int axis(const std::string& name) const;  // its variable

 private:
  void launch(const Tile& tile);

  Limits limits_;
  std::multimap<std::int64_t, std::int64_t, std::greater<>> shared_pieces_;  // alignment → bytes
  std::vector<AccumulatorStart> starts_;
  std::vector<std::pair<std::string, int>> scope_;  // axis → variable
  std::map<std::string, Operand, std::less<>> values_;
  Code* out_;
  const Stmt* at_ = nullptr;  // that is compiled
};

}  // namespace deplo::ir::exec
