#include "engine/source/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/number.h"
#include "core/text/split.h"

namespace deplo::engine {
namespace {

std::size_t owner(std::size_t kernel, const Shard& shard) { return kernel % static_cast<std::size_t>(shard.count); }

std::string names(const Experiment& experiment, const Shard& shard) {
  std::string text;
  for (std::size_t k = 0; k < experiment.kernels.size(); ++k)
    if (owner(k, shard) == static_cast<std::size_t>(shard.number - 1))
      text += (text.empty() ? "" : ", ") + experiment.kernels[k].name;
  return text.empty() ? "nothing" : text;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  if (const std::vector<std::string_view> words = split_at(text, '/'); words.size() == 2) {
    const auto number = parse_number<std::int64_t>(words[0]), count = parse_number<std::int64_t>(words[1]);
    if (number && count && *number >= 1 && *number <= *count && *count <= max_count) return {*number, *count};
  }
  throw Error(fmt::format("--shard: expected I/N with 1 <= I <= N, such as 2/4, found '{}'", text));
}

void take_shard(Experiment& experiment, const Shard& shard) {
  std::vector<KernelCase> mine;
  for (std::size_t k = 0; k < experiment.kernels.size(); ++k)
    if (owner(k, shard) == static_cast<std::size_t>(shard.number - 1)) mine.push_back(std::move(experiment.kernels[k]));
  experiment.kernels = std::move(mine);
}

std::string describe_shards(const Experiment& experiment, const Shard& shard) {
  std::string text = fmt::format("shard {}/{} tunes {}", shard.number, shard.count, names(experiment, shard));
  const auto kernels = static_cast<std::int64_t>(experiment.kernels.size());
  for (std::int64_t other = 1; other <= std::min(shard.count, kernels); ++other)
    if (other != shard.number)
      text += fmt::format("; {}/{}: {}", other, shard.count, names(experiment, {other, shard.count}));
  return text;
}

}  // namespace deplo::engine
