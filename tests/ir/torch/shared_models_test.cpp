// The exports of ../shared/models are read, evaluated in double, and compared with PyTorch's outputs in double. The
// tests are skipped if that folder does not exist. experiments/exported_models.py does the same with kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/pt2/pt2.h"
#include "ir/torch/pt2/zip.h"

namespace deplo::ir::torch {
namespace {

template <class T>
Values read_all(std::string_view bytes) {
  Values values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T one;
    std::memcpy(&one, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(one);
  }
  return values;
}

/// Returns the values of a .npy file. Supports the types that the exports have.
Values npy_values(const std::string& bytes) {
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(8))) +
                      256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(9)));
  const std::string header = bytes.substr(10, length);
  const std::string_view data = std::string_view(bytes).substr(10 + length);
  if (header.find("'<f8'") != std::string::npos) return read_all<double>(data);
  if (header.find("'<f4'") != std::string::npos) return read_all<float>(data);
  if (header.find("'<i8'") != std::string::npos) return read_all<std::int64_t>(data);
  if (header.find("'<i4'") != std::string::npos) return read_all<std::int32_t>(data);
  if (header.find("'|b1'") != std::string::npos) return read_all<std::uint8_t>(data);
  throw Error("npy: expected f8, f4, i8, i4 or b1, found " + header);
}

/// Returns the largest difference, relative to the root mean square of the expected values; infinity if the numbers of
/// elements differ.
double error_of(const Values& found, const Values& expected) {
  if (found.size() != expected.size()) return INFINITY;
  double squares = 0, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    squares += expected[i] * expected[i];
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  return worst == 0 ? 0 : worst / std::sqrt(squares / static_cast<double>(found.size()));
}

/// Returns values for each node of the graph: those of inputs, in order, and of parameters. Other nodes have none.
std::vector<Values> sources(const Graph& graph, const Zip& arrays) {
  std::vector<Values> result;
  int inputs = 0;
  for (const Node& node : graph.nodes) {
    Values& values = result.emplace_back();
    if (node.kind == Node::Kind::input) values = npy_values(arrays.read("in" + std::to_string(inputs++) + ".npy"));
    if (node.kind == Node::Kind::parameter) values.assign(node.source.values->begin(), node.source.values->end());
  }
  return result;
}

TEST(SharedModels, GiveWhatPyTorchComputes) {
  const std::filesystem::path folder = std::filesystem::path(DEPLO_SOURCE_DIR) / "../shared/models";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no ../shared/models";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pt2") continue;
    SCOPED_TRACE(entry.path().stem());
    ++count;
    try {
      const Graph graph = read_pt2(entry.path());
      const Zip arrays(std::filesystem::path(entry.path()).replace_extension(".npz"));
      const std::vector<Values> outputs = evaluate(graph, sources(graph, arrays));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        EXPECT_LE(error_of(outputs[i], npy_values(arrays.read("outd" + std::to_string(i) + ".npy"))), 1e-5) << i;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_EQ(count, 28);
}

}  // namespace
}  // namespace deplo::ir::torch
