#include "rules/random_shapes.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace deplo::testing {
namespace {

using ir::Shape;
using ir::torch::Builder;
using ir::torch::Id;
using Int = std::int64_t;

constexpr Int most = 4096;

class Chain {
 public:
  explicit Chain(Rng& rng) : rng_(rng) {}

  ir::torch::Graph run() {
    for (const char* name : {"x", "y"}) values_.push_back(b_.input(name, {ir::DType::f32, random_shape()}));
    for (Int n = 1 + below(8); n > 0; --n) values_.push_back(step());
    return b_.finish({values_.back(), pick()});
  }

 private:
  Int below(Int n) { return static_cast<Int>(rng_.below(static_cast<std::uint64_t>(n))); }
  Id pick() { return values_[static_cast<std::size_t>(below(static_cast<Int>(values_.size())))]; }
  const Shape& shape(Id x) const { return b_.type(x).shape; }
  Int rank(Id x) const { return static_cast<Int>(shape(x).size()); }
  Int extent(Id x, Int dim) const { return shape(x)[static_cast<std::size_t>(dim)]; }

  Shape random_shape() {
    Shape result;
    for (Int d = below(5); d > 0; --d) result.push_back(std::array<Int, 6>{1, 2, 3, 4, 6, 8}[rng_.below(6)]);
    return ir::element_count(result) > most ? Shape{} : result;
  }

  // Applies a random operation, most often to the latest value, so that chains are long.
  Id step() {
    const Id x = below(3) == 0 ? pick() : values_.back();
    switch (rank(x) == 0 ? below(3) : below(11)) {
      case 0:
        return expand(x);
      case 1:
        return b_.call("unsqueeze", {x}, {{"dim", below(rank(x) + 1)}});
      case 2:
        return b_.call(below(2) == 0 ? "neg" : "exp", {x});
      case 3:
        return permute(x);
      case 4:
      case 5:
        return reshape(x);
      case 6:
      case 7:
        return slice(x);
      case 8:
        return select(x);
      case 9:
        return cat(x);
      default:
        return b_.call("stack", {x, same_shape(x)}, {{"dim", below(rank(x) + 1)}});
    }
  }

  Id expand(Id x) {
    Shape to = shape(x);
    for (Int& e : to)
      if (e == 1 && below(2) == 0) e = 1 + below(4);
    if (to.size() < 5) to.insert(to.begin(), 1 + below(3));
    return ir::element_count(to) > most ? x : b_.call("expand", {x}, {{"shape", to}});
  }

  Id permute(Id x) {
    std::vector<Int> dims(shape(x).size());
    std::iota(dims.begin(), dims.end(), 0);
    for (std::size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[rng_.below(i)]);
    return b_.call("permute", {x}, {{"dims", dims}});
  }

  // Reshapes to a random factorisation of the number of elements.
  Id reshape(Id x) {
    Shape to;
    for (Int rest = ir::element_count(shape(x)); to.size() < 5 && (rest > 1 || below(3) == 0);) {
      std::vector<Int> divisors;
      for (Int d = 1; d <= rest; ++d)
        if (rest % d == 0) divisors.push_back(d);
      to.push_back(to.size() == 4 ? rest : divisors[rng_.below(divisors.size())]);
      rest /= to.back();
    }
    if (ir::element_count(to) != ir::element_count(shape(x))) return x;
    return b_.call("reshape", {x}, {{"shape", to}});
  }

  Id slice(Id x) {
    const Int dim = below(rank(x)), start = below(extent(x, dim));
    const Int end = start + 1 + below(extent(x, dim) - start);
    return b_.call("slice", {x}, {{"dim", dim}, {"start", start}, {"end", end}, {"step", 1 + below(3)}});
  }

  Id select(Id x) {
    const Int dim = below(rank(x));
    return b_.call("select", {x}, {{"dim", dim}, {"index", below(extent(x, dim))}});
  }

  Id same_shape(Id x) {
    for (std::size_t i = values_.size(); i-- > 0;)
      if (below(2) == 0 && shape(values_[i]) == shape(x)) return values_[i];
    return below(2) == 0 ? x : b_.call("neg", {x});
  }

  Id cat(Id x) {
    if (3 * ir::element_count(shape(x)) > most) return slice(x);
    std::vector<Id> args{x};
    for (Int n = below(3); n > 0; --n) args.insert(args.begin() + below(2), same_shape(x));
    const Int dim = below(rank(x)), end = 1 + below(extent(x, dim));
    args.push_back(b_.call("slice", {x}, {{"dim", dim}, {"end", end}}));
    return b_.call("cat", args, {{"dim", dim}});
  }

  Rng& rng_;
  Builder b_;
  std::vector<Id> values_;
};

}  // namespace

ir::torch::Graph random_shapes(Rng& rng) { return Chain(rng).run(); }

}  // namespace deplo::testing
