#include "apps/cli.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "apps/commands.h"
#include "core/error.h"

namespace deplo::apps {
namespace {

constexpr const char* about =
    "deplo compiles PyTorch expressions, exported programs and models to kernels, by small rules whose choices it\n"
    "searches and measures.";
constexpr const char* exit_codes =
    "Exit codes: 0 done; 1 a mistake in the command or its files; 2 the environment (no device, no space, …);\n"
    "128 + signal: interrupted, with all that was measured in the store.\n";
constexpr const char* tune_about =
    "Tunes every kernel of an experiment; flags override what its file says.\n"
    "Example: deplo-tune --config experiments/smoke.yaml --search mcts --time 10";
constexpr const char* compile_about =
    "Compiles a graph, or lowers one kernel, and prints it at one of the levels.\n"
    "Examples: deplo compile -c \"nn.RMSNorm(2048)(torch.randn(1,32,2048))\" --ir tile -vv\n"
    "          deplo compile --model qwen2.5-7b --layer 0 --seq 512 --ir loop --summary\n"
    "          deplo compile -k matmul -s M=33 -s N=509 -s K=777 --target sm_90 --ir cuda\n"
    "          deplo compile -k matmul -s M=512 -s N=3584 -s K=3584 --target sm_80 --resources";
constexpr const char* space_about =
    "Measures the tree of scheduling decisions of a kernel: its levels, how many candidates it has, how many of them "
    "are\n"
    "the same kernel, and why rules do not apply. The number is estimated by random paths (Knuth 1975), exact by\n"
    "--enumerate. \"no effect\": how often another option of the knob gave the same kernel.\n"
    "Examples: deplo space -c \"nn.Linear(3584, 3584)(torch.randn(512, 3584))\" --target sm_90\n"
    "          deplo space -k softmax -s M=32 -s N=2048 --sample 5";
constexpr const char* compare_about =
    "Compares search strategies on recorded spaces, by replaying many runs of each: no device is needed. The score is "
    "0\n"
    "for random search and 1 for finding the best at once, averaged over time and spaces (docs/comparing.md).\n"
    "Example: deplo compare --spaces spaces/ --search random,mcts,mcts:c=0.2 --repeats 25 -v";
constexpr const char* report_about =
    "Draws what a store or a comparison holds, as one HTML page that needs no network (docs/report.md). Of a store: "
    "how\n"
    "each kernel's search went, its times, knobs, best schedule and failures; of two stores: both side by side.\n"
    "Examples: deplo report deplo.db\n"
    "          deplo report before.db after.db --kernel matmul -o both.html --png plots\n"
    "          deplo compare --spaces spaces/ --output result.json && deplo report result.json";
constexpr const char* run_about =
    "Runs a graph through its kernels and compares its outputs with a reference in double.\n"
    "Exit code 1: an output is wrong. Inputs are drawn from the seed; the same seed draws the same.\n"
    "Example: deplo run -c \"F.softmax(torch.randn(4, 1000), dim=-1)\"";

constexpr const char* worker_about =
    "The process that `deplo tune` runs candidates in, so that one that hangs or crashes costs itself alone. Started "
    "by\n"
    "`deplo tune` with a socket as descriptor 3 and a shared page as 4; of no use by hand (docs/measurement.md, "
    "Isolation).";

/// CLI11's "--time: 1 required SECONDS missing" in our words.
std::string explain(const CLI::ParseError& e) {
  std::string message = e.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr)
    message = message.substr(0, message.find(':')) + ": expected a value, found none";
  return message + "; see --help";
}

/// Parses and runs. False: help or the version was asked for, and is printed.
bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) throw Error(explain(e));
    app.exit(e);
    if (!std::cout.flush()) throw Error("cannot write to standard output", Exit::environment);
    return false;
  }
}

int run(int argc, char** argv, bool tune_only) {
  int exit_code = 0;
  // Whatever program tunes is its own worker.
  if (argc > 1 && std::string_view(argv[1]) == "worker") tune_only = false;
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
    add_run(*app.add_subcommand("run", run_about), exit_code);
    add_space(*app.add_subcommand("space", space_about), exit_code);
    add_compare(*app.add_subcommand("compare", compare_about), exit_code);
    add_report(*app.add_subcommand("report", report_about));
    add_model(*app.add_subcommand("model", "Models that learn from many kernels: how good they are."));
    add_db(*app.add_subcommand("db", "What stores hold: look, compare, check, merge, prune, import, export."),
           exit_code);
    add_devices(*app.add_subcommand(
        "devices", "Lists the devices that --device may name, their limits, and why others cannot be used."));
    add_worker(*app.add_subcommand("worker", worker_about)->group(""), exit_code);  // in no overview
  }
  if (parse(app, argc, argv) && !tune_only && app.get_subcommands().empty())
    throw Error(
        "expected a command (tune, compile, run, space, compare, report, model, db, devices), found none; see --help");
  return exit_code;
}

/// What a file says may be as long as the file, and is in messages about it: its begin and its end will do.
std::string shortened(const std::string& message) {
  constexpr std::size_t longest = 1000, end = 300;  // bytes: a dozen lines of a terminal
  if (message.size() <= longest) return message;
  return message.substr(0, longest - end) + " [...] " + message.substr(message.size() - end);
}

int fail(std::string message, Exit exit) {
  // One line whatever the names in it are.
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  std::fprintf(stderr, "deplo: %s\n", message.c_str());
  return static_cast<int>(exit);
}

/// A closed standard stream would be the next file opened: the store or a compiler's input. What is written there then
/// fails, as it should: the file is only for reading.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY);  // takes the lowest free number: this one
}

}  // namespace

int run_program(int argc, char** argv, bool tune_only) {
  keep_standard_streams();
  try {
    return run(argc, argv, tune_only);
  } catch (const Error& e) {
    return fail(shortened(e.what()), e.exit());
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", Exit::environment);
  }
}

}  // namespace deplo::apps
