// Expands the REG axes: a value is copied once for each combination of the REG axes that it depends on. The VECTOR axis
// becomes the lanes of the value's type. Private to rules/materialize.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ir/program.h"
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// The REG axes that a value depends on (one bit each, by position), and whether it depends on the VECTOR axis.
struct Dependence {
  std::uint64_t reg = 0;
  bool vector = false;
  Dependence& operator|=(const Dependence& other) {
    reg |= other.reg;
    vector |= other.vector;
    return *this;
  }
};

/// A position along each REG axis.
using Instance = std::vector<std::int64_t>;

/// What a Tile IR value becomes: a Kernel IR name for each instance of the axes that it depends on.
struct Copies {
  Dependence on;
  ir::DType dtype = ir::DType::f32;
  std::vector<std::string> names;
};

/// Expands values over the REG and VECTOR axes. The axes that a value depends on determine how many copies it has, the
/// copies have names, and expressions are rewritten with these names, so one class does all three. Most methods are
/// overloads for an expression, a list, and arguments.
class Replication {
 public:
  explicit Replication(KernelBuilder& kernel);

  Dependence of(const ir::Expr&) const;
  Dependence of(const std::vector<ir::Expr>&) const;
  Dependence of(const std::vector<ir::Arg>&) const;
  Dependence of_axis(const std::string& axis) const;  // a REG or VECTOR axis, or a loop whose start depends on one
  Dependence of_partial(const std::string& acc) const { return partial_.at(acc); }  // before any Combine

  /// Returns all combinations of the axes in `on`. Axes that each_instance() has fixed keep their value; all others are
  /// 0.
  std::vector<Instance> instances(const Dependence& on) const;
  /// Calls f(instance) for each combination, with these axes fixed during the call.
  template <class F>
  void each_instance(const Dependence& on, F&& f);

  /// Returns the expression in one instance. The axes of surrounding loops get the kernel's names; the lane is 0 by
  /// default.
  ir::Expr at(const ir::Expr&, const Instance&, const ir::Expr& lane = 0) const;
  std::vector<ir::Expr> at(const std::vector<ir::Expr>&, const Instance&) const;
  std::vector<ir::Arg> at(const std::vector<ir::Arg>&, const Instance&) const;
  /// Returns the index of an access to global memory. The index contains the lane if the lanes are not consecutive
  /// elements of the last dimension.
  std::vector<ir::Expr> place_at(const std::vector<ir::Expr>&, const Instance&) const;
  /// The same for an expression that depends on no REG axis: at() in instance 0.
  ir::Expr at(const ir::Expr& e) const { return at(e, Instance(regs_.size(), 0)); }
  std::vector<ir::Expr> at(const std::vector<ir::Expr>& list) const { return at(list, Instance(regs_.size(), 0)); }

  /// Defines a fresh name for one instance of a value.
  const std::string& define(const std::string& value, ir::DType, const Dependence& on, const Instance&);
  const Copies& copies(const std::string& value) const { return values_.at(value); }
  void set_copies(const std::string& value, Copies copies) { values_[value] = std::move(copies); }
  /// Returns copies with an empty name for each instance.
  Copies unnamed(const Dependence& on, ir::DType) const;
  std::string& name(Copies&, const Instance&) const;
  const std::string& name(const Copies&, const Instance&) const;

  int lanes(const Dependence& on) const { return on.vector ? width_ : 1; }
  ir::Type type(ir::DType dtype, const Dependence& on) const { return {dtype, lanes(on)}; }

  /// Enters a loop whose axis has another name in the kernel.
  void enter_loop(const std::string& before, const std::string& after) {
    axis_names_.emplace_back(before, ir::var(after));
  }
  void leave_loop() { axis_names_.pop_back(); }

 private:
  void find_dependences(const ir::Body&, Dependence context);
  std::size_t count(const Dependence&) const;
  std::size_t position(const Dependence&, const Instance&) const;
  std::optional<ir::Expr> replacement(const std::string&, const Instance&, const ir::Expr& lane) const;

  KernelBuilder& kernel_;
  std::vector<ir::Axis> regs_;
  std::string lane_;                                // the VECTOR axis
  int width_ = 1;                                   // its extent
  std::vector<std::optional<std::int64_t>> fixed_;  // per REG axis: its value inside a statement replicated over it
  std::map<std::string, Dependence> axes_;          // REG and VECTOR axes, and loops whose start depends on them
  std::map<std::string, Dependence> partial_;       // of values, before any Combine
  std::map<std::string, Copies> values_;
  ir::Substitution axis_names_;
};

template <class F>
void Replication::each_instance(const Dependence& on, F&& f) {
  CHECK(!on.vector);  // rule vectorize guarantees it
  const auto outer = fixed_;
  for (const Instance& instance : instances(on)) {
    for (std::size_t i = 0; i < regs_.size(); ++i)
      if ((on.reg >> i & 1) != 0) fixed_[i] = instance[i];
    f(instance);
    fixed_ = outer;
  }
}

}  // namespace deplo::rules::materializer
