// Completions and man pages. The tests run the shells and man themselves, and check that no command or flag of
// --help-all is missing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing::shell_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns what a command of the system prints. It must succeed.
std::string shell(const std::string& command) {
  FILE* const pipe = popen(fmt::format("export PATH='{}':\"$PATH\"; {}", DEPLO_BINARY_DIR, command).c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), read);
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << text;
  return text;
}

bool has(const char* program) { return std::system(fmt::format("command -v {} > /dev/null", program).c_str()) == 0; }

std::string output(Words words) {
  const Ran ran = run_program(std::move(words));
  EXPECT_EQ(ran.code, 0) << ran.err;
  return ran.out;
}

/// Returns the commands that lists of commands name, such as "db best", and "" for the program. Leaves out `help`,
/// which is not a command of its own.
Words all_commands(const std::string& command = "") {
  Words found{command}, words{"deplo"};
  std::istringstream in(command);
  for (std::string word; in >> word;) words.push_back(word);
  words.emplace_back("--help");
  const std::string help = output(words);
  const std::size_t list = help.find("\nCommands:\n");
  if (list == std::string::npos) return found;
  const std::regex entry("  ([a-z-]+) .*");
  std::smatch match;
  for (const std::string& line : lines_of(help.substr(list + 11, help.find("\n\n", list + 1) - list - 11)))
    if (std::regex_match(line, match, entry) && match[1] != "help")
      for (std::string& one : all_commands(command + (command.empty() ? "" : " ") + match[1].str()))
        found.push_back(std::move(one));
  return found;
}

/// Returns the flags that --help-all of a command lists, as pairs of letter and word. One of the two may be empty.
std::vector<std::pair<std::string, std::string>> letters_of(const std::string& command) {
  std::vector<std::pair<std::string, std::string>> flags;
  const std::regex entry("^  (-[a-zA-Z])?(, )?(--[a-z0-9-]+)?( .*)?$");
  std::smatch match;
  for (const std::string& line : lines_of(shell(fmt::format("deplo {} --help-all", command))))
    if (line.starts_with("  -") && std::regex_match(line, match, entry)) flags.emplace_back(match[1], match[3]);
  EXPECT_THAT(flags, Contains(std::pair("-h", "--help"))) << command;
  return flags;
}

std::set<std::string> flags_of(const std::string& command) {
  std::set<std::string> flags;
  for (const auto& [letter, word] : letters_of(command)) flags.insert({letter, word});
  flags.erase("");
  flags.insert("--help-all");
  return flags;
}

std::string file_name(const std::string& command) {
  std::string name = command.empty() ? "deplo" : "deplo-" + command;
  std::ranges::replace(name, ' ', '-');
  return name + ".1";
}

class Bash : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has("bash")) GTEST_SKIP() << "no bash";
    write_file(folder_.path(), "completion.bash", output({"deplo", "completion", "bash"}));
  }
  /// Returns what Tab offers after these words. The words are split as bash splits them: `--ir=` is two.
  Words offers(const Words& words) const {
    std::string quoted;
    for (const std::string& word : words) quoted += " '" + word + "'";
    const std::string script =
        write_file(folder_.path(), "ask.bash",
                   fmt::format("cd '{0}'\n. ./completion.bash\nCOMP_WORDS=({1})\nCOMP_CWORD={2}\n_deplo\n"
                               "printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                               folder_.path().string(), quoted, words.size() - 1));
    return lines_of(shell("bash " + script));
  }
  measure::TemporaryFolder folder_;
};

TEST_F(Bash, CompletesCommands) {
  EXPECT_THAT(offers({"deplo", "tu"}), ElementsAre("tune"));
  EXPECT_THAT(offers({"deplo", "db", "b"}), ElementsAre("best"));
  EXPECT_THAT(offers({"deplo", "help", "db", "b"}), ElementsAre("best"));
  EXPECT_THAT(offers({"deplo", ""}), IsSupersetOf({"tune", "run", "db", "completion", "help"}));
  EXPECT_THAT(offers({"deplo", ""}), Not(Contains("worker")));
}

TEST_F(Bash, CompletesFlags) {
  EXPECT_THAT(offers({"deplo", "tune", "--conf"}), ElementsAre("--config"));
  EXPECT_THAT(offers({"deplo-tune", "--conf"}), ElementsAre("--config"));
  EXPECT_THAT(offers({"/opt/bin/deplo-tune", "--conf"}), ElementsAre("--config"));
  EXPECT_THAT(offers({"deplo", "--ver"}), ElementsAre("--version"));
  EXPECT_THAT(offers({"deplo", "tune", "--store", "db", "--conf"}), ElementsAre("--config")) << "a value, no command";
}

TEST_F(Bash, CompletesValues) {
  EXPECT_THAT(offers({"deplo", "compile", "--ir", "t"}), ElementsAre("torch", "tensor", "tile", "tile-program"));
  EXPECT_THAT(offers({"deplo", "compile", "--ir", "=", "te"}), ElementsAre("tensor"));
  EXPECT_THAT(offers({"deplo", "compile", "--ir", "="}), Contains("tile"));
  EXPECT_THAT(offers({"deplo", "compile", "--target", "sm_9"}), ElementsAre("sm_90"));
  EXPECT_THAT(offers({"deplo", "tune", "--search", "mc"}), ElementsAre("mcts"));
  EXPECT_THAT(offers({"deplo", "strategies", "mc"}), ElementsAre("mcts"));
  EXPECT_THAT(offers({"deplo", "compare", "--search", "random,mc"}), ElementsAre("random,mcts"));
  EXPECT_THAT(offers({"deplo", "db", "export", "--format", ""}), ElementsAre("kernel-tuner", "t4", "csv"));
  EXPECT_THAT(offers({"deplo", "db", "trials", "--status", "ha"}), ElementsAre("hang"));
  EXPECT_THAT(offers({"deplo", "run", "--seq", ""}), ElementsAre("")) << "a number: only the user knows";
}

TEST_F(Bash, CompletesFiles) {
  write_file(folder_.path(), "my store.db", "");
  std::filesystem::create_directory(folder_.path() / "my folder");
  EXPECT_THAT(offers({"deplo", "db", "best", "my"}), UnorderedElementsAre("my folder", "my store.db"));
  EXPECT_THAT(offers({"deplo", "db", "sql", "SELECT 1", "my s"}), ElementsAre("my store.db"));
  EXPECT_THAT(offers({"deplo", "compare", "--spaces", "one", "my s"}), ElementsAre("my store.db"));
  EXPECT_THAT(offers({"deplo", "report", "--svg", "my"}), ElementsAre("my folder"));
  EXPECT_THAT(offers({"deplo", "compile", "-k", "m"}), IsSupersetOf({"matmul", "my store.db"}));
}

TEST_F(Bash, KnowsEveryCommandAndFlag) {
  const Words commands = all_commands();
  EXPECT_THAT(commands, IsSupersetOf({"tune", "db best", "model eval", "man"}));
  for (const std::string& command : commands) {
    Words words{"deplo"};
    std::istringstream in(command);
    for (std::string word; in >> word;) words.push_back(word);
    words.emplace_back("-");
    const Words found = offers(words);
    EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), flags_of(command)) << command;
  }
}

TEST(Fish, Completes) {
  if (!has("fish")) GTEST_SKIP() << "no fish";
  const auto offers = [](const std::string& line) {
    return lines_of(
        shell(fmt::format("fish --no-config -c 'deplo completion fish | source; complete -C \"{}\"'", line)));
  };
  EXPECT_THAT(offers("deplo tu"), ElementsAre(StartsWith("tune\t")));
  EXPECT_THAT(offers("deplo db b"), ElementsAre(StartsWith("best\t")));
  EXPECT_THAT(offers("deplo help db b"), ElementsAre(StartsWith("best\t")));
  EXPECT_THAT(offers("deplo-tune --conf"), ElementsAre(StartsWith("--config\t")));
  EXPECT_THAT(offers("deplo compile --ir te"), ElementsAre(StartsWith("tensor")));
  EXPECT_THAT(offers("deplo compare --search random,mc"), ElementsAre(StartsWith("random,mcts")));
}

TEST(Zsh, ReadsTheScript) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh";
  EXPECT_EQ(shell("zsh -fc 'autoload -U compinit && compinit -u -D && source <(deplo completion zsh) && "
                  "print $_comps[deplo] $_comps[deplo-tune]' 2>&1"),
            "_deplo _deplo\n");
  const std::string script = output({"deplo", "completion", "zsh"});
  for (const std::string& command : all_commands()) {
    std::string name = command.empty() ? "program" : command;
    std::ranges::replace(name, ' ', '_');
    const std::size_t begin = script.find("\n_deplo_" + name + "() {");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string function = script.substr(begin, script.find("\n}\n", begin) - begin);
    for (const std::string& flag : flags_of(command)) EXPECT_THAT(function, HasSubstr(flag)) << command;
  }
}

// If a letter meant different flags in different commands, users would type the wrong one.
TEST(Flags, ALetterIsTheSameFlagInEveryCommand) {
  std::map<std::string, std::string> meanings;
  for (const std::string& command : all_commands())
    for (const auto& [letter, flag] : letters_of(command))
      EXPECT_TRUE(letter.empty() || meanings.try_emplace(letter, flag).first->second == flag)
          << command << ": " << letter << " is " << meanings[letter] << " elsewhere, here " << flag;
  EXPECT_EQ(meanings["-c"], "--code");
  EXPECT_THAT(run_program({"deplo", "compare", "-c", "x.yaml"}).err, HasSubstr("one of its flags, found '-c'"));
}

// Starts zsh on a terminal of its own, and checks what it shows after Tab.
TEST(Zsh, Completes) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh";
  const measure::TemporaryFolder folder;
  const std::string script = write_file(folder.path(), "ask.zsh", R"(
zmodload zsh/zpty || exit 0
await() {  # TEXT: until it is seen, for at most a minute
  local part all
  for i in {1..600}; do
    zpty -r -t shell part && all+=$part
    [[ $all == *$1* ]] && return
    sleep 0.1
  done
  print -r -- "expected $1, found $all"
  exit 1
}
ask() {
  zpty -b shell 'TERM=dumb PS1= zsh -f -i'
  zpty -w shell 'autoload -U compinit; compinit -u -D; source <(deplo completion zsh); print RE""ADY'
  await READY
  zpty -w -n shell "$1"$'\t'
  await "$2"
  zpty -d shell
}
ask 'deplo db b' 'deplo db best '
ask 'deplo-tune --conf' 'deplo-tune --config='
ask 'deplo compile --ir te' 'deplo compile --ir tensor '
ask 'deplo compare --search random,mc' 'random,mcts'
)");
  EXPECT_EQ(shell("zsh -f " + script + " 2>&1"), "");
}

TEST(Completion, OfAnotherShellIsRefused) {
  EXPECT_THAT(run_program({"deplo", "completion", "tcsh"}).err, HasSubstr("(bash, zsh, fish), found 'tcsh'"));
  EXPECT_THAT(run_program({"deplo", "completion"}).err, HasSubstr("(bash, zsh, fish), found none"));
}

TEST(Completion, OffersLevelsThatThereAre) {
  const std::string script = output({"deplo", "completion", "bash"});
  std::smatch words;
  ASSERT_TRUE(std::regex_search(script, words, std::regex("\\n *--ir\\) takes=1 words='([^']*)'")));
  std::istringstream levels(words[1]);
  for (std::string level; levels >> level;) {
    std::vector<std::string> line = {"deplo", "compile", "-c", "torch.randn(8) + 1", "--ir", level, "-o", "/dev/null"};
    if (level == "tile-program") {
      line[2] = "--tile";
      line[3] = DEPLO_SOURCE_DIR "/experiments/tile/vector_add.tile";
    }
    const Ran ran = run_program(line);
    // Tools of the CUDA toolkit may be missing. The message then names them.
    EXPECT_TRUE(ran.code == 0 || std::regex_search(ran.err, std::regex("NVRTC|no nvdisasm")))
        << level << ": " << ran.err;
  }
}

class Man : public ::testing::Test {
 protected:
  void SetUp() override { said_ = run_program({"deplo", "man", path()}, {.environment = {"HOME=/home/ada"}}); }
  std::string path() const { return (folder_.path() / "pages").string(); }
  measure::TemporaryFolder folder_;
  Ran said_;
};

TEST_F(Man, HasAPageForEachCommandWithAllFlags) {
  const Words commands = all_commands();
  EXPECT_EQ(said_.out, fmt::format("{}: {} pages\n", path(), commands.size())) << said_.err;
  for (const std::string& command : commands) {
    std::string page = read_file(path() + "/" + file_name(command));
    EXPECT_THAT(page, Not(HasSubstr("/home/ada"))) << "the same wherever it is made";
    EXPECT_TRUE(std::ranges::all_of(page, [](unsigned char c) { return c < 0x80; })) << command;
    for (std::size_t at = page.find("\\-"); at != std::string::npos; at = page.find("\\-", at)) page.erase(at, 1);
    for (const std::string& flag : flags_of(command))
      EXPECT_EQ(page.find("\\fB" + flag + "\\fR") == std::string::npos, flag == "--help-all") << command << " " << flag;
  }
}

TEST_F(Man, IsReadByMan) {
  if (!has("groff") || !has("man")) GTEST_SKIP() << "no man";
  for (const std::string& command : all_commands())
    EXPECT_EQ(shell(fmt::format("groff -man -ww -Tutf8 -z '{}/{}' 2>&1", path(), file_name(command))), "") << command;
  const std::string tune = shell(fmt::format("MANWIDTH=80 LC_ALL=C.UTF-8 man -l '{}/deplo-tune.1' | col -b", path()));
  EXPECT_THAT(tune, AllOf(HasSubstr("deplo tune [OPTIONS]\n"), HasSubstr("deplo-tune [OPTIONS]\n"),
                          HasSubstr("--config FILE\n"), HasSubstr("[~/.cache/deplo/tuned.db]"), HasSubstr("EXAMPLES")));
  EXPECT_THAT(shell(fmt::format("MANWIDTH=100 LC_ALL=C.UTF-8 man -l '{}/deplo-compile.1' | col -b", path())),
              HasSubstr("deplo compile -k matmul -s M=33 -s N=509 -s K=777 --target sm_90 --ir cuda\n"));
}

TEST(ManPages, WithoutAFolderAreRefused) {
  EXPECT_THAT(run_program({"deplo", "man"}).err, HasSubstr("expected a folder for the pages, found none"));
  EXPECT_EQ(run_program({"deplo", "man", "/dev/null/pages"}).code, 2);
}

}  // namespace
}  // namespace deplo::testing::shell_test
