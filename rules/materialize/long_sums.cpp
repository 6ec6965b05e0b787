// Splits long sums into partial sums, so that the rounding error does not grow with the number of terms:
//   for f0_ in 0..65536:                →   for f1_ in 0..16:
//     in0 = load x[f0_]                       Init(acc1, op=add)
//     acc0 <- add(acc0, in0)                  for f2_ in 0..16: … of 4096 trips, which add to acc1
//                                             acc0 <- add(acc0, acc1)
// This is repeated until no loop adds more than a group of terms to one accumulator. PyTorch sums in such a cascade,
// too (aten/src/ATen/native/cpu/SumKernel.cpp, cascade_sum). Higham, Accuracy and Stability of Numerical Algorithms,
// 2nd ed., section 4.2, analyses its error. The pass works on Kernel IR, so it applies to every schedule and needs no
// knob.
#include "rules/materialize/long_sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/longest_chain.h"
#include "ir/walk.h"
#include "rules/materialize/renaming.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules::materializer {
namespace {

/// How many terms are added to one accumulator, one after the other.
struct ChainLength {
  std::int64_t longest;  // a loop that adds at most this many terms is not split
  std::int64_t group;    // terms in a partial sum of a longer loop
};
// Plain sums have PyTorch's groups of 16 terms. Rows of a few thousand elements have less than 256 terms per lane.
constexpr ChainLength plain_sum = {256, 16};
// Sums of products have groups as in a BLAS, whose blocks of k have about 256 to 400 elements.
constexpr ChainLength product_sum = {4096, 256};
// A GPU keeps the totals and the partial sums of many accumulators in registers, which leaves few for anything else.
constexpr ChainLength register_tile = {ir::longest_chain, 4096};
constexpr std::size_t few_accumulators = 16;

using Types = std::map<std::string, ir::Type, std::less<>>;

struct Sums {
  std::vector<std::string> accumulators;  // in order of appearance
  bool of_products = false;               // whether terms are products of two different factors
};

/// Returns the f32 accumulators that start before the loop, and that the loop adds to and scales but does not read.
/// Returns none if products of warpgroups are in flight, because a partial sum would wait for them. `started`: the
/// types of all accumulators that have started.
Sums sums_of(const ir::Loop& loop, const Types& started) {
  std::set<std::string, std::less<>> others;
  std::vector<std::string> added;
  bool of_products = false, under_way = false;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(added, name) == added.end()) added.push_back(name);
  };
  ir::for_each(loop.body, [&](const ir::Stmt& stmt) {
    ir::for_each_read(stmt, [&](const std::string& name) { others.insert(name); });
    const auto* accum = stmt.as<ir::Accum>();
    if (accum != nullptr && (accum->op == ir::Op::add || accum->op == ir::Op::fma)) {
      add(accum->dst);
      of_products |= accum->op == ir::Op::fma && accum->args[0] != accum->args[1];
    } else if (const auto* mma = stmt.as<ir::Mma>()) {
      std::ranges::for_each(mma->sums, add);
      of_products = true;
    } else if (const auto* dot = stmt.as<ir::DotPairs>()) {
      add(dot->acc);
      of_products = true;
    } else if (stmt.as<ir::Scale>() == nullptr) {
      under_way |= stmt.as<ir::Wgmma>() != nullptr;
      ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
        if (use == ir::Use::defines) others.insert(name);
      });
    }
  });
  if (under_way) return {};
  std::erase_if(added, [&](const std::string& name) {
    const auto start = started.find(name);
    return others.contains(name) || start == started.end() || start->second.dtype != ir::DType::f32;
  });
  return {std::move(added), of_products};
}

class LongSums {
 public:
  explicit LongSums(KernelBuilder& kernel) : kernel_(kernel) {}

  void split_in(ir::Body& body) {
    ir::Body result;
    for (ir::Stmt& stmt : body) {
      const std::size_t outside = scope_.size();
      ir::open_axes(stmt, scope_);
      if (ir::Body* inner = ir::inner_body(stmt)) split_in(*inner);
      scope_.resize(outside);
      if (const auto* start = stmt.as<ir::Init>(); start != nullptr && start->op == ir::Op::add)
        started_.insert_or_assign(start->acc, start->type);
      if (auto* loop = stmt.as<ir::Loop>())
        split(std::move(*loop), result);
      else
        result.push_back(std::move(stmt));
    }
    body = std::move(result);
  }

 private:
  struct Trips {
    std::int64_t min, max;  // fewest and most trips of a thread: threads may start at different positions
  };

  Trips trips(const ir::Loop& loop) const {
    const auto from = [&](std::int64_t start) {
      return start >= loop.axis.extent ? 0 : (loop.axis.extent - 1 - start) / loop.step + 1;
    };
    const ir::Interval start = ir::bounds(loop.start, scope_).value_or(ir::Interval{0, loop.axis.extent});
    return {from(start.high), from(start.low)};
  }

  // Returns the number of terms that one execution of the body adds to the accumulator.
  std::int64_t terms(const ir::Body& body, const std::string& accumulator) const {
    std::int64_t count = 0;
    for (const ir::Stmt& stmt : body) {
      if (const auto* accum = stmt.as<ir::Accum>()) count += accum->dst == accumulator ? 1 : 0;
      if (const auto* dot = stmt.as<ir::DotPairs>()) count += dot->acc == accumulator ? ir::pairs::depth : 0;
      if (const auto* mma = stmt.as<ir::Mma>(); mma != nullptr && std::ranges::count(mma->sums, accumulator) > 0)
        count += ir::mma::find_atom(mma->atom)->k;
      if (const auto* loop = stmt.as<ir::Loop>())
        count += trips(*loop).max * terms(loop->body, accumulator);
      else if (const ir::Body* inner = ir::inner_body(stmt))
        count += terms(*inner, accumulator);
    }
    return count;
  }

  ChainLength chain_length(const Sums& sums) const {
    if (!kernel_.target.cpu && sums.accumulators.size() > few_accumulators) return register_tile;
    return sums.of_products ? product_sum : plain_sum;
  }

  // Returns the number of trips in a group: at least `min`, at most twice as many. Prefers a divisor of all trips,
  // and a multiple of 8, so that loops that are unrolled by 8 have no tail iterations.
  static std::int64_t group_trips(std::int64_t trips, std::int64_t min) {
    for (const std::int64_t unit : {8, 1})
      for (std::int64_t group = min; group <= 2 * min; ++group)
        if (group % unit == 0 && trips % group == 0) return group;
    return min;
  }

  void split(ir::Loop loop, ir::Body& to) {
    const Sums sums = sums_of(loop, started_);
    if (sums.accumulators.empty()) {
      to.emplace_back(std::move(loop));
      return;
    }
    std::int64_t trip_terms = 0;
    for (const std::string& name : sums.accumulators) trip_terms = std::max(trip_terms, terms(loop.body, name));
    split(std::move(loop), sums, trip_terms, chain_length(sums), to);
  }

  // `trip_terms`: the number of terms that a trip adds to an accumulator.
  void split(ir::Loop loop, const Sums& sums, std::int64_t trip_terms, const ChainLength& chain, ir::Body& to) {
    const Trips trips = this->trips(loop);
    const std::int64_t group = group_trips(trips.min, std::max<std::int64_t>(1, chain.group / trip_terms));
    const bool own_ends = loop.end && (!loop.start.is_constant(0) || loop.step != 1);
    if (trip_terms * trips.max <= chain.longest || trips.min < 2 * group || own_ends) {
      to.emplace_back(std::move(loop));
      return;
    }

    const std::int64_t groups = trips.min / group, rest = trips.max - groups * group;
    ir::Body tail;
    if (rest > 0) add_partial(sums, renamed_copy(remaining(loop, groups * group)), tail);

    ir::Loop outer = {{kernel_.fresh_axis(), groups, loop.axis.bind}, 0, 1, 1, {}};
    scope_.emplace_back(outer.axis.name, ir::range_of(outer));
    const ir::Expr first = ir::var(outer.axis.name) * group;
    add_partial(sums, part_of(std::move(loop), first, group), outer.body);
    scope_.pop_back();
    split(std::move(outer), sums, 1, {2 * chain.group, chain.group}, to);
    std::move(tail.begin(), tail.end(), std::back_inserter(to));
  }

  // Returns `count` of the loop's trips, from number `first` on. All threads must have these trips.
  ir::Loop part_of(ir::Loop loop, const ir::Expr& first, std::int64_t count) {
    const std::string axis = std::exchange(loop.axis.name, kernel_.fresh_axis());
    const ir::Expr trip = first + ir::var(loop.axis.name), value = loop.start + trip * loop.step;
    if (loop.end) loop.end = ir::simplify(*loop.end - first, scope_);
    loop.axis.extent = count;
    loop.start = 0;
    loop.step = 1;
    scope_.emplace_back(loop.axis.name, ir::range_of(loop));
    replace_axis(loop.body, axis, ir::simplify(value, scope_), scope_);
    scope_.pop_back();
    return loop;
  }

  // Returns the trips after the first `gone`. Their number may differ between threads.
  ir::Loop remaining(ir::Loop loop, std::int64_t gone) {
    const Trips trips = this->trips(loop);
    if (trips.min == trips.max) return part_of(std::move(loop), gone, trips.max - gone);
    loop.start = ir::simplify(loop.start + gone * loop.step, scope_);
    return loop;
  }

  ir::Loop renamed_copy(ir::Loop loop) {
    rename(loop.body, names_of_copy(loop.body, kernel_));
    return loop;
  }

  // Emits Init(part), the loop, which now adds to the parts, and acc <- add(acc, part).
  void add_partial(const Sums& sums, ir::Loop loop, ir::Body& to) {
    NewNames parts;
    for (const std::string& name : sums.accumulators) {
      const std::string part = parts.emplace(name, kernel_.fresh(name)).first->second;
      started_.emplace(part, started_.at(name));
      to.emplace_back(ir::Init{part, started_.at(name), ir::Op::add});
    }
    rename(loop.body, parts);
    scale_totals(loop.body, parts);
    if (loop.axis.extent == 1 && loop.start.is_constant(0) && !loop.end) {
      replace_axis(loop.body, loop.axis.name, 0, scope_);
      std::move(loop.body.begin(), loop.body.end(), std::back_inserter(to));
    } else {
      to.emplace_back(std::move(loop));
    }
    for (const std::string& name : sums.accumulators)
      to.emplace_back(ir::Accum{name, started_.at(name), ir::Op::add, {parts.at(name)}});
  }

  // Applies each scale of a part to the total, too.
  static void scale_totals(ir::Body& body, const NewNames& parts) {
    ir::Body result;
    for (ir::Stmt& stmt : body) {
      if (ir::Body* inner = ir::inner_body(stmt)) scale_totals(*inner, parts);
      const auto* scale = stmt.as<ir::Scale>();
      const auto part = std::ranges::find_if(
          parts, [&](const auto& entry) { return scale != nullptr && entry.second == scale->acc; });
      if (part != parts.end()) result.emplace_back(ir::Scale{part->first, scale->type, scale->factor});
      result.push_back(std::move(stmt));
    }
    body = std::move(result);
  }

  KernelBuilder& kernel_;
  ir::Ranges scope_;
  Types started_;  // the types of accumulators that start with op=add
};

}  // namespace

void split_long_sums(ir::Body& body, KernelBuilder& kernel) { LongSums(kernel).split_in(body); }

}  // namespace deplo::rules::materializer
