// A small seeded generator with the same sequence on every platform (std distributions differ between libraries).
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"

namespace deplo {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Not thread-safe.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += step);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Skips the next `n` numbers.
  void skip(std::uint64_t n) { state_ += n * step; }

  /// Uniform in [0, n), n > 0, by rejection: no modulo bias.
  std::uint64_t below(std::uint64_t n) {
    CHECK(n > 0);
    const std::uint64_t limit = n * (UINT64_MAX / n);
    for (;;)
      if (const std::uint64_t x = next(); x < limit) return x % n;
  }

  /// Uniform in [0, 1) with 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio
  std::uint64_t state_;
};

/// Fisher-Yates shuffle.
template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

}  // namespace deplo
