// Random expressions over special numbers (zeros of either sign, subnormals, infinities, NaN, the greatest and the
// least number of each type) and adversarial shapes. PyTorch computed the expected values in the same types
// (tests/data/special_values/write.py). The check must accept PyTorch's values, and kernels must be right.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/run/run.h"
#include "apps/run/subject.h"
#include "core/error.h"
#include "core/file.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"
#include "measure/check/npy.h"
#include "measure/check/verdict.h"
#include "torch_values.h"

namespace deplo::apps {
namespace {

using nlohmann::json;

struct SpecialCase {
  std::string code;
  ir::DType dtype;  // type of the inputs
  std::map<std::string, tests::TensorValues> inputs;
  tests::TensorValues output;
  ir::DType floats() const { return dtype == ir::DType::i32 ? ir::DType::f32 : dtype; }
};

double parse_number(const json& j) {
  return j.is_string() ? std::strtod(j.get<std::string>().c_str(), nullptr) : j.get<double>();
}

tests::TensorValues parse_tensor(const json& j) {
  tests::TensorValues tensor;
  tensor.shape = j.at("shape").get<ir::Shape>();
  for (const json& value : j.at("values")) tensor.values.push_back(parse_number(value));
  return tensor;
}

/// Draws an input's values as values() of write.py does.
tests::TensorValues draw_input(const json& input, const json& palettes) {
  tests::TensorValues tensor;
  tensor.shape = input.at("shape").get<ir::Shape>();
  const json& palette = palettes.at(input.at("palette").get<std::string>());
  auto state = input.at("seed").get<std::uint64_t>();
  for (std::int64_t i = ir::element_count(tensor.shape); i > 0; --i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    tensor.values.push_back(parse_number(palette.at((state >> 33) % palette.size())));
  }
  return tensor;
}

const std::vector<SpecialCase>& special_cases() {
  static const std::vector<SpecialCase> cases = [] {
    std::vector<SpecialCase> all;
    const std::filesystem::path folder = std::filesystem::path(DEPLO_SOURCE_DIR) / "tests/data/special_values";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".json") continue;
      const json j = json::parse(read_file(file.path()));
      fmt::print("{}: seed {}\n", file.path().filename().string(), j.at("seed").get<std::uint64_t>());
      for (const json& one : j.at("cases")) {
        SpecialCase& c = all.emplace_back();
        c.code = one.at("code").get<std::string>();
        c.dtype = ir::parse_dtype(one.at("dtype").get<std::string>()).value();
        for (const auto& [name, input] : one.at("inputs").items()) c.inputs[name] = draw_input(input, j.at("palettes"));
        c.output = parse_tensor(one.at("output"));
      }
    }
    return all;
  }();
  return cases;
}

std::string describe(const SpecialCase& c) {
  std::string text = fmt::format("{} ({})", c.code, name(c.dtype));
  for (const auto& [name, input] : c.inputs)
    text += fmt::format("\n{}: {:.9g}", name,
                        fmt::join(input.values.begin(),
                                  input.values.begin() + std::min<std::ptrdiff_t>(std::ssize(input.values), 40), " "));
  return text;
}

void write_npy(const std::string& file, const tests::TensorValues& tensor, ir::DType dtype) {
  ir::Numbers numbers(dtype, tensor.values.size());
  for (std::size_t i = 0; i < tensor.values.size(); ++i) numbers.set(i, tensor.values[i]);
  std::ofstream(file, std::ios::binary) << measure::npy_bytes(numbers, {dtype, tensor.shape});
}

class SpecialValues : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RunReport run_on(const std::string& device, const SpecialCase& c) const {
    RunOptions options;
    options.source = {engine::Expression{c.code, "-c"}, {.dtype = c.floats()}};
    options.device = device;
    for (const auto& [name, input] : c.inputs) {
      const std::string file = (folder_ / (name + ".npy")).string();
      write_npy(file, input, c.dtype == ir::DType::i32 ? c.dtype : ir::DType::f32);
      options.inputs.by_name[name] = {{}, name, file};
    }
    Progress quiet(stderr, true);
    return run(options, quiet);
  }

  void expect_right(const std::string& device, const SpecialCase& c) const {
    try {
      for (const OutputCheck& check : run_on(device, c).outputs)
        EXPECT_TRUE(check.right) << device << ": " << check.worst << ", error " << check.error << "\n" << describe(c);
    } catch (const Error& error) {
      ADD_FAILURE() << device << ": " << error.what() << "\n" << describe(c);
    }
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("deplo_special_{}", getpid());
};

std::int64_t elements(const SpecialCase& c) {
  std::int64_t count = 0;
  for (const auto& [name, input] : c.inputs) count += ir::element_count(input.shape);
  return count;
}

TEST_F(SpecialValues, WhatPyTorchGivesIsRight) {
  ASSERT_GE(special_cases().size(), 300U);
  for (const SpecialCase& c : special_cases()) {
    const ir::torch::Graph graph = ir::torch::parse_expression(c.code, "-c", c.floats());
    const auto sources = tests::sources(graph, c.inputs);
    const auto reference = evaluate(graph, sources);
    const auto rounding = rounding_of(graph, sources, reference);
    const ir::torch::Node& node = graph.nodes[static_cast<std::size_t>(graph.outputs.at(0))];
    ASSERT_EQ(node.type.shape, c.output.shape) << describe(c);
    const auto at = [&](std::size_t i) { return measure::Expected{reference[0][i], rounding[0][i]}; };
    measure::Scale scale;
    for (std::size_t i = 0; i < reference[0].size(); ++i) scale.add(at(i), node.type.dtype);
    for (std::size_t i = 0; i < reference[0].size(); ++i)
      EXPECT_LE(measure::error_of(c.output.values[i], at(i), scale.value(), node.type.dtype),
                measure::default_tolerance)
          << "[" << i << "]: PyTorch " << c.output.values[i] << ", expected " << reference[0][i] << " ± "
          << rounding[0][i] << "\n"
          << describe(c);
  }
}

TEST_F(SpecialValues, TheInterpreterIsRight) {
  for (const SpecialCase& c : special_cases())
    if (elements(c) < 5000) expect_right("interpreter", c);
}

// Building a kernel takes half a second, so only cases with many elements and every eighth case run.
class SpecialKernels : public SpecialValues, public ::testing::WithParamInterface<std::size_t> {};
TEST_P(SpecialKernels, AreRight) {
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < special_cases().size(); ++i)
    if (const SpecialCase& c = special_cases()[i]; elements(c) >= 5000 || i % 8 == 0)
      if (drawn++ % 2 == GetParam()) expect_right("opencl", c);
}
INSTANTIATE_TEST_SUITE_P(Halves, SpecialKernels, ::testing::Values(0U, 1U));

}  // namespace
}  // namespace deplo::apps
