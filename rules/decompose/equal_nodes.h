// Private to compose: finds nodes that compute the same.
#pragma once
#include <optional>
#include <unordered_map>

#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// A hash of what the node computes: operation, arguments and type, not its name.
std::size_t hash(const ir::tensor::Node&);
bool computes_the_same(const ir::tensor::Node&, const ir::tensor::Node&);

/// Finds nodes of a graph by what they compute.
class EqualNodes {
 public:
  explicit EqualNodes(std::size_t expected) { by_hash_.reserve(expected); }
  std::optional<int> find(const ir::tensor::Graph&, const ir::tensor::Node&) const;
  void insert(const ir::tensor::Node& node, int id) { by_hash_.emplace(hash(node), id); }

 private:
  std::unordered_multimap<std::size_t, int> by_hash_;
};

}  // namespace deplo::rules
