// Lists of options of a fork.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "rules/rule.h"

namespace deplo::rules {

/// Values in the order wanted, duplicates and values outside [low, high] dropped.
std::vector<Value> options(std::initializer_list<std::int64_t> preferred, std::int64_t low, std::int64_t high);
void add_option(std::vector<Value>& options, std::int64_t value);

}  // namespace deplo::rules
