// `deplo completion` and `deplo man`: print the command line's description for shells and for man.
#include <filesystem>
#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/shell/completion.h"
#include "apps/cli/shell/manual.h"
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
  return folder + ": " + counted(pages.size(), "page") + "\n";
}

}  // namespace

void add_completion(Command command) {
  auto shell = std::make_shared<std::string>();
  command.describe(
      "Print a shell script that completes commands, flags and values.\n`make install` installs it for all three "
      "shells.");
  command.option("shell", *shell, "bash|zsh|fish", "The shell.");
  command.examples(
      "source <(deplo completion bash)\n"
      "deplo completion fish > ~/.config/fish/completions/deplo.fish");
  command.run([shell, command] { print_result(script(*shell, describe(command.parent()))); });
}

void add_man(Command command) {
  auto folder = std::make_shared<std::string>();
  command.describe(
      "Write a man page for each command into a folder.\n"
      "`make install` installs them: `man deplo`, `man deplo-db-best`.");
  command.option("folder", *folder, "FOLDER", "The folder to write to.");
  command.examples("deplo man pages && man pages/deplo-tune.1");
  command.run([folder, command] { print_result(write_pages(*folder, describe(command.parent()))); });
}

}  // namespace deplo::apps
