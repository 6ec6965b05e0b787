// Runs every command line of README.md, CONTRIBUTING.md and docs/*.md, and compares its output with the output that the
// page shows. A command line that is added to a page is tested automatically: it is an indented or fenced line that
// begins with a program. The lines below it in the same block, up to the next command, are its output. In them `…`
// stands for the rest of a line or for any number of lines.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "core/user_cache.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

namespace fs = std::filesystem;

/// Commands that cannot run here, or have a test of their own.
struct Left {
  std::string_view command, why;
};
constexpr Left left[] = {
    {"make tune", "installs packages, builds, and tunes for five minutes; `deplo-tune` runs here"},
    {"make test", "is what runs this"},
    {"make build", "builds everything"},
    {"make hooks", "tests/hooks_test.sh lets git run them"},
    {"make update-golden", "rewrites what other tests compare with"},
    {"make bundle", "tests/bundle_test.sh makes and uses one"},
    {"make bench", "takes minutes, and times"},
    {"bench_matmul", "takes minutes, and times; the tests do not build it"},
    {"submit.sh", "tests/slurm_test.sh runs it"},
    {"python experiments/baselines/torch_", "needs PyTorch"},
    {"AllHeuristics", "takes an hour, or a GPU"},
    {"--objectives time,energy", "needs an energy counter"},
    {"--tileiras", "needs NVIDIA's compiler of tile programs; tests/apps/inspect/tile_compile_test.cpp runs it"},
};

/// Replacements that make commands fast, or put a real file in place of a name that a page only uses as an example.
struct Change {
  std::string_view from, to, why;
};
constexpr Change changes[] = {
    {"experiments/(qwen_s512|suite84|block_programs)\\.yaml", "experiments/smoke.yaml",
     "minutes: the same flags on small kernels"},
    {"--time [0-9]+", "--time 1", "seconds will do"},
    {"(deplo-tune|deplo tune) (.*?)--config (\\S+)", "$1 $2--config $3 --time 1 --trials 2",
     "the file's budget is longer"},
    {"deplo bench ", "deplo bench --time 0 ", "a round of each kernel will do"},
    {"--model tinyllama-1.1b --seq (32|512)", "--model tiny.yaml --seq 8", "44 million parameters take a minute"},
    {"torch\\.randn\\((\\d+),(2048|3584)\\) @ torch\\.randn\\(\\d+,\\d+\\)", "torch.randn($1,64) @ torch.randn(64,64)",
     "reference values of large matmuls take seconds"},
    {"deplo compare ", "deplo compare --repeats 1 ", "25 runs of each strategy take minutes"},
    {"--repeats [0-9]+", "--repeats 1", "and 100 more"},
    {"--warm-start 12000", "--warm-start 600", "it is the most that a space of hundreds has"},
    {"--trials 60", "--trials 2", "as many as of other experiments"},
    {"--config tile\\.yaml", "--config experiments/tile_programs.yaml", "NVIDIA's samples are not ours to keep"},
    {"--config FILE", "--config experiments/smoke.yaml", "any experiment"},
    {"--cases [0-9]+", "--cases 20", "random trails of tile programs take half an hour"},
    {"--warm-start STORE", "--warm-start other.db", "any store"},
    {"--search NAMES", "--search random,local", "any strategies"},
};

struct Command {
  int line = 0;
  std::string text;
  std::vector<std::string> shown;  // its output; empty if the page does not show it
};

bool is_command(const std::string& line) {
  static const std::regex begins(
      "(\\w+=\\S+ )*(for .*; do )?(build/release/bin/\\S+|deplo|deplo-tune|make|sqlite3|python3?|cmake|ctest|test_\\w+|"
      "(experiments|scripts)/\\S+)( .*)?");
  return std::regex_match(line, begins);
}

/// Returns the lines of the indented and fenced blocks, without their indentation, and "\f" between two blocks.
std::vector<std::pair<int, std::string>> block_lines(const fs::path& page) {
  std::vector<std::pair<int, std::string>> lines;
  std::ifstream in(page);
  bool fenced = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    if (!fence && (fenced || line.starts_with("    ")))
      lines.emplace_back(number, fenced ? line : line.substr(4));
    else if (line.empty() && !fenced && !lines.empty())
      lines.emplace_back(number, "");  // a line within a block, or after it
    else
      lines.emplace_back(number, "\f");
  }
  return lines;
}

std::vector<Command> commands_of(const fs::path& page) {
  std::vector<Command> commands;
  bool open = false;  // the next lines are a command's output
  for (auto& [number, line] : block_lines(page)) {
    if (open && !commands.empty() && commands.back().text.ends_with('\\')) {
      commands.back().text.pop_back();
      commands.back().text += line;
    } else if (line == "\f") {
      open = false;
    } else if (is_command(line)) {
      commands.push_back({number, line, {}});
      open = true;
    } else if (open && !(line.empty() && commands.back().shown.empty())) {
      commands.back().shown.push_back(line);
    }
  }
  for (Command& command : commands)
    while (!command.shown.empty() && command.shown.back().empty()) command.shown.pop_back();
  return commands;
}

/// Returns whether the line matches the shown line, in which `…` stands for anything.
bool matches(std::string_view shown, std::string_view line) {
  constexpr std::string_view any = "…";
  const std::size_t at = shown.find(any);
  if (at == std::string_view::npos) return shown == line;
  if (!line.starts_with(shown.substr(0, at))) return false;
  line.remove_prefix(at);
  shown.remove_prefix(at + any.size());
  for (std::size_t skip = 0; skip <= line.size(); ++skip)
    if (matches(shown, line.substr(skip))) return true;
  return false;
}

/// Returns the first shown line that is missing from the output, or "" if all are there in the same order. A shown line
/// `…` stands for any number of lines. Any lines may precede the first shown line and follow the last one.
std::string missing(const std::vector<std::string>& shown, const std::string& printed) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    lines.push_back(printed.substr(at, end - at));
    lines.back().erase(lines.back().find_last_not_of(' ') + 1);
    at = end + 1;
  }
  std::size_t next = 0;
  bool anywhere = true;
  for (const std::string& line : shown) {
    if (line.substr(std::min(line.size(), line.find_first_not_of(' '))) == "…") {
      anywhere = true;
      continue;
    }
    const auto from = lines.begin() + static_cast<std::ptrdiff_t>(next);
    const auto found = std::find_if(from, lines.end(), [&](const auto& one) { return matches(line, one); });
    if (found == lines.end() || (!anywhere && found != from)) return line;
    next = static_cast<std::size_t>(found - lines.begin()) + 1;
    anywhere = false;
  }
  return "";
}

std::string changed(std::string command) {
  for (const Change& change : changes)
    command = std::regex_replace(command, std::regex(std::string(change.from)), std::string(change.to));
  return command;
}

/// Links each compiled kernel of the folder `from` into the folder `to`.
void share_compiled(const fs::path& from, const fs::path& to) {
  std::error_code ignored;  // another test may do the same now, or the folders may be on different disks
  fs::create_directories(to, ignored);
  for (const auto& entry : fs::directory_iterator(from, ignored))
    if (entry.path().extension() == ".bin") fs::create_hard_link(entry.path(), to / entry.path().filename(), ignored);
}

/// A folder like that of the project, with small files of the names that the pages mention. Commands have a home folder
/// of their own: it has no tuned kernels, only kernels that other tests compiled.
class Workplace {
 public:
  Workplace() {
    const fs::path source = DEPLO_SOURCE_DIR;
    for (const char* name : {"configs", "tests", "docs", "examples", "scripts", "Makefile"})
      fs::create_symlink(source / name, at(name));
    fs::copy(source / "experiments", at("experiments"), fs::copy_options::recursive);
    fs::create_directories(at("build/release"));
    fs::create_symlink(DEPLO_BINARY_DIR, at("build/release/bin"));
    fs::copy_file(source / "experiments/results/torch_cpu_suite84.jsonl", at("torch.jsonl"));
    write_file(folder_.path(), "tiny.yaml",
               "source: none\nhidden: 32\nffn: 48\nheads: 2\nkv_heads: 1\nhead_dim: 16\nlayers: 1\nrope_theta: "
               "10000\nnorm_eps: 1e-5\n");
    share_compiled(user_cache_folder(), at("cache/deplo"));
  }
  ~Workplace() { share_compiled(at("cache/deplo"), user_cache_folder()); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  struct Result {
    int code = -1;
    std::string out, err;
  };
  Result run(const std::string& command) const {
    const std::string script = write_file(folder_.path(), "command.sh", command + "\n");
    const std::string shell = fmt::format(
        "cd '{0}' && HOME='{0}' XDG_CACHE_HOME='{0}/cache' PATH=\"{1}:$PATH\" bash '{2}' > out.txt 2> err.txt",
        folder_.path().string(), DEPLO_BINARY_DIR, script);
    const int status = std::system(shell.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_file(at("out.txt")), read_file(at("err.txt"))};
  }
  void prepare(const std::string& command) const {
    const Result result = run(command);
    EXPECT_EQ(result.code, 0) << command << "\n" << result.err;
  }
  /// Writes a kernel's space on two devices, in Kernel Tuner's format.
  void make_spaces(const std::string& name) const {
    fs::create_directories(at("spaces/" + name));
    const std::string kernel = name == "rtx_gemm"           ? "rmsnorm_512x1024"
                               : name == "convolution_milo" ? "matmul_256"
                                                            : "softmax_384x768";
    const std::string first = "spaces/" + name + "/A100.json";
    prepare("deplo db export --store experiments/results/kernel_spaces.db --kernel " + kernel + " -o " + first);
    std::string text = read_file(at(first));
    const std::size_t device = text.find('"', text.find(':', text.find("\"device_name\"")));
    text.insert(device + 1, "the other ");
    write_file(at("spaces/" + name), "A4000.json", text);
    fs::create_symlink(at("spaces/" + name), at(name));
  }
  void make_store(const std::string& name) const {
    prepare("deplo tune --config experiments/smoke.yaml --search random --time 0 --trials 1 --quiet --store " + name);
  }

 private:
  measure::TemporaryFolder folder_;
};

std::vector<std::string> pages() {
  std::vector<std::string> names{"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(DEPLO_SOURCE_DIR) / "docs"))
    names.push_back("docs/" + entry.path().filename().string());
  std::erase_if(names, [](const std::string& name) { return commands_of(fs::path(DEPLO_SOURCE_DIR) / name).empty(); });
  std::ranges::sort(names);
  return names;
}

bool is_left(const std::string& command) {
  return std::ranges::any_of(left, [&](const Left& one) { return command.find(one.command) != std::string::npos; });
}

class Docs : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<Command> commands() const {
    std::vector<Command> all = commands_of(fs::path(DEPLO_SOURCE_DIR) / GetParam());
    std::erase_if(all, [](const Command& command) { return is_left(command.text); });
    return all;
  }
  /// Makes the files that the page mentions but that none of its commands makes.
  void prepare(const std::string& text) const {
    for (const char* space : {"convolution_milo", "dedispersion_milo", "rtx_gemm"})
      if (text.find(space) != std::string::npos) workplace_.make_spaces(space);
    if (text.find("spaces/ ") != std::string::npos && !fs::exists(workplace_.at("spaces")))
      workplace_.make_spaces("rtx_gemm");
    std::string made;
    for (const char* store : {"before.db", "after.db", "other.db", "STORE", "deplo.db"}) {
      if (text.find(store) == std::string::npos) continue;
      const std::string name = std::string(store) == "STORE" ? "other.db" : store;
      if (made.empty())
        workplace_.make_store(made = name);
      else if (name != made)
        fs::copy_file(workplace_.at(made), workplace_.at(name), fs::copy_options::overwrite_existing);
    }
  }
  Workplace workplace_;
};

TEST_P(Docs, EveryCommandRunsAndPrintsWhatIsShown) {
  const std::vector<Command> all = commands();
  std::string text;
  for (const Command& command : all) text += command.text + "\n";
  prepare(text);
  for (const Command& command : all) {
    SCOPED_TRACE(fmt::format("{}:{}: {}", GetParam(), command.line, command.text));
    const Workplace::Result result = workplace_.run(changed(command.text));
    // Machine code requires programs of the CUDA toolkit, which is optional.
    const auto lacks = [&](const char* name) { return result.err.find(name) != std::string::npos; };
    if (result.code == 2 && (lacks("no NVRTC") || lacks("no nvdisasm"))) continue;
    EXPECT_EQ(result.code, 0) << changed(command.text) << "\n" << result.err;
    EXPECT_EQ(missing(command.shown, result.out), "") << result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Page, Docs, ::testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = fs::path(page.param).stem().string();
  std::ranges::replace(name, '.', '_');
  return name;
});

// An entry that matches no command any more must be removed.
TEST(DocsTest, EveryExceptionIsOfSomeCommand) {
  std::string all;
  for (const std::string& page : pages())
    for (const Command& command : commands_of(fs::path(DEPLO_SOURCE_DIR) / page)) all += command.text + "\n";
  for (const Left& one : left) EXPECT_NE(all.find(one.command), std::string::npos) << one.command;
  for (const Change& change : changes)
    EXPECT_TRUE(std::regex_search(all, std::regex(std::string(change.from)))) << change.from;
}

TEST(DocsTest, AShownOutputIsCompared) {
  const std::string printed = "knob   a  b\nbm 32  1  2\n\nsum: 3.5 µs\nend\n";
  EXPECT_EQ(missing({"knob   a  b", "bm 32  1  2"}, printed), "");
  EXPECT_EQ(missing({"knob   a  b", "…", "sum: … µs"}, printed), "");
  EXPECT_EQ(missing({"knob   a  b", "sum: … µs"}, printed), "sum: … µs") << "lines between are to be shown";
  EXPECT_EQ(missing({"…", "sum: … ms"}, printed), "sum: … ms");
  EXPECT_EQ(missing({"bm 33…"}, printed), "bm 33…");
}

// Commands within sentences: the commands and their flags must exist.
TEST(DocsTest, FlagsInSentencesExist) {
  std::map<std::string, std::string> helps;
  const std::regex inline_command("`deplo ([a-z]+)( [a-z]+)?([^`]*)`"), flag("--[a-z][a-z-]+");
  for (const std::string& page : pages()) {
    std::string text = read_file(fs::path(DEPLO_SOURCE_DIR) / page);
    std::ranges::replace(text, '\n', ' ');
    for (std::sregex_iterator found(text.begin(), text.end(), inline_command), end; found != end; ++found) {
      const std::string command = (*found)[1], sub = (*found)[2];
      std::vector<std::string> words{"deplo", command};
      if (command == "db" || command == "model") {
        if (sub.empty()) continue;
        words.push_back(sub.substr(1));
      }
      std::string& help = helps[command + sub];
      if (help.empty()) {
        words.emplace_back("--help-all");
        const Ran ran = run_program(words);
        EXPECT_EQ(ran.code, 0) << page << ": " << found->str();
        help = ran.out + " --help-all";
      }
      const std::string rest = (*found)[3];
      for (std::sregex_iterator one(rest.begin(), rest.end(), flag); one != end; ++one)
        EXPECT_NE(help.find(one->str()), std::string::npos) << page << ": " << found->str();
    }
  }
}

}  // namespace
}  // namespace deplo::testing
