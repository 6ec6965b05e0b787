// One operation of Torch IR on a few arguments: its type, its error message or its values.
#pragma once
#include <string>
#include <vector>

#include "core/error.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch {

using List = std::vector<std::int64_t>;
inline TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }
inline TensorType f16(Shape shape) { return {DType::f16, std::move(shape)}; }
inline TensorType bf16(Shape shape) { return {DType::bf16, std::move(shape)}; }
inline TensorType i32(Shape shape) { return {DType::i32, std::move(shape)}; }
inline TensorType boolean(Shape shape) { return {DType::boolean, std::move(shape)}; }

/// Returns an attribute whose value is an integer.
inline Attribute whole(std::int64_t value) { return value; }
inline Attributes dim(std::int64_t value) { return {{"dim", value}}; }
inline Attributes dims(List values, bool keepdim = false) {
  return {{"dims", std::move(values)}, {"keepdim", keepdim}};
}
inline Attributes shape(List values) { return {{"shape", std::move(values)}}; }

/// Returns the node of the operation after type inference.
inline Node inferred(std::string_view op, const std::vector<TensorType>& types, const Attributes& attributes = {}) {
  Builder b;
  std::vector<Id> args;
  for (const TensorType& type : types) args.push_back(b.input("x", type));
  return b.node(b.call(op, args, attributes));
}

/// Returns the type of the result as text, or the message of the Error.
inline std::string typed(std::string_view op, const std::vector<TensorType>& types, const Attributes& attributes = {}) {
  try {
    return print(inferred(op, types, attributes).type);
  } catch (const Error& e) {
    return e.what();
  }
}

/// An argument with its values in row-major order.
struct Given {
  TensorType type;
  Values values;
};

inline Values evaluated(std::string_view op, const std::vector<Given>& given, const Attributes& attributes = {}) {
  Builder b;
  std::vector<Id> args;
  std::vector<Values> sources;
  for (const Given& g : given) {
    args.push_back(b.input("x", g.type));
    sources.push_back(g.values);
  }
  const Graph graph = b.finish({b.call(op, args, attributes)});
  sources.resize(graph.nodes.size());  // a call may become several nodes
  return evaluate(graph, sources).at(0);
}

}  // namespace deplo::ir::torch
