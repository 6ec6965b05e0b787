// The seeds of property tests. `make test SEED=N` chooses other seeds.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <ranges>

namespace deplo {

/// Returns the first seed of a property test: `first` by default, others with --gtest_random_seed=N
/// (GTEST_RANDOM_SEED).
inline std::uint64_t first_seed(std::uint64_t first = 0) {
  constexpr std::uint64_t stride = 1'000'000;  // more seeds than a test draws
  return first + stride * static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed));
}

/// Returns `count` consecutive seeds, beginning with first_seed().
inline auto drawn_seeds(std::uint64_t count) { return std::views::iota(first_seed(), first_seed(count)); }

}  // namespace deplo
