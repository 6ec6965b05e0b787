#include "ir/interpret/compiler.h"

#include <algorithm>
#include <array>
#include <memory_resource>

#include "core/error.h"
#include "core/text/match.h"
#include "ir/hardware/mma.h"
#include "ir/interpret/statements/statements.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/walk.h"

namespace deplo::ir::exec {
namespace {

// Maximum number of elements of an array; as Cells they take 10 GiB.
constexpr std::int64_t max_cells = std::int64_t{1} << 28;

template <class List>
int position(const List& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.name == name; });
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

Machine::Machine(const Program& program, const FreeValues* free_values, const Limits& limits, const Arithmetic& floats)
    : arithmetic(floats) {
  Compiler(*this, program, free_values, limits).run();
}

Compiler::Compiler(Machine& m, const Program& p, const FreeValues* values, const Limits& limits)
    : machine(m), program(p), free_values(values), limits_(limits), out_(&m.code) {
  for (const Buffer& b : program.buffers) {
    const auto negative = [](std::int64_t stride) { return stride < 0; };
    if (b.strides.size() != b.shape.size() || std::any_of(b.strides.begin(), b.strides.end(), negative))
      fail("expected one stride, not negative, per dimension of " + b.name);
    static_cast<Layout&>(machine.global.buffers.emplace_back()) = {b.name, b.shape, b.strides, b.dtype};
  }
  if (p.allow_tf32)
    for (std::string& product : mma::find_products(p, mma::Operands::tf32)) tf32_products.insert(std::move(product));
  for_each(p.body, [&](const Stmt& stmt) {
    const auto note = [&](const auto* made) {
      if (made != nullptr && made->type.dtype != DType::f32) dtypes[made->dst] = made->type.dtype;
    };
    note(stmt.as<Load>());
    note(stmt.as<ir::Index>());
    note(stmt.as<Assign>());
    note(stmt.as<Accum>());
  });
  if (limits.blocks > 0) machine.max_blocks = limits.blocks;
  machine.clusters = limits.clusters;
  machine.seed = limits.seed;
  machine.global.once = program.level == Level::loop;
  if (program.level != Level::kernel) starts_ = accumulator_starts(program.body);
  if (program.level == Level::tile) groups = LaneGroups(program.body);
}

void Compiler::run() {
  for (const Stmt& stmt : program.body) {
    at_ = &stmt;
    if (const auto* t = stmt.as<Tile>()) launch(*t);
  }
  append(program.body);
}

void Compiler::fail(const std::string& what) const {
  throw Error("interpret: " + what + (at_ == nullptr ? "" : ", at `" + text_of(*at_) + "`"));
}

void Compiler::append(const Body& body) {
  std::size_t run_end = 0;  // end of the run of stages that are waited for together
  for (std::size_t i = 0; i < body.size(); ++i) {
    at_ = &body[i];
    if (i >= run_end) {
      run_end = i + std::max<std::size_t>(1, stage_run(body, i));
      opens_group = true;
    }
    for (const AccumulatorStart& start : starts_)
      if (start.body == &body && start.index == i) compile(*this, Init{start.acc, {}, start.op});
    match(body[i].node, [&](const auto& stmt) { compile(*this, stmt); });
  }
}

Code Compiler::code_of(const Body& body) {
  Code code;
  Code* const outer = std::exchange(out_, &code);
  const Stmt* const owner = at_;
  append(body);
  at_ = owner;
  out_ = outer;
  return code;
}

Code Compiler::code_of(const Loop& loop, int variable) {
  scope_.emplace_back(loop.axis.name, variable);
  loops.push_back(loop.axis.name);
  Code code = code_of(loop.body);
  loops.pop_back();
  scope_.pop_back();
  return code;
}

// lane = thread * registers + register. The last axis varies fastest, both among threads and among registers.
void Compiler::launch(const Tile& t) {
  if (tile != nullptr) fail("expected one Tile, found two");
  if (t.axes.size() > 64) fail("expected at most 64 axes, found " + std::to_string(t.axes.size()));
  tile = &t;
  Lanes& lanes = machine.lanes;
  for (const Axis& axis : t.axes) {
    if (axis.extent < 1 || axis.extent > (1 << 30)) fail("expected axis extents from 1 to 2^30");
    if (axis.bind == Bind::thread) lanes.threads *= static_cast<int>(axis.extent);
    if (axis.bind == Bind::reg || axis.bind == Bind::vector) lanes.registers *= static_cast<int>(axis.extent);
    if (lanes.threads > 1 << 16 || lanes.registers > 1 << 16) fail("expected at most 65536 lanes");
  }
  lanes.count = lanes.threads * lanes.registers;
  int thread_step = lanes.count, register_step = lanes.registers;
  std::vector<std::pair<int, std::int64_t>> cluster;
  for (const Axis& axis : t.axes) {
    const auto extent = static_cast<int>(axis.extent);
    const bool launch = axis.bind == Bind::block || axis.bind == Bind::cluster;
    const int slot = variable(!launch && lanes.count > 1);
    scope_.emplace_back(axis.name, slot);
    if (launch) {
      (axis.bind == Bind::block ? machine.block_axes : cluster).emplace_back(slot, axis.extent);
      groups.add_axis(axis.bind, 0, extent);
      continue;
    }
    int& step = axis.bind == Bind::thread ? thread_step : register_step;
    step /= extent;
    groups.add_axis(axis.bind, step, extent);
    Variable& v = lanes.variables[static_cast<std::size_t>(slot)];
    for (std::size_t l = 0; l < v.lanes.size(); ++l) v.lanes[l] = static_cast<int>(l) / step % extent;
  }
  for (const auto& axis : cluster) {
    machine.block_axes.push_back(axis);
    machine.cluster *= static_cast<int>(axis.second);
  }
}

int Compiler::variable(bool varies) {
  Variable v{.varies = varies};
  if (varies) v.lanes.resize(static_cast<std::size_t>(machine.lanes.count));
  machine.lanes.variables.push_back(std::move(v));
  return static_cast<int>(machine.lanes.variables.size()) - 1;
}

std::size_t Compiler::define(const std::string& name, int lanes) {
  if (lanes < 1 || lanes > 64) fail("expected 1 to 64 lanes, found " + std::to_string(lanes));
  std::vector<double>& values = machine.lanes.values;
  const auto [it, fresh] = values_.try_emplace(name, Operand{values.size(), lanes});
  if (fresh) values.resize(values.size() + static_cast<std::size_t>(machine.lanes.count * lanes));
  if (it->second.lanes != lanes) fail(name + " has " + std::to_string(it->second.lanes) + " lanes elsewhere");
  return it->second.value;
}

Operand Compiler::operand(const Arg& arg, int lanes, DType dtype) {
  if (const auto* constant = std::get_if<double>(&arg)) {
    std::vector<double>& values = machine.lanes.values;
    const std::size_t start = values.size();
    values.resize(start + static_cast<std::size_t>(machine.lanes.count),
                  machine.arithmetic_of(dtype).constant(*constant));
    return {start, 1};
  }
  const auto& name = *std::get_if<std::string>(&arg);
  const auto found = values_.find(name);
  if (found == values_.end()) fail("nothing defines " + name);
  if (found->second.lanes != 1 && lanes != 0 && found->second.lanes != lanes)
    fail("expected a scalar or " + std::to_string(lanes) + " lanes, found " + std::to_string(found->second.lanes) +
         " in " + name);
  return found->second;
}

std::vector<Index> Compiler::indices(const std::vector<Expr>& list,
                                     const std::vector<std::pair<std::string, int>>& axes) {
  scope_.insert(scope_.end(), axes.begin(), axes.end());
  std::vector<Index> result;
  for (const Expr& e : list) result.push_back(index(e));
  scope_.erase(scope_.end() - std::ssize(axes), scope_.end());
  return result;
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
      const bool varies = machine.lanes.variables[static_cast<std::size_t>(found->second)].varies;
      (varies ? result.varying : result.uniform).emplace_back(found->second, t.coefficient);
      result.varies = result.varies || varies;
      continue;
    }
    const bool divides = t.atom.op() == ExprOp::div || t.atom.op() == ExprOp::mod;
    if (divides && !(t.atom.rhs().kind() == Expr::Kind::constant && t.atom.rhs().value() > 0))
      fail("expected division by a positive constant, found " + print(t.atom));
    Atom atom{t.coefficient, t.atom.op(), index(t.atom.lhs()), index(t.atom.rhs()), false, {}, {}};
    atom.varies = atom.lhs.varies || atom.rhs.varies;
    if (atom.varies) atom.left.resize(static_cast<std::size_t>(machine.lanes.count)), atom.right = atom.left;
    result.varies = result.varies || atom.varies;
    result.atoms.push_back(std::move(atom));
  }
  return result;
}

Access Compiler::access(const std::string& buffer, const std::vector<Expr>& indices, int lanes) {
  Access result{.lanes = lanes};
  const int in_shared = shared(buffer), in_global = global(buffer);
  if (in_shared < 0 && in_global < 0) fail("nothing defines the buffer " + buffer);
  result.shared = in_shared >= 0;
  result.buffer = result.shared ? in_shared : in_global;
  const auto number = static_cast<std::size_t>(result.buffer);
  const Layout& layout =
      result.shared ? static_cast<const Layout&>(machine.shared.buffers[number]) : machine.global.buffers[number];
  const std::size_t rank = layout.shape.size();
  if (rank != indices.size())
    fail("expected " + std::to_string(rank) + " indices for " + buffer + ", found " + std::to_string(indices.size()));
  if (lanes > 1 && rank == 0) fail("a vector access needs a dimension");
  for (const Expr& e : indices) {
    result.index.push_back(index(e));
    result.varies = result.varies || result.index.back().varies;
  }
  return result;
}

DType Compiler::dtype_of(const std::string& value) const {
  const auto known = dtypes.find(value);
  return known == dtypes.end() ? DType::f32 : known->second;
}

int Compiler::axis(const std::string& name) const {
  const auto found =
      std::find_if(scope_.rbegin(), scope_.rend(), [&](const auto& entry) { return entry.first == name; });
  if (found == scope_.rend()) fail("nothing defines the axis " + name);
  return found->second;
}

int Compiler::global(const std::string& name) const { return position(machine.global.buffers, name); }
int Compiler::shared(const std::string& name) const { return position(machine.shared.buffers, name); }
int Compiler::barrier(const std::string& name) const { return position(machine.copies.barriers, name); }

void Compiler::declare_shared(const std::string& name, DType dtype, std::vector<std::int64_t> shape, std::int64_t count,
                              std::int64_t align) {
  std::int64_t cells = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || cells > max_cells / extent) fail("expected a shared buffer of sensible size");
    cells *= extent;
  }
  if (align < 1) fail("expected a positive alignment");
  reserve_shared(count * bytes(dtype), align);
  Shared s{{name, shape, row_major_strides(shape), dtype}, {}, bytes(dtype), align};
  s.cells.resize(static_cast<std::size_t>(cells));
  machine.shared.buffers.push_back(std::move(s));
}

std::size_t Compiler::declare_local(const std::string& name, std::int64_t count, int lanes) {
  std::vector<LocalElements>& arrays = machine.locals.arrays;
  if (count < 1 || count > max_cells / lanes) fail("expected an array of sensible size");
  arrays.push_back({name, count, false, std::vector<std::optional<double>>(static_cast<std::size_t>(count * lanes))});
  locals_[name] = {false, arrays.size() - 1};
  return arrays.size() - 1;
}

std::size_t Compiler::declare_local_memory(const Local& s) {
  if (s.count < 1 || s.count > max_cells) fail("expected an array of sensible size");
  const std::int64_t size = local_bytes(s.dtype), end = s.offset + s.count * size;
  Shared memory{{s.array, {s.count}, {1}, s.dtype}, {}, size, size};
  memory.cells.resize(static_cast<std::size_t>(s.count));
  machine.shared.buffers.push_back(std::move(memory));
  const std::size_t number = machine.shared.buffers.size() - 1;
  machine.shared.buffers.back().local = {s.space, s.offset, end};
  locals_[s.array] = {true, number};
  if (s.space == Space::shared && limits_.shared_bytes > 0 && end > limits_.shared_bytes)
    fail("shared memory over the limit: " + std::to_string(end) + " bytes of " + std::to_string(limits_.shared_bytes));
  return number;
}

const LocalArray& Compiler::local(const std::string& name) const {
  const auto found = locals_.find(name);
  if (found == locals_.end()) fail("nothing declares the array " + name);
  return found->second;
}

void Compiler::declare_barriers(const std::string& name, std::int64_t slots, std::int64_t count) {
  machine.copies.barriers.push_back({name, at_, count, std::vector<Barrier::Slot>(static_cast<std::size_t>(slots))});
}

// Adds up the pieces by falling alignment, the order in which the emitter lays them out.
void Compiler::reserve_shared(std::int64_t size, std::int64_t align) {
  shared_pieces_.emplace(align, size);
  std::int64_t total = 0;
  for (const auto& [alignment, piece] : shared_pieces_) total = (total + alignment - 1) / alignment * alignment + piece;
  if (limits_.shared_bytes > 0 && total > limits_.shared_bytes)
    fail("shared memory over the limit: " + std::to_string(total) + " bytes of " +
         std::to_string(limits_.shared_bytes));
}

}  // namespace deplo::ir::exec
