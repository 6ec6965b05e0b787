// The folders of a layer include each other in one direction, so that each can be read after what it stands on.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace deplo {
namespace {

namespace fs = std::filesystem;

using Folders = std::map<std::string, std::map<std::string, std::string>>;  // from, to, "file includes header"

/// Every include of a header of the same layer in another folder.
Folders includes_of(const std::string& layer) {
  const fs::path root = DEPLO_SOURCE_DIR;
  Folders result;
  for (const auto& entry : fs::recursive_directory_iterator(root / layer)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp") continue;
    const std::string file = fs::relative(entry.path(), root).string();
    const std::string folder = fs::path(file).parent_path().string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      constexpr std::string_view begin = "#include \"";
      if (!line.starts_with(begin)) continue;
      const std::string header = line.substr(begin.size(), line.rfind('"') - begin.size());
      const std::string to = fs::path(header).parent_path().string();
      if (to != folder && (to == layer || to.starts_with(layer + "/")))
        result[folder][to] = file + " includes " + header;
    }
  }
  return result;
}

/// The folders that a folder's includes lead to.
std::set<std::string> reached(const Folders& folders, const std::string& from) {
  std::set<std::string> found;
  std::vector<std::string> open = {from};
  while (!open.empty()) {
    const auto here = folders.find(open.back());
    open.pop_back();
    if (here == folders.end()) continue;
    for (const auto& [to, include] : here->second)
      if (found.insert(to).second) open.push_back(to);
  }
  return found;
}

/// A folder and one below it are one room in two drawers where the first has what is common and the list of all.
bool is_within(const std::string& a, const std::string& b) { return a.starts_with(b + "/") || b.starts_with(a + "/"); }

// Circles that are there today, each with what would break it. No new one.
const std::set<std::pair<std::string, std::string>> known = {
    {"ir/torch/expression", "ir/torch/operations"},  // a row has its meaning in expressions, and these its row
    {"ir/torch/operations", "ir/torch/pt2"},         // the same of .pt2 files
};

TEST(FolderCircles, ThereIsNoNewOne) {
  std::set<std::pair<std::string, std::string>> found;
  for (const char* layer : {"core", "ir", "rules", "search", "measure", "engine", "apps", "library"}) {
    const Folders folders = includes_of(layer);
    for (const auto& [from, all] : folders)
      for (const auto& [to, include] : all) {
        const auto back = folders.find(to);
        if (from > to || is_within(from, to) || back == folders.end() || !back->second.contains(from)) continue;
        found.insert({from, to});
        EXPECT_TRUE(known.contains({from, to})) << include << ", and " << back->second.at(from);
      }
  }
  for (const auto& circle : known)
    EXPECT_TRUE(found.contains(circle)) << circle.first << " and " << circle.second << " are no circle any more";
}

// Longer circles, too, but for those through a folder and one within it.
TEST(FolderCircles, NoneOfThreeOrMore) {
  for (const char* layer : {"core", "ir", "rules", "search", "measure", "engine", "apps", "library"}) {
    Folders folders = includes_of(layer);
    for (auto& [from, all] : folders)
      std::erase_if(all, [&](const auto& to) {
        const bool is_known = known.contains({from, to.first}) || known.contains({to.first, from});
        return is_within(from, to.first) || is_known;
      });
    for (const auto& [from, all] : folders)
      for (const auto& [to, include] : all) EXPECT_FALSE(reached(folders, to).contains(from)) << include;
  }
}

}  // namespace
}  // namespace deplo
