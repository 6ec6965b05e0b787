#include <unistd.h>

#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/inspect/strategies.h"
#include "core/text/text.h"

namespace deplo::apps {

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
                             : strategies_text(flags->name, flags->verbose, terminal_width(STDOUT_FILENO)));
  });
}

}  // namespace deplo::apps
