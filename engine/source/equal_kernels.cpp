#include "engine/source/equal_kernels.h"

#include <map>
#include <string>

#include "ir/canonical/canonical.h"

namespace deplo::engine {

std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> first;
  for (const ir::Program& kernel : kernels)
    first.push_back(known.try_emplace(print(ir::canonical(kernel).program), first.size()).first->second);
  return first;
}

}  // namespace deplo::engine
