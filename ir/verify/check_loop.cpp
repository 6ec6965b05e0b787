// Checks the statements of Loop IR: loops and conditions, loads, values, accumulators and writes.
#include <algorithm>
#include <set>
#include <utility>

#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/simplify/repeats.h"
#include "ir/types/float16.h"
#include "ir/verify/checks.h"
#include "ir/verify/operands.h"
#include "ir/verify/violation.h"
#include "ir/walk.h"

namespace deplo::ir::verifier {
namespace {

void check_per(const Context& c, const std::string& text) {
  const Name* axis = c.names.find(text);
  if (axis == nullptr || axis->kind != Name::Kind::axis || !axis->active || axis->bind != Bind::reg)
    fail("`{}` is not a REG axis", text);
}

// Checks a loop that matrix instructions execute, which need whole warps. They use 16-bit operands exactly. They round
// other operands to tf32, which the program must allow.
void check_atom(Context& c, const Loop& l) {
  if (c.program.level != Level::tile) fail("matrix instructions can execute a loop only in Tile IR");
  const Tile* tile = nullptr;
  for (const Stmt& stmt : c.program.body)
    if (const auto* found = stmt.as<Tile>()) tile = found;
  if (tile == nullptr) fail("a loop of matrix instructions must be in a Tile");
  mma::Product product;
  if (const std::string fault = mma::find_product(*tile, l, product); !fault.empty()) fail("{}", fault);
  const auto type_of = [&](const mma::Factor& factor) {
    const auto dtype = mma::element_type(c.program, factor);
    if (!dtype || !product.atom->takes(*dtype))
      fail("{} multiplies elements of {}, but `{}` is not one", l.atom, mma::element_names(*product.atom),
           factor.value);
    return *dtype;
  };
  if (type_of(product.a) != type_of(product.b)) fail("{} takes operands of one type", l.atom);
  check_allowed(c, *product.atom);
  check_convergent(c);
}

// Checks the end that a mask gives a loop. It must be the same for all threads of a block.
void check_end(Context& c, const Loop& l) {
  if (c.program.level == Level::loop) fail("a loop can end early only in Tile and Kernel IR");
  if (!l.start.is_constant(0) || l.step != 1 || !l.atom.empty() || l.pairs || !l.per.empty())
    fail("a loop that ends early must go from 0 by 1, without matrix instructions, pairs or shared trips");
  if (c.index.evaluate(*l.end).varies) fail("the end of a loop must be the same for all threads of a block");
}

// Checks a loop for which other threads fill the slots. They copy by TMA to several slots, and the loop waits for a
// slot right after its Stages.
void check_producers(const Context& c, const Loop& l) {
  if (c.program.level != Level::tile) fail("threads can fill the slots of others only in Tile IR");
  if (l.producers < 1 || l.producers % gpu::warp != 0)
    fail("{} producers are not a multiple of the warp size", l.producers);
  if (c.threads % gpu::warp != 0) fail("{} threads are not a multiple of the warp size", c.threads);
  const std::size_t stages = stage_run(l.body, 0);
  for (std::size_t i = 0; i < stages; ++i)
    if (const auto& s = *l.body[i].as<Stage>(); s.transport != Transport::tma || s.slots < 2 || !s.when.is_constant(1))
      fail("`{}` is not copied by TMA to several slots", s.buffer);
  if (stages == 0 || stages == l.body.size() || l.body[stages].as<AsyncWait>() == nullptr)
    fail("a loop whose slots other threads fill must begin with its Stages and their wait");
  check_convergent(c);
}

// Checks a loop that executes two iterations at once, with operands from a stage that stores its elements in pairs.
void check_pairs(const Context& c, const Loop& l) {
  if (c.program.level != Level::tile) fail("a loop can take pairs only in Tile IR");
  pairs::Product product;
  std::string fault = pairs::find_product(c.program, l, product);
  if (fault.empty()) fault = pairs::fault(c.program, product);
  if (!fault.empty()) fail("pairs of {}", fault);
}

void define_value(Context& c, const std::string& text, const Type& type, bool of_block) {
  Name& value = c.names.define(text, Name::Kind::value, "a value");
  value.type = type;
  // The interpreter computes i64 in double, which is exact up to 2^53.
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  value.range = type.dtype == DType::i64 ? Strided{-exact, exact, 1} : Strided{INT32_MIN, INT32_MAX, 1};
  value.of_block = of_block;
}

/// Is the value of the name, or of all names in the expression, the same for all threads of a block, in all registers
/// and lanes?
bool is_of_block(const Context& c, const std::string& text) {
  const Name* name = c.names.find(text);
  if (name == nullptr) return false;
  if (name->kind != Name::Kind::axis) return name->of_block;
  return !name->varies && name->bind != Bind::reg && name->bind != Bind::vector;
}
bool is_of_block(const Context& c, const Expr& e) {
  bool all = true;
  for_each_variable(e, [&](const std::string& name) { all = all && is_of_block(c, name); });
  return all;
}
bool is_of_block(const Context& c, const Arg& arg) {
  const auto* name = std::get_if<std::string>(&arg);
  return name == nullptr || is_of_block(c, *name);
}
template <class Part>
bool are_of_block(const Context& c, const std::vector<Part>& parts) {
  return std::ranges::all_of(parts, [&](const Part& part) { return is_of_block(c, part); });
}

bool names_value(const Context& c, const Expr& e) {
  bool found = false;
  for_each_variable(e, [&](const std::string& text) {
    const Name* name = c.names.find(text);
    found = found || (name != nullptr && name->kind == Name::Kind::value);
  });
  return found;
}

/// The axes and values on which the index depends, directly or through the values that it names.
std::set<std::string> behind(const Program& program, const std::vector<Expr>& index) {
  const std::vector<std::string> named = variables(index);
  std::set<std::string> names(named.begin(), named.end());
  for (std::size_t before = 0; before != names.size();) {
    before = names.size();
    for_each(program.body, [&](const Stmt& stmt) {
      if (!names.contains(defined(stmt))) return;
      const Reads read = reads(stmt);
      names.insert(read.axes.begin(), read.axes.end());
      names.insert(read.values.begin(), read.values.end());
    });
  }
  return names;
}

/// In Loop IR, each iteration of the axes around a Write must write an element of its own. This function checks that as
/// far as the index shows it. If the index names values, the interpreter checks the rest.
void check_once(const Context& c, const Write& w) {
  const bool scatters = std::ranges::any_of(w.index, [&](const Expr& e) { return names_value(c, e); });
  const std::set<std::string> names = scatters ? behind(c.program, w.index) : std::set<std::string>();
  for (const Name* axis : c.index.axes())
    if (!axis->range.single() && !c.index.is_indexed(*axis) && !names.contains(std::string(axis->text)))
      fail("every value of axis `{}` writes the same element", axis->text);
}

/// Checks the body of a condition that names values. It may contain Writes and the values that they need, but no
/// statements that the threads of a block execute together.
void check_chosen(const Body& body) {
  for (const Stmt& stmt : body) {
    const bool scalar = stmt.as<Load>() != nullptr || stmt.as<Index>() != nullptr || stmt.as<Assign>() != nullptr;
    if (const auto* inner = stmt.as<If>())
      check_chosen(inner->then);
    else if (!scalar && stmt.as<Write>() == nullptr)
      fail("a condition that names a value may contain only Writes and the values that they need");
  }
}

// May the lanes of an access lie apart in memory? In global memory, CPUs access such lanes one by one, which is too
// slow inside a loop.
bool may_lie_apart(const Context& c, const std::string& buffer) {
  const Name* name = c.names.find(buffer);
  return name != nullptr && name->kind == Name::Kind::buffer && !c.in_loop;
}

// Does a load need few vector loads although its lanes are not consecutive? A load of every second element takes two
// vector loads. A load in which several lanes share each element takes one. So they may also stand in a loop.
bool takes_few_vectors(const Context& c, const Load& l) {
  const Name* name = c.names.find(l.buffer);
  if (c.vector_axis == nullptr || name == nullptr || name->kind != Name::Kind::buffer || l.index.empty()) return false;
  for (std::size_t i = 0; i + 1 < l.index.size(); ++i)
    if (depends_on(l.index[i], *c.vector_axis)) return false;
  const std::int64_t lanes = c.names.find(*c.vector_axis)->range.high + 1;
  return name->unit_stride &&
         (coefficient(l.index.back(), *c.vector_axis) == 2 || repeats_of(l.index, *c.vector_axis, lanes) > 0);
}

const Name& check_lanes_apart(Context& c, const Load& l) {
  const bool has_words = l.type.dtype == DType::f32 || l.type.dtype == DType::i32;
  if (c.program.level != Level::kernel || !has_words) fail("lanes can be read apart only in Kernel IR, as f32 or i32");
  const Name* buffer = nullptr;
  for (int lane = 0; lane < l.type.lanes; ++lane) buffer = &check_access(c, l.buffer, in_lane(l.index, lane), 1);
  return *buffer;
}

const Name& check_write_apart(Context& c, const Write& w) {
  if (c.program.level != Level::kernel || w.mode != WriteMode::assign)
    fail("lanes can be written apart only in Kernel IR, and by assignments");
  const Name* buffer = nullptr;
  for (int lane = 0; lane < w.lanes; ++lane) buffer = &check_access(c, w.buffer, in_lane(w.index, lane), 1);
  if (buffer->kind != Name::Kind::buffer) fail("lanes can be written apart only to global memory");
  return *buffer;
}

void check_stream(const Context& c, const Write& w, const Name& target) {
  if (c.program.level == Level::loop) fail("writes can be streamed only in Tile and Kernel IR");
  if (target.kind != Name::Kind::buffer || target.type.dtype != DType::f32)
    fail("only global memory of f32 can be streamed to, not `{}`", w.buffer);
  if (writes_apart(w)) fail("lanes that are written apart cannot be streamed");
}

// CUDA C++ Programming Guide, "atomicAdd": float2 and float4 must be aligned to their size.
void check_together(const Context& c, const Write& w, DType stored) {
  if (c.program.level != Level::kernel) fail("lanes can be added together only in Kernel IR");
  if (stored != DType::f32 || (w.lanes != 2 && w.lanes != 4)) fail("only 2 or 4 lanes of f32 can be added together");
  if (known_divisor(flat_offset(w.index, c.program.find(w.buffer)->strides)) % w.lanes != 0)
    fail("{} lanes are added together to `{}` at an index that is not a known multiple of {}", w.lanes, w.buffer,
         w.lanes);
}

}  // namespace

void check(Context& c, const Loop& l) {
  if (l.axis.bind > Bind::scan) fail("a loop is free, reduce or scan");
  if (l.step < 1) fail("a step of {}", l.step);
  if (l.unroll < 0) fail("an unroll factor of {}", l.unroll);
  const Value start = c.index.evaluate(l.start);
  const auto trips = [&](std::int64_t from) {
    return from >= l.axis.extent ? 0 : (l.axis.extent - 1 - from) / l.step + 1;
  };
  const bool diverges = start.varies && trips(start.range.low) != trips(start.range.high);
  if (!l.per.empty()) check_per(c, l.per);
  if (l.end) check_end(c, l);
  const IndexProver::Mark outside = c.index.mark();
  c.index.enter(l.axis, start.varies, loop_values(start.range, l.step, l.axis.extent));
  const Expr before_end = l.end ? less(var(l.axis.name), *l.end) : Expr(1);  // a variable, because facts refer to it
  c.index.assume(before_end);
  if (!l.atom.empty()) check_atom(c, l);
  if (l.producers != 0) check_producers(c, l);
  if (l.pairs) check_pairs(c, l);
  // The matrix instruction determines which lane holds an element of an operand, so the VECTOR axis need not fit.
  const std::string* const lanes = std::exchange(c.vector_axis, l.atom.empty() ? c.vector_axis : nullptr);
  const bool in_pairs = std::exchange(c.in_pairs, l.pairs);
  const bool in_loop = std::exchange(c.in_loop, true);
  c.divergent += diverges;
  check_body(c, l.body, &l);
  c.in_loop = in_loop;
  c.in_pairs = in_pairs;
  c.divergent -= diverges;
  c.vector_axis = lanes;
  c.index.leave(outside);
}

void check(Context& c, const If& s) {
  if (names_value(c, s.condition)) check_chosen(s.then);
  c.index.set_gathers(true);
  const Value condition = c.index.evaluate(s.condition);
  const IndexProver::Mark outside = c.index.mark();
  c.index.assume(s.condition);
  c.index.set_gathers(false);
  c.divergent += condition.varies;
  check_body(c, s.then);
  c.divergent -= condition.varies;
  c.index.leave(outside);
}

void check(Context& c, const Load& l) {
  const bool bits = is_float16(l.type.dtype) && c.program.level == Level::kernel;
  check_type({bits ? DType::f32 : l.type.dtype, l.type.lanes}, c.program.level);
  if (const Name* buffer = c.names.find(l.buffer);
      buffer != nullptr && buffer->stage != nullptr && buffer->stage->pairs && !c.in_pairs)
    fail("`{}` has its elements in pairs, for a loop of pairs", l.buffer);
  const bool apart = may_lie_apart(c, l.buffer) || takes_few_vectors(c, l);
  const auto vector_axis = std::exchange(c.vector_axis, apart ? nullptr : c.vector_axis);
  const DType stored =
      (reads_apart(l) ? check_lanes_apart(c, l) : check_access(c, l.buffer, l.index, l.type.lanes)).type.dtype;
  c.vector_axis = vector_axis;
  if (l.type.dtype != (bits ? stored : value_type(stored))) fail("`{}` holds {}", l.buffer, name(stored));
  const Name& from = *c.names.find(l.buffer);
  define_value(c, l.dst, l.type, from.kind == Name::Kind::buffer && !from.writable && are_of_block(c, l.index));
}

void check(Context& c, const Index& i) {
  const DType d = i.type.dtype;
  check_type(i.type, c.program.level);
  c.index.begin_list();
  c.index.set_gathers(true);
  c.index.set_wide(d == DType::i64);
  const Strided range =
      (i.type.lanes > 1 ? c.index.evaluate_lanes(i.value, i.type.lanes) : c.index.evaluate(i.value)).range;
  c.index.set_gathers(false);
  c.index.set_wide(false);
  if (d != DType::boolean && d != DType::i64 && (range.low < INT32_MIN || range.high > INT32_MAX))
    fail("`{}` is in {}..{}, which does not fit in 32 bits", print(i.value), range.low, range.high);
  define_value(c, i.dst, i.type, is_of_block(c, i.value));
}

void check(Context& c, const Assign& a) {
  check_type(a.type, c.program.level);
  if (a.args.size() != static_cast<std::size_t>(arity(a.op)))
    fail("{} takes {} arguments, found {}", name(a.op), arity(a.op), a.args.size());
  check_operands(c.names, a);
  define_value(c, a.dst, a.type, are_of_block(c, a.args));
}

void check(Context& c, const Accum& a) {
  if (a.op == Op::fma && c.program.level != Level::kernel) fail("fma accumulates in Kernel IR only");
  check_type(a.type, c.program.level);
  if (a.args.size() + 1 != static_cast<std::size_t>(arity(a.op)))
    fail("{} takes {} arguments, found {}", name(a.op), arity(a.op), a.args.size() + 1);
  for (const Arg& arg : a.args)
    if (const auto* text = std::get_if<std::string>(&arg); text != nullptr && *text == a.dst)
      fail("`{}` accumulates itself", a.dst);
  if (a.type.dtype == DType::boolean) fail("an accumulator is not bool");
  for (const Arg& arg : a.args) check_arg(c.names, arg, a.type);
  const Name& acc = check_accumulator(c, a.dst, a.type, a.op == Op::fma ? Op::add : a.op);
  if (c.program.level == Level::loop) c.accumulations.emplace_back(&acc, c.names.scope());
}

void check(Context& c, const SoftmaxSum& s) {
  std::vector<std::string> parts = s.sums;
  parts.insert(parts.begin(), s.maximum);
  for (const std::string& part : parts)
    if (std::ranges::count(parts, part) > 1) fail("`{}` is two parts of one result", part);
  if (s.sums.empty() || s.weights.size() != s.sums.size())
    fail("{} sums of {} weights", s.sums.size(), s.weights.size());
  std::vector<Arg> args = s.weights;
  args.push_back(s.score);
  for (const Arg& arg : args) {
    if (const auto* text = std::get_if<std::string>(&arg); text != nullptr && std::ranges::count(parts, *text) > 0)
      fail("`{}` accumulates itself", *text);
    check_arg(c.names, arg, {});
  }
  // `part` must be a string of the program, because names are views of its strings.
  const auto accumulate = [&](const std::string& part, Op op) {
    const Name& acc = check_accumulator(c, part, {}, op);
    if (c.program.level == Level::loop) c.accumulations.emplace_back(&acc, c.names.scope());
  };
  accumulate(s.maximum, Op::maximum);
  for (const std::string& sum : s.sums) accumulate(sum, Op::add);
}

void check(Context& c, const Write& w) {
  check_type({DType::f32, w.lanes}, c.program.level);
  const bool anywhere = w.mode == WriteMode::assign && may_lie_apart(c, w.buffer);
  const auto vector_axis = std::exchange(c.vector_axis, anywhere ? nullptr : c.vector_axis);
  const Name& target = writes_apart(w) ? check_write_apart(c, w) : check_access(c, w.buffer, w.index, w.lanes);
  c.vector_axis = vector_axis;
  if (!target.writable) fail("`{}` cannot be written", w.buffer);
  if (adds(w.mode) && target.kind == Name::Kind::shared) fail("+= works on global memory only");
  if (w.mode == WriteMode::add_together) check_together(c, w, target.type.dtype);
  if (w.mode == WriteMode::stream) check_stream(c, w, target);
  if (c.program.level == Level::loop && w.mode == WriteMode::assign && c.index.reachable()) check_once(c, w);
  const DType stored = target.type.dtype;
  if (adds(w.mode) && is_float16(stored)) fail("`{}` holds {}: += is exact only for f32", w.buffer, name(stored));
  if (adds(w.mode) && (stored == DType::i64 || is_narrow_integer(stored)))
    fail("`{}` holds {}, which no device adds to in memory", w.buffer, name(stored));
  const auto* value = std::get_if<std::string>(&w.value);
  const Name* moved = value == nullptr ? nullptr : c.names.find(*value);
  const bool bits = moved != nullptr && is_float16(moved->type.dtype);
  check_arg(c.names, w.value, {bits ? stored : value_type(stored), w.lanes});
  if (value != nullptr && c.names.find(*value)->type.lanes != w.lanes)
    fail("`{}` has fewer lanes than are written", *value);
}

}  // namespace deplo::ir::verifier
