#include "ir/program.h"

#include "core/error.h"

namespace deplo::ir {

std::string_view name(Level level) {
  switch (level) {
    case Level::loop:
      return "loop";
    case Level::tile:
      return "tile";
    case Level::kernel:
      return "kernel";
  }
  check_failed("level is known", __FILE__, __LINE__);
}

const Buffer* Program::find(std::string_view buffer) const {
  for (const Buffer& b : buffers)
    if (b.name == buffer) return &b;
  return nullptr;
}

}  // namespace deplo::ir
