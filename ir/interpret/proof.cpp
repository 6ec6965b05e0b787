#include "ir/interpret/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/text/text.h"
#include "ir/interpret/executions.h"
#include "ir/types/float16.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

using Kind = ProofVerdict::Kind;

// Limits on the number of statements executed, over all lanes. The machine executes about 30 million per second.
constexpr double max_in_part = 1e7;  // for a set of blocks that represents all blocks
constexpr double max_at_points = 2e7;
constexpr std::size_t max_points = 64;  // number of elements compared per output

/// Returns the number of statements executed for one value of each free axis.
double executions_at_point(const Body& body) {
  double count = 0;
  for (const Stmt& stmt : body) {
    const auto* loop = stmt.as<Loop>();
    const Body* inner = inner_body(stmt);
    if (loop != nullptr && loop->axis.bind == Bind::free)
      count += executions_at_point(*inner);
    else if (loop != nullptr)
      count += static_cast<double>(loop->axis.extent) * executions_at_point(*inner);
    else
      count += inner == nullptr ? 1 : executions_at_point(*inner);
  }
  return count;
}

bool is_exact(double value) { return !std::isfinite(value) || value == std::floor(value); }

bool is_same(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) || (std::isnan(x) && std::isnan(y));
}

bool adds_together(const Program& program) {
  return any_of<Write>(program.body, [&](const Write& write) { return adds(write.mode); });
}

/// Returns numbers of clusters: the first, the last, and others drawn at random from the seed.
std::vector<std::int64_t> some_clusters(std::int64_t all, std::int64_t count, std::uint64_t seed) {
  if (count == 1) return {0};
  std::set<std::int64_t> chosen = {0, all - 1};
  Rng rng(seed);
  while (std::ssize(chosen) < std::min(all, count))
    chosen.insert(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(all))));
  return {chosen.begin(), chosen.end()};
}

/// Returns the clusters, and all other clusters that add to the same elements. The numbers of the latter differ only
/// along block axes that no Write's index names.
std::vector<std::int64_t> with_their_partners(const Program& schedule, const std::vector<std::int64_t>& clusters) {
  std::vector<std::int64_t> all = clusters;
  const Tile* tile = nullptr;
  for (const Stmt& stmt : schedule.body)
    if (const auto* launch = stmt.as<Tile>()) tile = launch;
  CHECK(tile != nullptr);
  std::int64_t step = 1;  // distance between the numbers of neighbours along the axis; the last axis varies fastest
  for (auto axis = tile->axes.rbegin(); axis != tile->axes.rend(); ++axis) {
    if (axis->bind != Bind::block) continue;
    bool is_named = false;
    for_each<Write>(schedule.body, [&](const Write& write) {
      if (schedule.find(write.buffer) != nullptr)
        for (const Expr& index : write.index) is_named |= depends_on(index, axis->name);
    });
    if (!is_named) {
      std::set<std::int64_t> more;
      for (const std::int64_t number : all)
        for (std::int64_t i = 0; i < axis->extent; ++i)
          more.insert(number - number / step % axis->extent * step + i * step);
      all.assign(more.begin(), more.end());
    }
    step *= axis->extent;
  }
  return all;
}

/// Returns a description of each kind of rounding in the statements of a program.
std::set<std::string> roundings(const Program& program) {
  std::set<std::string> found;
  for_each(program.body, [&](const Stmt& stmt) {
    if (const auto* assign = stmt.as<Assign>()) {
      if (assign->op == Op::round_tf32) found.insert("factors to tf32");
      if (assign->op == Op::round_f16) found.insert("values to f16");
      if (assign->op == Op::round_bf16) found.insert("values to bf16");
    }
    if (const auto* pack = stmt.as<Pack>(); pack != nullptr && is_float16(pack->type.dtype))
      found.insert(fmt::format("values to {}", name(pack->type.dtype)));
  });
  return found;
}

}  // namespace

std::string print(const ProofVerdict& verdict) {
  const auto with = [&](std::string_view word) {
    return verdict.why.empty() ? std::string(word) : fmt::format("{}: {}", word, verdict.why);
  };
  switch (verdict.kind) {
    case Kind::proved:
      return verdict.why.empty() ? "proved" : fmt::format("proved up to {}", verdict.why);
    case Kind::in_part:
      return with("proved in part");
    case Kind::refuted:
      return with("refuted");
    case Kind::open:
      return with("not proved");
  }
  CHECK(false);
}

namespace {

Proof::Inputs known_inputs(const Program& meaning, Memory inputs) {
  Proof::Inputs known;
  for (const Buffer& buffer : meaning.buffers) {
    if (buffer.role == Role::output) continue;
    std::vector<double>& elements = inputs[buffer.name];
    CHECK(std::ssize(elements) == span(buffer));
    known.emplace(buffer.name, copy_of(std::move(elements)));
  }
  return known;
}

}  // namespace

Proof::Proof(const Program& meaning, Memory inputs, std::uint64_t seed)
    : Proof(meaning, known_inputs(meaning, std::move(inputs)), seed) {}

Proof::Proof(const Program& meaning, Inputs inputs, std::uint64_t seed)
    : Proof(meaning, std::move(inputs), seed, Options{}) {}

Proof::Proof(const Program& meaning, Inputs inputs, std::uint64_t seed, const Options& options)
    : meaning_(meaning), seed_(seed), ring_(meaning, options.sigmoid), inputs_(std::move(inputs)) {
  std::uint64_t number = (seed << 40) + 1;  // number of an input's first element
  for (const Buffer& buffer : meaning.buffers) {
    if (buffer.role == Role::output || !is_float(buffer.dtype)) continue;
    ComputeElements& compute = inputs_.at(buffer.name);
    const std::uint64_t distinct_elements = is_float16(buffer.dtype) && options.different_in_16_bits > 0
                                                ? options.different_in_16_bits
                                                : std::numeric_limits<std::uint64_t>::max();
    compute = [ring = ring_, drawn = std::move(compute), number, distinct_elements](std::size_t first,
                                                                                    std::span<double> elements) {
      drawn(first, elements);
      for (std::size_t i = 0; i < elements.size(); ++i)
        elements[i] = is_exact(elements[i]) ? ring.constant(elements[i])
                                            : Ring::element(number + (first + i) % distinct_elements);
    };
    number += static_cast<std::uint64_t>(span(buffer));
  }
  if (executions(meaning.body) > max_executions) return;
  LazyInputs lazy = lazy_inputs();
  expected_ = outputs(meaning, lazy, {});
}

LazyInputs Proof::lazy_inputs() const {
  LazyInputs lazy;
  for (const Buffer& buffer : meaning_.buffers)
    if (buffer.role != Role::output)
      lazy.try_emplace(buffer.name, static_cast<std::size_t>(span(buffer)), inputs_.at(buffer.name));
  return lazy;
}

Memory Proof::outputs(const Program& program, LazyInputs& inputs, const Limits& limits) const {
  Memory memory;
  for (const Buffer& buffer : meaning_.buffers)
    if (buffer.role == Role::output)
      memory[buffer.name].assign(static_cast<std::size_t>(span(buffer)), std::numeric_limits<double>::quiet_NaN());
  interpret(program, inputs, memory, ring_, limits);
  return canonical(std::move(memory));
}

Memory Proof::canonical(Memory memory) const {
  Memory outputs;
  for (const Buffer& buffer : meaning_.buffers) {
    if (buffer.role != Role::output) continue;
    std::vector<double>& elements = outputs[buffer.name] = std::move(memory.find(buffer.name)->second);
    if (is_float(buffer.dtype))
      for (double& x : elements) x = ring_.canonical(x);
  }
  return outputs;
}

std::vector<double> Proof::input(const Buffer& buffer) const {
  std::vector<double> elements(static_cast<std::size_t>(span(buffer)));
  inputs_.at(buffer.name)(0, elements);
  return elements;
}

std::string Proof::difference(const Program& schedule, const Limits& limits) const {
  LazyInputs inputs = lazy_inputs();
  return difference(outputs(schedule, inputs, limits));
}

std::string Proof::difference(Memory memory) const {
  CHECK(expected_.has_value());
  const Memory found = canonical(std::move(memory));
  std::size_t wrong = 0, all = 0;
  std::string first;
  for (const auto& [name, expected] : *expected_)
    for (std::size_t i = 0; i < expected.size(); ++i, ++all)
      if (!is_same(expected[i], found.at(name)[i]) && wrong++ == 0) first = fmt::format("{}[{}]", name, i);
  if (wrong == 0) return "";
  return fmt::format("{} of {} elements are another formula of the inputs, first {}", wrong, all, first);
}

ProofVerdict Proof::verdict(const Program& schedule, const Limits& limits) const {
  try {
    if (!expected_ || executions(schedule.body) > max_executions) return verdict_in_part(schedule, limits);
    std::string wrong = difference(schedule, limits);
    if (!wrong.empty()) return {Kind::refuted, std::move(wrong)};
    return {Kind::proved, ignored(meaning_, schedule)};
  } catch (const Error& error) {
    return {Kind::refuted, error.what()};
  }
}

ProofVerdict Proof::verdict_in_part(const Program& schedule, Limits limits) const {
  const bool adds = adds_together(schedule);
  const std::int64_t cluster = count_of(schedule.body, Bind::cluster), blocks = count_of(schedule.body, Bind::block);
  const double per_block = executions(schedule.body) / static_cast<double>(blocks);
  if (per_block > 2 * max_executions) return {Kind::open, "one of its blocks takes too long"};
  const std::int64_t count =
      per_block > max_executions ? 1 : static_cast<std::int64_t>(std::max(2.0, max_in_part / per_block));
  limits.clusters = some_clusters(blocks, count, seed_);
  if (adds) limits.clusters = with_their_partners(schedule, limits.clusters);
  if (per_block * static_cast<double>(limits.clusters.size()) > 2 * max_executions)
    return {Kind::open, "blocks that add to the same elements take too long"};
  std::size_t compared = 0;
  LazyInputs inputs = lazy_inputs();
  const Memory found = outputs(schedule, inputs, limits);
  const std::optional<std::string> wrong = compare_some(found, inputs, adds, compared);
  if (!wrong) return {Kind::open, "an element takes too long, or loaded values choose it"};
  if (!wrong->empty() && adds) return {Kind::open, "other blocks may add to the elements that were compared"};
  if (!wrong->empty()) return {Kind::refuted, *wrong};
  const std::string note = ignored(meaning_, schedule);
  return {Kind::in_part, fmt::format("{} of {} blocks, {} elements{}{}", std::ssize(limits.clusters) * cluster,
                                     blocks * cluster, compared, note.empty() ? "" : ", up to ", note)};
}

// Returns "" if the compared elements are equal, and nullopt if no element could be compared. If `adds`, blocks add to
// the outputs, which start at 0: an element that is 0 may belong to blocks that were not executed, so it is skipped.
std::optional<std::string> Proof::compare_some(const Memory& found, LazyInputs& inputs, bool adds,
                                               std::size_t& compared) const {
  const double per_point = executions_at_point(meaning_.body);
  const ReadInput read = [&](const Buffer& buffer, std::int64_t offset) {
    return inputs.find(buffer.name)->second[static_cast<std::size_t>(offset)];
  };
  const auto evaluate = [&](const auto& at) { return evaluate_at(meaning_, read, at, ring_); };
  for (const auto& [name, elements] : found) {
    std::vector<std::size_t> written;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (!std::isnan(elements[i]) && !(adds && elements[i] == 0)) written.push_back(i);
    const double axes = static_cast<double>(free_axes(meaning_).size()) + 1;
    const auto points = static_cast<std::size_t>(std::clamp(max_at_points / per_point - axes, 0.0, 1e9));
    if (points == 0) return std::nullopt;
    const ElementFinder finder(meaning_, name, evaluate);
    Rng rng(seed_);
    if (written.empty()) continue;
    for (std::size_t i = 0; i < std::min({points, max_points, written.size()}); ++i) {
      const std::size_t element = i == 0   ? written.front()
                                  : i == 1 ? written.back()
                                           : written[rng.below(written.size())];
      const std::optional<Point> expected = finder.find(static_cast<std::int64_t>(element));
      if (!expected) return std::nullopt;
      const double value = is_float(meaning_.find(name)->dtype) ? ring_.canonical(expected->value) : expected->value;
      if (!is_same(value, elements[element]))
        return fmt::format("{}[{}] is another formula of the inputs", name, element);
      ++compared;
    }
  }
  return compared == 0 ? std::nullopt : std::optional<std::string>("");
}

std::string ignored(const Program& meaning, const Program& schedule) {
  std::set<std::string> added = roundings(schedule);
  for (const std::string& known : roundings(meaning)) added.erase(known);
  return added.empty() ? "" : "rounding of " + join(std::vector<std::string>(added.begin(), added.end()), " and ");
}

}  // namespace deplo::ir
