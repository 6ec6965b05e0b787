// `deplo completion` and `deplo man`: the command line, for shells and for man.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/completion.h"
#include "apps/cli/flags.h"
#include "apps/cli/manual.h"
#include "apps/cli/write_file.h"
#include "core/error.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

std::string script(const std::string& shell, const CommandText& program) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  throw Error("expected a shell (bash, zsh, fish), found " + (shell.empty() ? "none" : "'" + shell + "'"));
}

std::string write_pages(const std::string& folder, const CommandText& program) {
  if (folder.empty()) throw Error("expected a folder for the pages, found none");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(folder + ": cannot be created: " + error.message(), Exit::environment);
  const std::vector<ManPage> pages = man_pages(program);
  for (const ManPage& page : pages) write_file(std::filesystem::path(folder) / page.file, page.text);
  return folder + ": " + counted(static_cast<std::int64_t>(pages.size()), "page") + "\n";
}

}  // namespace

void add_completion(CLI::App& command) {
  auto shell = std::make_shared<std::string>();
  command.description(
      "Print a shell script that completes commands, flags and values.\n`make install` installs it for all three "
      "shells.");
  command.add_option("shell", *shell, "The shell.")->type_name("bash|zsh|fish");
  command.footer(
      "source <(deplo completion bash)\n"
      "deplo completion fish > ~/.config/fish/completions/deplo.fish");
  command.callback([shell, &command] { print_result(script(*shell, describe(*command.get_parent()))); });
}

void add_man(CLI::App& command) {
  auto folder = std::make_shared<std::string>();
  command.description(
      "Write a man page for each command into a folder.\n"
      "`make install` installs them: `man deplo`, `man deplo-db-best`.");
  command.add_option("folder", *folder, "The folder to write to.")->type_name("FOLDER");
  command.footer("deplo man pages && man pages/deplo-tune.1");
  command.callback([folder, &command] { print_result(write_pages(*folder, describe(*command.get_parent()))); });
}

}  // namespace deplo::apps
