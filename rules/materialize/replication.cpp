#include "rules/materialize/replication.h"

#include "core/mapped.h"
#include "ir/walk.h"

namespace deplo::rules::materializer {

Replication::Replication(KernelBuilder& kernel) : kernel_(kernel) {
  for (const ir::Axis& axis : kernel.tile.axes) {
    if (axis.bind == ir::Bind::reg) {
      axes_[axis.name].reg = std::uint64_t{1} << regs_.size();
      regs_.push_back(axis);
    } else if (axis.bind == ir::Bind::vector) {
      axes_[axis.name].vector = true;
      lane_ = axis.name;
      width_ = static_cast<int>(axis.extent);
    }
  }
  CHECK(regs_.size() <= 64);
  fixed_.resize(regs_.size());
  find_dependences(kernel.tile_program.body, {});
}

void Replication::find_dependences(const ir::Body& body, Dependence context) {
  for (const ir::Stmt& stmt : body) {
    Dependence on = context;
    ir::visit_reads(
        stmt, [&](const ir::Expr& e) { on |= of(e); },
        [&](const std::string& value) {
          if (const auto found = values_.find(value); found != values_.end()) on |= found->second.on;
        });
    if (const auto* loop = stmt.as<ir::Loop>()) axes_[loop->axis.name] = on;
    if (const ir::Body* inner = ir::inner_body(stmt)) {
      // Two passes: an accumulator of a loop may be read in it before the statement that makes it depend on an axis.
      for (int pass = 0; pass < 2; ++pass) find_dependences(*inner, stmt.as<ir::Tile>() != nullptr ? context : on);
    }
    if (const auto* combine = stmt.as<ir::Combine>()) {
      Dependence& acc = values_[combine->acc].on;
      for (const std::string& axis : combine->over) {
        acc.reg &= ~of_axis(axis).reg;
        acc.vector &= !of_axis(axis).vector;
      }
    }
    if (const std::string& name = ir::defined(stmt); !name.empty()) {
      values_[name].on |= on;
      partial_[name] |= values_[name].on;
    }
    if (const auto* accum = stmt.as<ir::Accum>()) values_[accum->dst].dtype = accum->type.dtype;
    if (const auto* scale = stmt.as<ir::Scale>()) values_[scale->acc].dtype = scale->type.dtype;
  }
}

Dependence Replication::of(const ir::Expr& e) const {
  Dependence result;
  ir::for_each_variable(e, [&](const std::string& name) {
    result |= of_axis(name);
    if (const auto found = values_.find(name); found != values_.end()) result |= found->second.on;
  });
  return result;
}

Dependence Replication::of(const std::vector<ir::Expr>& exprs) const {
  Dependence result;
  for (const ir::Expr& e : exprs) result |= of(e);
  return result;
}

Dependence Replication::of(const std::vector<ir::Arg>& args) const {
  Dependence result;
  for (const ir::Arg& arg : args)
    if (const auto* name = std::get_if<std::string>(&arg)) result |= values_.at(*name).on;
  return result;
}

Dependence Replication::of_axis(const std::string& axis) const {
  const auto found = axes_.find(axis);
  return found == axes_.end() ? Dependence{} : found->second;
}

std::vector<Instance> Replication::instances(const Dependence& on) const {
  std::vector<Instance> result = {Instance(regs_.size(), 0)};
  for (std::size_t i = 0; i < regs_.size(); ++i) {
    if (fixed_[i])
      for (Instance& instance : result) instance[i] = *fixed_[i];
    if ((on.reg >> i & 1) == 0 || fixed_[i]) continue;
    std::vector<Instance> next;
    for (const Instance& instance : result)
      for (std::int64_t v = 0; v < regs_[i].extent; ++v) {
        next.push_back(instance);
        next.back()[i] = v;
      }
    result = std::move(next);
  }
  return result;
}

// Returns what replaces a variable of a Tile IR expression in one instance; nullopt if the variable stays.
std::optional<ir::Expr> Replication::replacement(const std::string& name, const Instance& instance,
                                                 const ir::Expr& lane) const {
  if (name == lane_) return lane;
  for (std::size_t i = 0; i < regs_.size(); ++i)
    if (regs_[i].name == name) return ir::Expr(instance[i]);
  for (const auto& [before, after] : axis_names_)
    if (before == name) return after;
  const auto value = values_.find(name);
  if (value == values_.end()) return std::nullopt;
  CHECK(!value->second.on.vector);  // rule vectorize guarantees it
  return ir::var(this->name(value->second, instance));
}

ir::Expr Replication::at(const ir::Expr& e, const Instance& instance, const ir::Expr& lane) const {
  ir::Substitution substitution;
  ir::for_each_variable(e, [&](const std::string& name) {
    if (auto other = replacement(name, instance, lane)) substitution.emplace_back(name, std::move(*other));
  });
  return substitution.empty() ? e : ir::simplify(ir::substitute(e, substitution), kernel_.scope);
}

std::vector<ir::Expr> Replication::at(const std::vector<ir::Expr>& exprs, const Instance& instance) const {
  return mapped(exprs, [&](const ir::Expr& e) { return at(e, instance); });
}

std::vector<ir::Expr> Replication::place_at(const std::vector<ir::Expr>& index, const Instance& instance) const {
  const auto on_lane = [&](const ir::Expr& e) { return ir::depends_on(e, lane_); };
  if (width_ == 1 || std::none_of(index.begin(), index.end(), on_lane)) return at(index, instance);
  if (std::none_of(index.begin(), index.end() - 1, on_lane) && ir::coefficient(index.back(), lane_) == 1)
    return at(index, instance);
  return mapped(index, [&](const ir::Expr& e) { return at(e, instance, ir::var(ir::lane_variable)); });
}

std::vector<ir::Arg> Replication::at(const std::vector<ir::Arg>& args, const Instance& instance) const {
  std::vector<ir::Arg> result = args;
  for (ir::Arg& arg : result)
    if (auto* name = std::get_if<std::string>(&arg)) *name = this->name(values_.at(*name), instance);
  return result;
}

const std::string& Replication::define(const std::string& value, ir::DType dtype, const Dependence& on,
                                       const Instance& instance) {
  Copies& copies = values_[value];
  copies.on = on;
  copies.dtype = dtype;
  copies.names.resize(count(on));
  return name(copies, instance) = kernel_.fresh(value);
}

Copies Replication::unnamed(const Dependence& on, ir::DType dtype) const {
  return {on, dtype, std::vector<std::string>(count(on))};
}

std::size_t Replication::count(const Dependence& on) const {
  std::size_t n = 1;
  for (std::size_t i = 0; i < regs_.size(); ++i)
    if ((on.reg >> i & 1) != 0) n *= static_cast<std::size_t>(regs_[i].extent);
  return n;
}

// Returns the mixed-radix number of the instance over the axes in `on`.
std::size_t Replication::position(const Dependence& on, const Instance& instance) const {
  std::size_t result = 0;
  for (std::size_t i = 0; i < regs_.size(); ++i)
    if ((on.reg >> i & 1) != 0)
      result = result * static_cast<std::size_t>(regs_[i].extent) + static_cast<std::size_t>(instance[i]);
  return result;
}

std::string& Replication::name(Copies& copies, const Instance& instance) const {
  return copies.names[position(copies.on, instance)];
}

const std::string& Replication::name(const Copies& copies, const Instance& instance) const {
  return copies.names[position(copies.on, instance)];
}

}  // namespace deplo::rules::materializer
