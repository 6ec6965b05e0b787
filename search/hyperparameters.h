// Hyperparameters. A searcher declares them in one table, which YAML, --set, the help and docs/strategies.md use.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::search {

struct Hyperparameter {
  enum class Type { number, integer, word };
  std::string_view name;
  Type type;
  std::string_view fallback;  // the default
  std::string_view grid;      // the values that tuning tries, separated by spaces; for a word: all legal values
  double min, max;            // bounds of numbers, both included
  std::string_view doc;       // one line
};

constexpr Hyperparameter number(std::string_view name, std::string_view fallback, double min, double max,
                                std::string_view grid, std::string_view doc) {
  return {name, Hyperparameter::Type::number, fallback, grid, min, max, doc};
}

constexpr Hyperparameter integer(std::string_view name, std::string_view fallback, double min, double max,
                                 std::string_view grid, std::string_view doc) {
  return {name, Hyperparameter::Type::integer, fallback, grid, min, max, doc};
}

constexpr Hyperparameter word(std::string_view name, std::string_view fallback, std::string_view words,
                              std::string_view doc) {
  return {name, Hyperparameter::Type::word, fallback, words, 0, 0, doc};
}

/// The same hyperparameter with another default.
constexpr Hyperparameter with_default(Hyperparameter parameter, std::string_view fallback) {
  parameter.fallback = fallback;
  return parameter;
}

/// The values of the hyperparameter's grid.
std::vector<std::string> grid(const Hyperparameter&);
/// "NAME=DEFAULT: DOC (LEGAL)", for example "c=0.5: … (a number between 0 and 1000)".
std::string print(const Hyperparameter&);

/// Information about the space for a strategy in another process (docs/protocol.md). A strategy can search without it.
struct Briefing {
  std::string kernel, text, device;  // the kernel's name and its source; "": not known
  std::int64_t trials = 0;           // trials in the budget; 0: not limited
  double seconds = 0;                // seconds in the budget; 0: not limited
  std::string objective = {};        // the quantity that a candidate's time stands for; "": the time itself
};

struct SearchOptions {
  std::uint64_t seed = 0;
  std::map<std::string, std::string, std::less<>> parameters = {};  // by name, as in YAML; absent: the default
  Briefing about = {};
};

/// Throws Error `place: expected …, found …` unless the searcher has this parameter and the value is legal.
void check_hyperparameter(std::string_view searcher, std::span<const Hyperparameter>, std::string_view name,
                          const std::string& value, std::string_view place);

/// The values of a searcher's hyperparameters: the checked options, and defaults for all others.
class Settings {
 public:
  /// Throws Error like check_hyperparameter().
  Settings(std::string_view searcher, std::span<const Hyperparameter>, const SearchOptions&);

  std::uint64_t seed() const { return seed_; }
  /// The trials in the budget; 0: not limited, or not known.
  std::int64_t trials() const { return trials_; }
  // CHECK that a parameter of this name is declared.
  double number(std::string_view name) const;
  std::size_t integer(std::string_view name) const;  // all integers are counts
  const std::string& word(std::string_view name) const;

 private:
  std::uint64_t seed_;
  std::int64_t trials_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace deplo::search
