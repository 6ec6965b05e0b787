// One node of the program while it becomes operations of the graph: what the functions of pt2_ops*.cpp work with.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/graph.h"
#include "ir/torch/pt2/program.h"

namespace deplo::ir::torch::pt2 {

/// The arguments by the names of the operation's schema. Every argument must be asked for: one that was not is refused
/// in the end, unless it is None. Throws Error `expected …, found …`; the reader adds file and node.
class Call {
 public:
  using Ids = std::map<std::string, Id, std::less<>>;
  Call(const ProgramNode& node, const ProgramGraph& graph, const Ids& ids, Builder& builder);

  Builder& builder() const { return builder_; }
  const std::string& name() const { return node_.name; }
  const Shape& shape(Id id) const { return builder_.type(id).shape; }
  std::int64_t rank(Id id) const { return static_cast<std::int64_t>(shape(id).size()); }
  DType dtype(Id id) const { return builder_.type(id).dtype; }

  bool has(std::string_view argument) const;  // and it is not None
  /// A tensor, or a number as a scalar node.
  Id operand(std::string_view argument);
  Id tensor(std::string_view argument);
  std::vector<Id> tensors(std::string_view argument);
  std::vector<std::optional<Id>> optional_tensors(std::string_view argument);
  std::int64_t integer(std::string_view argument);
  std::int64_t integer(std::string_view argument, std::int64_t fallback);
  double number(std::string_view argument, double fallback);
  bool flag(std::string_view argument, bool fallback);
  std::string text(std::string_view argument, std::string_view fallback);
  std::vector<std::int64_t> integers(std::string_view argument);  // one integer counts as a list; None: none
  /// That make no difference here: devices, layouts, …
  void ignore(std::initializer_list<std::string_view> arguments);
  /// Throws Error where an argument was not asked for.
  void finish() const;

  /// Of the outputs as the file states them, lists flattened.
  const std::vector<std::string>& outputs() const { return outputs_; }
  const TensorType& output_type(std::size_t i = 0) const;

  /// Adds an operation named after the node.
  Id add(std::string_view op, std::vector<Id> args, Attributes attributes = {}) const;
  Id reshape(Id, const Shape&) const;  // and these three: nothing where it is so already
  Id expand(Id, const Shape&) const;
  Id to(Id, DType) const;
  Id slice(Id, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  [[noreturn]] void fail(std::string_view argument, std::string_view expected) const;

 private:
  const Argument* find(std::string_view argument) const;
  const Argument& get(std::string_view argument);
  Id id(std::string_view name) const;
  const ProgramNode& node_;
  const ProgramGraph& graph_;
  const Ids& ids_;
  Builder& builder_;
  std::vector<std::string> outputs_;
  std::set<std::string_view> asked_;
};

/// Makes the node's outputs, in order. Fewer than the node has: the others are not supported.
using Reader = std::vector<Id> (*)(Call&, std::string_view op);
/// `op` is what the reader is told: for the families that differ in the operation only.
struct Row {
  std::string_view aten;  // "aten.linear": of every overload
  Reader read;
  std::string_view op;
};
std::span<const Row> elementwise_rows();
std::span<const Row> reduction_rows();
std::span<const Row> shape_rows();
std::span<const Row> creation_rows();

}  // namespace deplo::ir::torch::pt2
