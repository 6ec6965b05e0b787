// Long sums, variances and norms on PoCL are as accurate as PyTorch's, whose errors are in tests/data/torch_errors.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/run/run.h"
#include "core/file.h"

namespace deplo::apps {
namespace {

using nlohmann::json;

ir::Fill fill_of(const json& fill) {
  const std::string draw = fill.at(0).get<std::string>();
  std::string text = draw + "(";
  for (std::size_t i = 1; i < fill.size(); ++i) text += (i > 1 ? ", " : "") + fill.at(i).dump();
  return engine::parse_fill(text + ")", "errors.json");
}

// The inputs are not those of PyTorch, because the generators differ. So four times PyTorch's error is allowed, and
// sixteen roundings more for sums of up to 256 equal terms, which are not split.
TEST(TorchErrorsRun, LongSumsAndNormsAreAsAccurateAsPyTorch) {
  constexpr double roundings = 0x1p-20;
  const json cases =
      json::parse(read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/torch_errors/errors.json"));
  ASSERT_GE(cases.size(), 70U);
  Progress quiet(stderr, true);
  for (const json& c : cases) {
    RunOptions options;
    options.source = {engine::Expression{c.at("code").get<std::string>(), "-c"}};
    options.inputs.by_name["x"] = {fill_of(c.at("fill")), "errors.json"};
    for (const OutputCheck& check : run(options, quiet).outputs) {
      EXPECT_TRUE(check.right) << c << "\n" << check.worst;
      EXPECT_LE(check.error, 4 * c.at("error").get<double>() + roundings) << c << "\n" << check.worst;
    }
  }
}

}  // namespace
}  // namespace deplo::apps
