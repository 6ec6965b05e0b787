// Joins kernels that walk the same rows into one kernel with several results, which reads shared elements only once.
//   mean[a0] = Σ x[a0, r0] / 256;   y[a0, a1] = x[a0, a1] - mean[a0]   →   one kernel that writes mean and y
// This runs after all merges, because merging only supports kernels with one result.
#include <algorithm>
#include <set>

#include "rules/fusion/guard.h"
#include "rules/fusion/loop_op.h"
#include "rules/fusion/nest.h"
#include "rules/rule.h"

namespace deplo::rules::fusion {
namespace {

/// Removes trailing dimensions of extent 1 from a shape. The rest are the axes of a kernel that walks the shape.
ir::Shape walked(ir::Shape shape) {
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

class Joiner {
 public:
  explicit Joiner(Fusion& fusion) : fusion_(fusion) {}

  void run() {
    while (pass()) {
    }
  }

 private:
  bool pass() {
    bool changed = false;
    for (std::size_t later = fusion_.ops.size(); later-- > 0;) {
      if (!may_join(fusion_.ops[later])) continue;
      for (std::size_t earlier = later; earlier-- > 0;)
        if (join(earlier, later)) {
          changed = true;
          break;  // this pass, or the next one, visits the joined kernel again
        }
    }
    return changed;
  }

  /// Joins the two kernels if that is legal and pays off, and if the decision says so. may_join(later) must hold.
  bool join(std::size_t earlier, std::size_t later) {
    const LoopOp &first = fusion_.ops[earlier], &second = fusion_.ops[later];
    if (!share(first, second) || kept_.contains({first.output, second.output}) || !may_join(first)) return false;
    if (reads_whole(second, first)) return false;
    const bool waits = std::any_of(at(earlier + 1), at(later), [&](const LoopOp& op) { return follows(op, first); });
    const bool is_ahead =
        std::any_of(at(earlier + 1), at(later), [&](const LoopOp& op) { return follows(second, op); });
    if (waits && is_ahead) return false;
    const std::optional<LoopOp> joined = one_kernel(first, second);
    if (!joined || !pays(*joined, first, second) || !decide(first, second)) return false;
    fusion_.ops[waits ? earlier : later] = *joined;
    fusion_.ops.erase(at(waits ? later : earlier));
    return true;
  }

  std::vector<LoopOp>::iterator at(std::size_t op) { return fusion_.ops.begin() + static_cast<std::ptrdiff_t>(op); }

  bool may_join(const LoopOp& op) const {
    return op.axes.empty() && fusion_.values[op.root].kind != Value::Kind::scatter && !contracts(fusion_, op);
  }

  static bool reads(const LoopOp& op, const LoopOp& producer) {
    const auto is_read = [&](int tensor) { return std::ranges::binary_search(op.reads, tensor); };
    return is_read(producer.output) || std::ranges::any_of(producer.others, is_read, &Result::output);
  }

  /// Does the kernel read a tensor in whose memory a result of the producer lies? Then it waits for all parts of that
  /// tensor.
  bool reads_whole(const LoopOp& op, const LoopOp& producer) const {
    return std::ranges::any_of(results(producer), [&](const Result& result) {
      const auto part = fusion_.stacks.parts.find(result.output);
      return part != fusion_.stacks.parts.end() && std::ranges::binary_search(op.reads, part->second.whole);
    });
  }

  bool follows(const LoopOp& op, const LoopOp& producer) const {
    return reads(op, producer) || reads_whole(op, producer);
  }

  static bool share(const LoopOp& first, const LoopOp& second) {
    return reads(second, first) || std::ranges::any_of(first.reads, [&](int tensor) {
             return std::ranges::binary_search(second.reads, tensor);
           });
  }

  /// The two kernels as one. nullopt if the axes of one are not the first axes of the other, or if the joined kernel
  /// would have one result, because merge() has rejected such a kernel.
  std::optional<LoopOp> one_kernel(const LoopOp& first, const LoopOp& second) {
    LoopOp rest = second;
    for (const Result& result : results(first)) {
      const std::optional<LoopOp> spliced =
          splice(fusion_, LoopOp{.output = result.output, .root = result.root, .cost = first.cost}, rest);
      if (!spliced) return std::nullopt;
      rest = *spliced;
    }
    std::vector<Result> all = results(first);
    std::erase_if(all, [&](const Result& result) { return !is_needed(result.output, second); });
    if (all.empty() && second.others.empty()) return std::nullopt;
    const std::vector<Result> own = results(rest);
    all.insert(all.end(), own.begin(), own.end());
    const auto behind = [&](const Result& a, const Result& b) { return axes(a).size() < axes(b).size(); };
    std::ranges::stable_sort(all, behind);  // the result with the most axes comes last
    LoopOp joined{.output = all.back().output, .root = all.back().root};
    all.pop_back();
    joined.others = std::move(all);
    complete(fusion_, joined);
    joined.inflation = inflation(fusion_, joined, first, second);
    return scans_in_order(fusion_, joined) && is_written_once(joined) ? std::optional(joined) : std::nullopt;
  }

  ir::Shape axes(const Result& result) const { return walked(fusion_.type(result.output).shape); }

  /// Does any kernel except `reader` read the tensor, or is it stored in any case?
  bool is_needed(int tensor, const LoopOp& reader) const {
    return fusion_.is_stored(tensor) || std::ranges::any_of(fusion_.ops, [&](const LoopOp& op) {
             return op.output != reader.output && std::ranges::binary_search(op.reads, tensor);
           });
  }

  /// Is each result written in a body of the nest that binds the result's axes and no others?
  bool is_written_once(const LoopOp& op) const {
    const Nest nest(fusion_.values, roots(op), fusion_.shape(op));
    const ir::Shape& all = fusion_.shape(op);
    return std::ranges::all_of(op.others, [&](const Result& other) {
      const ir::Shape own = axes(other);
      const auto bound = static_cast<std::size_t>(place_of_write(fusion_, op, nest, other.output).free);
      return own == ir::Shape(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own.size())) &&
             std::all_of(all.begin() + static_cast<std::ptrdiff_t>(own.size()),
                         all.begin() + static_cast<std::ptrdiff_t>(bound), [](std::int64_t n) { return n == 1; });
    });
  }

  bool pays(const LoopOp& joined, const LoopOp& first, const LoopOp& second) const {
    const double spared = first.cost.bytes + second.cost.bytes - joined.cost.bytes;
    return joined.inflation <= std::max(first.inflation, second.inflation) * max_joined_growth &&
           spared >= least_spared_bytes * std::min(first.cost.bytes, second.cost.bytes) &&
           Nest(fusion_.values, roots(joined), fusion_.shape(joined)).values().size() <= max_joined_values &&
           refuse(fusion_, joined, first, second).why.empty();
  }

  bool decide(const LoopOp& first, const LoopOp& second) {
    const Fork fork = on_off_fork("join", true);
    const bool joins =
        fusion_.decisions.take(fork.knob, fusion_.name(second.output), fork.options) == deplo::Value{std::int64_t{1}};
    if (!joins) kept_.insert({first.output, second.output});
    return joins;
  }

  Fusion& fusion_;
  std::set<std::pair<int, int>> kept_;  // outputs of kernel pairs that a decision keeps apart
};

}  // namespace

void join_results(Fusion& fusion) { Joiner(fusion).run(); }

}  // namespace deplo::rules::fusion
