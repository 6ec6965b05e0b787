// One walk over a program that stops at the first violation. Private to ir/verify.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/verify/name_table.h"

namespace deplo::ir {

/// Every check returns false after writing the message.
class Verifier {
 public:
  explicit Verifier(const Program& p) : program_(p) {}
  std::string run();

 private:
  using Kind = NameEntry::Kind;
  struct Scope {  // a body, by number
    int parent;
    const Loop* loop;  // whose body it is; nullptr for others
    bool open = true;
  };
  /// *less + slack <= *more holds here. Conditions are these and ranges of axes.
  struct Fact {
    const Expr *less, *more;
    std::int64_t slack;
  };
  struct Value {
    Strided range;
    bool varies = false;  // between the threads of a block
  };

  // verify.cpp: buffers, bodies, loops, conditions, the tile
  bool check(const Loop&), check(const If&), check(const Tile&);
  bool buffer(const Buffer&), body(const Body&, const Loop*owner), statement(const Stmt&);
  bool axis(const Axis&, bool varies, const Strided& range, int& number);
  bool per(const std::string& name);
  bool top_level(), accumulates_over_reduce_axes();
  int define(const std::string& name, Kind, const char* what);
  bool fail(std::string_view message);
  // verify_values.cpp
  bool check(const Load&), check(const Index&), check(const Assign&), check(const Accum&), check(const Write&);
  bool check(const Init&), check(const Prefetch&);
  bool use(const std::string& name, int& number);
  bool accumulate(const std::string& name, const Type&, Op, int& number);
  void extend_scope(NameEntry& acc) const;
  bool access(const std::string& name, const std::vector<Expr>& index, int n, int& number);
  bool vector_axis(const NameEntry& buffer, const std::vector<Expr>& index);
  // verify_types.cpp
  bool lanes(int n), type(const Type&);
  bool constant(double value, DType);
  bool arg(const Arg&, const Type& expected, bool horizontal);
  bool operands(const Assign&);
  // verify_stage.cpp
  bool check(const Stage&), check(const AsyncWait&);
  bool slab(const Stage&, std::size_t rank);
  bool declare(const Stage&, const Type& stored);
  bool uniform(const Expr&, const char* what, Value& out);
  // verify_shared.cpp
  bool check(const Combine&), check(const Smem&), check(const Sync&), check(const TreeHalve&);
  bool check(const WarpShuffle&);
  bool convergent();
  bool shared_access(const std::string& name, const std::vector<Expr>& index, int n, int& number);
  // verify_async.cpp
  bool check(const CpAsyncCopy&), check(const CpAsyncCommit&), check(const CpAsyncWait&), check(const MbarrierInit&);
  bool check(const MbarrierArriveExpectTx&), check(const MbarrierWait&), check(const TmaDescriptor&);
  bool check(const TmaLoad&);
  bool barrier(const std::string& name, const Expr& slot);
  // verify_index.cpp
  bool evaluate(const Expr&, Value& out);
  bool variable(const std::string&, Value& out);
  bool index_value(const Index&);
  bool in_range(const Expr&, std::int64_t extent, int n, std::size_t dim);
  bool provable(const Expr&, std::int64_t low, std::int64_t high);
  bool assume(const Expr& condition);
  bool assume_less(const Expr& less, const Expr& more, std::int64_t slack);
  void restrict(const Expr& variable, std::int64_t low, std::int64_t high);
  void apply_facts(const Expr&, Strided&);
  const Program& program_;
  NameTable names_;
  std::vector<Scope> scopes_;
  std::vector<int> axes_;  // in scope, outermost first
  std::vector<Fact> facts_;
  std::vector<std::pair<int, Strided>> saved_;  // ranges before the conditions around
  std::vector<std::pair<int, int>> accums_;     // Loop IR: accumulator and the scope of an Accum to it
  const Stmt* current_ = nullptr;
  const std::string* vector_axis_ = nullptr;
  int scope_ = -1;
  bool gathers_ = false;  // in an expression that may name values
  // Bodies around that some threads of the block may skip; that never run: their indices are not checked.
  int divergent_ = 0, unreachable_ = 0;
  std::uint32_t stamp_ = 0;
  std::int64_t threads_ = 1;  // of a block
  std::string message_;
};

}  // namespace deplo::ir
