// Private to compose: finds nodes that compute the same values.
#pragma once
#include <optional>
#include <unordered_map>

#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Returns a hash of the operation, arguments and type, but not of the name.
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
