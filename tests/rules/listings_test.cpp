// Tests every listing of Torch, Tensor and Loop IR in "A Principled ML Compiler Stack in 5,000 Lines of Python", parts
// 1 and 2. A file tests/listings/NAME.txt has an expression, options, and the text at each level that the article
// prints:
//   # the part and section of the article, and any difference
//   [options: no-merge no-guard no-layouts]
//   EXPRESSION (lines)
//   ---- torch | tensor | loop
//   TEXT
// `make update-golden` rewrites the texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"

namespace deplo::rules::listings_test {
namespace {

struct Listing {
  std::string header, code;  // header: comments and options; code: the expression
  FuseOptions options;
  std::vector<std::pair<std::string, std::string>> sections;  // level → text
};

Listing read(const std::filesystem::path& path) {
  std::ifstream file(path);
  Listing listing;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("---- "))
      listing.sections.emplace_back(line.substr(5), "");
    else if (!listing.sections.empty())
      listing.sections.back().second += line + "\n";
    else if (line.starts_with("# ") || line.starts_with("options: "))
      listing.header += line + "\n";
    else
      listing.code += line + "\n";
  }
  const auto has = [&](const char* option) { return listing.header.find(option) != std::string::npos; };
  listing.options = {.merge = !has("no-merge"), .guard = !has("no-guard"), .layouts = !has("no-layouts")};
  return listing;
}

std::string text_at(const Listing& listing, const std::string& level) {
  const ir::torch::Graph graph = ir::torch::parse_expression(listing.code);
  if (level == "torch") return ir::torch::print(graph);
  const ir::tensor::Graph tensor = compose(decompose(graph));
  return level == "tensor" ? ir::tensor::print(tensor) : ir::print(fuse(tensor, listing.options));
}

TEST(Listings, AreWhatThePassesMake) {
  int count = 0;
  const std::filesystem::path folder = std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/listings";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Listing listing = read(entry.path());
    ASSERT_FALSE(listing.sections.empty()) << entry.path();
    std::string updated = listing.header + listing.code;
    for (const auto& [level, text] : listing.sections) {
      ASSERT_TRUE(level == "torch" || level == "tensor" || level == "loop") << entry.path() << ": " << level;
      const std::string found = text_at(listing, level);
      updated += "---- " + level + "\n" + found;
      if (std::getenv("UPDATE_GOLDEN") == nullptr) {
        EXPECT_EQ(found, text) << entry.path();
        ++count;
      }
    }
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(entry.path()) << updated;
  }
  EXPECT_TRUE(count >= 20 || std::getenv("UPDATE_GOLDEN") != nullptr) << "expected the listings, found " << count;
}

}  // namespace
}  // namespace deplo::rules::listings_test
