// Values computed by hand or taken from tables, at infinities, NaN, ties and other corners. torch_values_test.cpp
// checks that every operation has values that PyTorch computed.
#include "ir/torch/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/torch/torch_case.h"

namespace deplo::ir::torch::torch_evaluate_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  std::string_view op;
  std::vector<Given> given;
  Attributes attributes;
  Values expected;
};

Given row(Values values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {f32({n}), std::move(values)};
}
Given whole_row(Values values) {
  Given given = row(std::move(values));
  given.type.dtype = DType::i32;
  return given;
}
Given truth_row(Values values) {
  Given given = row(std::move(values));
  given.type.dtype = DType::boolean;
  return given;
}
Given matrix(std::int64_t rows, Values values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {f32({rows, n / rows}), std::move(values)};
}
const Given six = matrix(2, {1, 2, 3, 4, 5, 6});

const std::vector<Case> elementwise = {
    {"abs", {row({-2, 0, 3, -inf})}, {}, {2, 0, 3, inf}},
    {"neg", {row({-2, 0.5})}, {}, {2, -0.5}},
    {"exp", {row({0, 1, -inf, 1000})}, {}, {1, 2.718281828459045, 0, inf}},
    {"log", {row({1, 2, 0, -1})}, {}, {0, 0.6931471805599453, -inf, nan}},
    {"sqrt", {row({4, 2, -1})}, {}, {2, 1.4142135623730951, nan}},
    {"rsqrt", {row({4, 0})}, {}, {0.5, inf}},
    {"reciprocal", {row({4, 0, -0.5})}, {}, {0.25, inf, -2}},
    {"tanh", {row({0, 0.5, 100, -inf})}, {}, {0, 0.46211715726000973, 1, -1}},
    {"sigmoid", {row({0, 1, 100, -100, -1000})}, {}, {0.5, 0.7310585786300049, 1, 0, 0}},
    {"silu", {row({0, 1, -100, 100})}, {}, {0, 0.7310585786300049, 0, 100}},
    {"gelu", {row({1, -1, -3, 0})}, {}, {0.8413447460685429, -0.15865525393145707, -0.00404969409489029, 0}},
    {"gelu",
     {row({1, -1, 3})},
     {{"approximate", std::string("tanh")}},
     {0.8411919906082768, -0.15880800939172324, 2.996362607918227}},
    {"relu", {row({-1, 2, -inf, nan})}, {}, {0, 2, 0, nan}},
    {"erf", {row({0.5, -2, 0})}, {}, {0.5204998778130465, -0.9953222650189527, 0}},
    {"sin", {row({0, 1})}, {}, {0, 0.8414709848078965}},
    {"cos", {row({0, 1})}, {}, {1, 0.5403023058681398}},
    {"logical_not", {row({0, 2, -0.5})}, {}, {1, 0, 0}},
    {"add", {matrix(2, {1, 2}), row({10, 20, 30})}, {}, {11, 21, 31, 12, 22, 32}},
    {"add", {truth_row({0, 0, 1}), truth_row({0, 1, 1})}, {}, {0, 1, 1}},
    {"sub", {row({1, 2}), row({3, 5})}, {}, {-2, -3}},
    {"mul", {row({1, 2}), row({3, -5})}, {}, {3, -10}},
    {"div", {whole_row({7, -1, 0}), whole_row({2, 0, 4})}, {}, {3.5, -inf, 0}},
    {"pow", {row({-2, -2, 2, 0}), row({3, 0.5, -1, 0})}, {}, {-8, nan, 0.5, 1}},
    {"pow", {whole_row({2, -3, 2}), whole_row({10, 3, -1})}, {}, {1024, -27, 0}},
    {"maximum", {row({1, -inf, nan, 1}), row({2, -5, 1, nan})}, {}, {2, -5, nan, nan}},
    {"minimum", {row({1, -inf, nan, 1}), row({2, -5, 1, nan})}, {}, {1, -inf, nan, nan}},
    {"eq", {row({1, 2, nan}), row({1, 3, nan})}, {}, {1, 0, 0}},
    {"ne", {row({1, 2, nan}), row({1, 3, nan})}, {}, {0, 1, 1}},
    {"lt", {row({1, 2, 3}), row({2, 2, 2})}, {}, {1, 0, 0}},
    {"le", {row({1, 2, 3}), row({2, 2, 2})}, {}, {1, 1, 0}},
    {"gt", {row({1, 2, 3}), row({2, 2, 2})}, {}, {0, 0, 1}},
    {"ge", {row({1, 2, 3}), row({2, 2, 2})}, {}, {0, 1, 1}},
    {"logical_and", {row({0, 0, 2, 2}), row({0, 3, 0, 3})}, {}, {0, 0, 0, 1}},
    {"logical_or", {row({0, 0, 2, 2}), row({0, 3, 0, 3})}, {}, {0, 1, 1, 1}},
    {"where", {{boolean({2, 1}), {1, 0}}, row({1, 2}), {f32({}), {9}}}, {}, {1, 2, 9, 9}},
    {"masked_fill", {row({1, 2}), {boolean({2, 1}), {1, 0}}, {f32({}), {-inf}}}, {}, {-inf, -inf, 1, 2}},
};

const std::vector<Case> reductions = {
    {"sum", {six}, {}, {21}},
    {"sum", {six}, dims({0}), {5, 7, 9}},
    {"sum", {six}, dims({-1}, true), {6, 15}},
    {"sum", {truth_row({1, 1, 0, 1})}, {}, {3}},
    {"mean", {six}, dims({1}), {2, 5}},
    {"mean", {six}, dims({0, 1}, true), {3.5}},
    {"prod", {six}, dims({1}), {6, 120}},
    {"amax", {matrix(2, {-1, -2, -inf, -inf, nan, 5})}, dims({1}), {-1, nan}},
    {"amax", {row({-inf, -inf})}, {}, {-inf}},
    {"amin", {six}, dims({0}), {1, 2, 3}},
    {"var", {row({1, 2, 3, 4})}, {}, {5.0 / 3}},
    {"var", {row({1, 2, 3, 4})}, {{"correction", whole(0)}}, {1.25}},
    {"var", {matrix(2, {1, 3, 10, 10})}, dims({1}), {2, 0}},
    {"var", {row({7})}, {}, {nan}},
    {"softmax", {row({1, 2, 3})}, dim(0), {0.09003057317038046, 0.24472847105479767, 0.6652409557748219}},
    {"softmax", {matrix(2, {1000, -1000, 1000, 0})}, dim(0), {0.5, 0, 0.5, 1}},
    {"softmax", {row({-inf, 0})}, dim(0), {0, 1}},
    {"softmax", {row({-inf, -inf})}, dim(0), {nan, nan}},
    {"log_softmax", {row({1, 2, 3})}, dim(0), {-2.4076059644443806, -1.4076059644443804, -0.4076059644443803}},
    {"log_softmax", {row({0, -2000})}, dim(0), {0, -2000}},
    // The first row has mean 2 and variance 1, the second row mean 10 and variance 4.
    {"layer_norm",
     {matrix(2, {1, 3, 8, 12}), row({2, 3}), row({10, 20})},
     {{"dims", whole(1)}, {"eps", 0.0}},
     {8, 23, 8, 23}},
    {"layer_norm", {row({5, 5})}, {{"dims", whole(1)}}, {0, 0}},
    // The mean square of each row is 25 / 2. The mean square of both rows together is 50 / 4.
    {"rms_norm",
     {matrix(2, {3, 4, 0, 5}), row({1, 2})},
     {{"dims", whole(1)}, {"eps", 0.0}},
     {0.848528137423857, 2.262741699796952, 0, 2.8284271247461903}},
    {"rms_norm", {matrix(2, {3, 4, 0, 5})}, {{"dims", whole(2)}, {"eps", 3.5}}, {0.75, 1, 0, 1.25}},
};

const std::vector<Case> products = {
    {"matmul", {six, matrix(3, {1, 0, 0, 1, 2, 2})}, {}, {7, 8, 16, 17}},
    {"matmul", {row({1, 2}), row({3, 4})}, {}, {11}},
    {"matmul", {row({1, 10}), six}, {}, {41, 52, 63}},
    {"matmul", {six, row({1, 10, 100})}, {}, {321, 654}},
    {"matmul", {{f32({2, 1, 1, 2}), {1, 2, 3, 4}}, {f32({2, 2, 1}), {1, 1, 10, 0}}}, {}, {3, 10, 7, 30}},
    {"linear", {six, matrix(2, {1, 0, 0, 1, 1, 1}), row({100, 200})}, {}, {101, 206, 104, 215}},
    {"linear", {row({1, 2}), matrix(3, {1, 0, 0, 1, 1, 1})}, {}, {1, 2, 3}},
};

const std::vector<Case> shapes = {
    {"transpose", {six}, {{"dim0", whole(0)}, {"dim1", whole(1)}}, {1, 4, 2, 5, 3, 6}},
    {"permute", {{f32({1, 2, 3}), six.values}}, {{"dims", List{2, 0, 1}}}, {1, 4, 2, 5, 3, 6}},
    {"reshape", {six}, shape({3, -1}), six.values},
    {"unsqueeze", {six}, dim(1), six.values},
    {"squeeze", {{f32({2, 1, 3}), six.values}}, {}, six.values},
    {"expand", {matrix(2, {1, 2})}, shape({2, 2, 3}), {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}},
    {"slice", {six}, {{"dim", whole(1)}, {"start", whole(-2)}}, {2, 3, 5, 6}},
    {"slice", {row({0, 1, 2, 3, 4, 5})}, {{"dim", whole(0)}, {"start", whole(1)}, {"step", whole(2)}}, {1, 3, 5}},
    {"select", {six}, {{"dim", whole(1)}, {"index", whole(-1)}}, {3, 6}},
    {"select", {six}, {{"dim", whole(0)}, {"index", whole(1)}}, {4, 5, 6}},
    {"cat", {six, matrix(2, {7, 8})}, dim(1), {1, 2, 3, 7, 4, 5, 6, 8}},
    {"cat", {row({1}), row({2, 3}), row({4})}, {}, {1, 2, 3, 4}},
    {"stack", {row({1, 2}), row({3, 4}), row({5, 6})}, dim(1), {1, 3, 5, 2, 4, 6}},
    {"stack", {row({1, 2}), row({3, 4})}, {}, {1, 2, 3, 4}},
    {"triu", {six}, {}, {1, 2, 3, 0, 5, 6}},
    {"triu", {six}, {{"diagonal", whole(1)}}, {0, 2, 3, 0, 0, 6}},
    {"triu", {six}, {{"diagonal", whole(-1)}}, {1, 2, 3, 4, 5, 6}},
    {"tril", {six}, {}, {1, 0, 0, 4, 5, 0}},
    {"tril", {six}, {{"diagonal", whole(1)}}, {1, 2, 0, 4, 5, 6}},
    {"tril", {{f32({2, 2, 2}), {1, 2, 3, 4, 5, 6, 7, 8}}}, {{"diagonal", whole(-1)}}, {0, 0, 3, 0, 0, 0, 7, 0}},
    {"embedding", {matrix(3, {1, 2, 3, 4, 5, 6}), whole_row({2, 0, 2})}, {}, {5, 6, 1, 2, 5, 6}},
    {"gather", {six, {i32({2, 2}), {2, 0, 1, 1}}}, dim(1), {3, 1, 5, 5}},
    {"gather", {six, {i32({1, 2}), {1, 0}}}, dim(0), {4, 2}},
    {"index_select", {six, {i32({2, 1}), {2, 0}}}, dim(1), {3, 1, 6, 4}},
    {"one_hot", {whole_row({2, 0})}, {{"num_classes", whole(3)}}, {0, 0, 1, 1, 0, 0}},
    {"scatter", {row({1, 2, 3}), whole_row({2, 0, 2}), row({7, 8, 9})}, dim(0), {8, 2, 9}},  // the last value wins
    {"scatter_add", {row({1, 2, 3}), whole_row({2, 0, 2}), row({7, 8, 9})}, dim(0), {9, 2, 19}},
    {"whole_quotient",
     {whole_row({7, -7, 5, -2147483648}), whole_row({-2, 2, 0, -1})},
     {},
     {-3, -3, 5, -2147483648}},  // 5 / 0 has some result
    {"argsort", {row({2, nan, inf, 2, -inf, nan})}, {}, {4, 0, 3, 2, 1, 5}},
    {"argsort", {row({2, nan, inf, 2, -inf, nan})}, {{"descending", true}}, {1, 5, 2, 0, 3, 4}},
    {"argsort", {row({2, nan, inf, 2, -inf, nan})}, {{"count", whole(3)}}, {4, 0, 3}},
    {"argsort", {six}, {{"dim", whole(0)}, {"descending", true}, {"count", whole(1)}}, {1, 1, 1}},
    {"argsort", {six}, {{"dim", whole(0)}, {"descending", true}}, {1, 1, 1, 0, 0, 0}},
    {"searchsorted", {row({1, 2, 2, nan}), row({2, 3, nan, -inf})}, {}, {1, 3, 3, 0}},
    {"searchsorted", {row({1, 2, 2, nan}), row({2, 3, nan, -inf})}, {{"right", true}}, {3, 3, 4, 0}},
    {"searchsorted", {six, six}, {}, {0, 1, 2, 0, 1, 2}},
    {"cumsum", {six}, dim(0), {1, 2, 3, 5, 7, 9}},
    {"cumsum", {six}, dim(-1), {1, 3, 6, 4, 9, 15}},
    {"arange", {}, {{"start", whole(7)}, {"end", whole(0)}, {"step", whole(-3)}}, {7, 4, 1}},
    {"arange", {}, {{"end", whole(3)}}, {0, 1, 2}},
    {"full", {}, {{"shape", List{2}}, {"value", -inf}}, {-inf, -inf}},
    {"full", {}, {{"shape", List{2}}, {"value", 2.5}, {"dtype", DType::i32}}, {2, 2}},
};

// One head, E = 1, scale 1. Row 1 of the scores is (0, ln 3), so its weights are 1/4 and 3/4.
const double ln3 = 1.0986122886681098;
const Given query = {f32({2, 1}), {0, 1}}, key = {f32({2, 1}), {0, ln3}}, value = {f32({2, 1}), {1, 5}};
const std::string_view sdpa = "scaled_dot_product_attention";
// Four heads of one query share two heads of one key. With a single key, the result is its value.
const Given four_heads = {f32({1, 4, 1, 2}), {1, 2, 3, 4, 5, 6, 7, 8}};
const Given two_heads = {f32({1, 2, 1, 2}), {10, 20, 30, 40}};

const std::vector<Case> attentions = {
    {sdpa, {query, key, value}, {}, {3, 4}},
    {sdpa, {query, key, value}, {{"is_causal", true}}, {1, 4}},
    {sdpa, {query, key, value}, {{"scale", 2.0}}, {3, 4.6}},  // scores (0, 2 ln 3): weights 1/10 and 9/10
    {sdpa, {query, key, value, {boolean({2, 2}), {0, 1, 1, 0}}}, {}, {5, 1}},
    {sdpa, {query, key, value, {f32({2}), {ln3, 0}}}, {}, {2, 3}},
    {sdpa, {query, key, value, {f32({2, 1}), {-inf, 7}}}, {}, {0, 4}},  // a query that sees no key gives 0
    {sdpa, {{f32({1, 1}), {3}}, {f32({1, 1}), {4}}, {f32({1, 2}), {8, 9}}}, {{"is_causal", true}}, {8, 9}},
    // There are fewer queries than keys. The first query still sees only the first key.
    {sdpa, {{f32({1, 1}), {1}}, key, value}, {{"is_causal", true}}, {1}},
    {sdpa, {four_heads, two_heads, two_heads}, {{"enable_gqa", true}}, {10, 20, 10, 20, 30, 40, 30, 40}},
    // There are two heads of q, and one of k and v. The mask is per head.
    {sdpa,
     {{f32({2, 1, 1}), {0, 0}},
      {f32({1, 2, 1}), {0, ln3}},
      {f32({1, 2, 1}), {1, 5}},
      {boolean({2, 1, 2}), {1, 0, 1, 1}}},
     {{"enable_gqa", true}},
     {1, 3}},
    {sdpa,  // the default scale is 1 / sqrt(4)
     {{f32({1, 4}), {1, 1, 1, 1}}, {f32({2, 4}), {0, 0, 0, 0, 0.5 * ln3, 0.5 * ln3, 0.5 * ln3, 0.5 * ln3}}, value},
     {},
     {4}},
};

// f16 has 11 significant bits, normal numbers from 2^-14, and at most 65504. bf16 has 8 bits, 2^-126 and 0x1.FEp127.
const std::vector<Case> conversions = {
    {"to",
     {row({1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1.8p-11, 65519, 65520, -1e9, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1.FFp-15})},
     {{"dtype", DType::f16}},
     {1, 1 + 0x1p-9, 1 + 0x1p-10, 65504, inf, -inf, 0x1p-24, 0, 0x1p-24, 0x1.FFp-15}},
    {"to",
     {row({1 + 0x1p-8, 1 + 0x3p-8, 3.14159, 0x1.FEFFFFp127, 0x1.FFp127, inf, nan, 0x1p-133, 0x1p-134})},
     {{"dtype", DType::bf16}},
     {1, 1 + 0x1p-6, 3.140625, 0x1.FEp127, inf, inf, nan, 0x1p-133, 0}},
    {"to", {row({1.9, -1.9, 0.5, nan})}, {{"dtype", DType::i32}}, {1, -1, 0, -0x1p31}},
    {"to", {row({1.9, 0, -0.5, nan})}, {{"dtype", DType::boolean}}, {1, 0, 1, 1}},
    {"to", {whole_row({16777217, 3})}, {{"dtype", DType::f32}}, {16777216, 3}},
    {"to", {row({0.1})}, {{"dtype", DType::f32}}, {0.1}},
};

void check(const Case& c) {
  const Values found = evaluated(c.op, c.given, c.attributes);
  ASSERT_EQ(found.size(), c.expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(c.expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
    else if (std::isinf(c.expected[i]) || c.expected[i] == 0)
      EXPECT_EQ(found[i], c.expected[i]) << "element " << i;
    else
      EXPECT_NEAR(found[i] / c.expected[i], 1, 4e-15) << "element " << i << " is " << found[i];
  }
}

TEST(TorchEvaluate, OperationsGiveTheKnownValues) {
  for (const auto* group : {&elementwise, &reductions, &products, &shapes, &attentions, &conversions})
    for (std::size_t i = 0; i < group->size(); ++i) {
      SCOPED_TRACE(std::string((*group)[i].op) + ", case " + std::to_string(i));
      check((*group)[i]);
    }
}

TEST(TorchEvaluate, NamesAnIndexThatIsOutOfRange) {
  const auto message = [](std::string_view op, const std::vector<Given>& given, const Attributes& attributes) {
    try {
      evaluated(op, given, attributes);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("embedding", {six, whole_row({0, 2})}, {}),
            "embedding (embedding): expected an index from 0 to 1, found 2");
  EXPECT_EQ(message("embedding", {six, whole_row({nan})}, {}),
            "embedding (embedding): expected an index from 0 to 1, found nan");
  EXPECT_EQ(message("gather", {six, {i32({1, 1}), {-1}}}, dim(1)),
            "gather (gather): expected an index from 0 to 2, found -1");
  EXPECT_EQ(message("index_select", {six, whole_row({3})}, dim(1)),
            "index_select (index_select): expected an index from 0 to 2, found 3");
  EXPECT_EQ(message("index_select", {six, whole_row({-4})}, {{"dim", std::int64_t{1}}, {"wraps", true}}),
            "index_select (index_select): expected an index from -3 to 2, found -4");
  EXPECT_EQ(message("index_select", {six, whole_row({-1})}, dim(1)),
            "index_select (index_select): expected an index from 0 to 2, found -1");
  EXPECT_EQ(message("one_hot", {whole_row({-1})}, {{"num_classes", whole(4)}}),
            "one_hot (one_hot): expected an index from 0 to 3, found -1");
  EXPECT_EQ(message("scatter_add", {row({1, 2}), whole_row({2}), row({5})}, dim(0)),
            "scatter_add (scatter_add): expected an index from 0 to 1, found 2");
}

TEST(TorchEvaluate, RunsAGraphWithScalarsAndSeveralOutputs) {
  Builder b;
  const Id unused = b.input("unused", f32({1})), x = b.input("x", f32({2})), w = b.parameter("w", f32({2}));
  const Id doubled = b.call("mul", {x, b.scalar(2, DType::f32)});
  const Id sum = b.call("add", {b.call("mul", {doubled, w}), doubled});
  const Graph graph = b.finish({sum, w, doubled, sum});
  std::vector<Values> sources(graph.nodes.size());
  sources[static_cast<std::size_t>(unused)] = {0};
  sources[1] = {3, 4};
  sources[2] = {10, 100};
  EXPECT_EQ(evaluate(graph, sources), (std::vector<Values>{{66, 808}, {10, 100}, {6, 8}, {66, 808}}));
}

// Eigen's blocked product, compared with the definition. The sizes are not multiples of any block, and threads share
// the work.
TEST(TorchEvaluate, MultipliesLargeMatricesAsSmallOnes) {
  const std::int64_t m = 301, k = 400, n = 307;  // large enough for two threads
  const auto at = [](std::int64_t i, std::int64_t j) { return static_cast<double>((i * 7 + j * 13) % 19 - 9); };
  Values a, b, transposed, expected;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) a.push_back(at(i, j));
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) b.push_back(at(j, i));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < k; ++i) transposed.push_back(at(j, i));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (std::int64_t l = 0; l < k; ++l) total += at(i, l) * at(j, l);
      expected.push_back(total);
    }
  EXPECT_EQ(evaluated("matmul", {{f32({m, k}), a}, {f32({k, n}), b}}), expected);
  EXPECT_EQ(evaluated("linear", {{f32({m, k}), a}, {f32({n, k}), transposed}}), expected);
}

}  // namespace
}  // namespace deplo::ir::torch::torch_evaluate_test
