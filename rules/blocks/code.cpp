#include "rules/blocks/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/program.h"
#include "ir/tile_program/operations.h"

namespace deplo::rules::blocks {

namespace tp = ir::tile_program;

void Code::add(ir::Stmt stmt) { out_->push_back(std::move(stmt)); }

std::string Code::fresh(std::string_view prefix) {
  std::string name;
  do name = fmt::format("{}{}", prefix, next_name_++);
  while (taken_.contains(name));
  return name;
}

Name Code::known(const std::string& key, const std::function<Name()>& make) {
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Name name = make();
  known_[key] = name;
  return name;
}

Name Code::known(const std::string& key, const std::function<ir::Stmt(const Name&)>& make) {
  return known(key, [&] {
    Name name = fresh("e");
    add(make(name));
    return name;
  });
}

Name Code::constant(DType dtype, std::uint64_t bits) {
  const Name name = known(fmt::format("{}:{}", bits, ir::name(dtype)), [&](const Name& fresh) {
    return ir::Constant{fresh, dtype, bits};
  });
  if (ir::is_integral(dtype)) constants_[name] = ir::as_signed(bits, ir::width(dtype));
  return name;
}

Name Code::whole(DType dtype, std::int64_t number) {
  return constant(dtype, ir::wrap(static_cast<std::uint64_t>(number), ir::width(dtype)));
}

Expr Code::term(const Name& value, DType dtype) {
  if (const auto known = constants_.find(value); known != constants_.end()) return known->second;
  return ir::var(converted(value, dtype, DType::i32, true));
}

Name Code::index(const Expr& e) {
  const Expr simple = simplified(e);
  if (simple.kind() == Expr::Kind::constant) return whole(DType::i32, simple.value());
  return known("index " + print(simple), [&](const Name& name) { return ir::Index{name, {DType::i32, 1}, simple}; });
}

Name Code::condition(const Expr& e) {
  const Expr simple = simplified(e);
  return known("condition " + print(simple), [&](const Name& name) {
    return ir::Index{name, {DType::boolean, 1}, simple};
  });
}

Name Code::address(const std::string& buffer) {
  return known("address " + buffer, [&](const Name& name) { return ir::Address{name, buffer}; });
}

Name Code::compute(std::string_view operation, DType result, std::vector<Name> args, std::vector<Number> numbers) {
  ir::Compute made{"", result, tp::find_operation(operation), {}, std::move(args)};
  for (const tp::AttributeForm& form : made.op->attributes) {
    const auto given = std::ranges::find(numbers, form.name, &Number::attribute);
    made.numbers.push_back(given != numbers.end() ? given->value : form.otherwise.value_or(0));
  }
  return compute(std::move(made));
}

Name Code::compute(ir::Compute made) {
  return known(print(Body{made}), [&](const Name& name) {
    made.dst = name;
    return made;
  });
}

Name Code::converted(const Name& value, DType from, DType to, bool with_sign) {
  if (ir::width(from) == ir::width(to)) return value;
  if (ir::width(from) > ir::width(to)) return compute("trunci", to, {value});
  return compute("exti", to, {value}, {{"signedness", with_sign ? 1 : 0}});
}

Name Code::select(const Name& condition, DType dtype, const Name& yes, const Name& no) {
  return compute("select", dtype, {condition, yes, no});
}

Body Code::within(const std::function<void()>& inner) {
  Body body;
  Body* const outer = std::exchange(out_, &body);
  const std::map<std::string, Name> known = known_;
  inner();
  known_ = known;
  out_ = outer;
  return body;
}

void Code::scoped(const std::function<void()>& inner) {
  for (ir::Stmt& stmt : within(inner)) add(std::move(stmt));
}

void Code::loop(std::int64_t extent, bool unrolled, const std::function<void(const Expr&)>& inner) {
  if (extent == 1) return inner(0);
  ir::Loop made;
  made.axis = {fresh("n"), extent, ir::Bind::free};
  made.unroll = unrolled ? 0 : 1;
  ranges_.emplace_back(made.axis.name, ir::Interval{0, extent - 1});
  made.body = within([&] { inner(ir::var(made.axis.name)); });
  ranges_.pop_back();
  if (!made.body.empty()) add(std::move(made));
}

void Code::guarded(const Expr& condition, const std::function<void()>& inner) {
  ir::If made{condition, within(inner)};
  if (!made.then.empty()) add(std::move(made));
}

void Code::branch(const Name& condition, bool otherwise, const std::function<void()>& inner) {
  ir::Branch made{condition, otherwise, within(inner)};
  if (!made.body.empty()) add(std::move(made));
}

}  // namespace deplo::rules::blocks
