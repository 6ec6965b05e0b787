// An addition waits for the previous one, so a loop with one accumulator takes the latency of an addition per trip (4
// cycles, in which a CPU could do 8: Fog, Instruction tables, VADDPS of Intel's and AMD's cores with AVX2 or AVX-512).
// Compilers keep the order of float additions, so the kernel itself must have several accumulators:
//   for a0 in 0..1024 step 16: unroll=8  →  Init(acc1)  Init(acc2)  Init(acc3)
//     in0 = load x[a0]                      for a0 in 0..1024 step 64: unroll=2
//     acc0 <- add(acc0, in0)                  in0 = load x[a0]        acc0 <- add(acc0, in0)
//                                             in1 = load x[a0 + 16]   acc1 <- add(acc1, in1)   …
//                                           acc0 <- add(acc0, acc1)  acc2 <- add(acc2, acc3)  acc0 <- add(acc0, acc2)
// On GPUs, other warps run during the latency.
#include "rules/materialize/parallel_sums.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "rules/materialize/renaming.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules::materializer {
namespace {

constexpr std::int64_t ways = 4;  // number of accumulators that replace one; a power of two

class ParallelSums {
 public:
  explicit ParallelSums(KernelBuilder& kernel) : kernel_(kernel) {}

  void rewrite(ir::Body& body) {
    ir::Body result;
    for (ir::Stmt& stmt : body) {
      if (const auto* init = stmt.as<ir::Init>()) starts_.insert_or_assign(init->acc, *init);
      if (auto* loop = stmt.as<ir::Loop>()) {
        const auto accumulators = accumulators_of(loop->body);
        const std::int64_t trips = this->trips(*loop);
        if (!accumulators.empty() && accumulators.size() <= max_split_accumulators && trips >= 2 * ways) {
          split(std::move(*loop), accumulators, trips, result);
          continue;
        }
      }
      const std::size_t outside = scope_.size();
      ir::open_axes(stmt, scope_);
      if (ir::Body* inner = ir::inner_body(stmt)) rewrite(*inner);
      scope_.resize(outside);
      result.push_back(std::move(stmt));
    }
    body = std::move(result);
  }

 private:
  /// Returns the f32 accumulators that start before the body, if the body only computes what is added to them.
  std::vector<std::string> accumulators_of(const ir::Body& body) const {
    std::vector<std::string> found;
    std::set<std::string, std::less<>> read;
    for (const ir::Stmt& stmt : body) {
      const auto* accum = stmt.as<ir::Accum>();
      if (accum != nullptr) {
        const auto start = starts_.find(accum->dst);
        if (start == starts_.end() || start->second.type.dtype != ir::DType::f32) return {};
        if (std::ranges::find(found, accum->dst) == found.end()) found.push_back(accum->dst);
      } else if (stmt.as<ir::Load>() == nullptr && stmt.as<ir::Assign>() == nullptr &&
                 stmt.as<ir::Index>() == nullptr && stmt.as<ir::Prefetch>() == nullptr) {
        return {};
      }
      ir::for_each_read(stmt, [&](const std::string& name) { read.insert(name); });
    }
    if (std::ranges::any_of(found, [&](const std::string& name) { return read.contains(name); })) return {};
    return found;
  }

  /// Returns the number of trips; 0 if it differs between threads or is not known.
  std::int64_t trips(const ir::Loop& loop) const {
    const auto start = ir::bounds(loop.start, scope_);
    if (loop.end || !start || start->low != start->high || start->low >= loop.axis.extent) return 0;
    return (loop.axis.extent - 1 - start->low) / loop.step + 1;
  }

  void split(ir::Loop loop, const std::vector<std::string>& accumulators, std::int64_t trips, ir::Body& to) {
    const std::int64_t start = ir::bounds(loop.start, scope_)->low, rest = trips % ways;
    const std::int64_t end = std::min(loop.axis.extent, start + (trips - rest) * loop.step);
    std::vector<NewNames> names(ways);  // empty for the first way, which keeps the old names
    for (std::size_t way = 1; way < names.size(); ++way) {
      names[way] = names_of_copy(loop.body, kernel_);
      for (const std::string& name : accumulators) {
        ir::Init init = starts_.at(name);
        init.acc = names[way].emplace(name, kernel_.fresh(name)).first->second;
        to.emplace_back(std::move(init));
      }
    }

    ir::Loop tail = loop, main = loop;
    main.axis.extent = end;
    main.step *= ways;
    main.unroll = main.unroll == 0 ? 0 : std::max(1, main.unroll / static_cast<int>(ways));
    scope_.emplace_back(main.axis.name, ir::Interval{start, end - 1});
    for (std::size_t way = 1; way < names.size(); ++way) {
      ir::Body copy = loop.body;
      rename(copy, names[way]);
      replace_axis(copy, main.axis.name, ir::var(main.axis.name) + static_cast<std::int64_t>(way) * loop.step, scope_);
      std::ranges::move(copy, std::back_inserter(main.body));
    }
    scope_.pop_back();
    to.emplace_back(std::move(main));
    if (rest > 0) {
      rename(tail.body, names_of_copy(tail.body, kernel_));
      tail.axis.name = kernel_.fresh_axis();
      tail.start = end;
      scope_.emplace_back(tail.axis.name, ir::range_of(tail));
      replace_axis(tail.body, loop.axis.name, ir::var(tail.axis.name), scope_);
      scope_.pop_back();
      to.emplace_back(std::move(tail));
    }
    for (const std::string& name : accumulators) combine(names, name, to);
  }

  // Adds the ways' accumulators as a tree. `names[0]` is empty, because the first way has the accumulator itself.
  void combine(const std::vector<NewNames>& names, const std::string& accumulator, ir::Body& to) const {
    const ir::Init& start = starts_.at(accumulator);
    const auto part = [&](std::size_t way) { return way == 0 ? accumulator : names[way].at(accumulator); };
    for (std::size_t apart = 1; apart < names.size(); apart *= 2)
      for (std::size_t way = 0; way + apart < names.size(); way += 2 * apart)
        to.emplace_back(ir::Accum{part(way), start.type, start.op, {part(way + apart)}});
  }

  KernelBuilder& kernel_;
  ir::Ranges scope_;
  std::map<std::string, ir::Init, std::less<>> starts_;
};

}  // namespace

void add_in_parallel(ir::Body& body, KernelBuilder& kernel) {
  if (kernel.target.cpu) ParallelSums(kernel).rewrite(body);
}

}  // namespace deplo::rules::materializer
