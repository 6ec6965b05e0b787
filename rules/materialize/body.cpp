// Materializing statements: replication over REG axes and lanes of types.
#include "core/text/match.h"
#include "ir/stage_layout.h"
#include "rules/materialize/materialize.h"

namespace deplo::rules {

void Materializer::body(const ir::Body& from, ir::Body& to) {
  for (std::size_t i = 0; i < from.size();) {
    for (const ir::AccumulatorStart& start : starts_)
      if (start.body == &from && start.index == i) init(start, to);
    const std::size_t run = ir::stage_run(from, i);
    if (run > 0) {
      fill(std::span(from).subspan(i, run), to);
    } else {
      statement(from[i], to);
    }
    i += run > 0 ? run : 1;
  }
}

void Materializer::statement(const ir::Stmt& stmt, ir::Body& to) {
  match(
      stmt.node,
      [&](const ir::Tile& s) {
        ir::Tile launch;
        for (const ir::Axis& axis : s.axes)
          if (axis.bind == ir::Bind::block || axis.bind == ir::Bind::thread) launch.axes.push_back(axis);
        ir::Body inside;
        body(s.body, inside);
        launch.body = std::move(shared_);
        if (barriers_ > 0) {
          launch.body.emplace_back(ir::MbarrierInit{barrier_, barriers_, 1});
          launch.body.emplace_back(ir::Sync{});
        }
        std::move(inside.begin(), inside.end(), std::back_inserter(launch.body));
        to.emplace_back(std::move(launch));
      },
      [&](const ir::AsyncWait& s) { lower(s, to); }, [&](const ir::Load& s) { lower(s, to); },
      [&](const ir::Index& s) { lower(s, to); }, [&](const ir::Assign& s) { lower(s, to); },
      [&](const ir::Accum& s) { lower(s, to); }, [&](const ir::Write& s) { lower(s, to); },
      [&](const ir::Prefetch& s) { lower(s, to); }, [&](const ir::Loop& s) { lower(s, to); },
      [&](const ir::If& s) { lower(s, to); }, [&](const ir::Combine& s) { lower(s, to); },
      [](const auto&) { CHECK(!"a statement of Tile IR"); });
}

void Materializer::init(const ir::AccumulatorStart& start, ir::Body& to) {
  const Dependence on = partial_.at(start.acc);
  const ir::DType dtype = accumulators_.at(start.acc);
  for (const Instance& instance : instances(on))
    to.emplace_back(ir::Init{define(start.acc, dtype, on, instance), type(dtype, on), start.op});
}

void Materializer::lower(const ir::Load& s, ir::Body& to) {
  const Dependence on = of(s.index);
  const auto staged = stages_.find(s.buffer);
  for (const Instance& instance : instances(on)) {
    std::vector<ir::Expr> index = at(s.index, instance);
    if (staged != stages_.end()) index = ir::physical_index(*staged->second, index, scope_);
    to.emplace_back(
        ir::Load{define(s.dst, s.type.dtype, on, instance), type(s.type.dtype, on), s.buffer, std::move(index)});
  }
}

void Materializer::lower(const ir::Index& s, ir::Body& to) {
  const Dependence on = of(s.value);
  for (const Instance& instance : instances(on))
    to.emplace_back(ir::Index{define(s.dst, s.type.dtype, on, instance), type(s.type.dtype, on),
                              at(s.value, instance, ir::var(ir::lane_variable))});
}

void Materializer::lower(const ir::Assign& s, ir::Body& to) {
  if (fused_.count(s.dst) > 0) return;
  const Dependence on = of(s.args);
  for (const Instance& instance : instances(on)) {
    std::vector<ir::Arg> args = at(s.args, instance);
    to.emplace_back(
        ir::Assign{define(s.dst, s.type.dtype, on, instance), type(s.type.dtype, on), s.op, std::move(args)});
  }
}

void Materializer::lower(const ir::Accum& s, ir::Body& to) {
  const auto* value = std::get_if<std::string>(&s.args[0]);
  const auto fused = value == nullptr ? fused_.end() : fused_.find(*value);
  const Copies acc = values_.at(s.dst);
  for (const Instance& instance : instances(acc.on)) {
    const std::string& name = acc.names[position(acc.on, instance)];
    if (fused == fused_.end())
      to.emplace_back(ir::Accum{name, type(acc.dtype, acc.on), s.op, at(s.args, instance)});
    else
      to.emplace_back(ir::Accum{name, type(acc.dtype, acc.on), ir::Op::fma, at(fused->second, instance)});
  }
}

void Materializer::lower(const ir::Write& s, ir::Body& to) {
  Dependence on = of(s.index);
  const Dependence own = of({s.value});
  on |= own;
  const auto* name = std::get_if<std::string>(&s.value);
  for (const Instance& instance : instances(on)) {
    ir::Arg value = at({s.value}, instance)[0];
    if (on.vector && !own.vector && name != nullptr) {  // one value in all lanes
      const std::string wide = fresh("v");
      to.emplace_back(ir::Assign{wide, type(values_.at(*name).dtype, on), ir::Op::copy, {value}});
      value = wide;
    }
    to.emplace_back(ir::Write{s.buffer, at(s.index, instance), std::move(value), s.mode, on.vector ? width_ : 1});
  }
}

void Materializer::lower(const ir::Prefetch& s, ir::Body& to) {
  for (const Instance& instance : instances(of(s.index)))
    to.emplace_back(ir::Prefetch{s.buffer, at(s.index, instance), s.write});
}

template <class F>
void Materializer::each_instance(const Dependence& on, F&& f) {
  CHECK(!on.vector);  // vectorize sees to it
  const auto outer = fixed_;
  for (const Instance& instance : instances(on)) {
    for (std::size_t i = 0; i < regs_.size(); ++i)
      if ((on.reg >> i & 1) != 0) fixed_[i] = instance[i];
    f(instance);
    fixed_ = outer;
  }
}

// A start or a condition of its own for each register, or a loop `per` register: the whole statement is replicated.
void Materializer::lower(const ir::Loop& s, ir::Body& to) {
  Dependence on = of(s.start);
  if (!s.per.empty()) on |= axes_.at(s.per);
  each_instance(on, [&](const Instance& instance) {
    ir::Loop loop = {s.axis, at(s.start, instance), s.step, s.unroll, {}};
    if (on.reg != 0) loop.axis.name = fresh_axis();
    if (loop.axis.name != s.axis.name) axis_names_.emplace_back(s.axis.name, ir::var(loop.axis.name));
    const std::size_t outside = scope_.size();
    scope_.emplace_back(s.axis.name, ir::range_of(loop));
    if (loop.axis.name != s.axis.name) scope_.emplace_back(loop.axis.name, ir::range_of(loop));
    loops_.push_back(s.axis.name);
    body(s.body, loop.body);
    loops_.pop_back();
    scope_.resize(outside);
    if (loop.axis.name != s.axis.name) axis_names_.pop_back();
    to.emplace_back(std::move(loop));
  });
}

void Materializer::lower(const ir::If& s, ir::Body& to) {
  each_instance(of(s.condition), [&](const Instance& instance) {
    ir::If guard = {at(s.condition, instance), {}};
    body(s.then, guard.then);
    to.emplace_back(std::move(guard));
  });
}

}  // namespace deplo::rules
