#include "search/records/formats/by_space.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::search::records {

BySpace::BySpace(const Source& source) : place_(source.place) {
  const auto& chosen = source.reading.objective;
  if (chosen && (chosen->name != "time" || chosen->higher_is_better.value_or(false)))
    throw Error(fmt::format("{}: expected the objective 'time', the only one that this format records, found '{}'",
                            place_, chosen->name));
}

SparseRecords& BySpace::of(const std::string& key, const std::string& kernel, const std::string& device,
                           const std::string& problem_size) {
  const auto [known, is_new] = numbers_.try_emplace(key, spaces_.size());
  if (is_new) {
    SparseRecords& made = spaces_.emplace_back(place_);
    made.kernel = kernel;
    made.device = device;
    made.problem_size = problem_size;
  }
  return spaces_[known->second];
}

std::vector<Records> BySpace::finish(bool drops_constants) const {
  std::vector<Records> finished;
  for (const SparseRecords& space : spaces_)
    if (space.has_knobs() && !space.empty()) finished.push_back(space.finish(drops_constants));
  if (finished.empty()) throw Error(fmt::format("{}: expected a recorded space, found no configurations", place_));
  return finished;
}

std::string problem_size_json(const std::vector<std::string>& texts) {
  constexpr std::size_t max_axes = 16;
  if (texts.size() <= max_axes) return compact(Json(texts));
  return compact(Json(std::vector{join(texts, " ")}));
}

std::string stem_of(const std::string& place) {
  const std::size_t slash = place.rfind('/');
  const std::string file = slash == std::string::npos ? place : place.substr(slash + 1);
  return file.substr(0, file.find('.', 1));
}

}  // namespace deplo::search::records
