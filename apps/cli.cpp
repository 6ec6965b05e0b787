#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "apps/commands.h"
#include "core/error.h"

namespace deplo::apps {
namespace {

constexpr const char* about =
    "deplo tunes compute kernels: it lowers Loop IR by small rules, searches their choices and measures.";
constexpr const char* exit_codes =
    "Exit codes: 0 done; 1 a mistake in the command or its files; 2 the environment (no device, no space, …);\n"
    "128 + signal: interrupted, with all that was measured in the store.\n";
constexpr const char* tune_about =
    "Tunes every kernel of an experiment; flags override what its file says.\n"
    "Example: deplo-tune --config experiments/smoke.yaml --search mcts --time 10";
constexpr const char* compile_about =
    "Lowers one kernel by one schedule and prints it.\n"
    "Example: deplo compile -k matmul -s M=33 -s N=509 -s K=777 --target sm_90 --ir cuda";

/// Parses and runs. False: help or the version was asked for, and is printed.
bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) {
      std::string message = e.what();
      std::replace(message.begin(), message.end(), '\n', ' ');
      throw Error(message + "; see --help");
    }
    app.exit(e);
    return false;
  }
}

int run(int argc, char** argv, bool tune_only) {
  int exit_code = 0;
  CLI::App app{tune_only ? tune_about : about};
  app.option_defaults()->take_last();  // of a flag given twice the later one counts
  app.footer(exit_codes);
  app.get_formatter()->column_width(24);
  app.set_version_flag("--version", "deplo " DEPLO_VERSION);
  if (tune_only) {
    add_tune(app, exit_code);
  } else {
    app.require_subcommand(0, 1);
    add_tune(*app.add_subcommand("tune", tune_about), exit_code);
    add_compile(*app.add_subcommand("compile", compile_about));
    add_devices(*app.add_subcommand("devices", "Lists the devices that --device may name."));
  }
  if (parse(app, argc, argv) && !tune_only && app.get_subcommands().empty())
    throw Error("expected a command (tune, compile, devices), found none; see --help");
  return exit_code;
}

int fail(const char* message, Exit exit) {
  std::fprintf(stderr, "deplo: %s\n", message);
  return static_cast<int>(exit);
}

}  // namespace

int run_program(int argc, char** argv, bool tune_only) {
  try {
    return run(argc, argv, tune_only);
  } catch (const Error& e) {
    return fail(e.what(), e.exit());
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", Exit::environment);
  }
}

}  // namespace deplo::apps
