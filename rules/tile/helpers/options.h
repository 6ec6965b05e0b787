// Makes lists of options for a fork.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "rules/rule.h"

namespace deplo::rules {

/// Returns the preferred values in their order, without duplicates and without values outside [low, high].
std::vector<Value> options(std::initializer_list<std::int64_t> preferred, std::int64_t low, std::int64_t high);
void add_option(std::vector<Value>& options, std::int64_t value);

}  // namespace deplo::rules
