#include "apps/module_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/text.h"
#include "ir/canonical.h"

namespace deplo::apps {
namespace {

const ir::Buffer& output_of(const ir::Program& kernel) {
  const auto found = std::ranges::find(kernel.buffers, ir::Role::output, &ir::Buffer::role);
  CHECK(found != kernel.buffers.end());
  return *found;
}

std::string inputs_of(const ir::Program& kernel) {
  std::string text;
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.role == ir::Role::input) (text += text.empty() ? "" : ", ") += buffer.name;
  return text;
}

std::string intensity(const ir::Work& work) { return work.bytes > 0 ? significant(work.flops / work.bytes) : "-"; }

std::vector<std::string> row_of(const ir::Program& kernel, std::size_t number, std::size_t first) {
  const ir::Work work = ir::work(kernel);
  return {std::to_string(number),
          kernel.name,
          ir::print(output_of(kernel).shape),
          three_digits(work.flops / 1e9),
          three_digits(work.bytes / 1e6),
          intensity(work),
          first == number ? "" : fmt::format("as {}", first),
          inputs_of(kernel)};
}

std::string repeat(char c, std::size_t n) { return std::string(n, c); }

}  // namespace

std::string three_digits(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> first;
  for (const ir::Program& kernel : kernels)
    first.push_back(known.try_emplace(print(ir::canonical(kernel).program), first.size()).first->second);
  return first;
}

std::string align_columns(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                          std::size_t width) {
  std::vector<std::size_t> widths(right.size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns(row[c]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space = repeat(' ', widths[c] - columns(row[c]));
      (line += c == 0 ? "" : "  ") += right[c] ? space + row[c] : row[c] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (width == 0 ? line : cut(line, width)) + "\n";
  }
  return text;
}

std::string print_summary(const ir::Module& module, std::size_t width) {
  std::vector<std::vector<std::string>> rows{{"#", "kernel", "output", "GFLOP", "MB", "FLOP/byte", "", "reads"}};
  const std::vector<std::size_t> first = first_equals(module.kernels);
  ir::Work total;
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    rows.push_back(row_of(module.kernels[i], i, first[i]));
    const ir::Work work = ir::work(module.kernels[i]);
    total.flops += work.flops;
    total.bytes += work.bytes;
    distinct += first[i] == i;
  }
  rows.push_back({"", "total", fmt::format("{} kernels, {} distinct", module.kernels.size(), distinct),
                  three_digits(total.flops / 1e9), three_digits(total.bytes / 1e6), intensity(total), "", ""});
  return align_columns(rows, {true, false, false, true, true, true, false, false}, width);
}

}  // namespace deplo::apps
