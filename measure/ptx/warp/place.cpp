#include "measure/ptx/warp/place.h"

#include <fmt/format.h>

#include "measure/ptx/machine.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

std::string place_of(const Statement& s) {
  std::string text = fmt::format("PTX line {}", s.line);
  if (s.place.line > 0) text += fmt::format(", CUDA line {}", s.place.line);
  if (s.place.inlined_at > 0) text += fmt::format(" (called at line {})", s.place.inlined_at);
  return text;
}

std::string place_of(const Program& program, std::uint32_t at) { return place_of(program.statements[at]); }

Finding placed(const Finding& finding, const Warp& warp, std::uint32_t at) {
  if (finding.has_place()) return finding;
  const Program& program = warp.machine().program();
  std::string text = fmt::format("{}: {}: {}; block {}, warp {}", place_of(program, at), program.statements[at].opcode,
                                 finding.what(), warp.block().index(), warp.index());
  if (finding.lane()) text += fmt::format(", lane {}", *finding.lane());
  return finding.placed(text);
}

void do_placed(const std::function<void()>& work, const Warp& warp, std::uint32_t at) {
  try {
    work();
  } catch (const Finding& finding) {
    throw placed(finding, warp, at);
  }
}

}  // namespace deplo::measure::ptx
