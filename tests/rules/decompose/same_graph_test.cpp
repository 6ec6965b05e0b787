// Tests that the modules of tests/data/torch_modules give the same Tensor IR when read as text and from their exports.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "core/error.h"
#include "core/file.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/pt2/pt2.h"
#include "rules/decompose/decompose.h"

namespace deplo::rules {
namespace {

/// Copies a graph with its nodes in the order in which the outputs need them, and renames them. A node is named by its
/// number, an input by its position. A parameter keeps the path of its attribute.
class Renamed {
 public:
  explicit Renamed(const ir::tensor::Graph& graph) : graph_(graph) {
    int inputs = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].as<ir::tensor::Input>()) names_[static_cast<int>(i)] = "input_" + std::to_string(inputs++);
    for (const int output : graph.outputs) result_.outputs.push_back(add(output));
  }
  const ir::tensor::Graph& graph() const { return result_; }

 private:
  int add(int id) {
    if (const auto found = numbers_.find(id); found != numbers_.end()) return found->second;
    ir::tensor::Node node = graph_.nodes[static_cast<std::size_t>(id)];
    for (int& arg : node.args) arg = add(arg);
    if (node.as<ir::tensor::Input>())
      node.name = names_[id];
    else if (node.as<ir::tensor::Parameter>())
      node.name = node.name.starts_with("p_") ? node.name : "p_" + node.name;
    else
      node.name = "node_" + std::to_string(result_.nodes.size());
    result_.nodes.push_back(std::move(node));
    return numbers_[id] = static_cast<int>(result_.nodes.size()) - 1;
  }

  const ir::tensor::Graph& graph_;
  ir::tensor::Graph result_;
  std::map<int, int> numbers_;
  std::map<int, std::string> names_;
};

std::string text_of(const ir::torch::Graph& graph) {
  const ir::tensor::Graph composed = compose(decompose(graph));
  return print(Renamed(composed).graph());
}

TEST(SameGraph, TextAndExportOfAModuleGiveTheSameTensorIr) {
  const std::filesystem::path folder = DEPLO_SOURCE_DIR "/tests/data/torch_modules";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pt2") continue;
    SCOPED_TRACE(entry.path().stem());
    ++count;
    try {
      const std::filesystem::path file = std::filesystem::path(entry.path()).replace_extension(".py");
      const std::string text = read_file(file) + "\nModel(*get_init_inputs())(*get_inputs())\n";
      EXPECT_EQ(text_of(ir::torch::parse_expression(text, file.filename().string())),
                text_of(ir::torch::read_pt2(entry.path())));
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace deplo::rules
