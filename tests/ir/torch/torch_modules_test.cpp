// The modules of tests/data/torch_modules are read like KernelBench's files, and evaluated in double. They must give
// what PyTorch computes. write.py in that folder defines the values of parameters and inputs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"
#include "torch_values.h"

namespace deplo::ir::torch {
namespace {

/// Computes the CRC-32 of zlib.
std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xffffffff;
  for (const char letter : text) {
    crc ^= static_cast<unsigned char>(letter);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

Values drawn(const std::string& key, const TensorType& type) {
  const bool variance = key.ends_with("running_var");
  Values values(static_cast<std::size_t>(element_count(type.shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t u = static_cast<std::uint32_t>(i * 2654435761U) + crc32(key);
    values[i] = static_cast<double>(u >> 24) / 256 - 0.5 + (variance ? 1 : 0);
  }
  return values;
}

/// Returns values for each node. The inputs from get_inputs are named x, x_1, …; other inputs are attributes of the
/// model.
std::vector<Values> sources(const Graph& graph) {
  std::vector<Values> result;
  int inputs = 0;
  for (const Node& node : graph.nodes) {
    const bool given = node.kind == Node::Kind::input && (node.name == "x" || node.name.starts_with("x_"));
    Values& values = result.emplace_back();
    if (node.source.values)
      values = node.source.values->doubles();
    else if (node.kind == Node::Kind::input || node.kind == Node::Kind::parameter)
      values = drawn(given ? "in" + std::to_string(inputs++) : node.name, node.type);
  }
  return result;
}

TEST(TorchModules, GiveWhatPyTorchComputes) {
  const std::filesystem::path folder = DEPLO_SOURCE_DIR "/tests/data/torch_modules";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().stem());
    ++count;
    try {
      const std::filesystem::path file = std::filesystem::path(entry.path()).replace_extension(".py");
      const std::string text = read_file(file) + "\nModel(*get_init_inputs())(*get_inputs())\n";
      const Graph graph = parse_expression(text, file.filename().string());
      const std::vector<Values> outputs = evaluate(graph, sources(graph));
      const std::vector<tests::TensorValues> expected = tests::tensor_values(entry.path());
      ASSERT_EQ(outputs.size(), expected.size());
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(graph.nodes[static_cast<std::size_t>(graph.outputs[i])].type.shape, expected[i].shape) << i;
        EXPECT_LE(tests::relative_error(outputs[i], expected[i].values), 1e-9) << i;
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GE(count, 24);
}

}  // namespace
}  // namespace deplo::ir::torch
