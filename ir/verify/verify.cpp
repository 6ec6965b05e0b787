// Bodies, loops, conditions and the tile; verify_*.cpp check the other statements.
#include <fmt/format.h>

#include <algorithm>

#include "core/text/match.h"
#include "ir/simplify/strided.h"
#include "ir/text/lexer.h"
#include "ir/verify/overlap.h"
#include "ir/verify/verifier.h"

namespace deplo::ir {
namespace {

constexpr unsigned bit(std::size_t alternative) { return 1U << alternative; }
template <class T>
std::size_t alternative() {
  return Stmt::Node(T{}).index();
}

// The alternatives of Stmt::Node that a level permits.
unsigned permitted_at(Level level) {
  static const unsigned common = bit(alternative<Loop>()) | bit(alternative<Load>()) | bit(alternative<Index>()) |
                                 bit(alternative<Assign>()) | bit(alternative<Accum>()) | bit(alternative<Write>()) |
                                 bit(alternative<If>());
  static const unsigned tile = common | bit(alternative<Tile>()) | bit(alternative<Stage>()) |
                               bit(alternative<AsyncWait>()) | bit(alternative<Combine>()) |
                               bit(alternative<Prefetch>());
  static const unsigned all = bit(std::variant_size_v<Stmt::Node>) - 1;
  static const unsigned kernel =
      all & ~(bit(alternative<Stage>()) | bit(alternative<AsyncWait>()) | bit(alternative<Combine>()));
  return level == Level::loop ? common : level == Level::tile ? tile : kernel;
}

}  // namespace

std::string verify(const Program& program) { return Verifier(program).run(); }

std::string Verifier::run() {
  const auto all = [&] {
    if (!is_name(program_.name)) return fail(fmt::format("`{}` is not a name", program_.name));
    for (const Buffer& b : program_.buffers)
      if (!buffer(b)) return false;
    if (program_.level != Level::loop && !top_level()) return false;
    return body(program_.body, nullptr) && (program_.level != Level::loop || accumulates_over_reduce_axes());
  };
  return all() ? std::string() : message_;
}

bool Verifier::fail(std::string_view message) {
  if (current_ == nullptr) {
    message_ = fmt::format("{}: {}", program_.name, message);
  } else {
    const std::string text = print(Body{*current_});
    message_ = fmt::format("{}: `{}`: {}", program_.name, text.substr(0, text.find('\n')), message);
  }
  return false;
}

int Verifier::define(const std::string& name, Kind kind, const char* what) {
  if (!is_name(name)) return fail(fmt::format("`{}` cannot name {}", name, what)), NameTable::none;
  if (names_.find(name) != NameTable::none) return fail(fmt::format("`{}` is defined twice", name)), NameTable::none;
  const int number = names_.add(name, kind);
  names_[number].body = scope_;
  names_[number].declared = current_;
  return number;
}

bool Verifier::buffer(const Buffer& b) {
  const int number = define(b.name, Kind::buffer, "a buffer");
  if (number == NameTable::none) return false;
  NameEntry& e = names_[number];
  e.type = {b.dtype, 1};
  e.writable = b.role == Role::output;
  if (b.strides.size() != b.shape.size())
    return fail(fmt::format("buffer `{}` has {} dimensions and {} strides", b.name, b.shape.size(), b.strides.size()));
  std::int64_t last = 0, count = 1, steps = 0;
  for (std::size_t i = 0; i < b.shape.size(); ++i) {
    if (b.shape[i] < 1) return fail(fmt::format("buffer `{}` has an extent of {}", b.name, b.shape[i]));
    if (b.strides[i] < 0 || (e.writable && b.strides[i] == 0 && b.shape[i] > 1))
      return fail(fmt::format("buffer `{}` has a stride of {}", b.name, b.strides[i]));
    if (__builtin_mul_overflow(count, b.shape[i], &count) ||
        __builtin_mul_overflow(b.shape[i] - 1, b.strides[i], &steps) || __builtin_add_overflow(last, steps, &last) ||
        std::max(count, last) > kMaxIndex)
      return fail(fmt::format("buffer `{}` has more than 2^60 elements", b.name));
    names_.push_extent(e, b.shape[i]);
  }
  if (e.writable)
    if (const std::string fault = overlap(b.shape, b.strides); !fault.empty())
      return fail(fmt::format("output `{}` has {}", b.name, fault));
  if (b.fill) {
    if (e.writable) return fail(fmt::format("output `{}` has values to be drawn: only inputs have", b.name));
    if (const std::string what = fault(*b.fill, b.dtype); !what.empty())
      return fail(fmt::format("buffer `{}`: {}", b.name, what));
  }
  e.unit_stride = b.strides.empty() || b.strides.back() == 1;
  return true;
}

// Beside the one Tile stand scalars that every thread computes, and launch parameters.
bool Verifier::top_level() {
  std::size_t tiles = 0;
  for (const Stmt& s : program_.body) {
    current_ = &s;
    if (s.as<Tile>() != nullptr)
      ++tiles;
    else if (tiles > 0)
      return fail("nothing follows the Tile");
    else if (s.as<Load>() == nullptr && s.as<Index>() == nullptr && s.as<Assign>() == nullptr &&
             s.as<TmaDescriptor>() == nullptr)
      return fail("only loads, indices and assignments stand before the Tile");
  }
  current_ = nullptr;
  return tiles == 1 || fail(fmt::format("expected one Tile, found {}", tiles));
}

bool Verifier::body(const Body& statements, const Loop* owner) {
  if (statements.empty() && scope_ >= 0) return fail("the body is empty");
  const int outer = scope_;
  scope_ = static_cast<int>(scopes_.size());
  scopes_.push_back({outer, owner});
  for (const Stmt& s : statements)
    if (!statement(s)) return false;
  scopes_[static_cast<std::size_t>(scope_)].open = false;
  scope_ = outer;
  return true;
}

bool Verifier::statement(const Stmt& s) {
  current_ = &s;
  if (!(permitted_at(program_.level) & bit(s.node.index())))
    return fail(fmt::format("not a statement of {} IR", name(program_.level)));
  return match(s.node, [&](const auto& node) { return check(node); });
}

// A sibling may reuse the name of an axis that has gone out of scope.
bool Verifier::axis(const Axis& a, bool varies, const Strided& range, int& number) {
  if (a.extent < 1) return fail(fmt::format("axis `{}` has an extent of {}", a.name, a.extent));
  number = names_.find(a.name);
  if (number == NameTable::none) number = define(a.name, Kind::axis, "an axis");
  if (number == NameTable::none) return false;
  NameEntry& e = names_[number];
  if (e.kind != Kind::axis || e.active) return fail(fmt::format("`{}` is defined twice", a.name));
  e.active = true;
  e.bind = a.bind;
  e.varies = varies;
  e.range = range;
  axes_.push_back(number);
  return true;
}

bool Verifier::check(const Loop& l) {
  if (l.axis.bind != Bind::free && l.axis.bind != Bind::reduce) return fail("a loop is free or reduce");
  if (l.step < 1) return fail(fmt::format("a step of {}", l.step));
  if (l.unroll < 0) return fail(fmt::format("an unroll factor of {}", l.unroll));
  Value start;
  if (!evaluate(l.start, start)) return false;
  const std::optional<Strided> values = loop_values(start.range, l.step, l.axis.extent);
  const auto trips = [&](std::int64_t from) {
    return from >= l.axis.extent ? 0 : (l.axis.extent - 1 - from) / l.step + 1;
  };
  const bool diverges = start.varies && trips(start.range.low) != trips(start.range.high);
  if (!l.per.empty() && !per(l.per)) return false;
  int number = NameTable::none;
  if (!axis(l.axis, start.varies, values.value_or(Strided{}), number)) return false;
  divergent_ += diverges;
  unreachable_ += !values;
  if (!body(l.body, &l)) return false;
  divergent_ -= diverges;
  unreachable_ -= !values;
  names_[number].active = false;
  axes_.pop_back();
  return true;
}

bool Verifier::per(const std::string& name) {
  const int a = names_.find(name);
  const bool reg =
      a != NameTable::none && names_[a].kind == Kind::axis && names_[a].active && names_[a].bind == Bind::reg;
  return reg || fail(fmt::format("`{}` is not a REG axis", name));
}

bool Verifier::check(const If& s) {
  Value condition;
  if (!evaluate(s.condition, condition)) return false;
  const std::size_t facts = facts_.size(), saved = saved_.size();
  const int unreachable = unreachable_;
  if (!assume(s.condition)) return false;
  divergent_ += condition.varies;
  if (!body(s.then, nullptr)) return false;
  divergent_ -= condition.varies;
  unreachable_ = unreachable;
  facts_.resize(facts);
  for (; saved_.size() > saved; saved_.pop_back()) names_[saved_.back().first].range = saved_.back().second;
  return true;
}

bool Verifier::check(const Tile& t) {
  if (scope_ != 0) return fail("a Tile stands at the top level");
  for (const Axis& a : t.axes) {
    const bool launch = a.bind == Bind::block || a.bind == Bind::thread;
    if (a.bind == Bind::thread && __builtin_mul_overflow(threads_, a.extent, &threads_))
      return fail("a block of too many threads");
    const bool inner = program_.level == Level::tile && (a.bind == Bind::reg || a.bind == Bind::vector);
    if (!launch && !inner)
      return fail(fmt::format("axis `{}` cannot be {} in {} IR", a.name, bind_name(a.bind), name(program_.level)));
    if (a.bind == Bind::vector) {
      if (vector_axis_ != nullptr) return fail("more than one VECTOR axis");
      if (!lanes(static_cast<int>(std::min<std::int64_t>(a.extent, 17)))) return false;
      vector_axis_ = &a.name;
    }
    int number = NameTable::none;
    const Strided range{0, a.extent - 1, a.extent > 1 ? 1 : 0};
    if (!axis(a, a.bind == Bind::thread && a.extent > 1, range, number)) return false;
  }
  return body(t.body, nullptr);
}

// A loop between an accumulator's scope and an Accum carries it from one iteration to the next.
bool Verifier::accumulates_over_reduce_axes() {
  current_ = nullptr;
  for (const auto& [acc, scope] : accums_)
    for (int s = scope; s != names_[acc].body; s = scopes_[static_cast<std::size_t>(s)].parent)
      if (const Loop* l = scopes_[static_cast<std::size_t>(s)].loop; l != nullptr && l->axis.bind == Bind::free)
        return fail(fmt::format("`{}` accumulates over the free axis `{}`", names_[acc].name, l->axis.name));
  return true;
}

}  // namespace deplo::ir
