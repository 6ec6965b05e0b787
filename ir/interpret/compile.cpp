#include "ir/interpret/compile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory_resource>

#include "core/error.h"
#include "core/text/match.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/text/constant.h"

namespace deplo::ir::exec {

Compiler::Compiler(const Program& program, const FreeValues* free_values, const Limits& limits)
    : program_(program), free_values_(free_values), limits_(limits) {
  for (const Buffer& b : program.buffers) {
    const auto negative = [](std::int64_t stride) { return stride < 0; };
    if (b.strides.size() != b.shape.size() || std::any_of(b.strides.begin(), b.strides.end(), negative))
      fail("expected one stride, not negative, per dimension of " + b.name);
    static_cast<Layout&>(machine_.globals.emplace_back()) = {b.name, b.shape, b.strides};
  }
  if (program.level != Level::kernel) starts_ = accumulator_starts(program.body);
  if (program.level == Level::tile) dependences_ = register_dependences(program.body);
  for (const Stmt& stmt : program.body) {
    at_ = &stmt;
    if (const auto* tile = stmt.as<Tile>()) launch(*tile);
  }
  body(program.body, machine_.code);
}

void Compiler::fail(const std::string& what) const {
  throw Error("interpret: " + what + (at_ == nullptr ? "" : ", at `" + text_of(*at_) + "`"));
}

// lane = thread * registers + register; in both the last axis is fastest.
void Compiler::launch(const Tile& tile) {
  if (tile_ != nullptr) fail("expected one Tile, found two");
  if (tile.axes.size() > 64) fail("expected at most 64 axes, found " + std::to_string(tile.axes.size()));
  tile_ = &tile;
  for (const Axis& axis : tile.axes) {
    if (axis.extent < 1 || axis.extent > (1 << 30)) fail("expected axis extents from 1 to 2^30");
    if (axis.bind == Bind::thread) machine_.threads *= static_cast<int>(axis.extent);
    if (axis.bind == Bind::reg || axis.bind == Bind::vector) machine_.registers *= static_cast<int>(axis.extent);
    if (machine_.threads > 1 << 16 || machine_.registers > 1 << 16) fail("expected at most 65536 lanes");
  }
  machine_.lanes = machine_.threads * machine_.registers;
  lane_steps_.resize(tile.axes.size());
  int thread_step = machine_.lanes, register_step = machine_.registers;
  for (std::size_t i = 0; i < tile.axes.size(); ++i) {
    const Axis& axis = tile.axes[i];
    const auto extent = static_cast<int>(axis.extent);
    const int slot = variable(axis.bind != Bind::block && machine_.lanes > 1);
    scope_.emplace_back(axis.name, slot);
    if (axis.bind == Bind::block) {
      machine_.block_axes.emplace_back(slot, axis.extent);
      continue;
    }
    int& step = axis.bind == Bind::thread ? thread_step : register_step;
    step /= extent;
    lane_steps_[i] = {step, extent};
    Variable& v = machine_.variables[static_cast<std::size_t>(slot)];
    for (std::size_t l = 0; l < v.lanes.size(); ++l) v.lanes[l] = static_cast<int>(l) / step % extent;
  }
}

int Compiler::variable(bool varies) {
  Variable v{.varies = varies};
  if (varies) v.lanes.resize(static_cast<std::size_t>(machine_.lanes));
  machine_.variables.push_back(std::move(v));
  return static_cast<int>(machine_.variables.size()) - 1;
}

std::size_t Compiler::define(const std::string& name, int lanes) {
  if (lanes < 1 || lanes > 64) fail("expected 1 to 64 lanes, found " + std::to_string(lanes));
  const auto [it, fresh] = values_.try_emplace(name, Operand{machine_.values.size(), lanes});
  if (fresh) machine_.values.resize(machine_.values.size() + static_cast<std::size_t>(machine_.lanes * lanes));
  if (it->second.lanes != lanes) fail(name + " has " + std::to_string(it->second.lanes) + " lanes elsewhere");
  return it->second.value;
}

std::size_t Compiler::constant(double value) {
  const std::size_t start = machine_.values.size();
  machine_.values.resize(start + static_cast<std::size_t>(machine_.lanes), value);
  return start;
}

Operand Compiler::operand(const Arg& arg, int lanes) {
  if (const auto* value = std::get_if<double>(&arg)) return {constant(f32_constant(*value)), 1};
  const auto& name = *std::get_if<std::string>(&arg);
  const auto found = values_.find(name);
  if (found == values_.end()) fail("nothing defines " + name);
  if (found->second.lanes != 1 && lanes != 0 && found->second.lanes != lanes)
    fail("expected a scalar or " + std::to_string(lanes) + " lanes, found " + std::to_string(found->second.lanes) +
         " in " + name);
  return found->second;
}

Index Compiler::index(const Expr& e) {
  std::array<std::byte, 2048> buffer;
  std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
  Affine a(&arena);
  a.add(e, 1);
  if (a.overflow) fail("the index " + print(e) + " does not fit into 64 bits");
  Index result;
  result.constant = a.constant;
  for (const Term& t : a.terms) {
    if (t.atom.kind() == Expr::Kind::variable) {
      const auto is = [&](const auto& entry) { return entry.first == t.atom.name(); };
      const auto found = std::find_if(scope_.rbegin(), scope_.rend(), is);
      if (found == scope_.rend()) {
        result.values.emplace_back(operand(t.atom.name(), 1).value, t.coefficient);
        result.varies = true;
        continue;
      }
      const bool varies = machine_.variables[static_cast<std::size_t>(found->second)].varies;
      (varies ? result.varying : result.uniform).emplace_back(found->second, t.coefficient);
      result.varies = result.varies || varies;
      continue;
    }
    const bool divides = t.atom.op() == ExprOp::div || t.atom.op() == ExprOp::mod;
    if (divides && !(t.atom.rhs().kind() == Expr::Kind::constant && t.atom.rhs().value() > 0))
      fail("expected division by a positive constant, found " + print(t.atom));
    Atom atom{t.coefficient, t.atom.op(), index(t.atom.lhs()), index(t.atom.rhs()), false, {}, {}};
    atom.varies = atom.lhs.varies || atom.rhs.varies;
    if (atom.varies) atom.left.resize(static_cast<std::size_t>(machine_.lanes)), atom.right = atom.left;
    result.varies = result.varies || atom.varies;
    result.atoms.push_back(std::move(atom));
  }
  return result;
}

Access Compiler::access(const std::string& buffer, const std::vector<Expr>& indices, int lanes) {
  Access result{.lanes = lanes};
  const auto named = [&](const Layout& layout) { return layout.name == buffer; };
  const auto& shared = machine_.shared;
  const auto& globals = machine_.globals;
  const auto s = std::find_if(shared.begin(), shared.end(), named);
  const auto g = std::find_if(globals.begin(), globals.end(), named);
  if (s == shared.end() && g == globals.end()) fail("nothing defines the buffer " + buffer);
  result.shared = s != shared.end();
  result.buffer = static_cast<int>(result.shared ? s - shared.begin() : g - globals.begin());
  const std::size_t rank = result.shared ? s->shape.size() : g->shape.size();
  if (rank != indices.size())
    fail("expected " + std::to_string(rank) + " indices for " + buffer + ", found " + std::to_string(indices.size()));
  if (lanes > 1 && rank == 0) fail("a vector access needs a dimension");
  for (const Expr& e : indices) {
    result.index.push_back(index(e));
    result.varies = result.varies || result.index.back().varies;
  }
  return result;
}

std::vector<int> Compiler::representatives(std::uint64_t axes) const {
  std::vector<int> result(static_cast<std::size_t>(machine_.lanes));
  for (std::size_t l = 0; l < result.size(); ++l) {
    int lane = static_cast<int>(l);
    for (std::size_t i = 0; i < lane_steps_.size(); ++i) {
      if (((axes >> i) & 1) == 0 || lane_steps_[i].empty()) continue;
      const int step = lane_steps_[i][0], extent = lane_steps_[i][1];
      lane -= static_cast<int>(l) / step % extent * step;
    }
    result[l] = lane;
  }
  return result;
}

Machine compile(const Program& program, const FreeValues* free_values, const Limits& limits) {
  return Compiler(program, free_values, limits).take();
}

}  // namespace deplo::ir::exec
