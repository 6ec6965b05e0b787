#include "ir/torch/pt2/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/torch/graph.h"
#include "ir/torch/pt2/program/json.h"
#include "ir/torch/pt2/program/sizes.h"

namespace deplo::ir::torch::pt2 {
namespace {

constexpr std::int64_t strided = 7;  // Layout.Strided

ScalarType scalar_type(const Json& json) {
  const std::int64_t number = json.integer();
  return number >= 0 && number <= 255 ? static_cast<ScalarType>(number) : ScalarType::unknown;
}

/// What the arguments of a graph may refer to: open sizes, and the numbers computed from them, by their names.
struct Scope {
  const Sizes& sizes;
  std::map<std::string, SizeValue, std::less<>> names = {};
};

/// Says what is wrong about a size without a value.
std::string open_size(const std::string& unknown) {
  return fmt::format("a static shape, found the size '{}' ({})", unknown,
                     depends_on_elements(unknown) ? "it depends on elements of a tensor"
                                                  : "the file does not state its value for the example inputs");
}

Shape shape(const Json& sizes, const Scope& scope, std::string& problem) {
  Shape shape;
  std::int64_t elements = 1;
  std::size_t rank = 0;
  sizes.each([&](const Json& size) {
    ++rank;
    const Evaluated found = scope.sizes.value(size);
    const std::optional<std::int64_t> n = whole(found.value);
    if (!n) {
      problem = open_size(found.unknown);
      return;
    }
    shape.push_back(*n);
    if (shape.back() < 0 || __builtin_mul_overflow(elements, std::max<std::int64_t>(shape.back(), 1), &elements) ||
        elements > max_elements)
      size.fail("sizes of at most 2^40 elements", fmt::format("{}", *n));
  });
  if (rank > max_dimensions) sizes.fail(fmt::format("at most {} dimensions", max_dimensions), fmt::format("{}", rank));
  return shape;
}

std::vector<std::int64_t> strides(const Json& list, const Scope& scope) {
  std::vector<std::int64_t> result;
  bool known = true;
  list.each([&](const Json& stride) {
    const std::optional<std::int64_t> n = whole(scope.sizes.value(stride).value);
    known &= n.has_value();
    if (known) result.push_back(*n);
  });
  return known ? result : std::vector<std::int64_t>();
}

TensorMeta tensor_meta(const Json& json, const Scope& scope) {
  TensorMeta meta;
  const ScalarType type = scalar_type(json.at("dtype"));
  meta.stated = type;
  if (json.has("strides")) meta.strides = strides(json.at("strides"), scope);
  if (json.has("storage_offset")) meta.offset = whole(scope.sizes.value(json.at("storage_offset")).value).value_or(-1);
  meta.type.shape = shape(json.at("sizes"), scope, meta.problem);
  meta.open = !meta.problem.empty();
  if (is_complex(type)) {
    meta.type.shape.push_back(2);
    for (std::int64_t& stride : meta.strides) stride *= 2;
    meta.strides.push_back(1);
  } else if (const std::optional<DType> d = dtype(type)) {
    meta.type.dtype = *d;
  } else {
    meta.problem = fmt::format("{}, found {}", supported_types, scalar_type_name(type));
  }
  if (json.has("layout") && json.at("layout").integer() != strided)
    meta.problem = "a dense tensor, found another layout";
  return meta;
}

std::string tensor_name(const Json& json) { return json.at("name").text(); }

/// Returns what `read` gives for each element.
template <class Read>
auto list_of(const Json& list, const Read& read) {
  std::vector<std::decay_t<decltype(read(list))>> result;
  list.each([&](const Json& e) { result.push_back(read(e)); });
  return result;
}

std::string optional_tensor_name(const Json& json) {
  return json.has("as_tensor") ? tensor_name(json.at("as_tensor")) : "";
}

Argument symbolic(const Json& json, const Scope& scope) {
  const bool named = json.has("as_name");
  Evaluated found = named ? Evaluated{std::nullopt, json.at("as_name").text()} : scope.sizes.value(json);
  if (const auto known = scope.names.find(found.unknown); named && known != scope.names.end())
    found.value = known->second;
  if (!found.value) return Symbol{found.unknown};
  return std::visit([](auto value) { return Argument{value}; }, *found.value);
}

// Reads a list of elements such as {"as_int": 3} or {"as_name": "sym_size_int"}.
Argument symbolic_integers(const Json& list, const Scope& scope) {
  std::vector<std::int64_t> result;
  std::optional<Argument> symbol;
  list.each([&](const Json& e) {
    const Argument element = symbolic(e, scope);
    if (const auto* n = std::get_if<std::int64_t>(&element))
      result.push_back(*n);
    else
      symbol = element;
  });
  if (symbol) return *symbol;
  return result;
}

ProgramGraph program_graph(const Json& json, const Sizes& sizes);

Argument argument(const Json& json, const Scope& scope) {
  const std::string kind = json.alternative();
  const Json value = json.at(kind);
  if (kind == "as_none") return None{};
  if (kind == "as_tensor") return Tensor{tensor_name(value)};
  if (kind == "as_tensors") return Tensors{list_of(value, tensor_name)};
  if (kind == "as_int") return value.integer();
  if (kind == "as_ints") return list_of(value, [](const Json& e) { return e.integer(); });
  if (kind == "as_float") return value.number();
  if (kind == "as_complex") return std::complex(value.at("real").number(), value.at("imag").number());
  if (kind == "as_floats") return list_of(value, [](const Json& e) { return e.number(); });
  if (kind == "as_bool") return value.flag();
  if (kind == "as_string" || kind == "as_operator") return value.text();
  if (kind == "as_scalar_type") return scalar_type(value);
  if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") return symbolic(value, scope);
  if (kind == "as_sym_ints") return symbolic_integers(value, scope);
  if (kind == "as_optional_tensors") return Tensors{list_of(value, optional_tensor_name)};
  if (kind == "as_optional_tensor") return value.has("as_tensor") ? argument(value, scope) : Argument{None{}};
  if (kind == "as_graph")
    return Subgraph{std::make_shared<const ProgramGraph>(program_graph(value.at("graph"), scope.sizes))};
  return Other{kind};
}

std::vector<Argument> arguments(const Json& list, const Scope& scope) {
  return list_of(list, [&](const Json& e) { return argument(e, scope); });
}

std::string node_name(const Json& json, const ProgramNode& node) {
  if (json.has("name")) return json.at("name").text();
  if (!node.outputs.empty()) {
    if (const auto* t = std::get_if<Tensor>(&node.outputs[0])) return t->name;
    if (const auto* t = std::get_if<Tensors>(&node.outputs[0]); t && !t->names.empty()) return t->names[0];
  }
  return node.target;
}

ProgramNode program_node(const Json& json, const Scope& scope) {
  ProgramNode node;
  node.target = json.at("target").text();
  node.inputs = list_of(json.at("inputs"), [&](const Json& e) {
    return NamedArgument{e.at("name").text(), argument(e.at("arg"), scope)};
  });
  node.outputs = arguments(json.at("outputs"), Scope{scope.sizes});  // which keep their names
  node.name = node_name(json, node);
  return node;
}

ProgramGraph program_graph(const Json& json, const Sizes& sizes) {
  const Scope scope{sizes, sizes.named_values(json)};
  ProgramGraph graph;
  graph.inputs = arguments(json.at("inputs"), scope);
  graph.outputs = arguments(json.at("outputs"), scope);
  graph.nodes = list_of(json.at("nodes"), [&](const Json& e) { return program_node(e, scope); });
  json.at("tensor_values").each_member([&](const std::string& name, const Json& e) {
    graph.tensors.emplace(name, tensor_meta(e, scope));
  });
  return graph;
}

InputSpec input_spec(const Json& json, const Scope& scope) {
  InputSpec spec;
  spec.kind = json.alternative();
  const Json value = json.at(spec.kind);
  if (spec.kind == "user_input") spec.argument = argument(value.at("arg"), scope);
  for (const std::string_view kind : {"parameter", "buffer", "tensor_constant"})
    if (spec.kind == kind) {
      spec.argument = Tensor{tensor_name(value.at("arg"))};
      spec.stored = value.at(std::string(kind) + "_name").text();
    }
  return spec;
}

OutputSpec output_spec(const Json& json, const Scope& scope) {
  OutputSpec spec;
  spec.kind = json.alternative();
  spec.argument =
      spec.kind == "user_output" ? argument(json.at(spec.kind).at("arg"), scope) : Argument{Other{spec.kind}};
  return spec;
}

std::int64_t known_size(const Json& json) { return json.at("as_int").integer(); }

Payload payload(const Json& json) {
  Payload p;
  p.tensor.storage = json.at("path_name").text();
  p.pickled = json.at("use_pickle").flag();
  if (p.pickled) return p;
  const Json meta = json.at("tensor_meta");
  p.tensor.type = scalar_type(meta.at("dtype"));
  p.tensor.sizes = list_of(meta.at("sizes"), known_size);
  p.tensor.strides = list_of(meta.at("strides"), known_size);
  p.tensor.offset = known_size(meta.at("storage_offset"));
  return p;
}

}  // namespace

Program parse_program(const std::string& text, const std::string& where, const Symbols& given,
                      const Constants& constants) {
  const Json json = Json::parse(text, where);
  const Sizes sizes(json, given, constants);
  const Json module = json.at("graph_module"), signature = module.at("signature");
  const Scope scope{sizes, sizes.named_values(module.at("graph"))};
  Program program;
  program.note = sizes.note();
  program.graph = program_graph(module.at("graph"), sizes);
  program.inputs = list_of(signature.at("input_specs"), [&](const Json& e) { return input_spec(e, scope); });
  program.outputs = list_of(signature.at("output_specs"), [&](const Json& e) { return output_spec(e, scope); });
  return program;
}

std::map<std::string, Payload> parse_payloads(const std::string& text, const std::string& where) {
  std::map<std::string, Payload> payloads;
  Json::parse(text, where).at("config").each_member([&](const std::string& name, const Json& e) {
    payloads.emplace(name, payload(e));
  });
  return payloads;
}

}  // namespace deplo::ir::torch::pt2
