// The folders of a layer include each other in one direction, so that each can be read after the folders it depends on.
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

// Including folder, included folder, "file includes header".
using Folders = std::map<std::string, std::map<std::string, std::string>>;

/// Returns every include of a header of the same layer in another folder.
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

/// Returns the folders that `from` includes, directly or through other folders.
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

/// Returns whether one folder is inside the other. Such folders may include each other: the outer folder has the common
/// code, and the list of all parts.
bool is_within(const std::string& a, const std::string& b) { return a.starts_with(b + "/") || b.starts_with(a + "/"); }

TEST(FolderCircles, ThereIsNone) {
  for (const char* layer : {"core", "ir", "rules", "search", "measure", "engine", "apps", "library"}) {
    Folders folders = includes_of(layer);
    for (auto& [from, all] : folders) std::erase_if(all, [&](const auto& to) { return is_within(from, to.first); });
    for (const auto& [from, all] : folders)
      for (const auto& [to, include] : all) EXPECT_FALSE(reached(folders, to).contains(from)) << include;
  }
}

}  // namespace
}  // namespace deplo
