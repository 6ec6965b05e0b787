#include "apps/cli/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/help.h"
#include "core/error.h"
#include "core/text/text.h"
#include "engine/revision.h"

namespace deplo::apps {
namespace {

constexpr const char* about =
    "Compiles PyTorch expressions, exported programs and models to a few fused kernels, and searches for their fastest "
    "schedules.\n`deplo help COMMAND` explains a command.\nExit codes: 0: done; 1: a mistake in the command or its "
    "files; 2: a problem with the environment (no device, disk full, …); 128 + signal: interrupted, with all "
    "measurements stored.";
// Widths of the help in columns: without a terminal, and at most. Longer lines are hard to read.
constexpr std::size_t piped_width = 80, widest = 100;

std::size_t help_width() {
  const std::size_t window = window_width();
  return window == 0 ? piped_width : std::min(window, widest);
}

/// Returns the words of the command line. Turns `deplo help db best` into `deplo db best --help`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

/// Turns `deplo run … --bench …` into `deplo bench … …`, unless `--bench` is the value of a flag, as in `-c --bench`.
std::vector<std::string> with_bench(std::vector<std::string> words, const CLI::App& app) {
  if (words.empty() || words.front() != "run") return words;
  const auto find = [&](const std::string& flag) {
    const CLI::Option* const of_run = app.get_subcommand("run")->get_option_no_throw(flag);
    return of_run != nullptr ? of_run : app.get_subcommand("bench")->get_option_no_throw(flag);
  };
  int values = 0;  // how many of the next words are values of an earlier flag
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (values > 0) {
      --values;
    } else if (words[i] == "--bench") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      words.front() = "bench";
      return words;
    } else if (const CLI::Option* option = find(words[i])) {
      values = option->get_items_expected_min();
    }
  }
  return words;
}

void print_help(const CLI::App& app, CLI::AppFormatMode mode) {
  const CLI::App& command = latest_command(app);
  print_result(command.get_formatter()->make_help(&command, "", mode));
}

/// Returns the error with the command's name in "; see --help", if its message ends with that.
Error with_command(const Error& error, const CLI::App& command) {
  constexpr std::string_view see = "; see ", help = "--help";
  const std::string message = error.what(), end = std::string(see) + std::string(help);
  if (!message.ends_with(end)) return error;
  const std::string start = message.substr(0, message.size() - end.size());
  return Error(fmt::format("{}{}{} {}", start, see, full_name(command), help), error.exit());
}

/// Parses the words and runs their command. A command with subcommands prints its help if the words name none of them.
void parse(CLI::App& app, std::vector<std::string> words) {
  std::ranges::reverse(words);  // CLI11 takes the words in reverse order
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForVersion& e) {
    print_result(std::string(e.what()) + "\n");
    return;
  } catch (const CLI::Success& e) {  // the user asked for help
    if (!app.remaining(true).empty()) throw Error(explain(app, e));
    const bool all = dynamic_cast<const CLI::CallForAllHelp*>(&e) != nullptr;
    print_help(app, all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal);
    return;
  } catch (const CLI::ParseError& e) {
    throw Error(explain(app, e));
  } catch (const Error& e) {
    throw with_command(e, latest_command(app));
  }
  if (!latest_command(app).get_subcommands(nullptr).empty()) print_help(app, CLI::AppFormatMode::Normal);
}

void add_commands(CLI::App& app, int& exit_code) {
  const auto add = [&](const char* name) { return Command(*app.add_subcommand(name)); };
  add_tune(add("tune"), exit_code);
  add_run(add("run"), exit_code);
  add_bench(add("bench"), exit_code);
  add_check(add("check"), exit_code);
  add_compile(add("compile"));
  add_space(add("space"), exit_code);
  add_db(add("db"), exit_code);
  add_report(add("report"));
  add_compare(add("compare"), exit_code);
  add_strategies(add("strategies"));
  add_model(add("model"));
  add_devices(add("devices"));
  add_completion(add("completion"));
  add_man(add("man"));
  // `help` is here only for the list of commands, because words_of() has replaced the word by --help.
  CLI::App* const help = app.add_subcommand("help", "Explain a command.");
  help->add_option("command")->type_name("[COMMAND]")->description("The command, such as tune or db best.");
  add_worker(add("worker"), exit_code);
  // At most one command per command line. Otherwise CLI11 would take the argument of `deplo strategies model` for the
  // command `model`.
  app.require_subcommand(0, 1);
}

int run(int argc, char** argv, bool tune_only) {
  int exit_code = 0;
  std::vector<std::string> words = words_of(argc, argv);
  // A tuner starts its own executable as the worker, so `deplo-tune worker` must work too.
  if (!words.empty() && words.front() == "worker") tune_only = false;
  CLI::App app{about, tune_only ? "deplo-tune" : "deplo"};
  app.option_defaults()->take_last();  // if a flag is given twice, the last one counts
  app.formatter(help_formatter(help_width()));
  app.set_help_flag("-h,--help", "Show this help.");
  app.set_help_all_flag("--help-all", "Show every option.");
  app.set_version_flag("--version", fmt::format("{} {}", app.get_name(), engine::version()), "Show the version.");
  if (tune_only)
    add_tune(Command(app), exit_code);
  else
    add_commands(app, exit_code);
  parse(app, tune_only ? words : with_bench(std::move(words), app));
  return exit_code;
}

/// Shortens a message to its beginning and its end. Messages quote files, so they can be as long as a file.
std::string shortened(const std::string& message) {
  constexpr std::size_t longest = 1000, end = 300;  // bytes; about a dozen lines of a terminal
  if (message.size() <= longest) return message;
  return message.substr(0, longest - end) + " [...] " + message.substr(message.size() - end);
}

int fail(const std::string& message, Exit exit) {
  // Prints one line, whatever the message contains. printable() runs before the cut, because escapes are longer than
  // the bytes they stand for, and again after it, because the cut may split a character.
  std::fprintf(stderr, "deplo: %s\n", printable(shortened(printable(message))).c_str());
  return static_cast<int>(exit);
}

/// Opens /dev/null for each standard stream that is closed. Otherwise the next file that is opened, such as the store
/// or a compiler's input, would get the stream's descriptor. Writing to such a stream fails, as it should, because
/// /dev/null is opened for reading only.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // open() takes the lowest free descriptor, which is this one
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY);
}

}  // namespace

int run_program(int argc, char** argv, bool tune_only) {
  keep_standard_streams();
  // A write beyond the limit of a file's size (ulimit -f) then fails, as on a full disk, and the command says so.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv, tune_only);
  } catch (const Error& e) {
    return fail(e.what(), e.exit());
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", Exit::environment);
  } catch (const std::system_error& e) {
    // The standard library's message about a thread is only the system's reason.
    const bool is_thread = e.code() == std::errc::resource_unavailable_try_again;
    return fail(is_thread ? fmt::format("cannot start a thread: {} (see `ulimit -u`)", e.what()) : e.what(),
                Exit::environment);
  }
}

}  // namespace deplo::apps
