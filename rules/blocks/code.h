// Adds the statements of a kernel and names the scalars that they define. Private to the room.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/stmt.h"

namespace deplo::rules::blocks {

using ir::Body;
using ir::DType;
using ir::Expr;

/// The name of a scalar in the kernel.
using Name = std::string;

/// The value of an attribute of an operation that the lowering creates.
struct Number {
  std::string_view attribute;
  std::int64_t value = 0;
};

/// One scope of names: the scalar that a statement defines is known to the statements after it. So this class has all
/// functions that add statements.
class Code {
 public:
  void add(ir::Stmt);
  std::string fresh(std::string_view prefix);
  /// Excludes the name from fresh names.
  void reserve(const std::string& name) { taken_.insert(name); }
  bool is_reserved(const std::string& name) const { return taken_.contains(name); }
  /// Declares an axis that is in scope everywhere.
  void add_axis(const std::string& name, std::int64_t extent) {
    ranges_.emplace_back(name, ir::Interval{0, extent - 1});
  }

  // Each of these functions returns the name of a scalar. It adds a definition unless the scalar is already known here.
  Name constant(DType, std::uint64_t bits);
  Name whole(DType dtype, std::int64_t number);  // `dtype` must be an integer type
  Name index(const Expr&);                       // the scalar is an i32
  Name condition(const Expr&);                   // the scalar is a boolean
  Name address(const std::string& buffer);
  /// An operation of NVIDIA's Tile IR. `numbers`: attributes with values other than their defaults.
  Name compute(std::string_view operation, DType result, std::vector<Name> args, std::vector<Number> numbers = {});
  Name compute(ir::Compute);  // the statement's `dst` is set here
  /// Converts an integer to an integer type of another width.
  Name converted(const Name&, DType from, DType to, bool with_sign);
  Name select(const Name& condition, DType, const Name& yes, const Name& no);
  /// Returns the scalar that is known under `key`. If none is known, `make` adds and names it.
  Name known(const std::string& key, const std::function<Name()>& make);
  Name known(const std::string& key, const std::function<ir::Stmt(const Name&)>& make);

  Expr simplified(const Expr& e) const { return ir::simplify(e, ranges_); }
  /// An integer scalar as a term of an index expression.
  Expr term(const Name&, DType);

  /// Returns the statements that `body` adds, in a scope of their own.
  Body within(const std::function<void()>& body);
  /// Adds the statements of `body`. The scalars that they define are not known afterwards.
  void scoped(const std::function<void()>& body);
  /// Adds a loop: for axis in 0..extent.
  void loop(std::int64_t extent, bool unrolled, const std::function<void(const Expr& axis)>& body);
  /// Adds an If. The variables of the condition must be axes.
  void guarded(const Expr& condition, const std::function<void()>& body);
  /// Adds a Branch: `body` is executed if the value is not 0 or, with `otherwise`, if it is 0.
  void branch(const Name& condition, bool otherwise, const std::function<void()>& body);

 private:
  Body* out_ = nullptr;
  ir::Ranges ranges_;                       // ranges of the axes in scope
  std::map<std::string, Name> known_;       // key of a scalar that is visible here → its name
  std::map<Name, std::int64_t> constants_;  // values of integer constants
  std::set<std::string, std::less<>> taken_;
  int next_name_ = 0;
};

}  // namespace deplo::rules::blocks
