#include "rules/blocks/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/text/text.h"
#include "rules/blocks/dealing.h"
#include "rules/blocks/plan.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;

const std::string matrix = "matrix";  // an option of product.by

std::int64_t largest_tile(const tp::Entry& entry) {
  std::int64_t max_size = 1;
  for (const tp::Value& value : entry.values)
    if (value.type->is_tile()) max_size = std::max(max_size, tp::element_count(*value.type));
  return max_size;
}

std::string words(const std::vector<Value>& values) {
  return join(values, ", ", [](const Value& value) { return print(value); });
}

std::int64_t matrix_products(const tp::Entry& entry, std::int64_t threads, const Target& target) {
  std::int64_t count = 0;
  tp::for_each_operation(entry.body, [&](const tp::Operation& op) {
    if (op.form->name == "mmaf" && blocks::warps_of(entry, op, threads, target)) ++count;
  });
  return count;
}

/// The powers of two from `min` to `max` that divide `whole`, and `whole` itself. `first` comes before all others.
std::vector<Value> divisors(std::int64_t whole, std::int64_t first, std::int64_t min, std::int64_t max) {
  std::vector<Value> options{first};
  for (std::int64_t n = min; n <= std::min(whole, max); n *= 2)
    if (whole % n == 0 && n != first) options.emplace_back(n);
  if (whole != first && std::ranges::find(options, Value(whole)) == options.end()) options.emplace_back(whole);
  return options;
}

}  // namespace

std::vector<std::int64_t> block_threads(const tp::Entry& entry, const Target& target) {
  constexpr std::int64_t usual = 128, elements = 4;  // usual: threads of a GPU's block; elements: per thread
  const std::int64_t wanted = std::min(usual, largest_tile(entry) / elements);
  const std::int64_t best = target.cpu ? 1 : std::bit_floor(static_cast<std::uint64_t>(std::max(wanted, target.warp)));
  std::vector<std::int64_t> threads;
  for (std::int64_t t = target.cpu ? 1 : target.warp; t <= target.max_threads; t *= 2) threads.push_back(t);
  // Picks the fewest threads, from the usual number on, for which tensor cores compute as many products as possible.
  const auto products = [&](std::int64_t t) { return matrix_products(entry, t, target); };
  std::int64_t max_products = 0;
  for (const std::int64_t t : threads) max_products = std::max(max_products, products(t));
  const auto pick =
      std::ranges::find_if(threads, [&](std::int64_t t) { return t >= best && products(t) == max_products; });
  const auto first = pick == threads.end() ? std::ranges::find(threads, best) : pick;
  std::rotate(threads.begin(), first, first + 1);
  return threads;
}

std::string_view meaning_of_block_knob(std::string_view knob) {
  if (knob.starts_with(threads_group)) return "threads that share the tiles of a block";
  if (knob.starts_with(keep_group)) return "keep a tile in memory (1), or compute its elements where they are used (0)";
  if (knob.starts_with("product.by")) return "matrix instructions of warps, or each thread by itself";
  if (knob.starts_with("product.rows")) return "rows of sums that a thread has in registers while it walks k";
  return "columns of sums that a thread has in registers while it walks k";
}

std::map<tp::ValueId, bool> all_kept(const tp::Entry& entry) {
  std::map<tp::ValueId, bool> kept;
  for (const tp::ValueId id : blocks::Plan(entry).open()) kept[id] = true;
  return kept;
}

BlockDecisions::BlockDecisions(const tp::Entry& entry, const Target& target, const std::vector<std::int64_t>& threads)
    : entry_(entry), target_(target), threads_(threads.begin(), threads.end()) {
  const blocks::Plan plan(entry);
  const std::vector<tp::ValueId> open = plan.open();
  std::map<std::string_view, int> seen;  // number of operations of each name so far
  tp::for_each_operation(entry.body, [&](const tp::Operation& op) {
    if (op.results.empty()) return;
    const tp::ValueId id = op.results[0];
    const int number = seen[op.form->name]++;
    if (std::ranges::find(open, id) != open.end()) {
      knobs_.push_back({fmt::format("{}.{}_{}", keep_group, op.form->name, number), id, Knob::Of::keep});
      kept_[id] = plan.keeps(id);
    }
    if (!op.form->name.starts_with("mma") || blocks::is_scalar(*entry.values[id].type)) return;
    const std::string product = fmt::format("{}_{}", op.form->name, number);
    knobs_.push_back({fmt::format("{}.by_{}", product_group, product), id, Knob::Of::by, &op});
    knobs_.push_back({fmt::format("{}.rows_{}", product_group, product), id, Knob::Of::rows, &op});
    knobs_.push_back({fmt::format("{}.columns_{}", product_group, product), id, Knob::Of::columns, &op});
  });
}

std::optional<std::vector<Value>> BlockDecisions::options(const Knob& knob, const Trail& taken) const {
  if (knob.of == Knob::Of::keep) return std::vector<Value>{kept_.at(knob.value) ? 1 : 0, kept_.at(knob.value) ? 0 : 1};
  const std::int64_t threads = std::get<std::int64_t>(taken.front().value);
  if (knob.of == Knob::Of::by) {
    if (!blocks::warps_of(entry_, *knob.product, threads, target_)) return std::nullopt;
    return std::vector<Value>{matrix, "threads"};
  }
  const std::string by = fmt::format("{}.by_{}", product_group, knob.name.substr(knob.name.find('_') + 1));
  if (std::ranges::find(taken, Choice{by, matrix}) != taken.end()) return std::nullopt;
  const blocks::Dealing dealt(*entry_.values[knob.value].type, threads);
  const ProductSchedule usual = blocks::usual_schedule(dealt, target_);
  if (knob.of == Knob::Of::rows) return divisors(dealt.rows, usual.rows, 1, blocks::max_rows);
  return divisors(dealt.columns, usual.columns, target_.cpu ? blocks::least_columns : 1, dealt.columns);
}

std::optional<Fork> BlockDecisions::next(const Trail& taken) const {
  if (taken.empty()) return Fork{fmt::format("{}.threads", threads_group), threads_};
  std::size_t at = 1;  // position in `taken`
  for (const Knob& knob : knobs_) {
    std::optional<std::vector<Value>> all = options(knob, taken);
    if (!all || all->size() < 2) continue;  // nothing to decide
    if (at++ == taken.size()) return Fork{knob.name, std::move(*all)};
  }
  return std::nullopt;
}

Result<BlockSchedule> BlockDecisions::schedule(const Trail& trail) const {
  Trail taken;
  while (const std::optional<Fork> fork = next(taken)) {
    Choice choice{fork->knob, fork->options.front()};
    if (taken.size() < trail.size()) {
      choice = trail[taken.size()];
      if (choice.knob != fork->knob)
        return Failure{Status::invalid, fmt::format("expected the knob {}, found {}", fork->knob, choice.knob)};
      if (std::ranges::find(fork->options, choice.value) == fork->options.end())
        return Failure{Status::invalid, fmt::format("{}: expected {}, found {}", choice.knob, words(fork->options),
                                                    print(choice.value))};
    }
    taken.push_back(std::move(choice));
  }
  if (trail.size() > taken.size())
    return Failure{Status::invalid, fmt::format("expected no further knob, found {}", trail[taken.size()].knob)};
  return schedule_of(taken);
}

BlockSchedule BlockDecisions::schedule_of(const Trail& taken) const {
  BlockSchedule schedule;
  schedule.threads = std::get<std::int64_t>(taken.front().value);
  for (const Knob& knob : knobs_) {
    const std::optional<std::vector<Value>> all = options(knob, taken);
    if (!all) continue;
    const auto found = std::ranges::find(taken, knob.name, &Choice::knob);
    const Value& value = found != taken.end() ? found->value : all->front();
    if (knob.of == Knob::Of::keep) {
      schedule.kept[knob.value] = std::get<std::int64_t>(value) != 0;
      continue;
    }
    ProductSchedule& product = schedule.products[knob.value];
    if (knob.of == Knob::Of::by) product.matrix = value == Value(matrix);
    if (knob.of == Knob::Of::rows) product.rows = std::get<std::int64_t>(value);
    if (knob.of == Knob::Of::columns) product.columns = std::get<std::int64_t>(value);
  }
  return schedule;
}

}  // namespace deplo::rules
