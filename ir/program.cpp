#include "ir/program.h"

#include "core/error.h"
#include "ir/walk.h"

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

std::vector<std::size_t> zeroed_buffers(const Program& program) {
  std::vector<bool> added(program.buffers.size());
  for_each(program.body, [&](const Stmt& stmt) {
    const auto* write = stmt.as<Write>();
    if (write == nullptr || !adds(write->mode)) return;
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
      if (program.buffers[i].name == write->buffer) added[i] = true;
  });
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < added.size(); ++i)
    if (added[i]) result.push_back(i);
  return result;
}

}  // namespace deplo::ir
