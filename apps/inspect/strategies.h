// `deplo strategies`: lists the strategies for --search, and the hyperparameters for --set.
#pragma once
#include <cstddef>
#include <string>

namespace deplo::apps {

/// Both functions return all strategies, or the named one with its hyperparameters, and throw Error for an unknown
/// name. `width`: the window's width in columns; 0: no limit.
std::string strategies_text(const std::string& name, bool verbose, std::size_t width);
std::string strategies_json(const std::string& name);

}  // namespace deplo::apps
