// Private to library/: turns deplo's errors into standard exceptions.
#pragma once
#include <stdexcept>
#include <utility>

#include "core/error.h"

namespace deplo {

/// Returns the result of `work`. If `work` throws Error, throws the standard exception that deplo.h promises.
template <class Work>
auto with_standard_errors(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    if (error.exit() == Exit::user) throw std::invalid_argument(error.what());
    throw std::runtime_error(error.what());
  }
}

}  // namespace deplo
