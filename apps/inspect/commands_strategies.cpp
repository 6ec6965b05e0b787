// `deplo strategies`: lists the strategies for --search, and the hyperparameters for --set.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "core/text/json.h"
#include "core/text/wrap.h"
#include "search/searcher.h"

namespace deplo::apps {
namespace {

constexpr std::size_t names = 12;  // columns; the longest name has ten letters

std::string strategy_entry(std::string_view name, std::string_view text, std::size_t width) {
  return wrap(fmt::format("{:<{}}{}", name, names, text), width, names) + "\n";
}

std::string parameters(const search::SearcherKind& kind, std::size_t width) {
  std::string text;
  for (const search::Hyperparameter& parameter : kind.parameters)
    text += std::string(names + 2, ' ') + wrap(print(parameter), width, names + 4, names + 2) + "\n";
  return text;
}

Json parameter_json(const search::Hyperparameter& p) {
  Json json =
      Json::object({{"name", p.name}, {"default", p.fallback}, {"text", p.doc}, {"grid", Json::array(grid(p))}});
  if (p.type == search::Hyperparameter::Type::word) return json;
  json.set("least", p.min);
  json.set("most", p.max);
  return json;
}

Json strategy_json(const search::SearcherKind& kind) {
  return Json::object({{"strategy", kind.name},
                       {"summary", kind.summary},
                       {"default", &kind == &search::find_searcher("default")},
                       {"hyperparameters", Json::array(kind.parameters, parameter_json)}});
}

/// Both functions return all strategies, or the named one with its hyperparameters, and throw Error for an unknown
/// name.
std::string strategies_text(const std::string& name, bool verbose, std::size_t width) {
  if (width == 0) width = std::string::npos;
  if (!name.empty()) {
    const search::SearcherKind& kind = search::find_searcher(name);
    return strategy_entry(kind.name, kind.summary, width) + parameters(kind, width);
  }
  std::string text = strategy_entry("default", search::find_searcher("default").name, width);
  for (const search::SearcherKind* kind : search::searchers())
    text += strategy_entry(kind->name, kind->summary, width) + (verbose ? parameters(*kind, width) : "");
  const search::SearcherKind& program = search::find_searcher("exec:CMD");
  return text + strategy_entry(program.name, program.summary, width) + (verbose ? parameters(program, width) : "");
}

std::string strategies_json(const std::string& name) {
  if (!name.empty()) return strategy_json(search::find_searcher(name)).print_lines(2);
  const auto of = [](const search::SearcherKind* kind) { return strategy_json(*kind); };
  return Json::array(search::searchers(), of).print_lines(2);
}

}  // namespace

void add_strategies(Command command) {
  struct Flags {
    std::string name;
    bool verbose = false, json = false;
  };
  auto flags = std::make_shared<Flags>();
  command.describe(
      "List the search strategies, or describe one with its hyperparameters.\ndocs/strategies.md explains how they "
      "work and when to choose which.");
  command.option("name", flags->name, "[STRATEGY]", "The strategy to describe.");
  command.flag("-v", flags->verbose, "Also list the hyperparameters of every strategy.");
  command.flag("--json", flags->json, "Print one JSON document instead of the list.");
  command.examples("deplo strategies\ndeplo strategies mcts");
  command.run([flags] {
    print_result(flags->json ? strategies_json(flags->name)
                             : strategies_text(flags->name, flags->verbose, window_width()));
  });
}

}  // namespace deplo::apps
