// `deplo check`.
#include <unistd.h>

#include <limits>
#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/run/tile_run.h"
#include "core/text/text.h"
#include "engine/source/experiment.h"

namespace deplo::apps {
namespace {

struct CheckFlags {
  TileRunOptions options;
  std::string inputs;
  bool json = false;
};

void check(CheckFlags& flags) {
  require(flags.options.source.file, "--tile");
  if (!flags.inputs.empty()) flags.options.inputs = engine::load_inputs(flags.inputs);
  const TileRunReport report = run_tile_program(flags.options);
  print_result(flags.json ? print_json(report) : print_table(report, terminal_width(STDOUT_FILENO)));
}

}  // namespace

void add_check(Command command) {
  auto flags = std::make_shared<CheckFlags>();
  TileRunOptions& options = flags->options;
  command.describe(
      "Run a tile program block by block on the interpreter, which finds its mistakes.\nIt finds races, deadlocks, "
      "accesses outside of arrays and assumptions that do not hold, and shows what the program prints and changes.");
  add_tile_source_flags(command, options.source, true);
  command.option("--seed", options.seed, "N", "Draw the arrays' values and the order of the blocks from this seed.")
      .between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())
      .show_default();
  add_inputs(command, flags->inputs);
  command.flag("--poison", options.poison, "Fill unspecified elements with NaN instead of 0, to reveal their use.");
  command.option("--outputs", options.outputs, "FOLDER",
                 "Write the arrays that the program changed to this folder, as NumPy files NAME.npy.");
  command.flag("--json", flags->json, "Print one JSON document instead of the table.");
  command.examples("deplo check --tile experiments/tile/hello_grid.tile --grid 2,2");
  command.run([flags] { check(*flags); });
}

}  // namespace deplo::apps
