#include "apps/inspect/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/wrap.h"
#include "search/searcher.h"

namespace deplo::apps {
namespace {

constexpr std::size_t names = 12;  // columns; the longest name has nine letters

std::string entry(std::string_view name, std::string_view text, std::size_t width) {
  return wrap(fmt::format("{:<{}}{}", name, names, text), width, names) + "\n";
}

std::string parameters(const search::SearcherKind& kind, std::size_t width) {
  std::string text;
  for (const search::Hyperparameter& parameter : kind.parameters)
    text += std::string(names + 2, ' ') + wrap(print(parameter), width, names + 4, names + 2) + "\n";
  return text;
}

nlohmann::ordered_json to_json(const search::SearcherKind& kind) {
  nlohmann::ordered_json json{{"strategy", kind.name}, {"summary", kind.summary}};
  json["default"] = &kind == &search::find_searcher("default");
  json["hyperparameters"] = nlohmann::ordered_json::array();
  for (const search::Hyperparameter& p : kind.parameters) {
    nlohmann::ordered_json one{{"name", p.name}, {"default", p.fallback}, {"text", p.doc}, {"grid", grid(p)}};
    if (p.type != search::Hyperparameter::Type::word) one.update({{"least", p.least}, {"most", p.most}});
    json["hyperparameters"].push_back(one);
  }
  return json;
}

}  // namespace

std::string strategies_text(const std::string& name, bool verbose, std::size_t width) {
  if (width == 0) width = std::string::npos;
  if (!name.empty()) {
    const search::SearcherKind& kind = search::find_searcher(name);
    return entry(kind.name, kind.summary, width) + parameters(kind, width);
  }
  std::string text = entry("default", search::find_searcher("default").name, width);
  for (const search::SearcherKind* kind : search::searchers())
    text += entry(kind->name, kind->summary, width) + (verbose ? parameters(*kind, width) : "");
  return text;
}

std::string strategies_json(const std::string& name) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  if (name.empty())
    for (const search::SearcherKind* kind : search::searchers()) json.push_back(to_json(*kind));
  else
    json = to_json(search::find_searcher(name));
  return json.dump(2) + "\n";
}

}  // namespace deplo::apps
