#include "apps/compare/strategy_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "engine/learn/labelled.h"
#include "engine/learn/prior.h"
#include "engine/learn/recorded.h"
#include "engine/source/experiment.h"
#include "search/records/formats/space_files.h"

namespace deplo::apps {

namespace compare = search::compare;

namespace {

std::pair<std::string, std::string> assignment(const std::string& text, std::string_view place) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw Error(fmt::format("{}: expected NAME=VALUE, found '{}'", place, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool has(const search::SearcherKind& kind, std::string_view parameter) {
  return std::ranges::find(kind.parameters, parameter, &search::Hyperparameter::name) != kind.parameters.end();
}

compare::Entrant parse_entrant(const std::string& text) {
  if (search::is_program(text)) {
    search::find_searcher(text);
    return {text, text, {}};
  }
  const std::vector<std::string_view> parts = split_at(text, ':');
  engine::check_strategy(std::string(parts[0]), "--search");
  const search::SearcherKind& kind = search::find_searcher(parts[0]);
  compare::Entrant entrant{text, std::string(kind.name), {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto [name, value] = assignment(std::string(parts[i]), "--search " + text);
    search::check_hyperparameter(kind, name, value, "--search " + text);
    if (!entrant.options.parameters.emplace(name, value).second)
      throw Error(fmt::format("--search {}: expected each hyperparameter once, found '{}' twice", text, name));
  }
  return entrant;
}

/// Shows the progress of all runs together.
class Board {
 public:
  Board(Progress& progress, std::size_t spaces) : progress_(progress), spaces_(spaces) {}

  void tick(const std::string& space, std::size_t done, std::size_t of) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // another thread shows the progress now
    const double share = (static_cast<double>(finished_) + static_cast<double>(done) / static_cast<double>(of)) /
                         static_cast<double>(spaces_);
    const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
    progress_.status(space, fmt::format("{}/{} runs, space {}/{}, about {} left", done, of, finished_ + 1, spaces_,
                                        duration(elapsed / share * (1 - share))));
  }
  void finish(const compare::SpaceResult& result, const compare::Contest& contest) {
    ++finished_;
    std::string scores;
    for (std::size_t i = 0; i < result.cells.size(); ++i)
      scores += fmt::format("{}{} {:.2f}", i > 0 ? ", " : "", contest.entrants[i].label, result.cells[i].score);
    progress_.news(fmt::format("{}: {}", result.name, scores));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Progress& progress_;
  std::size_t spaces_, finished_ = 0;
  Clock::time_point started_ = Clock::now();
  std::mutex mutex_;
};

bool stopped() { return interrupted() != 0; }

struct Spaces {
  compare::Sources all;
  std::set<const search::Records*> named;  // each is the only space of a file that the user named
  std::vector<compare::Sources> believed;  // per space: the prior's records; empty if it has no times
};

/// Reads the store's spaces. If `reading` has an objective, returns only the spaces with that objective. Throws Error
/// if there is none.
std::vector<engine::StoredSpace> read_nonempty(const std::string& store, const search::Reading& reading) {
  std::vector<engine::StoredSpace> stored = engine::read_stored_spaces(store);
  if (stored.empty()) throw Error(store + ": expected a store with trials of a kernel that has knobs, found none");
  if (!reading.objective) return stored;
  std::set<std::string> objectives;
  for (const engine::StoredSpace& space : stored) objectives.insert(label(space.records.objective));
  std::erase_if(stored, [&](const engine::StoredSpace& space) {
    const search::Objective& own = space.records.objective;
    return own.name != reading.objective->name ||
           reading.objective->higher_is_better.value_or(own.higher_is_better) != own.higher_is_better;
  });
  if (stored.empty())
    throw Error(fmt::format("--objective: expected an objective of {} ({}), found '{}'", store,
                            join(std::vector(objectives.begin(), objectives.end()), "; "), reading.objective->name));
  return stored;
}

/// Reads all spaces, and the prior's estimates for them. `prior`: nullptr: no prior. `name`: the prior's, for messages.
/// `regret`: find the untuned record of each space.
Spaces read_spaces(search::SpaceFiles& files, const search::Reading& reading, const engine::Prior& prior,
                   std::string_view name, bool regret) {
  Spaces spaces;
  for (const search::SpaceFile& file : files.files()) {
    const std::size_t before = spaces.all.size();
    if (engine::is_store(file.path))
      for (engine::StoredSpace& space : read_nonempty(file.path, reading)) {
        spaces.believed.resize(spaces.all.size() + 1);
        if (auto source = prior ? engine::prior_records(space, prior, name) : nullptr)
          spaces.believed.back().push_back(std::move(source));
        if (regret) space.records.untuned = engine::untuned_record(space);
        spaces.all.push_back(std::make_shared<const search::Records>(std::move(space.records)));
      }
    else
      for (search::Records& records : files.read(file, reading))
        spaces.all.push_back(std::make_shared<const search::Records>(std::move(records)));
    if (!file.in_folder && spaces.all.size() == before + 1) spaces.named.insert(spaces.all.back().get());
  }
  spaces.believed.resize(spaces.all.size());
  if (prior && std::ranges::all_of(spaces.believed, &compare::Sources::empty))
    throw Error(
        fmt::format("--{}-prior: expected a store among --spaces with schedules that the rules offer{}, found none",
                    name, name == "learned" ? ", and other kernels to learn from" : ""));
  return spaces;
}

engine::Prior learn(const std::vector<search::SpaceFile>& files, std::uint64_t seed) {
  std::vector<search::model::Labelled> sets;
  for (const search::SpaceFile& file : files)
    if (engine::is_store(file.path))
      std::ranges::move(engine::label_store(file.path, engine::least_to_learn_from), std::back_inserter(sets));
  return engine::learned_prior(std::move(sets), seed);
}

Spaces read_spaces(search::SpaceFiles& files, const CompareFlags& flags) {
  search::Reading reading;
  if (!flags.objective.empty()) reading.objective = search::parse_objective(flags.objective);
  const bool regret = flags.contest.regret;
  if (flags.learned_prior > 0)
    return read_spaces(files, reading, learn(files.files(), flags.contest.seed), "learned", regret);
  return read_spaces(files, reading, flags.analytic_prior > 0 ? engine::analytic_prior() : nullptr, "analytic", regret);
}

/// Leaves out spaces that cannot rate strategies, because folders and logs of many kernels contain small spaces, too.
/// Throws Error if no space is left, or if the user named such a space.
Spaces without_easy(Spaces spaces, const compare::Contest& contest, Progress& progress) {
  Spaces kept;
  search::LeftOut left_out;
  for (std::size_t i = 0; i < spaces.all.size(); ++i) {
    const std::shared_ptr<const search::Records>& records = spaces.all[i];
    const bool is_last = i + 1 == spaces.all.size() && kept.all.empty();
    try {
      compare::check_space(search::TableSpace(records), contest);
    } catch (const Error& e) {
      if (is_last || spaces.named.contains(records.get())) throw;
      left_out.add(records->name, std::string(e.what()).substr(records->name.size() + 2));
      continue;
    }
    kept.all.push_back(records);
    kept.believed.push_back(std::move(spaces.believed[i]));
  }
  for (const std::string& line : left_out.lines()) progress.line(line);
  return kept;
}

/// Throws Error if a flag would change nothing on any space.
void expect_effects(const Spaces& spaces, const compare::Contest& contest) {
  const auto has_sources = [&](const auto& records) { return !compare::sources_of(*records, spaces.all).empty(); };
  if (contest.warm_start > 0 && std::ranges::none_of(spaces.all, has_sources))
    throw Error(
        "--warm-start: expected --spaces of one kernel on several devices, with the same knobs and objective, found "
        "none");
  const auto has_noise = [](const auto& records) {
    return std::ranges::any_of(records->records, [](const search::Record& record) { return record.launches > 1; });
  };
  if (contest.noisy && std::ranges::none_of(spaces.all, has_noise))
    throw Error("--noise: expected --spaces with several launches of a configuration, found none");
}

Spaces read_spaces(const CompareFlags& flags, Progress& progress) {
  if (flags.spaces.empty()) throw Error("expected the flag --spaces FILES or FOLDERS, found none; see --help");
  // Nothing polls for an interrupt while files are read, and a named pipe that nobody writes to is read for ever.
  const Deadline deadline([&] { progress.line("interrupted while reading --spaces"); });
  search::SpaceFiles files(flags.spaces);
  Spaces spaces = read_spaces(files, flags);
  for (const std::string& line : files.left_out().lines()) progress.line(line);
  if (spaces.all.empty()) throw Error("--spaces: expected recorded spaces, found none in " + join(flags.spaces, ", "));
  expect_effects(spaces, flags.contest);
  return without_easy(std::move(spaces), flags.contest, progress);
}

/// Returns the records that models learn before the runs on the space begin.
compare::Sources sources_of(const Spaces& spaces, std::size_t number, const CompareFlags& flags) {
  if (flags.analytic_prior + flags.learned_prior > 0) return spaces.believed[number];
  if (flags.contest.warm_start == 0) return {};
  return compare::sources_of(*spaces.all[number], spaces.all);
}

// Compares the strategies on one space, in all orders of levels. Spaces are compared one after another, so that the
// runs on a space are in memory only while it is searched.
void compare_on(const std::shared_ptr<const search::Records>& records, const compare::Sources& sources,
                Comparison& comparison, Board& board) {
  for (Ordered& ordered : comparison.orders) {
    if (stopped()) return;
    const search::TableSpace space(records, compare::level_order(*records, ordered.order, comparison.contest.seed));
    compare::SpaceResult result = compare::compete(
        space, comparison.contest, [&](std::size_t done, std::size_t of) { board.tick(records->name, done, of); },
        stopped, sources);
    if (stopped()) return;
    board.finish(result, comparison.contest);
    ordered.spaces.push_back(std::move(result));
  }
}

}  // namespace

std::vector<compare::Entrant> parse_entrants(const std::vector<std::string>& search,
                                             const std::vector<std::string>& set) {
  std::vector<compare::Entrant> entrants;
  for (const std::string& text : search) {
    if (std::ranges::find(entrants, text, &compare::Entrant::label) != entrants.end())
      throw Error(fmt::format("--search: expected each strategy once, found '{}' twice", text));
    try {
      entrants.push_back(parse_entrant(text));
    } catch (const Error& error) {
      if (entrants.empty() || !search::is_program(entrants.back().name)) throw;
      throw Error(fmt::format("{}; a comma separates strategies, so the command after exec: must not contain one",
                              error.what()),
                  error.exit());
    }
  }
  if (entrants.empty()) throw Error("--search: expected a strategy, found none");
  for (const std::string& text : set) {
    const auto [name, value] = assignment(text, "--set");
    bool taken = false;
    for (compare::Entrant& entrant : entrants) {
      const search::SearcherKind& kind = search::find_searcher(entrant.name);
      if (!kind.takes_any && !has(kind, name)) continue;
      taken = true;
      search::check_hyperparameter(kind, name, value, "--set");
      entrant.options.parameters.try_emplace(name, value);
    }
    if (!taken) throw Error(fmt::format("--set: expected a parameter of one of the strategies, found '{}'", name));
  }
  return entrants;
}

Comparison compare_strategies(const CompareFlags& flags, Progress& progress) {
  Comparison comparison;
  if ((flags.analytic_prior > 0) + (flags.learned_prior > 0) + (flags.contest.warm_start > 0) > 1)
    throw Error("--warm-start, --analytic-prior and --learned-prior cannot be combined");
  comparison.contest = flags.contest;
  comparison.contest.warm_start += flags.analytic_prior + flags.learned_prior;
  comparison.contest.entrants = parse_entrants(flags.search, flags.set);
  for (const std::string& order : flags.orders) {
    engine::check_name("--order", "an order", order, compare::order_names());
    comparison.orders.push_back({compare::parse_order(order), {}, {}});
  }
  const Spaces spaces = read_spaces(flags, progress);
  Board board(progress, spaces.all.size() * comparison.orders.size());
  for (std::size_t i = 0; i < spaces.all.size() && !stopped(); ++i)
    compare_on(spaces.all[i], sources_of(spaces, i, flags), comparison, board);
  comparison.interrupted = stopped();
  for (Ordered& ordered : comparison.orders)
    if (!ordered.spaces.empty()) ordered.standings = compare::standings(comparison.contest, ordered.spaces);
  return comparison;
}

}  // namespace deplo::apps
