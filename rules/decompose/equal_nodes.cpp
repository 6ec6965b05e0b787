#include "rules/decompose/equal_nodes.h"

#include <bit>

#include "core/text/match.h"

namespace deplo::rules {

using ir::Expr;
namespace tensor = ir::tensor;

namespace {

class Hash {
 public:
  // A step of the Fowler-Noll-Vo hash on whole words. The shift lets high bits affect the low ones.
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x100000001b3ULL;
    state_ ^= state_ >> 29;
  }
  void add(const Expr& e) {
    add(static_cast<std::uint64_t>(e.kind()));
    if (e.kind() == Expr::Kind::constant) return add(static_cast<std::uint64_t>(e.value()));
    if (e.kind() == Expr::Kind::variable) {
      for (const char c : e.name()) add(static_cast<std::uint64_t>(c));
      return;
    }
    add(static_cast<std::uint64_t>(e.op()));
    add(e.lhs());
    add(e.rhs());
  }

  void add(const tensor::Input&) {}
  void add(const tensor::Parameter&) {}
  void add(const tensor::Scalar& s) { add(std::bit_cast<std::uint64_t>(s.value)); }
  void add(const tensor::Elementwise& e) { add(static_cast<std::uint64_t>(e.op)); }
  void add(const tensor::Coordinate& c) { add(c.value); }
  void add(const tensor::Reduction& r) {
    add(static_cast<std::uint64_t>(r.op));
    add(static_cast<std::uint64_t>(r.axis));
  }
  void add(const tensor::Scan& s) { add(static_cast<std::uint64_t>(s.op)); }
  void add(const tensor::IndexMap& m) {
    for (const tensor::IndexMap::Branch& b : m.branches) {
      add(static_cast<std::uint64_t>(b.arg));
      for (const Expr& e : b.coordinates) add(e);
      add(b.condition);
    }
  }
  std::size_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::size_t hash(const tensor::Node& node) {
  Hash h;
  h.add(node.op.index());
  match(node.op, [&](const auto& op) { h.add(op); });
  for (const int a : node.args) h.add(static_cast<std::uint64_t>(a));
  h.add(static_cast<std::uint64_t>(node.type.dtype));
  for (const std::int64_t extent : node.type.shape) h.add(static_cast<std::uint64_t>(extent));
  return h.value();
}

bool computes_the_same(const tensor::Node& a, const tensor::Node& b) {
  if (a.type != b.type || a.args != b.args || a.op.index() != b.op.index()) return false;
  if (a.as<tensor::Input>() != nullptr || a.as<tensor::Parameter>() != nullptr) return false;
  // Compares bits: 0 differs from -0, and NaN equals NaN.
  const auto *s = a.as<tensor::Scalar>(), *t = b.as<tensor::Scalar>();
  return s != nullptr ? std::bit_cast<std::uint64_t>(s->value) == std::bit_cast<std::uint64_t>(t->value) : a.op == b.op;
}

std::optional<int> EqualNodes::find(const tensor::Graph& graph, const tensor::Node& node) const {
  const auto [begin, end] = by_hash_.equal_range(hash(node));
  for (auto it = begin; it != end; ++it)
    if (computes_the_same(graph.nodes[static_cast<std::size_t>(it->second)], node)) return it->second;
  return std::nullopt;
}

}  // namespace deplo::rules
