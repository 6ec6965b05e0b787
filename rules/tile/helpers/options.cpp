#include "rules/tile/helpers/options.h"

#include <algorithm>

namespace deplo::rules {

void add_option(std::vector<Value>& options, std::int64_t value) {
  if (std::find(options.begin(), options.end(), Value{value}) == options.end()) options.emplace_back(value);
}

std::vector<Value> options(std::initializer_list<std::int64_t> preferred, std::int64_t low, std::int64_t high) {
  std::vector<Value> result;
  for (const std::int64_t value : preferred)
    if (value >= low && value <= high) add_option(result, value);
  return result;
}

}  // namespace deplo::rules
