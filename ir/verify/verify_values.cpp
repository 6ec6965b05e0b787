// Loads, assignments, accumulators and writes: names, types, lanes, ranks.
#include <fmt/format.h>

#include "ir/verify/verifier.h"

namespace deplo::ir {

bool Verifier::use(const std::string& name, int& number) {
  number = names_.find(name);
  if (number == NameTable::none) return fail(fmt::format("`{}` is not defined before this", name));
  NameEntry& e = names_[number];
  if (e.kind != Kind::value && e.kind != Kind::accumulator) return fail(fmt::format("`{}` is not a value", name));
  if (e.kind == Kind::accumulator && program_.level != Level::kernel)
    extend_scope(e);
  else if (!scopes_[static_cast<std::size_t>(e.body)].open)
    return fail(fmt::format("`{}` is out of scope", name));
  return true;
}

// The innermost body that holds all uses so far: the open bodies are those around the current statement.
void Verifier::extend_scope(NameEntry& acc) const {
  while (!scopes_[static_cast<std::size_t>(acc.body)].open)
    acc.body = scopes_[static_cast<std::size_t>(acc.body)].parent;
}

bool Verifier::check(const Load& l) {
  int buffer = NameTable::none;
  gathers_ = true;
  const bool good = type(l.type) && access(l.buffer, l.index, l.type.lanes, buffer);
  gathers_ = false;
  if (!good) return false;
  const DType stored = names_[buffer].type.dtype;
  if (stored != l.type.dtype) return fail(fmt::format("`{}` holds {}", l.buffer, name(stored)));
  const int number = define(l.dst, Kind::value, "a value");
  if (number == NameTable::none) return false;
  names_[number].type = l.type;
  return true;
}

bool Verifier::check(const Index& i) {
  const DType d = i.type.dtype;
  if (!type(i.type)) return false;
  if (d != DType::i32 && d != DType::boolean && d != DType::f32)
    return fail(fmt::format("an index is i32, bool or f32, not {}", name(d)));
  gathers_ = true;
  const bool good = index_value(i);
  gathers_ = false;
  if (!good) return false;
  const int number = define(i.dst, Kind::value, "a value");
  if (number == NameTable::none) return false;
  names_[number].type = i.type;
  return true;
}

bool Verifier::check(const Assign& a) {
  if (!type(a.type)) return false;
  if (a.args.size() != static_cast<std::size_t>(arity(a.op)))
    return fail(fmt::format("{} takes {} arguments, found {}", name(a.op), arity(a.op), a.args.size()));
  if (!operands(a)) return false;
  const int number = define(a.dst, Kind::value, "a value");
  if (number == NameTable::none) return false;
  names_[number].type = a.type;
  return true;
}

bool Verifier::accumulate(const std::string& acc, const Type& t, Op op, int& number) {
  if (!neutral(op)) return fail(fmt::format("{} has no neutral element", name(op)));
  number = names_.find(acc);
  if (number == NameTable::none) {
    if (program_.level == Level::kernel) return fail(fmt::format("`{}` has no Init before this", acc));
    number = define(acc, Kind::accumulator, "an accumulator");
    if (number == NameTable::none) return false;
    names_[number].type = t;
    names_[number].op = op;
    return true;
  }
  const NameEntry& e = names_[number];
  if (e.kind != Kind::accumulator) return fail(fmt::format("`{}` is not an accumulator", acc));
  if (e.op != op) return fail(fmt::format("`{}` is accumulated by {} before this", acc, name(e.op)));
  if (e.type != t) return fail(fmt::format("`{}` has another type before this", acc));
  return use(acc, number);
}

bool Verifier::check(const Accum& a) {
  if (a.op == Op::fma && program_.level != Level::kernel) return fail("fma accumulates in Kernel IR only");
  if (!type(a.type)) return false;
  if (a.args.size() + 1 != static_cast<std::size_t>(arity(a.op)))
    return fail(fmt::format("{} takes {} arguments, found {}", name(a.op), arity(a.op), a.args.size() + 1));
  for (const Arg& arg : a.args)
    if (const auto* n = std::get_if<std::string>(&arg); n != nullptr && *n == a.dst)
      return fail(fmt::format("`{}` accumulates itself", a.dst));
  int number = NameTable::none;
  if (a.type.dtype == DType::boolean) return fail("an accumulator is not bool");
  for (const Arg& v : a.args)
    if (!arg(v, a.type, false)) return false;
  if (!accumulate(a.dst, a.type, a.op == Op::fma ? Op::add : a.op, number)) return false;
  if (program_.level == Level::loop) accums_.emplace_back(number, scope_);
  return true;
}

bool Verifier::check(const Init& i) {
  if (!type(i.type)) return false;
  if (!neutral(i.op)) return fail(fmt::format("{} has no neutral element", name(i.op)));
  if (i.type.dtype == DType::boolean) return fail("an accumulator is not bool");
  const int number = define(i.acc, Kind::accumulator, "an accumulator");
  if (number == NameTable::none) return false;
  names_[number].type = i.type;
  names_[number].op = i.op;
  return true;
}

bool Verifier::check(const Write& w) {
  int buffer = NameTable::none;
  if (!type({DType::f32, w.lanes}) || !access(w.buffer, w.index, w.lanes, buffer)) return false;
  const NameEntry target = names_[buffer];
  if (!target.writable) return fail(fmt::format("`{}` cannot be written", w.buffer));
  if (w.mode == WriteMode::add && target.kind == Kind::shared) return fail("+= works on global memory only");
  if (program_.level == Level::loop && w.mode == WriteMode::assign && unreachable_ == 0)
    for (const int a : axes_)
      if (!names_[a].range.single() && names_[a].stamp != stamp_)
        return fail(fmt::format("every value of axis `{}` writes the same element", names_[a].name));
  if (!arg(w.value, {target.type.dtype, w.lanes}, false)) return false;
  const auto* value = std::get_if<std::string>(&w.value);
  if (value == nullptr || names_[names_.find(*value)].type.lanes == w.lanes) return true;
  return fail(fmt::format("`{}` has fewer lanes than are written", *value));
}

// Its index is not checked against the extents: what lies outside is not touched.
bool Verifier::check(const Prefetch& p) {
  const int buffer = names_.find(p.buffer);
  if (buffer == NameTable::none || names_[buffer].kind != Kind::buffer)
    return fail(fmt::format("`{}` is not a buffer of the program", p.buffer));
  if (p.index.size() != names_[buffer].rank)
    return fail(fmt::format("`{}` has {} dimensions, found {} indices", p.buffer, names_[buffer].rank, p.index.size()));
  Value value;
  return std::all_of(p.index.begin(), p.index.end(), [&](const Expr& e) { return evaluate(e, value); });
}

bool Verifier::access(const std::string& buffer, const std::vector<Expr>& index, int n, int& number) {
  number = names_.find(buffer);
  if (number == NameTable::none) return fail(fmt::format("buffer `{}` is not declared before this", buffer));
  const NameEntry& e = names_[number];
  if (e.kind != Kind::buffer && e.kind != Kind::shared) return fail(fmt::format("`{}` is not a buffer", buffer));
  if (e.kind == Kind::shared && !scopes_[static_cast<std::size_t>(e.body)].open)
    return fail(fmt::format("`{}` is out of scope", buffer));
  if (index.size() != e.rank)
    return fail(fmt::format("`{}` has {} dimensions, found {} indices", buffer, e.rank, index.size()));
  if (n > 1 && (index.empty() || !e.unit_stride))
    return fail(fmt::format("the last dimension of `{}` has no stride of 1", buffer));
  ++stamp_;
  for (std::size_t i = 0; i < index.size(); ++i)
    if (!in_range(index[i], names_.extent(e, i), i + 1 == index.size() ? n : 1, i)) return false;
  return vector_axis_ == nullptr || vector_axis(e, index);
}

bool Verifier::vector_axis(const NameEntry& buffer, const std::vector<Expr>& index) {
  const std::string& axis = *vector_axis_;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (!depends_on(index[i], axis)) continue;
    if (i + 1 < index.size())
      return fail(fmt::format("the VECTOR axis `{}` stands in another index than the last", axis));
    if (coefficient(index[i], axis) != 1)
      return fail(fmt::format("the VECTOR axis `{}` has a coefficient other than 1", axis));
    if (!buffer.unit_stride)
      return fail(fmt::format("the VECTOR axis `{}` walks a dimension whose stride is not 1", axis));
  }
  return true;
}

}  // namespace deplo::ir
