// Scheduled Tile IR → Kernel IR. REG axes are expanded: a statement is replicated over those it depends on, no others.
// The VECTOR axis becomes the lanes of types. Stages and Combines become shared memory and barriers
// (stage.cpp, combine.cpp).
#include "rules/materialize/materialize.h"

#include <algorithm>

#include "core/text/match.h"
#include "rules/lower.h"
#include "rules/tile/helpers/common.h"

namespace deplo::rules {

Materializer::Materializer(const ir::Program& program, const Target& target)
    : tile_program_(program), target_(target), tile_(&tile_of(program)) {
  for (const ir::Axis& axis : tile_->axes) {
    if (axis.bind == ir::Bind::reg) {
      axes_[axis.name].reg = std::uint64_t{1} << regs_.size();
      regs_.push_back(axis);
    } else if (axis.bind == ir::Bind::vector) {
      axes_[axis.name].vector = true;
      lane_ = axis.name;
      width_ = static_cast<int>(axis.extent);
    } else {
      scope_.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
      if (axis.bind == ir::Bind::thread) threads_ *= axis.extent;
    }
  }
  CHECK(regs_.size() <= 64);
  fixed_.resize(regs_.size());
}

ir::Program Materializer::run() {
  ir::Program out = {ir::Level::kernel, tile_program_.name, tile_program_.buffers, {}};
  for (const ir::Buffer& buffer : tile_program_.buffers) buffers_.insert(buffer.name);
  ir::for_each(tile_->body, [&](const ir::Stmt& stmt) {
    if (const auto* stage = stmt.as<ir::Stage>()) declare(*stage);
  });
  while (barriers_ > 0 && !buffers_.insert(barrier_).second) barrier_ += "_";
  find_dependences(tile_program_.body, {});
  find_fusible(tile_->body);
  starts_ = ir::accumulator_starts(tile_program_.body);
  body(tile_program_.body, out.body);
  std::move(descriptors_.begin(), descriptors_.end(), std::inserter(out.body, out.body.end() - 1));
  ir::renumber_axes(out);
  return out;
}

void Materializer::find_dependences(const ir::Body& from, Dependence context) {
  for (const ir::Stmt& stmt : from) {
    Dependence on = context;
    ir::visit_reads(
        stmt, [&](const ir::Expr& e) { on |= of(e); },
        [&](const std::string& value) {
          if (const auto found = values_.find(value); found != values_.end()) on |= found->second.on;
        });
    if (const auto* loop = stmt.as<ir::Loop>()) axes_[loop->axis.name] = on;
    if (const ir::Body* inner = ir::inner_body(stmt)) {
      // Twice: an accumulator of a loop may be read in it before the statement that makes it depend on an axis.
      for (int pass = 0; pass < 2; ++pass) find_dependences(*inner, stmt.as<ir::Tile>() != nullptr ? context : on);
    }
    if (const auto* combine = stmt.as<ir::Combine>()) {
      Dependence& acc = values_[combine->acc].on;
      for (const std::string& axis : combine->over) {
        const Dependence over = axes_.count(axis) > 0 ? axes_[axis] : Dependence{};
        acc.reg &= ~over.reg;
        acc.vector &= !over.vector;
      }
    }
    if (const auto* accum = stmt.as<ir::Accum>()) accumulators_[accum->dst] = accum->type.dtype;
    if (const std::string& name = ir::defined(stmt); !name.empty()) {
      values_[name].on |= on;
      partial_[name] |= values_[name].on;
    }
  }
}

// v = multiply(x, y) read by nothing but acc <- add(acc, v): one fused multiply-add.
void Materializer::find_fusible(const ir::Body& from) {
  std::map<std::string, int, std::less<>> uses;
  const auto use = [&](const std::string& value) { ++uses[value]; };
  ir::for_each(from, [&](const ir::Stmt& stmt) {
    ir::visit_reads(
        stmt, [&](const ir::Expr& e) { ir::for_each_variable(e, use); }, use);
  });
  ir::for_each(from, [&](const ir::Stmt& outer) {
    const ir::Body* inner = ir::inner_body(outer);
    if (inner == nullptr) return;
    for (const ir::Stmt& stmt : *inner) {
      const auto* accum = stmt.as<ir::Accum>();
      if (accum == nullptr || accum->op != ir::Op::add) continue;
      const auto* value = std::get_if<std::string>(&accum->args[0]);
      for (const ir::Stmt& other : *inner)
        if (const auto* product = other.as<ir::Assign>(); product != nullptr && value != nullptr &&
                                                          product->dst == *value && product->op == ir::Op::multiply &&
                                                          uses[*value] == 1)
          fused_[*value] = product->args;
    }
  });
}

Dependence Materializer::of(const ir::Expr& e) const {
  Dependence result;
  ir::for_each_variable(e, [&](const std::string& name) {
    if (const auto found = axes_.find(name); found != axes_.end()) result |= found->second;
    if (const auto found = values_.find(name); found != values_.end()) result |= found->second.on;
  });
  return result;
}

Dependence Materializer::of(const std::vector<ir::Expr>& exprs) const {
  Dependence result;
  for (const ir::Expr& e : exprs) result |= of(e);
  return result;
}

Dependence Materializer::of(const std::vector<ir::Arg>& args) const {
  Dependence result;
  for (const ir::Arg& arg : args)
    if (const auto* name = std::get_if<std::string>(&arg)) {
      const auto fused = fused_.find(*name);
      result |= fused != fused_.end() ? of(fused->second) : values_.at(*name).on;
    }
  return result;
}

std::size_t Materializer::count(const Dependence& on) const {
  std::size_t n = 1;
  for (std::size_t i = 0; i < regs_.size(); ++i)
    if ((on.reg >> i & 1) != 0) n *= static_cast<std::size_t>(regs_[i].extent);
  return n;
}

// Mixed-radix number of the instance over the axes in `on`.
std::size_t Materializer::position(const Dependence& on, const Instance& instance) const {
  std::size_t result = 0;
  for (std::size_t i = 0; i < regs_.size(); ++i)
    if ((on.reg >> i & 1) != 0)
      result = result * static_cast<std::size_t>(regs_[i].extent) + static_cast<std::size_t>(instance[i]);
  return result;
}

std::vector<Materializer::Instance> Materializer::instances(const Dependence& on) const {
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

std::vector<ir::Arg> Materializer::at(const std::vector<ir::Arg>& args, const Instance& instance) const {
  std::vector<ir::Arg> result = args;
  for (ir::Arg& arg : result)
    if (auto* name = std::get_if<std::string>(&arg)) {
      const Copies& copies = values_.at(*name);
      *name = copies.names[position(copies.on, instance)];
    }
  return result;
}

// What a variable of a Tile IR expression is in one instance; nullopt: itself.
std::optional<ir::Expr> Materializer::replacement(const std::string& name, const Instance& instance,
                                                  const ir::Expr& lane) const {
  if (name == lane_) return lane;
  for (std::size_t i = 0; i < regs_.size(); ++i)
    if (regs_[i].name == name) return ir::Expr(instance[i]);
  for (const auto& [before, after] : axis_names_)
    if (before == name) return after;
  const auto value = values_.find(name);
  if (value == values_.end()) return std::nullopt;
  const Copies& copies = value->second;
  CHECK(!copies.on.vector);  // vectorize sees to it
  return ir::var(copies.names[position(copies.on, instance)]);
}

ir::Expr Materializer::at(const ir::Expr& e, const Instance& instance, const ir::Expr& lane) const {
  ir::Substitution substitution;
  ir::for_each_variable(e, [&](const std::string& name) {
    if (auto other = replacement(name, instance, lane)) substitution.emplace_back(name, std::move(*other));
  });
  return substitution.empty() ? e : ir::simplify(ir::substitute(e, substitution), scope_);
}

std::vector<ir::Expr> Materializer::at(const std::vector<ir::Expr>& exprs, const Instance& instance) const {
  std::vector<ir::Expr> result;
  for (const ir::Expr& e : exprs) result.push_back(at(e, instance));
  return result;
}

// Values are numbered by kind: in0, v0, acc0.
std::string Materializer::fresh(const std::string& like) {
  std::string prefix = like.substr(0, like.find_first_of("0123456789"));
  if (prefix.empty()) prefix = "v";
  std::string name;
  do name = prefix + std::to_string(next_[prefix]++);
  while (buffers_.count(name) > 0);
  return name;
}

const std::string& Materializer::define(const std::string& value, ir::DType dtype, const Dependence& on,
                                        const Instance& instance) {
  Copies& copies = values_[value];
  copies.on = on;
  copies.dtype = dtype;
  copies.names.resize(count(on));
  std::string& name = copies.names[position(on, instance)];
  name = fresh(value);
  return name;
}

ir::Expr Materializer::thread_id() const {
  ir::Expr id = 0;
  for (const ir::Axis& axis : tile_->axes)
    if (axis.bind == ir::Bind::thread) id = id * axis.extent + ir::var(axis.name);
  return ir::simplify(id, scope_);
}

ir::Program materialize(const ir::Program& tile, const Target& target) {
  CHECK(tile.level == ir::Level::tile);
  ir::Program kernel = Materializer(tile, target).run();
  if (const std::string violation = ir::verify(kernel); !violation.empty()) {
    std::fprintf(stderr, "materialize made an invalid program: %s\n%s", violation.c_str(), ir::print(kernel).c_str());
    CHECK(violation.empty());
  }
  return kernel;
}

}  // namespace deplo::rules
