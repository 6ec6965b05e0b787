// Lowers scheduled Tile IR to Kernel IR. REG axes are expanded: a statement is replicated over those that it depends
// on, and no others. The VECTOR axis becomes the lanes of types. Stages and Combines become shared memory and barriers.
// Long sums are split into partial sums.
#include <algorithm>

#include "core/text/match.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/walk.h"
#include "rules/cost/resources.h"
#include "rules/lower.h"
#include "rules/materialize/combine_lowering.h"
#include "rules/materialize/exchange_lowering.h"
#include "rules/materialize/kernel_builder.h"
#include "rules/materialize/long_sums.h"
#include "rules/materialize/mma_lowering.h"
#include "rules/materialize/parallel_sums.h"
#include "rules/materialize/proxy_fences.h"
#include "rules/materialize/quotients.h"
#include "rules/materialize/replication.h"
#include "rules/materialize/stage_lowering.h"
#include "rules/materialize/whole_sectors.h"

namespace deplo::rules {
namespace materializer {
namespace {

using Products = std::map<std::string, std::vector<ir::Arg>>;

// Finds each v = multiply(x, y) that only acc <- add(acc, v) reads: the two become one fused multiply-add.
Products fusible_products(const ir::Body& body) {
  Products result;
  std::map<std::string, int, std::less<>> uses;
  const auto use = [&](const std::string& value) { ++uses[value]; };
  ir::for_each(body, [&](const ir::Stmt& stmt) { ir::for_each_read(stmt, use); });
  ir::for_each(body, [&](const ir::Stmt& outer) {
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
          result[*value] = product->args;
    }
  });
  return result;
}

// Replaces an accumulator of one term: Init(acc1, op=add) … acc1 <- add(acc1, v3) → … acc1 = copy(v3)
class SingleTerms {
 public:
  void replace_in(ir::Body& kernel) {
    ir::for_each(kernel, [&](const ir::Stmt& stmt) {
      ir::for_each_part(stmt, cases{[&](ir::Use use, const std::string& name) {
                                      if (use == ir::Use::defines) ++definitions_[name];
                                    },
                                    [](const auto&) {}});
    });
    replace(kernel);
  }

 private:
  void replace(ir::Body& body) {
    std::map<std::string, std::size_t, std::less<>> starts;
    std::vector<std::size_t> gone;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (ir::Body* inner = ir::inner_body(body[i])) replace(*inner);
      if (const auto* start = body[i].as<ir::Init>(); start != nullptr && definitions_.at(start->acc) == 2)
        starts.emplace(start->acc, i);
      const auto* term = body[i].as<ir::Accum>();
      const auto start = term == nullptr ? starts.end() : starts.find(term->dst);
      if (start == starts.end() || body[start->second].as<ir::Init>()->op != term->op) continue;
      gone.push_back(start->second);
      body[i] = ir::Stmt(ir::Assign{term->dst, term->type, ir::Op::copy, term->args});
    }
    std::ranges::sort(gone);
    for (std::size_t i = gone.size(); i-- > 0;) body.erase(body.begin() + static_cast<std::ptrdiff_t>(gone[i]));
  }

  std::map<std::string, int, std::less<>> definitions_;
};

// Drops each barrier that directly follows another barrier, because it orders nothing. `behind`: whether a barrier
// directly precedes the body. Returns whether the body ends with a barrier.
bool drop_repeated_barriers(ir::Body& body, bool behind) {
  for (std::size_t i = 0; i < body.size();) {
    if (body[i].as<ir::Sync>() != nullptr && behind) {
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const auto* loop = body[i].as<ir::Loop>();
    const bool once = loop != nullptr && loop->axis.extent == 1 && loop->start.is_constant(0) && !loop->end;
    if (ir::Body* inner = ir::inner_body(body[i]))
      behind = drop_repeated_barriers(*inner, once && behind) && once;
    else
      behind = body[i].as<ir::Sync>() != nullptr || (behind && body[i].as<ir::Init>() != nullptr);
    ++i;
  }
  return behind;
}

// Returns whether one instruction adds all lanes.
bool adds_together(const KernelBuilder& kernel, const ir::Write& s) {
  const ir::Buffer& buffer = *kernel.tile_program.find(s.buffer);
  return kernel.target.vector_add && buffer.dtype == ir::DType::f32 && (s.lanes == 2 || s.lanes == 4) &&
         aligned(ir::flat_offset(s.index, buffer.strides), s.lanes, kernel.target);
}

// Returns the registers of a thread's sums, and of its operands that products of warpgroups read.
std::int64_t held_registers(const ir::Tile& tile, const ir::Body& block) {
  std::int64_t of_fragment = 0, fragments = 0;
  ir::for_each(block, [&](const ir::Stmt& stmt) {
    if (const auto* product = stmt.as<ir::Wgmma>()) of_fragment = ir::mma::find_atom(product->atom)->a_matrices();
    if (const auto* fence = stmt.as<ir::WgmmaFence>())
      fragments = std::max(fragments, static_cast<std::int64_t>(fence->fragments.size()));
  });
  return thread_values(tile) + fragments * of_fragment;
}

// Threads that only copy need few registers. They leave the rest to warpgroups, if sums and operands need more
// registers per thread than the launch provides.
void deal_registers(const KernelBuilder& kernel, const ir::Tile& tile, const ir::Body& block, ir::Produce& produce) {
  constexpr std::int64_t min_registers = 24, max_registers = 240, step = 8;  // PTX ISA, "setmaxnreg"; 240 as in CUTLASS
  if (!kernel.target.wgmma || produce.threads % ir::mma::warpgroup != 0) return;
  const std::int64_t threads = kernel.threads + produce.threads,
                     per_thread = thread_registers(threads, kernel.target, std::max<std::int64_t>(tile.resident, 1)),
                     others = (per_thread * threads - min_registers * produce.threads) / kernel.threads / step * step;
  if (held_registers(tile, block) + other_registers_of_warpgroups <= per_thread ||
      std::min(others, max_registers) <= per_thread)
    return;
  produce.own = min_registers;
  produce.others = std::min(others, max_registers);
}

// Lowers two iterations at once: a dot product of pairs for each vector of sums.
void lower_pairs(const ir::Loop& s, KernelBuilder& kernel, const Replication& replication, const StagePlaces& stages,
                 ir::Body& to) {
  ir::pairs::Product product;
  CHECK(ir::pairs::find_product(kernel.tile_program, s, product).empty());
  ir::Loop loop = {s.axis, 0, 1, s.unroll, {}};
  loop.axis.extent /= ir::pairs::depth;
  kernel.scope.emplace_back(loop.axis.name, ir::range_of(loop));
  const auto place = [&](const ir::Load& load, const Instance& instance) {
    std::vector<ir::Expr> index = load.index;
    for (ir::Expr& e : index) e = ir::substitute(e, {{s.axis.name, ir::var(s.axis.name) * ir::pairs::depth}});
    return stages.place(load.buffer, replication.at(index, instance));
  };
  const Copies& sums = replication.copies(product.acc);
  for (const Instance& instance : replication.instances(sums.on))
    loop.body.emplace_back(ir::DotPairs{replication.name(sums, instance), product.a->buffer,
                                        place(*product.a, instance), product.b->buffer, place(*product.b, instance)});
  kernel.scope.pop_back();
  to.emplace_back(std::move(loop));
}

std::optional<ir::Expr> end_of(const ir::Loop& s, const Replication& replication) {
  return s.end ? std::optional(replication.at(*s.end)) : std::nullopt;
}

// Emits the loops around the Stages of a loop that producers fill, and nothing else. Returns how many times the slots
// were filled.
ir::Expr fill_slots(const ir::Body& from, bool is_outermost, KernelBuilder& kernel, const Replication& replication,
                    const StageLowering& stages, ir::Body& to) {
  ir::Expr fills = 0;
  for (const ir::Stmt& stmt : from) {
    const ir::Body* body = ir::inner_body(stmt);
    if (body == nullptr) continue;
    const auto* loop = stmt.as<ir::Loop>();
    const bool is_filled = loop != nullptr && loop->producers > 0;
    if (!is_filled && producers(*body) == 0) continue;
    if (const auto* guard = stmt.as<ir::If>()) {
      ir::If inside = {replication.at(guard->condition), {}};
      fill_slots(*body, is_outermost, kernel, replication, stages, inside.then);
      to.emplace_back(std::move(inside));
      CHECK(is_outermost || !stages.are_shared());  // otherwise the number of fills is unknown
      continue;
    }
    ir::Loop inside = {loop->axis, replication.at(loop->start), loop->step, 1, {}};
    inside.end = end_of(*loop, replication);
    const ir::Expr trips = inside.end ? *inside.end : ir::Expr(loop->axis.extent);
    kernel.scope.emplace_back(loop->axis.name, ir::range_of(inside));
    if (is_filled)
      stages.produce(*body, inside.body);
    else
      fills = fill_slots(*body, false, kernel, replication, stages, inside.body);
    CHECK(is_filled || !stages.are_shared() || !ir::depends_on(fills, loop->axis.name));
    kernel.scope.pop_back();
    to.emplace_back(std::move(inside));
    fills = is_filled ? trips : trips * fills;
    if (is_outermost) stages.wait_until_free(fills, to);
  }
  return fills;
}

class Materializer {
 public:
  Materializer(const ir::Program& program, const Target& target)
      : kernel_(program, target),
        replication_(kernel_),
        stages_(kernel_, replication_),
        exchanges_(kernel_, replication_),
        fused_(fusible_products(kernel_.tile.body)),
        starts_(ir::accumulator_starts(program.body)) {}

  ir::Program run() {
    const ir::Program& tile = kernel_.tile_program;
    ir::Program out = {ir::Level::kernel, tile.name, tile.buffers, {}, tile.allow_tf32};
    lower(tile.body, out.body);
    SingleTerms().replace_in(out.body);
    split_long_sums(out.body, kernel_);
    split_quotients(out.body, kernel_);
    add_in_parallel(out.body, kernel_);
    store_whole_sectors(out.body, kernel_);
    drop_repeated_barriers(out.body, false);
    fence_reads(out.body);
    std::move(kernel_.descriptors.begin(), kernel_.descriptors.end(), std::inserter(out.body, out.body.end() - 1));
    ir::renumber_axes(out);
    return out;
  }

 private:
  void lower(const ir::Body& from, ir::Body& to, std::size_t first = 0) {
    for (std::size_t i = first; i < from.size();) {
      for (const ir::AccumulatorStart& start : starts_)
        if (start.body == &from && start.index == i) lower(start, to);
      const std::size_t stages = ir::stage_run(from, i), combines = exchange_run(from, i);
      if (stages > 0)
        stages_.fill(std::span(from).subspan(i, stages), to);
      else if (combines > 0)
        exchanges_.exchange(std::span(from).subspan(i, combines), to);
      else
        match(from[i].node, [&](const auto& stmt) { lower(stmt, to); });
      i += std::max<std::size_t>(stages + combines, 1);
    }
  }

  void lower(const ir::AccumulatorStart& start, ir::Body& to) {
    const Dependence on = replication_.of_partial(start.acc);
    const ir::DType dtype = replication_.copies(start.acc).dtype;
    for (const Instance& instance : replication_.instances(on))
      to.emplace_back(
          ir::Init{replication_.define(start.acc, dtype, on, instance), replication_.type(dtype, on), start.op});
  }

  void lower(const ir::Tile& s, ir::Body& to) {
    ir::Tile launch;
    launch.resident = s.resident;
    for (const ir::Axis& axis : s.axes)
      if (axis.bind != ir::Bind::reg && axis.bind != ir::Bind::vector) launch.axes.push_back(axis);
    ir::Body inside;
    lower(s.body, inside);
    launch.body = std::move(kernel_.shared);
    stages_.initialise(launch.body);
    if (const std::int64_t threads = producers(s.body); threads > 0) {
      ir::Produce produce;
      produce.threads = threads;
      deal_registers(kernel_, s, inside, produce);
      fill_slots(s.body, true, kernel_, replication_, stages_, produce.body);
      launch.body.emplace_back(std::move(produce));
    }
    std::move(inside.begin(), inside.end(), std::back_inserter(launch.body));
    to.emplace_back(std::move(launch));
  }

  void lower(const ir::Load& s, ir::Body& to) {
    const Dependence on = replication_.of(s.index);
    const ir::Type type = replication_.type(s.type.dtype, on);
    for (const Instance& instance : replication_.instances(on)) {
      std::vector<ir::Expr> index = kernel_.tile_program.find(s.buffer) != nullptr
                                        ? replication_.place_at(s.index, instance)
                                        : stages_.places().place(s.buffer, replication_.at(s.index, instance));
      to.emplace_back(ir::Load{replication_.define(s.dst, type.dtype, on, instance), type, s.buffer, std::move(index)});
    }
  }

  void lower(const ir::Index& s, ir::Body& to) {
    const Dependence on = replication_.of(s.value);
    const ir::Type type = replication_.type(s.type.dtype, on);
    for (const Instance& instance : replication_.instances(on))
      to.emplace_back(ir::Index{replication_.define(s.dst, type.dtype, on, instance), type,
                                replication_.at(s.value, instance, ir::var(ir::lane_variable))});
  }

  void lower(const ir::Assign& s, ir::Body& to) {
    if (fused_.count(s.dst) > 0) return;
    const Dependence on = replication_.of(s.args);
    const ir::Type type = replication_.type(s.type.dtype, on);
    for (const Instance& instance : replication_.instances(on)) {
      std::vector<ir::Arg> args = replication_.at(s.args, instance);
      to.emplace_back(ir::Assign{replication_.define(s.dst, type.dtype, on, instance), type, s.op, std::move(args)});
    }
  }

  void lower(const ir::Accum& s, ir::Body& to) {
    const auto* value = std::get_if<std::string>(&s.args[0]);
    const auto fused = value == nullptr ? fused_.end() : fused_.find(*value);
    const bool fuses = fused != fused_.end();
    const Copies& acc = replication_.copies(s.dst);
    for (const Instance& instance : replication_.instances(acc.on))
      to.emplace_back(ir::Accum{replication_.name(acc, instance), replication_.type(acc.dtype, acc.on),
                                fuses ? ir::Op::fma : s.op, replication_.at(fuses ? fused->second : s.args, instance)});
  }

  void lower(const ir::Scale& s, ir::Body& to) {
    const Copies& acc = replication_.copies(s.acc);
    for (const Instance& instance : replication_.instances(acc.on))
      to.emplace_back(ir::Scale{replication_.name(acc, instance), replication_.type(acc.dtype, acc.on),
                                replication_.at({s.factor}, instance)[0]});
  }

  void lower(const ir::Write& s, ir::Body& to) {
    if (in_registers_.contains(s.buffer)) return keep_fragments(s, kernel_, replication_, stages_.places(), kept_, to);
    Dependence on = replication_.of(s.index);
    const Dependence own = replication_.of({s.value});
    on |= own;
    const auto* name = std::get_if<std::string>(&s.value);
    for (const Instance& instance : replication_.instances(on)) {
      ir::Arg value = replication_.at({s.value}, instance)[0];
      if (on.vector && !own.vector && name != nullptr) {  // the same value in all lanes
        const std::string wide = kernel_.fresh("v");
        const ir::Type type = replication_.type(replication_.copies(*name).dtype, on);
        to.emplace_back(ir::Assign{wide, type, ir::Op::copy, {value}});
        value = wide;
      }
      ir::Write write = {s.buffer, replication_.place_at(s.index, instance), std::move(value), s.mode,
                         replication_.lanes(on)};
      if (s.mode == ir::WriteMode::add && adds_together(kernel_, write)) write.mode = ir::WriteMode::add_together;
      if (s.mode == ir::WriteMode::stream && (write.lanes == 1 || ir::writes_apart(write)))
        write.mode = ir::WriteMode::assign;  // for example at a tail
      to.emplace_back(std::move(write));
    }
  }

  void lower(const ir::Prefetch& s, ir::Body& to) {
    for (const Instance& instance : replication_.instances(replication_.of(s.index)))
      to.emplace_back(ir::Prefetch{s.buffer, replication_.at(s.index, instance), s.write, s.level2});
  }

  // Lowers a loop whose slots producers fill. The products of warpgroups on one slab continue while those on the next
  // slab begin, so a slot is free one trip later. Products that read registers end within their trip, before the next
  // trip overwrites the registers.
  void lower_filled(const ir::Loop& s, ir::Body& to) {
    const std::size_t stages = ir::stage_run(s.body, 0);
    const auto& wait = *s.body[stages].as<ir::AsyncWait>();
    ir::Loop loop = {s.axis, 0, 1, s.unroll, {}};
    loop.end = end_of(s, replication_);
    kernel_.scope.emplace_back(s.axis.name, ir::range_of(loop));
    kernel_.loops.push_back(s.axis.name);
    stages_.wait_until_full(wait, loop.body);
    const auto* products = s.body.size() == stages + 2 ? s.body.back().as<ir::Loop>() : nullptr;
    UnderWay under_way;
    if (products != nullptr && !products->atom.empty())
      under_way = lower_products(*products, kernel_, replication_, stages_.places(), kept_, loop.body);
    else
      lower(s.body, loop.body, stages + 1);
    const bool go_on = !under_way.sums.empty() && !under_way.reads_registers && !s.end;
    if (!under_way.sums.empty() && !go_on) loop.body.emplace_back(ir::WgmmaWait{0, {}});
    if (go_on) {
      const ir::Expr trip = ir::var(s.axis.name);
      loop.body.emplace_back(ir::WgmmaWait{1, {}});
      stages_.release(ir::substitute(wait.slot, {{s.axis.name, trip - 1}}), ir::less(0, trip), loop.body);
    } else {
      stages_.release(wait.slot, 1, loop.body);
    }
    kernel_.loops.pop_back();
    kernel_.scope.pop_back();
    to.emplace_back(std::move(loop));
    if (!under_way.sums.empty()) to.emplace_back(ir::WgmmaWait{0, std::move(under_way.sums)});
    if (go_on) stages_.release(ir::substitute(wait.slot, {{s.axis.name, ir::Expr(s.axis.extent - 1)}}), 1, to);
  }

  // If the start differs between registers, or the loop is marked `per` a REG axis, the whole statement is replicated.
  void lower(const ir::Loop& s, ir::Body& to) {
    if (!s.atom.empty()) {
      if (UnderWay products = lower_products(s, kernel_, replication_, stages_.places(), kept_, to);
          !products.sums.empty())
        to.emplace_back(ir::WgmmaWait{0, std::move(products.sums)});
      return;
    }
    if (s.producers > 0) return lower_filled(s, to);
    if (s.pairs) return lower_pairs(s, kernel_, replication_, stages_.places(), to);
    Dependence on = replication_.of(s.start);
    if (!s.per.empty()) on |= replication_.of_axis(s.per);
    replication_.each_instance(on, [&](const Instance& instance) {
      ir::Loop loop = {s.axis, replication_.at(s.start, instance), s.step, s.unroll, {}};
      loop.end = end_of(s, replication_);
      const bool renamed = on.reg != 0;
      const std::size_t outside = kernel_.scope.size();
      kernel_.scope.emplace_back(s.axis.name, ir::range_of(loop));
      if (renamed) {
        loop.axis.name = kernel_.fresh_axis();
        kernel_.scope.emplace_back(loop.axis.name, ir::range_of(loop));
        replication_.enter_loop(s.axis.name, loop.axis.name);
      }
      kernel_.loops.push_back(s.axis.name);
      lower(s.body, loop.body);
      kernel_.loops.pop_back();
      if (renamed) replication_.leave_loop();
      kernel_.scope.resize(outside);
      to.emplace_back(std::move(loop));
    });
  }

  // If the condition differs between registers, the whole statement is replicated.
  void lower(const ir::If& s, ir::Body& to) {
    replication_.each_instance(replication_.of(s.condition), [&](const Instance& instance) {
      ir::If guard = {replication_.at(s.condition, instance), {}};
      lower(s.then, guard.then);
      stages_.leave_condition();
      to.emplace_back(std::move(guard));
    });
  }

  void lower(const ir::Smem& s, ir::Body&) {
    if (s.registers)
      in_registers_.insert(s.buffer);
    else
      kernel_.shared.emplace_back(s);
  }
  void lower(const ir::Sync&, ir::Body& to) { to.emplace_back(ir::Sync{}); }
  void lower(const ir::Combine& s, ir::Body& to) { lower_combine(s, kernel_, replication_, to); }
  void lower(const ir::AsyncWait& s, ir::Body& to) { stages_.wait(s, to); }

  // Never called: a Stage is lowered with its run, and rule online_softmax leaves no SoftmaxSum.
  template <class T>
  requires(!ir::permits<T>(ir::Level::tile) || std::is_same_v<T, ir::Stage> ||
           std::is_same_v<T, ir::SoftmaxSum>) void lower(const T&, ir::Body&) {
    CHECK(!"a statement of Tile IR");
  }

  KernelBuilder kernel_;
  Replication replication_;
  StageLowering stages_;
  ExchangeLowering exchanges_;
  KeptFragments kept_;
  std::set<std::string, std::less<>> in_registers_;  // buffers that are kept in registers
  Products fused_;
  std::vector<ir::AccumulatorStart> starts_;
};

}  // namespace
}  // namespace materializer

ir::Program materialize(const ir::Program& tile, const Target& target) {
  CHECK(tile.level == ir::Level::tile);
  ir::Program kernel = materializer::Materializer(tile, target).run();
  if (const std::string violation = ir::verify(kernel); !violation.empty()) {
    std::fprintf(stderr, "materialize made an invalid program: %s\n%s", violation.c_str(), ir::print(kernel).c_str());
    CHECK(violation.empty());
  }
  return kernel;
}

}  // namespace deplo::rules
