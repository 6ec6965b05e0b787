// Colour refinement (Weisfeiler and Leman 1968) over statements and symbols. In each round, the colour of a statement
// takes in the colours of the symbols that it reads and writes and of the statement around it. The colour of a symbol
// takes in the colours of the statements that touch it. Names and order have no effect. Then the statements of a body
// are placed in the order of their colours, as far as dependences allow. If several statements have the least colour,
// the first one gets a unique colour and the others are refined again (individualisation, as in McKay's nauty 1981).
#include "ir/canonical/order.h"

#include <algorithm>
#include <utility>

#include "ir/canonical/colours.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

struct Touch {
  int symbol = 0;
  Colour role = 0;  // which argument of the statement the symbol is
  bool writes = false;
};

struct Node {
  Stmt* stmt = nullptr;
  int parent = -1;
  std::vector<int> children;
  std::vector<Touch> touches;
  Colour colour = 0;
};

bool conflict(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  return std::ranges::any_of(a, [&](const Touch& x) {
    return std::ranges::any_of(b, [&](const Touch& y) { return x.symbol == y.symbol && (x.writes || y.writes); });
  });
}

class Order {
 public:
  explicit Order(Program& loop) : loop_(loop) {
    for (const Buffer& buffer : loop.buffers) {
      Colour c = mix(static_cast<Colour>(buffer.dtype), static_cast<Colour>(buffer.role));
      for (const std::int64_t extent : buffer.shape) c = mix(c, static_cast<Colour>(extent));
      for (const std::int64_t stride : buffer.strides) c = mix(c, static_cast<Colour>(stride));
      symbols_.colours[static_cast<std::size_t>(symbol(buffer.name))] = c;
    }
    collect(loop.body, -1, top_);
  }

  void run() {
    refine();
    arrange(top_);
    loop_.body = rebuild(top_);
  }

 private:
  int symbol(const std::string& name) {
    const auto [found, added] = symbols_.number.try_emplace(name, static_cast<int>(symbols_.colours.size()));
    if (added) symbols_.colours.push_back(0);
    return found->second;
  }
  void collect(Body& body, int parent, std::vector<int>& list);
  // Records the symbols that a statement touches. Names are kept as views, so they must belong to the program.
  void touch(Node& node);
  std::size_t round();
  void refine();
  std::vector<std::vector<std::size_t>> dependences(const std::vector<int>& body) const;
  void touched(int node, std::vector<Touch>& all) const;
  void arrange(std::vector<int>& body);
  Body rebuild(const std::vector<int>& body);

  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }

  Program& loop_;
  SymbolColours symbols_;
  std::vector<Node> nodes_;  // in the program's order
  std::vector<int> top_;
  Colour individual_ = 0;
};

void Order::collect(Body& body, int parent, std::vector<int>& list) {
  for (Stmt& stmt : body) {
    const int i = static_cast<int>(nodes_.size());
    nodes_.push_back({&stmt, parent, {}, {}, 0});
    list.push_back(i);
    touch(nodes_.back());
    if (Body* inner = inner_body(stmt)) {
      std::vector<int> children;
      collect(*inner, i, children);
      node(i).children = std::move(children);
    }
  }
}

void Order::touch(Node& node) {
  const auto* assign = node.stmt->as<Assign>();
  const std::size_t alike = assign != nullptr && product_commutes(assign->op) ? 2 : 1;  // arguments that share a role
  std::size_t dimension = 0, argument = 0;
  const auto read = [&](const std::string& name, Colour role) { node.touches.push_back({symbol(name), role, false}); };
  const auto write = [&](const std::string& name) { node.touches.push_back({symbol(name), 1, true}); };
  const auto expression = [&](const Expr& e) {
    for_each_variable(e, [&](const std::string& name) { read(name, 16 + dimension); });
    ++dimension;
  };
  const auto value = [&](const Arg& arg) {
    if (const auto* name = std::get_if<std::string>(&arg)) read(*name, argument < alike ? 2 : 2 + argument);
    ++argument;
  };
  const auto name = [&](Use use, const std::string& n) { use == Use::reads ? read(n, 0) : write(n); };
  for_each_part(std::as_const(*node.stmt),
                cases{expression, value, name, [&](const Axis& axis) { write(axis.name); }, [](const Body&) {}});
}

// Runs one round of refinement. Returns the number of distinct colours.
std::size_t Order::round() {
  std::vector<Colour> next(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    Colour inner = 0;
    for (const int child : n.children) inner += mix(node(child).colour);
    next[i] = mix(mix(n.colour, mix(symbols_.describe(*n.stmt), inner)), n.parent < 0 ? 1 : node(n.parent).colour);
    for (const Touch& t : n.touches)
      if (t.writes) next[i] = mix(next[i], symbols_.colours[static_cast<std::size_t>(t.symbol)]);
  }
  std::vector<Colour> sums(symbols_.colours.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].colour = next[i];
    for (const Touch& t : nodes_[i].touches) sums[static_cast<std::size_t>(t.symbol)] += mix(next[i], t.role);
  }
  for (std::size_t s = 0; s < symbols_.colours.size(); ++s) symbols_.colours[s] = mix(symbols_.colours[s], sums[s]);
  next.insert(next.end(), symbols_.colours.begin(), symbols_.colours.end());
  std::ranges::sort(next);
  return static_cast<std::size_t>(std::unique(next.begin(), next.end()) - next.begin());
}

void Order::refine() {
  std::size_t before = 0;
  for (std::size_t now = round(); now != before; now = round()) before = now;
}

void Order::touched(int i, std::vector<Touch>& all) const {
  const Node& n = node(i);
  all.insert(all.end(), n.touches.begin(), n.touches.end());
  for (const int child : n.children) touched(child, all);
}

// Returns, for each statement of the body, the indices of the statements that must come before it.
std::vector<std::vector<std::size_t>> Order::dependences(const std::vector<int>& body) const {
  std::vector<std::vector<Touch>> touches(body.size());
  std::vector<std::vector<std::size_t>> result(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    touched(body[i], touches[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (conflict(touches[j], touches[i])) result[i].push_back(j);
  }
  return result;
}

void Order::arrange(std::vector<int>& body) {
  const std::vector<std::vector<std::size_t>> waits = dependences(body);
  std::vector<int> placed;
  std::vector<bool> done(body.size());
  const auto ready = [&](std::size_t i) {
    return !done[i] && std::ranges::all_of(waits[i], [&](std::size_t j) { return done[j]; });
  };
  while (placed.size() < body.size()) {
    std::vector<std::size_t> first;  // ready statements of the least colour
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (!ready(i)) continue;
      if (!first.empty() && node(body[i]).colour < node(body[first[0]]).colour) first.clear();
      if (first.empty() || node(body[i]).colour == node(body[first[0]]).colour) first.push_back(i);
    }
    CHECK(!first.empty());
    done[first[0]] = true;
    placed.push_back(body[first[0]]);
    if (first.size() == 1) continue;
    Node& chosen = node(placed.back());
    chosen.colour = mix(chosen.colour, ++individual_);
    refine();
  }
  body = std::move(placed);
  for (const int i : body) arrange(node(i).children);
}

Body Order::rebuild(const std::vector<int>& body) {
  Body result;
  result.reserve(body.size());
  for (const int i : body) {
    Body inner = rebuild(node(i).children);
    result.push_back(std::move(*node(i).stmt));
    if (Body* own = inner_body(result.back())) *own = std::move(inner);
  }
  return result;
}

}  // namespace

void order_statements(Program& loop) { Order(loop).run(); }

}  // namespace deplo::ir
