// Checks of names that no tool makes in every build. Suites and tests must be named like types: clang-tidy
// (readability-identifier-naming) does not look into TEST(). No type may be defined twice: -Wodr detects that only when
// `make lint` links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/file.h"

namespace deplo {
namespace {

TEST(Names, OfTestsAreThoseOfTypes) {
  const std::regex test(R"((?:^|\n)(?:TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\(\s*(\w+),\s*(\w+))");
  const std::regex good("(DISABLED_)?[A-Z][A-Za-z0-9]*");
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DEPLO_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator one(text.begin(), text.end(), test), end; one != end; ++one, ++found)
      for (const int part : {1, 2})
        EXPECT_TRUE(std::regex_match((*one)[part].str(), good)) << entry.path() << ": " << (*one)[part];
  }
  EXPECT_GT(found, 1000U);
}

/// Returns the first lines of those tests and fixtures that use ../shared but do not have "Shared" in that line.
std::vector<std::string> silent_uses_of_shared(const std::string& text) {
  const std::regex begins(R"((?:TEST|TEST_F|TEST_P|TYPED_TEST)\(.*|class .*: public (?:::)?::testing::Test.*)");
  std::vector<std::string> found;
  std::string first;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, begins)) first = line;
    if (line == "}" || line == "};") first.clear();
    const bool uses =
        line.find("../shared") != std::string::npos || line.find("shared_programs()") != std::string::npos;
    if (uses && !first.empty() && first.find("Shared") == std::string::npos) found.push_back(first);
  }
  return found;
}

// A user's clone has no ../shared. The list of tests must show which tests run differently there.
TEST(Names, OfTestsThatUseSharedFilesSayShared) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DEPLO_SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp" || entry.path().filename() == "names_test.cpp") continue;
    EXPECT_THAT(silent_uses_of_shared(read_file(entry.path())), ::testing::IsEmpty()) << entry.path();
  }
  EXPECT_THAT(silent_uses_of_shared("TEST(A, Shared) {\n  read(\"../shared/b\");\n}\n"
                                    "TEST(A, Other) {\n  if (shared_programs().empty()) return;\n}\n"),
              ::testing::ElementsAre("TEST(A, Other) {"));
}

/// Returns the types that a source defines in named namespaces, as "deplo::search::Space". The text must be formatted,
/// so that each definition and each end of a namespace begins its line.
std::vector<std::string> defined_types(const std::string& text) {
  const std::regex type(R"((?:template <.*> )?(?:struct|class|union|enum class|enum) (?:alignas\(\w+\) )?)"
                        R"(([\w:]+(?:<.*>)?)(?: .*)?)");
  const std::string open = "namespace ", close = "}  // namespace";
  std::vector<std::string> found, scopes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with(open) && line.ends_with("{")) {
      const std::string name = line.substr(open.size(), line.size() - open.size() - 1);
      scopes.push_back(name.empty() ? "" : name.substr(0, name.size() - 1) + "::");
    } else if (line.starts_with(close)) {
      scopes.pop_back();
    } else if (!scopes.empty() && !std::ranges::count(scopes, "") && std::regex_match(line, match, type)) {
      found.push_back(match[1]);
      for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) found.back().insert(0, *scope);
    }
  }
  return found;
}

/// The files that define a type, by the name of the type.
using Definitions = std::map<std::string, std::vector<std::string>>;

void add(Definitions& definitions, const std::string& file, const std::string& text) {
  for (const std::string& type : defined_types(text)) definitions[type].push_back(file);
}

Definitions twins(Definitions definitions) {
  std::erase_if(definitions, [](const auto& entry) { return entry.second.size() == 1; });
  return definitions;
}

TEST(Names, NoTypeIsDefinedTwice) {
  Definitions definitions;
  for (const char* layer : {"core", "ir", "rules", "search", "measure", "engine", "apps", "library"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(DEPLO_SOURCE_DIR) / layer))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        add(definitions, entry.path().lexically_relative(DEPLO_SOURCE_DIR), read_file(entry.path()));
  EXPECT_THAT(twins(definitions), ::testing::IsEmpty());
  EXPECT_GT(definitions.size(), 400U);
}

TEST(Names, ATypeThatIsDefinedTwiceIsFound) {
  const std::string pool = "namespace deplo::search {\n\nclass Pool final : public Base {\n};\n";
  const std::string end = "\n}  // namespace deplo::search\n";
  Definitions definitions;
  add(definitions, "pool.h", pool + "struct Sample;\n" + end);
  add(definitions, "hidden.cpp", "namespace deplo::search {\nnamespace {\nclass Pool {\n};\n}  // namespace\n" + end);
  add(definitions, "sample.h", "namespace deplo::search {\nstruct Sample {};\n" + end);
  EXPECT_THAT(twins(definitions), ::testing::IsEmpty());
  add(definitions, "curve.h", "namespace deplo {\nnamespace search {\ntemplate <class T>\nclass Pool {\n};\n");
  EXPECT_THAT(twins(definitions), ::testing::ElementsAre(::testing::Pair("deplo::search::Pool",
                                                                         ::testing::ElementsAre("pool.h", "curve.h"))));
}

}  // namespace
}  // namespace deplo
