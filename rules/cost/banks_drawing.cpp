#include "rules/cost/banks_drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/text.h"
#include "ir/hardware/gpu.h"
#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"
#include "rules/cost/banks.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t rows_drawn = 8;  // a swizzle repeats after 8 rows, which also suffice to see other patterns

// Threads and columns 0 to 31 are drawn as one character each.
char digit(std::int64_t number) { return "0123456789abcdefghijklmnopqrstuv"[number % 32]; }

using Line = std::array<char, ir::gpu::banks>;
Line empty_line() {
  Line line;
  line.fill('.');
  return line;
}
std::string text(const Line& line) { return fmt::format("{}", fmt::join(line, " ")); }
std::size_t bank(std::int64_t word) { return static_cast<std::size_t>(word % ir::gpu::banks); }

// Returns a line such as `b_smem = b: 2 slots of [16][64 + 4] f32, 8704 bytes, by cp.async of 4`.
std::string layout_line(const ir::Stage& stage) {
  std::vector<std::int64_t> shape = ir::physical_shape(stage);
  if (stage.slots > 1) shape.erase(shape.begin());
  std::string box;
  if (stage.panel > 0) {
    box = fmt::format("{} panels of ", shape.front());
    shape.erase(shape.begin());
  }
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) box += fmt::format("[{}]", shape[d]);
  box += fmt::format("[{}", shape.back() - stage.pad) + (stage.pad > 0 ? fmt::format(" + {}]", stage.pad) : "]");
  std::string line = fmt::format("{} = {}: ", stage.buffer, stage.source);
  if (stage.slots > 1) line += fmt::format("{} slots of ", stage.slots);
  line +=
      fmt::format("{} {}, {} bytes", box, ir::name(stage.dtype), ir::physical_count(stage) * ir::bytes(stage.dtype));
  if (stage.swizzle > 0) line += fmt::format(", swizzle of {} bytes", stage.swizzle);
  constexpr const char* transports[] = {"copies", "copies ahead", "cp.async", "TMA"};
  line += fmt::format(", by {}", transports[static_cast<std::size_t>(stage.transport)]);
  if (stage.lanes > 0) line += fmt::format(" of {}", stage.lanes);
  return line + "\n";
}

// Draws which column of a row is in which bank, or which pair of columns if they have 16 bits. A 33rd entry would be in
// the bank of the first one.
std::string ladder(const ir::Stage& stage) {
  const std::int64_t columns = ir::row_elements(stage);
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < stage.slab.size(); ++d) rows *= stage.slab[d].extent;
  std::string out = "  columns by bank:\n    row ";
  for (int b = 0; b < ir::gpu::banks; ++b) out += b % 8 == 0 ? fmt::format("{:<16}", b) : "";
  out.erase(out.find_last_not_of(' ') + 1);
  for (std::int64_t row = 0; row < std::min(rows, rows_drawn); ++row) {
    std::vector<std::int64_t> index(stage.slab.size());
    std::int64_t rest = row;
    for (std::size_t d = stage.slab.size() - 1; d-- > 0; rest /= stage.slab[d].extent)
      index[d] = rest % stage.slab[d].extent;
    Line line = empty_line();
    const std::int64_t in_word = elements_of_word(stage),
                       drawn = std::min<std::int64_t>(columns, ir::gpu::banks * in_word);
    for (index.back() = 0; index.back() < drawn; index.back() += in_word)
      line[bank(physical_offset(stage, index) / in_word)] = digit(index.back() / in_word);
    out += fmt::format("\n    {:<3} {}", row, text(line));
  }
  return out + "\n";
}

// One part of the warp: the threads that are served together. A line has the thread that first reads each word, and
// words of the same bank are below each other.
struct Part {
  std::size_t first = 0, last = 0;  // threads
  std::vector<Line> wavefronts;
};

Part part_of(const std::vector<std::int64_t>& words, std::size_t first, std::size_t size, int lanes) {
  Part part = {first, std::min(first + size, words.size()) - 1, {}};
  std::array<std::vector<std::int64_t>, ir::gpu::banks> seen;
  for (std::size_t t = first; t <= part.last; ++t)
    for (std::int64_t word = words[t]; word < words[t] + lanes; ++word) {
      std::vector<std::int64_t>& in_bank = seen[bank(word)];
      if (std::find(in_bank.begin(), in_bank.end(), word) != in_bank.end()) continue;
      in_bank.push_back(word);
      if (part.wavefronts.size() < in_bank.size()) part.wavefronts.push_back(empty_line());
      part.wavefronts[in_bank.size() - 1][bank(word)] = digit(static_cast<std::int64_t>(t));
    }
  return part;
}

// Draws the part of the warp that takes the most wavefronts.
std::string collisions(const WarpAccess& access, const ir::Stage& layout, const BankCost& cost) {
  const std::vector<std::int64_t> words = words_of(access, layout, cost.sample, cost.lanes);
  const Moves moves = access.load != nullptr ? Moves::load : Moves::store;
  const int width = width_in_words(layout, cost.lanes);
  const auto size = static_cast<std::size_t>(served_together(words, width, moves));
  Part worst;
  for (std::size_t first = 0; first < words.size(); first += size) {
    Part part = part_of(words, first, size, width);
    if (part.wavefronts.size() > worst.wavefronts.size()) worst = std::move(part);
  }
  std::string out = fmt::format("    threads {} to {} by bank, one line per wavefront:\n", worst.first, worst.last);
  for (std::size_t i = 0; i < worst.wavefronts.size() && i < static_cast<std::size_t>(rows_drawn); ++i)
    out += fmt::format("        {}\n", text(worst.wavefronts[i]));
  if (worst.wavefronts.size() > static_cast<std::size_t>(rows_drawn))
    out += fmt::format("        … and {} more\n", worst.wavefronts.size() - static_cast<std::size_t>(rows_drawn));
  return out;
}

std::string access_line(const WarpAccess& access) {
  std::string what = "fill";
  if (access.load != nullptr) {
    std::vector<std::string> index;
    for (const ir::Expr& e : access.load->index) index.push_back(ir::print(e));
    what = fmt::format("load {}[{}]", access.load->buffer, join(index, ", "));
  }
  const BankCost cost = bank_cost(access, *access.stage);
  if (cost.lanes > 1) what += fmt::format(" of {}", cost.lanes);
  const bool best = cost.wavefronts <= cost.min_wavefronts;
  std::string line = fmt::format("  {}: {} wavefront{}", what, cost.wavefronts, cost.wavefronts == 1 ? "" : "s");
  line += best ? ", no conflict\n" : fmt::format(", least {}\n", cost.min_wavefronts);
  return best ? line : line + collisions(access, *access.stage, cost);
}

}  // namespace

std::string draw_banks(const ir::Program& tile, const Target& target) {
  const std::vector<Staged> buffers = staged_buffers(tile);
  if (buffers.empty()) return fmt::format("{} on {}: nothing is staged in shared memory\n", tile.name, target.name);
  std::string out =
      fmt::format("{} on {}: {} bytes of shared memory\n", tile.name, target.name, shared_bytes(tile, target));
  if (target.unit_threads > 0) {
    const std::int64_t threads = ir::count_of(tile.body, ir::Bind::thread);
    const Occupancy limit = occupancy(threads, 1, shared_bytes(tile, target), target);  // ptxas decides about registers
    out += fmt::format("blocks of a multiprocessor by threads and shared memory: {}, {:.0f}% of its threads\n",
                       limit.blocks, 100 * limit.fraction);
  }
  out += target.warp == 1 ? "no warps: banks are not counted\n"
                          : "0 to 9 and a to v number columns and threads; a dot is an unused bank\n";
  const std::vector<WarpAccess> accesses = warp_accesses(tile, Unrolled::as_marked);
  for (const Staged& staged : buffers) {
    out += "\n" + layout_line(*staged.stage);
    if (target.warp == 1 || ir::bytes(staged.stage->dtype) == 1) continue;
    out += ladder(*staged.stage);
    std::vector<std::string> seen;  // a pipeline holds the same accesses several times
    for (const WarpAccess& access : accesses)
      if (access.stage == staged.stage)
        if (std::string line = access_line(access); std::find(seen.begin(), seen.end(), line) == seen.end())
          seen.push_back(std::move(line));
    for (const std::string& line : seen) out += line;
  }
  return out;
}

}  // namespace deplo::rules
