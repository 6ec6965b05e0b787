// Two indices have the same address iff their difference d, with |d[k]| < extent[k] and not all d[k] = 0, satisfies sum
// d[k] * stride[k] = 0. With the strides in ascending order, d[k] must be 0 if the stride of dimension k is larger than
// the span of all dimensions below it. In every usual layout this holds for all dimensions. In other layouts, the
// differences are tried, beginning with the largest stride.
#include "ir/verify/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/text/text.h"

namespace deplo::ir {
namespace {

struct Dim {
  std::int64_t stride, max;  // max: largest |d|
  std::size_t number;        // dimension of the shape
  std::int64_t reach;        // largest span of the dimensions below
  std::int64_t divisor;      // greatest common divisor of the spans of the dimensions below
};

class Search {
 public:
  Search(const Shape& shape, const std::vector<std::int64_t>& strides) : difference_(shape.size(), 0) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1) dims_.push_back({strides[i], shape[i] - 1, i, 0, 0});
    std::ranges::sort(dims_, {}, &Dim::stride);
    std::int64_t reach = 0, divisor = 0;
    for (Dim& dim : dims_) {
      dim.reach = reach;
      dim.divisor = divisor;
      reach += dim.stride * dim.max;
      divisor = std::gcd(divisor, dim.stride);
    }
  }

  std::string run() {
    if (std::ranges::all_of(dims_, [](const Dim& dim) { return dim.stride > dim.reach; })) return "";
    if (find(dims_.size(), 0, true)) {
      std::vector<std::int64_t> one, other;
      for (const std::int64_t d : difference_) {
        one.push_back(std::max<std::int64_t>(-d, 0));
        other.push_back(std::max<std::int64_t>(d, 0));
      }
      return fmt::format("elements [{}] and [{}] at the same address", join(one, ", "), join(other, ", "));
    }
    return steps_ > 0 ? "" : "strides for which it takes too long to tell whether two indices have the same address";
  }

 private:
  // Returns true if the first `count` dimensions can span `target`. `start`: all dimensions above have d = 0. Then at
  // least one d here must not be 0, and the first such d is positive, because d and -d are the same pair.
  bool find(std::size_t count, std::int64_t target, bool start) {
    if (count == 0) return target == 0 && !start;
    const Dim& dim = dims_[count - 1];
    // |target - d * stride| <= reach
    const auto floor_div = [&](std::int64_t a) { return a / dim.stride - (a % dim.stride < 0 ? 1 : 0); };
    const std::int64_t low = start ? 0 : std::max(-floor_div(dim.reach - target), -dim.max);
    const std::int64_t high = std::min(floor_div(target + dim.reach), dim.max);
    bool hit = false;
    // The distance between two values of d that pass the check below.
    const std::int64_t between = dim.divisor == 0 ? 1 : dim.divisor / std::gcd(dim.divisor, dim.stride);
    for (std::int64_t d = low; d <= high && --steps_ > 0; d += hit ? between : 1) {
      const std::int64_t rest = target - d * dim.stride;
      if (dim.divisor == 0 ? rest != 0 : rest % dim.divisor != 0) continue;
      hit = true;
      difference_[dim.number] = d;
      if (find(count - 1, rest, start && d == 0)) return true;
    }
    difference_[dim.number] = 0;
    return false;
  }

  std::vector<Dim> dims_;
  std::vector<std::int64_t> difference_;
  std::int64_t steps_ = 1'000'000;
};

}  // namespace

std::string overlap(const Shape& shape, const std::vector<std::int64_t>& strides) {
  return Search(shape, strides).run();
}

}  // namespace deplo::ir
