// The statements of Loop IR: loops and conditions, loads, values, accumulators and writes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "ir/interpret/statements/statements.h"
#include "ir/softmax.h"
#include "ir/types/float16.h"
#include "ir/walk.h"

namespace deplo::ir::exec {
namespace {

struct RunLoop {
  int variable;
  Index start;
  std::int64_t extent, step;
  std::optional<Index> end;
  Code body;

  void operator()(Machine& m, Mask mask) {
    const std::int64_t stop = end ? std::min(extent, m.lanes.scalar(*end)) : extent;
    for (std::int64_t v = m.lanes.scalar(start); v < stop;) {
      m.lanes.variables[static_cast<std::size_t>(variable)].scalar = v;
      m.execute(body, mask);
      if (__builtin_add_overflow(v, step, &v)) break;
    }
  }
};

// Each lane has its own start, and leaves the loop when its own variable reaches the extent.
struct RunStridedLoop {
  int variable;
  Index start;
  std::int64_t extent, step;
  Code body;
  std::vector<std::uint8_t> inside;  // a mask

  void operator()(Machine& m, Mask mask) {
    std::vector<std::int64_t>& v = m.lanes.variables[static_cast<std::size_t>(variable)].lanes;
    m.lanes.evaluate(start, v.data());
    const auto is_inside = [&](std::size_t l) { return (mask == nullptr || mask[l] != 0) && v[l] < extent; };
    for (;;) {
      int active = 0;
      for (std::size_t l = 0; l < v.size(); ++l) active += inside[l] = is_inside(l) ? 1 : 0;
      if (active == 0) return;
      m.execute(body, active == m.lanes.count ? nullptr : inside.data());
      for (std::size_t l = 0; l < v.size(); ++l)  // another block may have overwritten `inside` by now
        if (is_inside(l) && __builtin_add_overflow(v[l], step, &v[l])) v[l] = INT64_MAX;
    }
  }
};

struct RunIf {
  Index condition;
  Code then;
  std::vector<std::uint8_t> inside;  // a mask

  void operator()(Machine& m, Mask mask) {
    if (!condition.varies) {
      if (m.lanes.scalar(condition) != 0) m.execute(then, mask);
      return;
    }
    m.lanes.evaluate(condition, m.index.data());
    int active = 0;
    for (std::size_t l = 0; l < inside.size(); ++l) {
      inside[l] = (mask == nullptr || mask[l] != 0) && m.index[l] != 0 ? 1 : 0;
      active += inside[l];
    }
    if (active > 0) m.execute(then, active == m.lanes.count ? nullptr : inside.data());
  }
};

struct RunLoad {
  Access from;
  std::size_t dst;

  void operator()(Machine& m, Mask mask) {
    m.products.touch(dst);
    m.load(from, dst, mask);
  }
};

/// Loads each lane of the value from a separate place.
struct RunLoadApart {
  std::vector<Access> lanes;
  std::size_t dst;

  void operator()(Machine& m, Mask mask) {
    for (std::size_t w = 0; w < lanes.size(); ++w) {
      if (!lanes[w].shared) {
        m.load(lanes[w], dst + w * static_cast<std::size_t>(m.lanes.count), mask);
        continue;
      }
      const Offsets offsets = m.locate(lanes[w], mask);
      Shared& shared = m.shared.buffers[static_cast<std::size_t>(lanes[w].buffer)];
      double* out = m.lanes.element(dst, static_cast<int>(w));
      for (int l = 0; l < m.lanes.count; ++l)
        if (mask == nullptr || mask[l] != 0)
          out[l] = m.shared.read(shared, shared.cells[static_cast<std::size_t>(offsets[l])], l);
    }
  }
};

struct RunIndex {
  std::size_t dst;
  DType dtype;
  std::vector<Index> lanes;

  void operator()(Machine& m, Mask) {
    for (std::size_t w = 0; w < lanes.size(); ++w) {
      double* out = m.lanes.element(dst, static_cast<int>(w));
      m.lanes.evaluate(lanes[w], m.index.data());
      for (std::size_t l = 0; l < m.index.size(); ++l) {
        out[l] = dtype == DType::boolean ? (m.index[l] != 0 ? 1 : 0) : static_cast<double>(m.index[l]);
        if (is_float(dtype)) out[l] = m.arithmetic.constant(out[l]);
      }
    }
  }
};

struct RunComputation {
  Computation computation;

  void operator()(Machine& m, Mask mask) const {
    if (computation.accumulates) m.products.touch(computation.dst);
    if (m.roundings.kept()) return m.roundings.compute(computation, m.lanes);
    compute(computation, m.arithmetic, m.lanes, mask, m.result.data());
  }
};

struct RunWrite {
  Access to;
  Operand value;
  WriteMode mode;
  int first;               // lane of the value that goes to the first element
  std::vector<int> leads;  // the lanes that execute the write: one for all registers that it does not depend on

  void operator()(Machine& m, Mask mask) {
    const Offsets offsets = m.locate(to, mask);
    const auto buffer = static_cast<std::size_t>(to.buffer);
    const std::int64_t stride = to.lanes == 1 || to.shared ? 1 : m.global.buffers[buffer].strides.back();
    const double rounding = m.roundings.error(value.value);
    for (const int l : leads) {
      if (mask != nullptr && mask[l] == 0) continue;
      if (mode == WriteMode::add_together && offsets[l] % to.lanes != 0)
        m.lanes.fail("misaligned addition of " + std::to_string(to.lanes) + " lanes to element " +
                         std::to_string(offsets[l]) + " of " + m.global.buffers[buffer].name,
                     l);
      for (int w = 0; w < to.lanes; ++w) {
        double element = m.lanes.element(value.value, value.lanes == 1 ? 0 : first + w)[l];
        const std::int64_t offset = offsets[l] + w * stride;
        if (!to.shared) {
          m.global.write(to, mode, offset, l, element, rounding);
          continue;
        }
        Shared& shared = m.shared.buffers[buffer];
        Cell& cell = shared.cells[static_cast<std::size_t>(offset)];
        if (adds(mode)) {
          const double before = m.shared.read(shared, cell, l);
          combine(m.arithmetic, shared.dtype, Op::add, 1, &element, &element, &before);
        }
        m.shared.write(shared, cell, l, m.stored(shared, element));
      }
    }
  }
};

/// Returns the type of constants among the arguments: the result's type, or for comparisons and copies the type of the
/// compared or converted value.
DType operand_type(const Compiler& c, Op op, DType result, const std::vector<Arg>& args) {
  if (gives_truth(op) || op == Op::copy)
    for (const Arg& arg : args)
      if (const auto* value = std::get_if<std::string>(&arg)) return c.dtype_of(*value);
  return gives_truth(op) ? DType::f32 : result;
}

Computation computation(Compiler& c, const std::string& dst, const Type& type, Op op, const std::vector<Arg>& args,
                        bool accumulates) {
  if (args.size() + (accumulates ? 1 : 0) != static_cast<std::size_t>(arity(op))) c.fail("wrong number of arguments");
  const bool reduces = is_horizontal(op);
  Computation result{op, type.dtype, 0, type.lanes, accumulates, {}};
  for (const Arg& arg : args)
    result.args.push_back(c.operand(arg, reduces ? 0 : type.lanes, operand_type(c, op, type.dtype, args)));
  if (op == Op::copy || gives_truth(op)) result.from = operand_type(c, op, type.dtype, args);
  if (!accumulates) {
    result.dst = c.define(dst, type.lanes);
    return result;
  }
  const Operand acc = c.operand(dst, type.lanes);
  if (acc.lanes != type.lanes) c.fail("the lanes of " + dst + " do not agree");
  result.dst = acc.value;
  return result;
}

}  // namespace

void compile(Compiler& c, const Loop& s) {
  if (s.step < 1) c.fail("expected a positive step, found " + std::to_string(s.step));
  Index start = c.index(s.start);
  std::int64_t extent = s.axis.extent;
  if (c.free_values != nullptr && s.axis.bind != Bind::reduce) {
    const auto value = c.free_values->find(s.axis.name);
    if (value == c.free_values->end()) c.fail("expected a value of the axis " + s.axis.name);
    extent = std::min(extent, value->second + 1);
    if (s.axis.bind == Bind::free) {  // a scan has to run through all values before its own
      start = {};
      start.constant = value->second;
    }
  }
  std::optional<Index> end;
  if (s.end) end = c.index(*s.end);
  if (end && (end->varies || start.varies)) c.fail("expected an end that all threads share");
  const int variable = c.variable(start.varies);
  const bool outside = std::exchange(c.scanning, s.axis.bind == Bind::scan);
  if (start.varies) {
    const auto lanes = static_cast<std::size_t>(c.machine.lanes.count);
    Code body = c.code_of(s, variable);
    c.emit(
        RunStridedLoop{variable, std::move(start), extent, s.step, std::move(body), std::vector<std::uint8_t>(lanes)});
  } else {
    Code body = c.code_of(s, variable);
    c.emit(RunLoop{variable, std::move(start), extent, s.step, std::move(end), std::move(body)});
  }
  c.scanning = outside;
}

void compile(Compiler& c, const If& s) {
  Index condition = c.index(s.condition);
  Code then = c.code_of(s.then);
  c.emit(RunIf{std::move(condition), std::move(then),
               std::vector<std::uint8_t>(static_cast<std::size_t>(c.machine.lanes.count))});
}

void compile(Compiler& c, const Load& s) {
  if (reads_apart(s)) {
    RunLoadApart run{{}, c.define(s.dst, s.type.lanes)};
    for (int w = 0; w < s.type.lanes; ++w) run.lanes.push_back(c.access(s.buffer, in_lane(s.index, w), 1));
    return c.emit(std::move(run));
  }
  Access from = c.access(s.buffer, s.index, s.type.lanes);
  c.emit(RunLoad{std::move(from), c.define(s.dst, s.type.lanes)});
}

void compile(Compiler& c, const ir::Index& s) {
  RunIndex run{c.define(s.dst, s.type.lanes), s.type.dtype, {}};
  for (int w = 0; w < s.type.lanes; ++w)
    run.lanes.push_back(c.index(s.type.lanes == 1 ? s.value : substitute(s.value, {{lane_variable, Expr(w)}})));
  c.emit(std::move(run));
}

void compile(Compiler& c, const Assign& s) {
  Computation run = computation(c, s.dst, s.type, s.op, s.args, false);
  if (c.tf32_products.contains(s.dst)) run.factors = std::sqrt(2) * tf32_roundoff;  // both factors are rounded
  c.emit(RunComputation{std::move(run)});
}
void compile(Compiler& c, const Accum& s) {
  Computation run = computation(c, s.dst, s.type, s.op, s.args, true);
  run.scans = c.scanning;
  c.emit(RunComputation{std::move(run)});
}

void compile(Compiler& c, const Scale& s) {
  Computation run = computation(c, s.acc, s.type, Op::multiply, {s.factor}, true);
  run.scales = true;
  c.emit(RunComputation{std::move(run)});
}

// Compiles the statement's steps. No program has a value with the names used here.
void compile(Compiler& c, const SoftmaxSum& s) {
  int next = 0;
  compile(c, *opening(s).as<Accum>());
  const Body body = steps(s, [&] { return fmt::format("{} step {}", s.maximum, next++); });
  for (const Stmt& step : body)
    if (const auto* assign = step.as<Assign>()) {
      Computation run = computation(c, assign->dst, assign->type, assign->op, assign->args, false);
      if (assign->op == Op::multiply) run.factors = unit_roundoff(exponential_type(c.program, assign->args[1]));
      c.emit(RunComputation{std::move(run)});
    } else if (const auto* scale = step.as<Scale>())
      compile(c, *scale);
    else
      compile(c, *step.as<Accum>());
}

namespace {

// Writes `lanes` lanes of the value, from lane `first` on, to consecutive elements that start at the index.
void compile_write(Compiler& c, const Write& s, const std::vector<Expr>& index, int first, int lanes) {
  Access access = c.access(s.buffer, index, lanes);
  const Layout& to = c.layout(access);
  RunWrite run{std::move(access), c.operand(s.value, s.lanes, to.dtype), s.mode, first, {}};
  run.to.scatters = names_value(c.program.body, s.index);
  const std::vector<int> leads = c.groups.first_lanes(~c.groups.axes_of(c.statement()), c.machine.lanes.count);
  for (int l = 0; l < c.machine.lanes.count; ++l)
    if (leads[static_cast<std::size_t>(l)] == l) run.leads.push_back(l);
  c.emit(std::move(run));
}

}  // namespace

void compile(Compiler& c, const Write& s) {
  if (!writes_apart(s)) return compile_write(c, s, s.index, 0, s.lanes);
  for (int lane = 0; lane < s.lanes; ++lane) compile_write(c, s, in_lane(s.index, lane), lane, 1);
}

}  // namespace deplo::ir::exec
