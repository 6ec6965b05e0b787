// The statements of a kernel as they are added, and the scalars that they define. Private to the room.
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

/// A value of an attribute of an operation that a lowering makes.
struct Number {
  std::string_view attribute;
  std::int64_t value = 0;
};

/// One scope of names: what a statement defines is known to those after it, so all that adds statements is here.
class Code {
 public:
  void add(ir::Stmt);
  std::string fresh(std::string_view prefix);
  /// No fresh name is this one.
  void reserve(const std::string& name) { taken_.insert(name); }
  bool is_reserved(const std::string& name) const { return taken_.contains(name); }
  /// An axis that is in scope everywhere.
  void add_axis(const std::string& name, std::int64_t extent) {
    ranges_.emplace_back(name, ir::Interval{0, extent - 1});
  }

  // Each returns the name of a scalar, which it defines unless it is known here.
  Name constant(DType, std::uint64_t bits);
  Name whole(DType dtype, std::int64_t number);  // of an integer type
  Name index(const Expr&);                       // an i32
  Name condition(const Expr&);                   // a boolean
  Name address(const std::string& buffer);
  /// An operation of Tile IR. `numbers`: attributes that are not the default.
  Name compute(std::string_view operation, DType result, std::vector<Name> args, std::vector<Number> numbers = {});
  Name compute(ir::Compute);  // without a name
  /// An integer as one of another width.
  Name converted(const Name&, DType from, DType to, bool with_sign);
  Name select(const Name& condition, DType, const Name& yes, const Name& no);
  /// What `make` adds and names; `key` says what it is.
  Name known(const std::string& key, const std::function<Name()>& make);
  Name known(const std::string& key, const std::function<ir::Stmt(const Name&)>& make);

  Expr simplified(const Expr& e) const { return ir::simplify(e, ranges_); }
  /// An integer scalar as a term of an index expression.
  Expr term(const Name&, DType);

  /// The statements that `body` adds, in a scope of their own.
  Body within(const std::function<void()>& body);
  /// The statements that `body` adds; what they compute is not known after them.
  void scoped(const std::function<void()>& body);
  /// for axis in 0..extent.
  void loop(std::int64_t extent, bool unrolled, const std::function<void(const Expr& axis)>& body);
  /// If the condition, whose variables are axes, holds.
  void guarded(const Expr& condition, const std::function<void()>& body);
  /// If the value is not 0 (or with `otherwise`, if it is 0).
  void branch(const Name& condition, bool otherwise, const std::function<void()>& body);

 private:
  Body* out_ = nullptr;
  ir::Ranges ranges_;                       // of the axes in scope
  std::map<std::string, Name> known_;       // scalars that are visible here, by what they are
  std::map<Name, std::int64_t> constants_;  // integers
  std::set<std::string, std::less<>> taken_;
  int next_name_ = 0;
};

}  // namespace deplo::rules::blocks
