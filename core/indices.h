// Lists of indices.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <vector>

namespace deplo {

/// 0, 1, …, count - 1.
template <std::integral Index = std::size_t>
std::vector<Index> indices(std::size_t count) {
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// The same, sorted by key(index). Indices with equal keys keep their order.
template <class Key>
std::vector<std::size_t> indices_by(std::size_t count, const Key& key) {
  std::vector<std::size_t> all = indices(count);
  std::ranges::stable_sort(all, {}, key);
  return all;
}

}  // namespace deplo
