// Programs that PyTorch exported, compared with the values that it computed; the messages about damaged programs.
#include "ir/torch/pt2/pt2.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/pt2_file.h"
#include "torch_values.h"

namespace deplo::tests {
namespace {

using ir::torch::Graph;
using ir::torch::Node;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::map<std::string, TensorValues> by_name(const Graph& graph, const std::vector<TensorValues>& inputs) {
  std::map<std::string, TensorValues> named;
  std::size_t next = 0;
  for (const Node& node : graph.nodes)
    if (node.kind == Node::Kind::input) named.emplace(node.name, inputs.at(next++));
  return named;
}

const Node& named(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes)
    if (node.name == name) return node;
  throw std::out_of_range(name);
}

// Replaces the first occurrence of `from` in the program's JSON, and returns the error of reading the result.
std::string error_with(const std::string& file, const std::string& from, const std::string& to) {
  Entries entries = unpack(fixture(file));
  std::string& json = entry(entries, file.find("2.5") == std::string::npos ? "models/model.json" : "program.json");
  const std::size_t at = json.find(from);
  CHECK(at != std::string::npos);
  json.replace(at, from.size(), to);
  const TemporaryFile damaged;
  pack(damaged.path, entries);
  return error_of(damaged.path);
}

TEST(Pt2, EveryVersionGivesWhatPyTorchComputes) {
  ASSERT_EQ(fixtures().size(), 65U);
  for (const std::filesystem::path& file : fixtures()) {
    SCOPED_TRACE(file.filename());
    const Graph graph = ir::torch::read_pt2(file);
    const ProgramValues expected = program_values(file);
    const auto outputs = evaluate(graph, sources(graph, by_name(graph, expected.inputs)));
    ASSERT_EQ(outputs.size(), expected.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_LE(relative_error(outputs[i], expected.outputs[i].values), 1e-11);
  }
}

TEST(Pt2, ParametersHaveTheirNamesTypesAndSharedValues) {
  const Graph half = ir::torch::read_pt2(fixture("eager_half_2.11.0.pt2"));
  EXPECT_EQ(named(half, "self_attn_k_proj_weight").type, (ir::TensorType{ir::DType::f16, {8, 16}}));
  EXPECT_EQ(named(half, "self_attn_inv_freq").source.values->size(), 2U);
  const Graph head = ir::torch::read_pt2(fixture("head_2.5.1.pt2"));
  EXPECT_EQ(named(head, "ids").type, (ir::TensorType{ir::DType::i32, {1, 7}}));
  EXPECT_EQ(*named(head, "scale").source.values, (std::vector<float>{0.5F, 2.0F}));
  EXPECT_EQ(named(head, "lm_head_weight").source.values, named(head, "lm_head_weight_1").source.values);
}

TEST(Pt2, PackedWeightsStayAsTheyAreAndTheirShiftsAreKnown) {
  const Graph graph = ir::torch::read_pt2(fixture("packed_2.15.0.pt2"));
  EXPECT_EQ(named(graph, "pairs").type, (ir::TensorType{ir::DType::u8, {24, 32}}));
  EXPECT_EQ(named(graph, "bytes").type, (ir::TensorType{ir::DType::i8, {24, 64}}));
  EXPECT_THROW(named(graph, "shifts"), std::out_of_range);
  const auto is_range = [](const Node& n) { return n.op == "arange" && n.integer("step") == 4; };
  EXPECT_TRUE(std::ranges::any_of(graph.nodes, is_range));
}

TEST(Pt2, AProgramWithoutValuesGetsRandomOnes) {
  Entries entries = unpack(fixture("mlp_2.11.0.pt2"));
  std::erase_if(entries, [](const auto& e) { return e.first.find("/data/") != std::string::npos; });
  const TemporaryFile file;
  pack(file.path, entries);
  const Graph graph = ir::torch::read_pt2(file.path);
  EXPECT_EQ(named(graph, "up_weight").source.values, nullptr);
  EXPECT_EQ(named(graph, "up_weight").source.fill.draw, ir::Fill::Draw::normal);
}

TEST(Pt2, ErrorsNameThePlace) {
  EXPECT_THAT(
      error_with("mlp_2.8.0.pt2", "aten.gelu.default", "aten.gelv.default"),
      "node 'gelu': expected a supported operation, found torch.ops.aten.gelv.default; did you mean 'aten.gelu'?");
  EXPECT_THAT(error_with("mlp_2.8.0.pt2", "aten.gelu.default", "aten.gelv_.default"),
              HasSubstr("expected a supported operation, found torch.ops.aten.gelv_.default"));
  EXPECT_EQ(error_with("mlp_2.8.0.pt2", "aten.gelu.default", "aten.randn_like.default"),
            "node 'gelu': expected no random numbers (a program may have them as an input), found "
            "torch.ops.aten.randn_like.default");
  EXPECT_EQ(error_with("mlp_2.8.0.pt2", "aten.gelu.default", "torchvision.nms.default"),
            "node 'gelu': expected a result whose shape does not depend on elements (export the model without this "
            "step, so that its outputs are what this step reads), found torch.ops.torchvision.nms.default");
  EXPECT_EQ(error_with("mlp_2.8.0.pt2", "aten.gelu.default", "higher_order.while_loop"),
            "node 'gelu': expected loops with a known number of steps (such as those of scan), found "
            "torch.ops.higher_order.while_loop");
  EXPECT_EQ(error_with("mlp_2.8.0.pt2", "torch.ops.aten.gelu.default", "torch._functorch.predispatch._add_batch_dim"),
            "node 'gelu': expected a program without vmap (save program.run_decompositions({}) to remove it), found "
            "torch._functorch.predispatch._add_batch_dim");
  EXPECT_THAT(error_with("mlp_2.8.0.pt2", R"("name": "approximate")", R"("name": "form")"),
              "node 'gelu': argument 'form': expected None or its default (no other value is supported), found 'tanh'");
  EXPECT_EQ(
      error_with("mlp_2.5.1.pt2", R"("arg": {"as_tensor": {"name": "x"}})", R"("arg": {"as_tensor": {"name": "y"}})"),
      "node 'layer_norm': expected a tensor computed before, found 'y'");
  EXPECT_EQ(error_with("mlp_2.5.1.pt2", R"("target": "torch.ops.aten.gelu.default")", R"("target": 7)"),
            "serialized_exported_program.json: /graph_module/graph/nodes/2/target: expected a string, found 7");
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"("dtype": 7)", R"("dtype": 9)"), HasSubstr("found complex32"));
  EXPECT_THAT(error_with("head_2.11.0.pt2", R"({"user_output")", R"({"loss_output")"),
              "outputs: expected results and new state only, found a loss_output");
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"({"as_int": 3})", R"({"as_expr": {"expr_str": "s0"}})"),
              HasSubstr("found the size 's0' (the file does not state its value for the example inputs)"));
  EXPECT_THAT(
      error_with("mlp_2.11.0.pt2", R"({"as_int": 3})", R"-({"as_expr": {"expr_str": "Symbol('s27', integer=True)"}})-"),
      HasSubstr("expected a static shape, found the size 's27' (the file does not state its value"));
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"({"as_int": 3})", R"({"as_expr": {"expr_str": "u0"}})"),
              HasSubstr("expected a static shape, found the size 'u0' (it depends on elements of a tensor)"));
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}})",
                         R"({"user_input": {"arg": {"as_sym_int": {"as_name": "k"}}}})"),
              HasSubstr("inputs: expected a constant as 'k', whose value the file does not state"));
  EXPECT_THAT(error_with("mlp_2.5.1.pt2", "{", "["), HasSubstr("expected JSON"));
  EXPECT_THAT(error_with("mlp_2.5.1.pt2", "{", std::string(1000, '[')), HasSubstr("at most 128 nested levels"));
}

std::string text_of(const std::string& file, const ir::Symbols& sizes) {
  return print(ir::torch::read_pt2(fixture(file), sizes));
}

std::string refusal_of(const std::string& file, const ir::Symbols& sizes) {
  try {
    return text_of(file, sizes);
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Pt2, OpenSizesAreThoseOfTheExampleUnlessGiven) {
  const Graph example = ir::torch::read_pt2(fixture("dynamic_2.15.0.pt2"));
  EXPECT_EQ(named(example, "x").type.shape, (ir::Shape{4, 8, 4}));
  EXPECT_EQ(example.note,
            "the sizes of dynamic_shapes are those of the example: s77=4 (dimension 0 of x), s27=8 (dimension 1 of x); "
            "-s NAME=SIZE sets others");
  const ir::Symbols sizes = {{"s77", 6}, {"s27", 12}};
  EXPECT_EQ(ir::torch::read_pt2(fixture("dynamic_2.15.0.pt2"), sizes).note, "");
  EXPECT_EQ(text_of("dynamic_2.15.0.pt2", sizes), text_of("dynamic_longer_2.15.0.pt2", {}));
  EXPECT_THAT(ir::torch::read_pt2(fixture("dynamic_2.15.0.pt2"), {{"s77", 6}}).note,
              HasSubstr("those of the example: s27=8 (dimension 1 of x); -s"));
}

// Returns the note of a program whose size s77 is another expression of s77 everywhere.
std::string note_with_size(const std::string& expression) {
  Entries entries = unpack(fixture("dynamic_2.15.0.pt2"));
  std::string& json = entry(entries, "models/model.json");
  const std::string symbol = "Symbol('s77', positive=True, integer=True)";
  for (std::size_t at = json.find(symbol); at != std::string::npos; at = json.find(symbol, at + expression.size()))
    json.replace(at, symbol.size(), expression);
  const TemporaryFile file;
  pack(file.path, entries);
  return ir::torch::read_pt2(file.path).note;
}

TEST(Pt2, NotesOfOpenSizesSayWhatIsAMultipleOfASymbol) {
  EXPECT_THAT(note_with_size("Mul(Integer(2), Symbol('s77', positive=True, integer=True))"),
              HasSubstr("s77=2 (dimension 0 of x is 2*s77), s27=8 (dimension 1 of x); -s"));
  EXPECT_THAT(note_with_size("Add(Symbol('s77', positive=True, integer=True), Integer(-3))"),
              HasSubstr("s77=7 (dimension 0 of x is s77 - 3), s27=8"));
}

TEST(Pt2, GivenSizesGiveWhatPyTorchComputes) {
  const ProgramValues expected = program_values(fixture("dynamic_longer_2.15.0.pt2"));
  for (const char* file : {"dynamic_2.15.0.pt2", "dynamic_core_aten_2.15.0.pt2"}) {
    SCOPED_TRACE(file);
    const Graph graph = ir::torch::read_pt2(fixture(file), {{"s77", 6}, {"s27", 12}});
    const auto outputs = evaluate(graph, sources(graph, by_name(graph, expected.inputs)));
    ASSERT_EQ(outputs.size(), expected.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_LE(relative_error(outputs[i], expected.outputs[i].values), 1e-11) << "output " << i;
  }
}

TEST(Pt2, GivenSizesMustBeOpenAndSuitTheProgram) {
  EXPECT_THAT(refusal_of("dynamic_2.15.0.pt2", {{"s1", 6}}),
              HasSubstr("expected a program with the open size s1, because its size is given, found s77, s27"));
  EXPECT_THAT(refusal_of("mlp_2.11.0.pt2", {{"s77", 6}}), HasSubstr("found one with static sizes"));
  EXPECT_THAT(refusal_of("dynamic_2.15.0.pt2", {{"s27", 2}}),
              HasSubstr("expected s27 of at least 3, as the file states, found 2"));
  EXPECT_THAT(refusal_of("dynamic_2.15.0.pt2", {{"s27", 10}}),
              HasSubstr("expected sizes for which ((L['x'].size()[1]*L['x'].size()[0]) % "
                        "(4*L['x'].size()[0])) == 0, as the program requires"));
}

TEST(Pt2, GuardsThatCannotBeCheckedAreNoted) {
  Entries entries = unpack(fixture("dynamic_2.15.0.pt2"));
  std::string& json = entry(entries, "models/model.json");
  const std::string guard = "L['x'].size()[1] >= 3";
  const std::size_t at = json.find(guard);
  ASSERT_NE(at, std::string::npos);
  json.replace(at, guard.size(), "L['y'].size()[1] >= 3");
  const TemporaryFile file;
  pack(file.path, entries);
  EXPECT_EQ(ir::torch::read_pt2(file.path, {{"s77", 6}, {"s27", 12}}).note,
            "the program requires L['y'].size()[1] >= 3, which is not checked");
  EXPECT_THAT(ir::torch::read_pt2(file.path).note, Not(HasSubstr("requires")));
}

TEST(Pt2, ChecksOfSizesMustHold) {
  const std::string check =
      R"("nodes": [{"target": "torch.ops.aten._assert_scalar.default", "outputs": [], "inputs": [)"
      R"({"name": "self", "arg": {"as_bool": false}}, )"
      R"({"name": "assert_msg", "arg": {"as_string": "s0 > 5"}}]}, )";
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"("nodes": [)", check),
              HasSubstr("expected sizes that the program allows: s0 > 5"));
}

TEST(Pt2, BoxesNeedAKnownNumberOfSamples) {
  EXPECT_THAT(error_with("regions_2.15.0.pt2", R"("name": "sampling_ratio", "arg": {"as_int": 1})",
                         R"("name": "sampling_ratio", "arg": {"as_int": -1})"),
              HasSubstr("argument 'sampling_ratio': expected at least 1 (others choose the number of samples by the "
                        "sizes of boxes), found -1"));
}

TEST(Pt2, EachResultHasItsOwnName) {
  const std::string linear = R"("outputs": [{"as_tensor": {"name": "linear"}}], "metadata")";
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"("outputs": [{"as_tensor": {"name": "gelu"}}], "metadata")", linear),
              "node 'gelu': expected a result with a name of its own, found 'linear' again");
}

TEST(Pt2, MasksThatSelectElementsAreConstants) {
  EXPECT_THAT(
      error_with("steps_2.15.0.pt2", R"("name": "condition", "arg": {"as_tensor": {"name": "b_mask"}})",
                 R"("name": "condition", "arg": {"as_tensor": {"name": "gt"}})"),
      HasSubstr("expected indices of integers, or a mask that is a constant (the number of elements that another "
                "mask selects is known only at run time; torch.where(mask, x, 0) keeps the shape), found"));
}

// placed_2.15.0.pt2 has y[x < 0] = torch.sqrt(1 - x[x < 0]) * 3.
TEST(Pt2, SelectedElementsReturnToTheirPlacesIfEachIsComputedSeparately) {
  EXPECT_THAT(error_with("placed_2.15.0.pt2", "torch.ops.aten.sqrt.default", "torch.ops.aten.logical_not.default"),
              HasSubstr("node 'index_4': expected indices of integers, or a mask that is a constant"));
}

TEST(Pt2, OnlyChecksOfMatricesAreEffectsWithoutAResult) {
  EXPECT_THAT(error_with("assorted_core_aten_2.15.0.pt2", "torch.ops.aten._linalg_check_errors.default",
                         "torch.ops.aten._print.default"),
              HasSubstr("outputs: expected results and new state only, found a token"));
}

TEST(Pt2, OutputsThatAreNoTensorsHaveTheirNumber) {
  EXPECT_EQ(error_with("mlp_2.11.0.pt2", R"("outputs": [{"as_tensor": {"name": "softmax"}}, {"as_tensor")",
                       R"("outputs": [{"as_tensor": {"name": "softmax"}}, {"as_int": 3}, {"as_tensor")"),
            "output 1: expected a tensor, found 3");
}

TEST(Pt2, TensorsHaveAtMostEightDimensions) {
  std::string nine;
  for (int i = 0; i < 8; ++i) nine += R"({"as_int": 1}, )";
  EXPECT_THAT(error_with("mlp_2.11.0.pt2", R"("sizes": [)", R"("sizes": [)" + nine),
              HasSubstr("/sizes: expected at most 8 dimensions, found "));
}

TEST(Pt2, TheFirstTensorOfFloat64IsNoted) {
  EXPECT_EQ(ir::torch::read_pt2(fixture("mlp_2.11.0.pt2")).note, "");
  Entries entries = unpack(fixture("mlp_2.11.0.pt2"));
  std::string& json = entry(entries, "models/model.json");
  for (const std::string name : {"softmax", "gelu"}) {
    const std::string type = fmt::format(R"("{}": {{"dtype": )", name);
    json.replace(json.find(type), type.size() + 1, type + "8");
  }
  const TemporaryFile file;
  pack(file.path, entries);
  EXPECT_EQ(ir::torch::read_pt2(file.path).note, "'gelu' is float64 in PyTorch; such tensors are computed in float32");
}

TEST(Pt2, WhatComplexNumbersDoNotHaveIsNamed) {
  EXPECT_THAT(error_with("rotary_2.15.0.pt2", "aten.view_as_real.default", "aten.relu.default"),
              HasSubstr("relu: expected real numbers, found complex ones"));
  EXPECT_THAT(error_with("rotary_2.15.0.pt2", "aten.view_as_real.default", "aten.spin.default"),
              HasSubstr("expected an attribute or a method of a complex tensor (docs/expressions.md), found `spin`"));
  EXPECT_THAT(error_with("complex_2.15.0.pt2", R"("start", "arg": {"as_int": 1}, "kind": 1}, {"name": "end")",
                         R"("step", "arg": {"as_int": 2}, "kind": 1}, {"name": "end")"),
              HasSubstr("expected complex numbers that do not change through such a view"));
}

// zeros_like(mask).masked_fill_(mask, -inf): nothing else uses the zeros.
TEST(Pt2, AnOperationInPlaceKeepsTheShape) {
  const std::string self = R"({"name": "self", "arg": {"as_tensor": {"name": ")", end = R"("}})";
  EXPECT_THAT(error_with("multihead_2.15.0.pt2", self + "zeros_like" + end, self + "x" + end),
              StartsWith("node 'masked_fill_': masked_fill: expected shapes that broadcast"));
}

TEST(Pt2, WhatIsNoArchive) {
  const TemporaryFile file;
  EXPECT_THAT(error_of(file.path), HasSubstr("No such file"));
  EXPECT_THAT(error_of(std::filesystem::temp_directory_path()), HasSubstr("found a folder"));
  write(file.path, "");
  EXPECT_THAT(error_of(file.path), HasSubstr("expected a zip archive"));
  write(file.path, read_file(fixture("mlp_2.8.0.pt2")).substr(0, 9000));
  EXPECT_THAT(error_of(file.path), HasSubstr("expected a zip archive"));
  for (const auto& [bytes, kind] : {std::pair("\x80\x02.", "a pickle; "), std::pair("GGUF", "another format; ")}) {
    write(file.path, bytes);
    EXPECT_THAT(error_of(file.path),
                StartsWith(std::string("expected a zip archive of torch.export.save, found ") + kind));
  }
  pack(file.path, {{"a.txt", "hello"}});
  EXPECT_EQ(error_of(file.path), "expected an archive of torch.export.save, found no 'models/model.json' inside");
  for (const auto& [entry, kind] : {std::pair("m/data/aotinductor/model/a.so", "compiled code of AOTInductor; "),
                                    std::pair("m/constants.pkl", "a TorchScript module; "),
                                    std::pair("m/data.pkl", "a file of torch.save (a state dictionary")}) {
    pack(file.path, {{entry, ""}});
    EXPECT_THAT(error_of(file.path), AllOf(HasSubstr(kind), HasSubstr("torch.export.save(torch.export.export(")));
  }
}

// package_pt2 writes programs under names of their own. torch.export.load takes the one with the name 'model'.
TEST(Pt2, AProgramMayHaveAnotherName) {
  Entries renamed = unpack(fixture("mlp_2.11.0.pt2"));
  for (auto& [name, bytes] : renamed)
    for (const std::string from : {"/model.", "/model_"})
      if (const std::size_t at = name.find(from); at != std::string::npos) name.replace(at + 1, 5, "net");
  const TemporaryFile file;
  pack(file.path, renamed);
  EXPECT_NE(named(ir::torch::read_pt2(file.path), "up_weight").source.values, nullptr);
  renamed.emplace_back("mlp/models/other.json", "{}");
  pack(file.path, renamed);
  EXPECT_EQ(error_of(file.path), "expected one program, or one with the name 'model', found 'net' and 'other'");
}

TEST(Pt2, SmallFilesDoNotFillTheMemory) {
  const TemporaryFile file;
  pack(file.path, {{"x/models/model.json", std::string(20 << 20, ' ')}}, true);
  EXPECT_THAT(error_of(file.path), HasSubstr("found 20971520"));
  Entries entries = unpack(fixture("mlp_2.11.0.pt2"));
  for (const char* suffix : {"models/model.json", "model_weights_config.json"}) {  // 2^36 elements of stride 0
    std::string& json = entry(entries, suffix);
    const std::string size = R"("sizes": [{"as_int": 16}])", huge = R"("sizes": [{"as_int": 68719476736}])";
    const std::string stride = R"("strides": [{"as_int": 1}])", none = R"("strides": [{"as_int": 0}])";
    for (const auto& [from, to] : {std::pair(size, huge), {stride, none}})
      for (std::size_t at = 0; (at = json.find(from, at)) != std::string::npos;) json.replace(at, from.size(), to);
  }
  pack(file.path, entries);
  EXPECT_THAT(error_of(file.path), HasSubstr("expected a tensor inside a storage of"));
}

// Returns the error of a file in which a pickle calls `function`, "module\nname\n".
std::string error_of_pickled(const std::string& function) {
  Entries entries = unpack(fixture("mlp_2.5.1.pt2"));
  std::string& weights = entry(entries, "state_dict.pt");
  const TemporaryFile inner, outer;
  write(inner.path, weights);
  Entries pickled = unpack(inner.path);
  std::string& pickle = entry(pickled, "data.pkl");
  pickle.replace(pickle.find("torch._utils\n_rebuild_parameter\n"), 32, function);
  pack(inner.path, pickled);
  weights = read_file(inner.path);
  pack(outer.path, entries);
  return error_of(outer.path);
}

TEST(Pt2, NoPickleCallsAnything) {
  EXPECT_THAT(error_of_pickled("os\nsystem\n"),
              HasSubstr("expected a tensor, a parameter or a dictionary, found 'os.system'"));
  EXPECT_THAT(error_of_pickled("torch._tensor\n_rebuild_from_type_v2\n"),
              HasSubstr("expected tensors of PyTorch's own class (call torchao.utils.unwrap_tensor_subclass(model) "
                        "before the export), found 'torch._tensor._rebuild_from_type_v2'"));
}

TEST(Pt2, WeightsMustFitTheGraphAndTheirStorage) {
  Entries entries = unpack(fixture("mlp_2.11.0.pt2"));
  const TemporaryFile file;
  const std::string config = entry(entries, "model_weights_config.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = config;
    changed.replace(changed.find(from), from.size(), to);
    entry(entries, "model_weights_config.json") = changed;
    pack(file.path, entries);
    return error_of(file.path);
  };
  EXPECT_THAT(with(R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": 9})"),
              HasSubstr("expected a tensor inside a storage of"));
  EXPECT_THAT(with(R"("strides": [{"as_int": 1})", R"("strides": [{"as_int": 9223372036854775807})"),
              HasSubstr("expected a tensor inside a storage of"));
  EXPECT_THAT(with(R"("sizes": [{"as_int": )", R"("sizes": [{"as_int": 1)"), HasSubstr("as in the graph, found"));
  EXPECT_THAT(with(R"("path_name": "weight_0")", R"("path_name": "weight_99")"), HasSubstr("expected an entry"));
  EXPECT_THAT(with(R"("up.weight")", R"("down.up")"), HasSubstr("values of 'up.weight': expected to find them"));
}

}  // namespace
}  // namespace deplo::tests
