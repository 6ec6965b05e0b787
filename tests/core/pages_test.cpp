// README, the guide for contributors and docs/: every file that they name exists, and the guide's lists of places are
// complete.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "core/file.h"

namespace deplo {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using Words = std::vector<std::string>;

const fs::path root = DEPLO_SOURCE_DIR;
constexpr std::array folders = {"core",    "ir",          "rules", "search", "measure", "engine", "apps",    "library",
                                "configs", "experiments", "tests", "cmake",  "scripts", "docs",   "examples"};

Words pages() {
  Words names{"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") names.push_back("docs/" + entry.path().filename().string());
  return names;
}

/// Returns the paths of all files and folders of the project, relative to its root.
const Words& all_files() {
  static const Words found = [] {
    Words names;
    for (const char* folder : folders)
      for (const auto& entry : fs::recursive_directory_iterator(root / folder))
        names.push_back(fs::relative(entry.path(), root).string());
    names.insert(names.end(), folders.begin(), folders.end());
    return names;
  }();
  return found;
}

/// Returns the text of the page without blocks of code and output.
std::string prose_of(const std::string& page) {
  std::istringstream in(read_file(root / page));
  std::string text;
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    text += fenced || fence || line.starts_with("    ") ? "\n" : line + "\n";
  }
  return text;
}

Words matches(const std::string& text, const std::string& pattern) {
  Words found;
  const std::regex regex(pattern);
  for (std::sregex_iterator one(text.begin(), text.end(), regex), end; one != end; ++one) found.push_back((*one)[1]);
  return found;
}

/// Returns the words in `code` that are paths of the project, such as rules/tile/NAME.cpp. Capitals stand for any name.
Words paths_in(const std::string& text) {
  Words found;
  for (const std::string& code : matches(text, "`([^`]+)`")) {
    std::istringstream in(code);
    for (std::string word; in >> word;) {
      while (!word.empty() && std::string_view(",.:;()'\"/…").find(word.back()) != std::string_view::npos)
        word.pop_back();
      const std::string folder = word.substr(0, word.find('/'));
      if (folder != word && std::ranges::find(folders, folder) != folders.end()) found.push_back(word);
    }
  }
  return found;
}

/// Returns the paths that braces stand for: apps/{run,tune}/ is two paths.
Words expanded(const std::string& path) {
  const std::size_t open = path.find('{'), close = path.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {path};
  Words all;
  std::istringstream in(path.substr(open + 1, close - open - 1));
  for (std::string one; std::getline(in, one, ',');)
    for (std::string& each : expanded(path.substr(0, open) + one + path.substr(close + 1)))
      all.push_back(std::move(each));
  return all;
}

bool exists(const std::string& path) {
  const std::string pattern = std::regex_replace(path, std::regex("[A-Z]{2,}"), "*");
  return std::ranges::any_of(all_files(), [&](const std::string& file) {
    // `rules/decompose/compose` stands for compose.h and compose.cpp.
    return fnmatch(pattern.c_str(), file.c_str(), 0) == 0 || file == pattern + ".h" || file == pattern + ".cpp";
  });
}

TEST(Pages, NamePathsThatExist) {
  std::size_t count = 0;
  for (const std::string& page : pages())
    for (const std::string& paths : paths_in(prose_of(page)))
      for (const std::string& path : expanded(paths)) {
        EXPECT_TRUE(exists(path)) << page << ": " << path;
        ++count;
      }
  EXPECT_GT(count, 100U);
}

// A page may name a source without its folder, as `walk.h`, if the folder is named nearby.
TEST(Pages, NameSourcesThatExist) {
  std::set<std::string> names;
  for (const std::string& file : all_files()) names.insert(fs::path(file).filename().string());
  for (const std::string& page : pages())
    for (const std::string& name : matches(prose_of(page), "`([a-z_0-9]+\\.(?:h|cpp|sh|cmake|py))`"))
      EXPECT_THAT(names, Contains(name)) << page;
}

std::string anchor_of(std::string heading) {
  std::erase_if(heading,
                [](unsigned char c) { return c < 0x80 && std::isalnum(c) == 0 && c != ' ' && c != '-' && c != '_'; });
  for (char& c : heading) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return heading;
}

TEST(Pages, LinkToWhatIsThere) {
  for (const std::string& page : pages())
    for (const std::string& link : matches(prose_of(page), "\\]\\(([^)]+)\\)")) {
      if (link.starts_with("http")) continue;
      const std::size_t hash = std::min(link.find('#'), link.size());
      const fs::path file = hash == 0 ? root / page : (root / page).parent_path() / link.substr(0, hash);
      ASSERT_TRUE(fs::exists(file)) << page << ": " << link;
      if (hash == link.size()) continue;
      Words anchors = matches("\n" + prose_of(fs::relative(file, root).string()), "\n#+ ([^\n]*)");
      for (std::string& heading : anchors) heading = anchor_of(heading);
      EXPECT_THAT(anchors, Contains(link.substr(hash + 1))) << page;
    }
}

/// Returns whether the text has the word as a whole word, as `git grep -lw` finds it.
bool has_word(const std::string& text, const std::string& word) {
  const auto joins = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !joins(at - 1)) && !joins(at + word.size())) return true;
  return false;
}

/// Returns the files that contain the word, among the files and folders in `places`.
std::set<std::string> files_with(const std::string& word, const std::string& places) {
  std::set<std::string> found;
  std::istringstream in(places);
  for (std::string place; in >> place;)
    for (const std::string& file : all_files())
      if ((file == place || file.starts_with(place + "/")) && fs::is_regular_file(root / file) &&
          has_word(read_file(root / file), word))
        found.insert(file);
  return found;
}

// Each walk-through of the guide takes an existing example, names the command that finds all of its places, and lists
// these places and what belongs in each.
TEST(Guide, ListsAllPlacesOfItsExamples) {
  const std::string guide = prose_of("CONTRIBUTING.md");
  const std::regex command("`git grep -lw '?([^ ]+?)'? ([^`]+)`");
  int count = 0;
  for (std::sregex_iterator one(guide.begin(), guide.end(), command), end; one != end; ++one, ++count) {
    const std::string section = one->suffix().str().substr(0, one->suffix().str().find("\n#"));
    std::set<std::string> listed;
    for (const std::string& item : matches(section, "\n *- ((?:`[^`]+`(?:, )?\\s*)+)"))
      for (const std::string& path : paths_in(item)) listed.insert(path);
    EXPECT_EQ(listed, files_with((*one)[1], (*one)[2])) << one->str();
  }
  EXPECT_EQ(count, 7) << "a rule, a searcher, a statement, an operation, a scalar operation, an element type, a device";
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

TEST(Guide, QuotesTheRowOfAnOperation) {
  const std::string guide = read_file(root / "CONTRIBUTING.md");
  const std::size_t begin = guide.find("{\"sin\","), end = guide.find("```", begin);
  ASSERT_NE(end, std::string::npos);
  EXPECT_THAT(without_spaces(read_file(root / "ir/torch/operations/elementwise/unary.cpp")),
              ::testing::HasSubstr(without_spaces(guide.substr(begin, end - begin))));
}

}  // namespace
}  // namespace deplo
