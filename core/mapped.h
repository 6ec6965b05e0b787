// Lists made from other lists.
#pragma once
#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace deplo {

/// Returns f(element) for each element of the range, in order. `f` may be a member: mapped(kernels, &Kernel::name).
/// `T`: the type of the list's elements, if it is not the type that f returns.
template <class T = void, class Range, class F>
auto mapped(Range&& range, F&& f) {
  using Returned = std::remove_cvref_t<std::invoke_result_t<F&, decltype(*std::begin(range))>>;
  std::vector<std::conditional_t<std::is_void_v<T>, Returned, T>> results;
  if constexpr (requires { std::size(range); }) results.reserve(std::size(range));
  for (auto&& element : range) results.emplace_back(std::invoke(f, element));
  return results;
}

}  // namespace deplo
