// The calls with which decompositions are checked. They cover the extents 1, 7 and 33, every dtype and every attribute.
#include <cmath>

#include "rules/decompose/decompose_case.h"

namespace deplo::testing {
namespace {

using ir::DType;
using ir::Shape;
using List = std::vector<std::int64_t>;

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  for (const char* op : {"neg", "exp", "tanh", "sigmoid", "silu", "relu", "erf", "sin", "cos", "abs", "gelu"})
    cases.insert(cases.end(), {{op, {f32({7, 33})}}, {op, {f32({1})}}, {op, {f32({})}}, {op, {f16({1, 7})}}});
  for (const char* op : {"log", "sqrt", "rsqrt", "reciprocal"})
    cases.insert(cases.end(), {{op, {f32({7, 1, 33}, 0.25, 4)}}, {op, {i32({7}, 1, 9)}}, {op, {number(2)}}});
  for (const char* op : {"exp", "tanh", "sin", "cos", "erf", "sigmoid"})
    cases.insert(cases.end(), {{op, {i32({7})}}, {op, {boolean({7})}}});
  for (const char* op : {"neg", "relu", "abs"}) cases.push_back({op, {i32({7})}});
  cases.push_back({"gelu", {f32({7, 33})}, {{"approximate", std::string("tanh")}}});
  for (const Arg& x : {f32({7}), i32({7}), boolean({7}), number(0)}) cases.push_back({"logical_not", {x}});
  return cases;
}

std::vector<Case> binary_cases() {
  std::vector<std::pair<Arg, Arg>> operands = {{f32({7, 33}), f32({7, 33})}, {f32({7, 1}), f32({33})},
                                               {f32({33}), f32({1, 7, 1})},  {f32({}), f32({7})},
                                               {f32({7}), number(0.5)},      {number(0.5), f32({7})},
                                               {integer(2), f32({7})},       {f16({7}), f32({7})},
                                               {f16({7}), bf16({1})},        {f16({7}), number(1)},
                                               {i32({33}), i32({33})},       {i32({33}), integer(1)},
                                               {i32({33}), number(0.5)},     {i32({33}), f32({33})},
                                               {i32({33}), f32({})},         {boolean({33}), boolean({33})},
                                               {boolean({33}), i32({33})},   {boolean({33}), f32({33})},
                                               {number(2), integer(3)}};
  std::vector<Case> cases;
  for (const char* op : {"add", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"}) {
    for (const auto& [a, b] : operands) cases.push_back({op, {a, b}});
  }
  return cases;
}

std::vector<Case> more_binary_cases() {
  std::vector<Case> cases;
  for (const Arg& b : {f32({33}, 0.5, 2), f32({7, 1}, 0.5, 2), number(4)}) cases.push_back({"div", {f32({7, 33}), b}});
  cases.insert(cases.end(), {{"div", {number(1), f32({7}, 0.5, 2)}},
                             {"div", {i32({7}), i32({7}, 1, 9)}},
                             {"div", {boolean({7}), integer(3)}},
                             {"sub", {f32({7, 1}), f32({33})}},
                             {"sub", {number(1), f32({7})}}});
  for (const char* op : {"logical_and", "logical_or"})
    cases.insert(cases.end(), {{op, {boolean({7, 1}), boolean({33})}},
                               {op, {f32({7}), i32({7}, -1, 1)}},
                               {op, {i32({7}, -1, 1), integer(0)}}});
  return cases;
}

std::vector<Case> power_cases() {
  std::vector<Case> cases;
  for (const double n : {-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0})
    cases.push_back({"pow", {f32({7, 33}, 0.25, 2), number(n)}});
  for (const std::int64_t n : {0, 1, 2, 3, 4})
    cases.insert(cases.end(), {{"pow", {f32({7}), integer(n)}}, {"pow", {i32({7}), integer(n)}}});
  cases.insert(cases.end(), {{"pow", {number(2), f32({7})}},
                             {"pow", {f32({7, 1}, 0.25, 2), f32({33})}},
                             {"pow", {i32({7}, 0, 3), i32({7}, 0, 3)}},
                             {"pow", {i32({7}, 1, 5), number(0.5)}},
                             {"pow", {boolean({7}), integer(2)}}});
  return cases;
}

std::vector<Case> choice_cases() {
  return {{"where", {boolean({7, 33}), f32({7, 33}), f32({7, 33})}},
          {"where", {boolean({7, 1}), f32({33}), number(0)}},
          {"where", {boolean({7}), number(1), number(-1)}},
          {"where", {boolean({7}), i32({7}), f32({7})}},
          {"where", {boolean({7}), integer(1), f32({})}},
          {"where", {boolean({}), f32({7}), f32({7})}},
          {"masked_fill", {f32({7, 33}), boolean({33}), number(-INFINITY)}},
          {"masked_fill", {f32({7, 1}), boolean({1, 33}), f32({})}},
          {"masked_fill", {i32({7}), boolean({7}), integer(-1)}},
          {"masked_fill", {f32({7}), boolean({}), integer(3)}},
          {"to", {f32({7, 33}, -3, 3)}, {{"dtype", DType::i32}}},
          {"to", {f32({7, 33}, -3, 3)}, {{"dtype", DType::f16}}},
          {"to", {f32({7, 33}, -3, 3)}, {{"dtype", DType::bf16}}},
          {"to", {f32({7})}, {{"dtype", DType::f32}}},
          {"to", {i32({33}, -2, 2)}, {{"dtype", DType::boolean}}},
          {"to", {boolean({33})}, {{"dtype", DType::f32}}},
          {"to", {number(2.75)}, {{"dtype", DType::i32}}},
          {"full", {}, {{"shape", Shape{7, 33}}, {"value", 2.5}}},
          {"full", {}, {{"shape", Shape{}}, {"value", std::int64_t{3}}}},
          {"full", {}, {{"shape", Shape{7}}, {"value", 2.5}, {"dtype", DType::i32}}},
          {"full", {}, {{"shape", Shape{1}}, {"value", true}}}};
}

std::vector<Case> reduction_cases() {
  std::vector<Case> cases;
  for (const char* op : {"sum", "mean", "amax", "amin", "prod", "var"}) {
    for (const bool keepdim : {false, true}) {
      const ir::torch::Attribute keep = keepdim;
      cases.insert(cases.end(), {{op, {f32({7, 33})}, {{"dims", List{1}}, {"keepdim", keep}}},
                                 {op, {f32({7, 33})}, {{"dims", List{0}}, {"keepdim", keep}}},
                                 {op, {f32({3, 7, 5})}, {{"dims", List{0, 2}}, {"keepdim", keep}}},
                                 {op, {f32({3, 1, 5})}, {{"dims", List{-1, 1}}, {"keepdim", keep}}},
                                 {op, {f32({3, 7})}, {{"keepdim", keep}}},
                                 {op, {f32({})}, {{"keepdim", keep}}}});
    }
    cases.push_back({op, {f16({7, 3})}, {{"dims", List{0}}}});
  }
  for (const char* op : {"sum", "prod", "amax", "amin"})
    cases.insert(cases.end(),
                 {{op, {i32({7, 3}, -2, 3)}, {{"dims", List{0}}}}, {op, {boolean({7, 3})}, {{"dims", List{1}}}}});
  for (const std::int64_t correction : {0, 1, 2, 7, 9})
    cases.push_back({"var", {f32({7, 3})}, {{"dims", List{0}}, {"correction", correction}}});
  return cases;
}

std::vector<Case> normalisation_cases() {
  std::vector<Case> cases;
  for (const char* op : {"softmax", "log_softmax"})
    for (const std::int64_t dim : {0, 1, -1})
      cases.insert(cases.end(), {{op, {f32({7, 33})}, {{"dim", dim}}}, {op, {f32({1, 7, 5}, 80, 90)}, {{"dim", dim}}}});
  const ir::torch::Attribute one = std::int64_t{1}, two = std::int64_t{2};
  cases.insert(cases.end(), {{"rms_norm", {f32({7, 33})}, {{"dims", one}}},
                             {"rms_norm", {f32({1, 7, 33}), f32({33})}, {{"dims", one}, {"eps", 1e-6}}},
                             {"rms_norm", {f32({3, 7, 5}), f32({7, 5})}, {{"dims", two}, {"eps", 0.1}}},
                             {"layer_norm", {f32({7, 33})}, {{"dims", one}}},
                             {"layer_norm", {f32({7, 33}), f32({33})}, {{"dims", one}, {"eps", 0.1}}},
                             {"layer_norm", {f32({3, 7, 5}), f32({7, 5}), f32({7, 5})}, {{"dims", two}}},
                             {"layer_norm", {f32({7, 1})}, {{"dims", one}}}});
  return cases;
}

std::vector<Case> matmul_cases() {
  std::vector<Case> cases;
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{7, 33}, {33, 5}},
                                                                 {{7}, {7}},
                                                                 {{7}, {7, 5}},
                                                                 {{5, 7}, {7}},
                                                                 {{7}, {3, 7, 5}},
                                                                 {{3, 5, 7}, {7}},
                                                                 {{1, 7}, {7, 1}},
                                                                 {{3, 5, 1}, {1, 7}},
                                                                 {{3, 5, 7}, {3, 7, 2}},
                                                                 {{1, 5, 7}, {3, 7, 2}},
                                                                 {{2, 1, 5, 7}, {3, 7, 2}},
                                                                 {{1}, {1}},
                                                                 {{2, 1, 2, 1, 2, 1, 3, 2}, {2, 1, 1, 1, 2, 2, 2, 3}}})
    cases.push_back({"matmul", {f32(a), f32(b)}});
  cases.insert(cases.end(), {{"matmul", {i32({3, 5}), i32({5, 2})}},
                             {"linear", {f32({7, 33}), f32({5, 33})}},
                             {"linear", {f32({33}), f32({5, 33}), f32({5})}},
                             {"linear", {f32({1, 7, 3}), f32({1, 3}), f32({1})}},
                             {"linear", {f32({2, 3, 7, 1}), f32({5, 1}), f32({5})}}});
  return cases;
}

std::vector<Case> attention_cases() {
  const char* op = "scaled_dot_product_attention";
  const ir::torch::Attribute yes = true;
  return {{op, {f32({2, 3, 7, 4}), f32({2, 3, 5, 4}), f32({2, 3, 5, 6})}},
          {op, {f32({7, 4}), f32({5, 4}), f32({5, 6})}},
          {op, {f32({1, 1, 1, 4}), f32({1, 1, 33, 4}), f32({1, 1, 33, 1})}, {{"scale", 0.7}}},
          {op, {f32({2, 3, 7, 4}), f32({2, 3, 7, 4}), f32({2, 3, 7, 4})}, {{"is_causal", yes}}},
          {op, {f32({3, 7, 4}), f32({3, 5, 4}), f32({3, 5, 4})}, {{"is_causal", yes}}},
          {op, {f32({3, 5, 4}), f32({3, 7, 4}), f32({3, 7, 4})}, {{"is_causal", yes}}},
          {op, {f32({1, 6, 7, 4}), f32({1, 2, 7, 4}), f32({1, 2, 7, 4})}, {{"is_causal", yes}, {"enable_gqa", yes}}},
          {op, {f32({2, 4, 7, 4}), f32({2, 1, 3, 4}), f32({2, 1, 3, 5})}, {{"enable_gqa", yes}}},
          {op, {f32({2, 4, 7, 4}), f32({2, 4, 3, 4}), f32({2, 4, 3, 5})}, {{"enable_gqa", yes}}},
          {op, {f32({2, 3, 7, 4}), f32({3, 5, 4}), f32({1, 5, 6})}},
          {op, {f32({2, 3, 7, 4}), f32({2, 3, 5, 4}), f32({2, 3, 5, 6}), f32({7, 5})}},
          {op, {f32({2, 3, 7, 4}), f32({2, 3, 5, 4}), f32({2, 3, 5, 6}), f32({2, 1, 1, 5})}},
          {op, {f32({2, 3, 7, 4}), f32({2, 3, 5, 4}), f32({2, 3, 5, 6}), boolean({3, 7, 5})}}};
}

std::vector<Case> layout_cases() {
  using Int = std::int64_t;
  return {{"transpose", {f32({7, 33})}, {{"dim0", Int{0}}, {"dim1", Int{1}}}},
          {"transpose", {f32({2, 1, 3, 4})}, {{"dim0", Int{1}}, {"dim1", Int{-1}}}},
          {"permute", {f32({2, 3, 1, 5})}, {{"dims", List{3, 0, 2, 1}}}},
          {"reshape", {f32({1, 32, 64})}, {{"shape", Shape{1, 32, 4, 16}}}},
          {"reshape", {f32({2, 4, 16})}, {{"shape", Shape{2, -1}}}},
          {"reshape", {f32({6, 4})}, {{"shape", Shape{8, 3}}}},
          {"reshape", {f32({6, 4, 5, 1})}, {{"shape", Shape{1, 3, 8, 1, 5}}}},
          {"reshape", {f32({1, 1})}, {{"shape", Shape{}}}},
          {"reshape", {f32({})}, {{"shape", Shape{1, 1}}}},
          {"reshape", {number(2)}, {{"shape", Shape{1}}}},
          {"unsqueeze", {f32({7, 33})}, {{"dim", Int{-1}}}},
          {"unsqueeze", {f32({})}, {{"dim", Int{0}}}},
          {"squeeze", {f32({1, 7, 1})}, {}},
          {"squeeze", {f32({1, 7, 1})}, {{"dims", List{0}}}},
          {"expand", {f32({7, 1})}, {{"shape", Shape{3, -1, 33}}}},
          {"expand", {f32({7, 3})}, {{"shape", Shape{7, 3}}}},
          {"expand", {f32({})}, {{"shape", Shape{3, 2}}}},
          {"expand", {number(2)}, {{"shape", Shape{3, 2}}}},
          {"slice", {f32({7, 33})}, {{"dim", Int{1}}, {"start", Int{5}}, {"end", Int{-1}}}},
          {"slice", {f32({7, 33})}, {{"dim", Int{1}}, {"start", Int{1}}, {"step", Int{3}}}},
          {"slice", {f32({7, 33})}, {{"dim", Int{0}}, {"start", Int{-1}}}},
          {"slice", {f32({7})}, {{"dim", Int{0}}}},
          {"select", {f32({7, 33})}, {{"dim", Int{0}}, {"index", Int{-1}}}},
          {"select", {f32({7, 1, 3})}, {{"dim", Int{1}}, {"index", Int{0}}}},
          {"select", {f32({7})}, {{"dim", Int{0}}, {"index", Int{3}}}}};
}

std::vector<Case> index_cases() {
  using Int = std::int64_t;
  std::vector<Case> cases{{"cat", {f32({7, 3}), f32({1, 3}), f32({33, 3})}},
                          {"cat", {f32({7, 3}), f32({7, 1})}, {{"dim", Int{-1}}}},
                          {"cat", {f32({7})}},
                          {"cat", {f32({1}), f32({1})}},
                          {"cat", {i32({7}), f32({3}), boolean({2})}},
                          {"stack", {f32({7, 3}), f32({7, 3})}},
                          {"stack", {f32({7, 3}), f32({7, 3}), f32({7, 3})}, {{"dim", Int{-1}}}},
                          {"stack", {f32({}), f32({})}},
                          {"stack", {number(1), number(2)}},
                          {"stack", {i32({7}), f32({7})}, {{"dim", Int{1}}}},
                          {"embedding", {f32({7, 33}), i32({3, 5}, 0, 6)}},
                          {"embedding", {f32({1, 3}), i32({1}, 0, 0)}},
                          {"embedding", {f32({7, 1}), i32({}, 0, 6)}},
                          {"gather", {f32({7, 33}), i32({7, 5}, 0, 32)}, {{"dim", Int{1}}}},
                          {"gather", {f32({7, 33}), i32({2, 30}, 0, 6)}, {{"dim", Int{0}}}},
                          {"gather", {f32({1}), i32({4}, 0, 0)}, {{"dim", Int{0}}}},
                          {"index_select", {f32({7, 33}), i32({3, 5}, 0, 32)}, {{"dim", Int{1}}}},
                          {"index_select", {f32({5, 7, 3}), i32({1}, 0, 6)}, {{"dim", Int{1}}}},
                          {"index_select", {f32({1}), i32({}, 0, 0)}},
                          {"one_hot", {i32({7, 3}, 0, 4)}, {{"num_classes", Int{5}}}},
                          {"one_hot", {i32({1}, 0, 0)}, {{"num_classes", Int{1}}}},
                          {"arange", {}, {{"end", Int{7}}}},
                          {"arange", {}, {{"start", Int{-3}}, {"end", Int{9}}, {"step", Int{5}}}},
                          {"arange", {}, {{"start", Int{5}}, {"end", Int{-1}}, {"step", Int{-1}}}},
                          {"arange", {}, {{"end", Int{1}}, {"dtype", DType::f32}}}};
  for (const char* op : {"scatter", "scatter_add"}) {
    cases.push_back({op, {f32({7, 5}), i32({7, 33}, 0, 4), f32({7, 33})}, {{"dim", Int{1}}}});
    cases.push_back({op, {f32({7, 5}), i32({1, 5}, 0, 6), f32({1, 5})}, {{"dim", Int{0}}}});
    cases.push_back({op, {i32({1}), i32({3}, 0, 0), i32({3})}, {{"dim", Int{0}}}});
  }
  for (const Int length : {1, 2, 7, 64, 65, 97})
    for (const Int d : {0, 1}) {
      const Shape shape = d == 0 ? Shape{length, 3} : Shape{2, length};
      cases.push_back({"cumsum", {f32(shape)}, {{"dim", d}}});
      for (const char* op : {"cumsum", "cummax", "cummin"}) cases.push_back({op, {i32(shape, -3, 9)}, {{"dim", d}}});
      for (const char* op : {"cummax", "cummin"}) cases.push_back({op, {f32(shape)}, {{"dim", d}}});
      for (const bool descending : {false, true}) {
        cases.push_back({"argsort", {f32(shape)}, {{"dim", d}, {"descending", descending}}});
        cases.push_back({"argsort", {i32(shape, 0, 3)}, {{"dim", d}, {"descending", descending}}});
      }
    }
  cases.push_back({"argsort", {f32({20000})}, {}});          // 79 runs; takes seconds, so only once
  for (const Int length : {256, 257, 300, 512, 1009, 5000})  // one run, two runs, full and shorter runs
    for (const bool descending : {false, true}) {
      cases.push_back({"argsort", {f32({2, length})}, {{"descending", descending}}});
      cases.push_back({"argsort", {i32({length, 2}, 0, 9)}, {{"dim", Int{0}}, {"descending", descending}}});
      cases.push_back({"argsort", {i32({length}, 7, 7)}, {{"descending", descending}}});
      for (const Int count : {1, 16, 50, 255})
        cases.push_back({"argsort", {i32({2, length}, 0, 99)}, {{"descending", descending}, {"count", count}}});
    }
  for (const Int length : {300, 1009, 5000})
    for (const char* op : {"cumsum", "cumprod"}) {
      cases.push_back({op, {f32({2, length})}, {{"dim", Int{1}}}});
      cases.push_back({op, {i32({length, 2}, -1, 1)}, {{"dim", Int{0}}}});
    }
  for (const bool right : {false, true}) {
    cases.push_back({"searchsorted", {f32({7}), f32({3, 5})}, {{"right", right}}});
    cases.push_back({"searchsorted", {i32({1}, 0, 3), i32({9}, 0, 3)}, {{"right", right}}});
    cases.push_back({"searchsorted", {i32({2, 3, 1}, 0, 3), i32({2, 3, 5}, 0, 3)}, {{"right", right}}});
    cases.push_back({"searchsorted", {i32({3, 257}, 5, 5), i32({3, 5}, 3, 7)}, {{"right", right}}});
    for (const Int length : {256, 257, 512, 1000, 1023, 1024})  // binary search from 257 on
      cases.push_back({"searchsorted", {i32({length}, 5, 5), i32({3, 5}, 3, 7)}, {{"right", right}}});
  }
  for (const char* op : {"floor_divide", "remainder"})
    for (const Int divisor : {1, 3, 8}) cases.push_back({op, {i32({7, 5}, -20, 20)}, {{"divisor", divisor}}});
  for (const char* op : {"triu", "tril"})
    for (const Int diagonal : {-9, -1, 0, 1, 3, 9})
      cases.insert(cases.end(), {{op, {f32({7, 5})}, {{"diagonal", diagonal}}},
                                 {op, {i32({2, 1, 5})}, {{"diagonal", diagonal}}},
                                 {op, {boolean({5, 1})}, {{"diagonal", diagonal}}}});
  return cases;
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& family :
       {elementwise_cases(), binary_cases(), more_binary_cases(), power_cases(), choice_cases(), reduction_cases(),
        normalisation_cases(), matmul_cases(), attention_cases(), layout_cases(), index_cases()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace deplo::testing
