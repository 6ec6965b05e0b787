#include "measure/cuda/compiler/ptxas.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text/number.h"
#include "core/text/split.h"
#include "core/text/text.h"

namespace deplo::measure::cuda {
namespace {

// Returns the number before `words`, such as 30 before " registers" in "Used 30 registers, 4096 bytes smem"; -1 if
// there is none.
std::int64_t number_before(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos || at == 0) return -1;
  const std::size_t start = line.find_last_not_of("0123456789", at - 1) + 1;
  return parse_number<std::int64_t>(line.substr(start, at - start)).value_or(-1);
}

void read_line(std::string_view line, PtxasLog& result) {
  const auto take = [&](std::int64_t& field, std::string_view words) {
    field = std::max(field, number_before(line, words));
  };
  take(result.stack_bytes, " bytes stack frame");
  take(result.spill_bytes, " bytes spill stores");
  take(result.spill_bytes, " bytes spill loads");
  const std::int64_t registers = number_before(line, " registers");
  if (registers < 0) return;
  result.registers = registers;
  // the log omits it if it is 0
  result.static_shared_bytes = std::max<std::int64_t>(number_before(line, " bytes smem"), 0);
}

// Returns the code and the text of a message such as "ptxas info    : (C7519) warpgroup.arrive is injected in around
// line 397 by compiler to allow use of registers in GMMA in function 'k'", without the assembly line. Returns "" for
// other lines and other kernels.
std::string note(std::string_view line, std::string_view entry) {
  const std::size_t open = line.find(": (C"), close = line.find(") ", open);
  if (!line.starts_with("ptxas ") || open == std::string_view::npos || close == std::string_view::npos) return "";
  const std::string_view code = line.substr(open + 3, close - open - 3);
  if (code.size() < 2 || code.find_first_not_of("0123456789", 1) != std::string_view::npos) return "";
  std::string text(line.substr(close + 2));
  for (const std::string_view of : {" in function '", " in the function '"})
    if (const std::size_t at = text.rfind(of); at != std::string::npos) {
      if (text.substr(at + of.size()) != fmt::format("{}'", entry)) return "";
      text.resize(at);
    }
  constexpr std::string_view place = " in around line ";
  if (const std::size_t at = text.find(place); at != std::string::npos)
    text.erase(at, std::min(text.find_first_not_of("0123456789", at + place.size()), text.size()) - at);
  return fmt::format("{}: {}", code, text);
}

}  // namespace

PtxasLog parse_log(std::string_view log, std::string_view entry) {
  constexpr std::string_view starts = "Compiling entry function '";
  PtxasLog result;
  bool ours = false;
  std::vector<std::string> notes;
  for (const std::string_view line : lines_of(log)) {
    if (const std::size_t at = line.find(starts); at != std::string_view::npos) {
      const std::string_view name = line.substr(at + starts.size());
      ours = name.substr(0, name.find('\'')) == entry;
    }
    if (ours) read_line(line, result);
    // #177: an unused name, such as an axis of extent 1.
    if (line.find("warning #") != std::string_view::npos && line.find("warning #177-D") == std::string_view::npos)
      result.warnings += std::string(line) + "\n";
    if (std::string said = note(line, entry); !said.empty() && std::ranges::find(notes, said) == notes.end())
      notes.push_back(std::move(said));
  }
  result.notes = join(notes, "; ");
  return result;
}

}  // namespace deplo::measure::cuda
