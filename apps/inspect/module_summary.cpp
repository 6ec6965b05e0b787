#include "apps/inspect/module_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/columns.h"
#include "core/text/text.h"
#include "engine/loop/kernel.h"

namespace deplo::apps {
namespace {

template <typename Word>
std::string list(const ir::Program& kernel, ir::Role role, const Word& word) {
  std::string text;
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.role == role) text += (text.empty() ? "" : ", ") + word(buffer);
  return text;
}

std::string intensity(const ir::Work& work) { return work.bytes > 0 ? significant(work.flops / work.bytes) : "-"; }

std::vector<std::string> row_of(const ir::Program& kernel, std::size_t number, std::size_t first) {
  const ir::Work work = ir::work(kernel);
  return {std::to_string(number),
          kernel.name,
          list(kernel, ir::Role::output, [](const ir::Buffer& buffer) { return ir::print(buffer.shape); }),
          three_digits(work.flops / 1e9),
          three_digits(work.bytes / 1e6),
          intensity(work),
          first == number ? "" : fmt::format("as {}", first),
          list(kernel, ir::Role::input, [](const ir::Buffer& buffer) { return buffer.name; })};
}

}  // namespace

std::string print_summary(const ir::Module& module, std::size_t width) {
  std::vector<std::vector<std::string>> rows{{"#", "kernel", "output", "GFLOP", "MB", "FLOP/byte", "", "reads"}};
  const std::vector<std::size_t> first = engine::first_equals(module.kernels);
  ir::Work total;
  std::size_t distinct = 0;
  const bool together = module.kernels.size() > max_launch_rows;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    if (!together || first[i] == i) rows.push_back(row_of(module.kernels[i], i, first[i]));
    if (together && first[i] == i) rows.back()[6] = fmt::format("x{}", std::ranges::count(first, i));
    const ir::Work work = ir::work(module.kernels[i]);
    total.flops += work.flops;
    total.bytes += work.bytes;
    distinct += first[i] == i;
  }
  rows.push_back(
      {"", "total", "", three_digits(total.flops / 1e9), three_digits(total.bytes / 1e6), intensity(total), "", ""});
  constexpr std::string_view spare[] = {"reads"};
  return align_columns(rows, {true, false, false, true, true, true, false, false}, width, spare) +
         fmt::format("{}, {} distinct\n", counted(module.kernels.size(), "kernel"), distinct);
}

}  // namespace deplo::apps
