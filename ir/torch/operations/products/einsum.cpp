// einsum: multiplies one operand after the other. Each step becomes a matrix product: labels that both operands have
// become its batch or its k, and the other labels its m or n.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/mapped.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

/// A tensor, with a letter for each dimension.
struct Labelled {
  Id id;
  std::string labels;
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// Letters for the dimensions that `...` stands for. No equation contains these letters.
constexpr std::string_view dots_letters = "\x01\x02\x03\x04\x05\x06\x07\x08";

class Einsum {
 public:
  Einsum(const Given& g, std::string equation, const std::vector<Id>& operands) : g_(g) {
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    const std::string left = equation.substr(0, arrow);
    read_operands(left, operands);
    result_ = arrow == std::string::npos ? implied() : with_dots(equation.substr(arrow + 2), dots_);
    check_result();
  }

  Id run() {
    Labelled product = operands_[0];
    for (std::size_t i = 1; i < operands_.size(); ++i) product = multiplied(product, operands_[i], later(i));
    return ordered(summed(product, result_), result_).id;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("einsum: expected {}", what)); }

  void read_operands(const std::string& left, const std::vector<Id>& operands) {
    std::size_t begin = 0;
    for (const Id id : operands) {
      if (begin > left.size()) fail(fmt::format("an equation of {} operands, found '{}'", operands.size(), left));
      const std::size_t end = std::min(left.find(',', begin), left.size());
      add_operand(id, left.substr(begin, end - begin));
      begin = end + 1;
    }
    if (begin <= left.size()) fail(fmt::format("an equation of {} operands, found '{}'", operands.size(), left));
  }

  void add_operand(Id id, std::string labels) {
    const Shape shape = g_.shape(id);
    const std::size_t written = labels.size() - (labels.find("...") != std::string::npos ? 3 : 0);
    if (labels.find("...") != std::string::npos && shape.size() >= written) {
      const std::size_t count = shape.size() - written;
      if (count > dots_letters.size()) fail("at most eight dimensions");
      dots_ = std::max(dots_, count);
      labels = with_dots(labels, count);
    }
    if (labels.size() != shape.size()) fail(fmt::format("{} letters for {}", shape.size(), print(g_.type(id))));
    for (const char label : labels) {
      const bool letter = std::isalpha(static_cast<unsigned char>(label)) != 0 || !std::isprint(label);
      if (!letter) fail(fmt::format("letters, `,`, `...` and `->`, found '{}'", label));
    }
    written_ += labels;
    operands_.push_back(with_diagonals({id, labels}));
    for (std::size_t d = 0; d < operands_.back().labels.size(); ++d)
      add_extent(operands_.back().labels[d], g_.shape(operands_.back().id)[d]);
  }

  void add_extent(char label, std::int64_t found) {
    const auto [extent, fresh] = extents_.emplace(label, found);
    if (fresh || extent->second == found) return;
    if (extent->second != 1 && found != 1) refuse_extents(label, extent->second, found);
    extent->second = std::max(extent->second, found);
  }

  [[noreturn]] void refuse_extents(char label, std::int64_t a, std::int64_t b) const {
    fail(fmt::format("one extent for '{}', found {} and {}", label, a, b));
  }

  /// Replaces two dimensions with the same letter by their diagonal, until each letter occurs once.
  Labelled with_diagonals(Labelled x) const {
    for (std::size_t d = 0; d < x.labels.size();) {
      const char label = x.labels[d];
      const std::size_t other = x.labels.find(label, d + 1);
      if (other == std::string::npos) {
        ++d;
        continue;
      }
      const Shape shape = g_.shape(x.id);
      if (shape[d] != shape[other]) refuse_extents(label, shape[d], shape[other]);
      x.id = diagonal_of(g_, x.id, 0, d, other);
      x.labels.erase(other, 1);
      x.labels.erase(d, 1);
      x.labels += label;
    }
    return x;
  }

  // Replaces `...` by the last `count` letters, which stand for the last dimensions. These dimensions broadcast.
  static std::string with_dots(std::string labels, std::size_t count) {
    const std::size_t at = labels.find("...");
    if (at != std::string::npos) labels.replace(at, 3, dots_letters.substr(dots_letters.size() - count));
    return labels;
  }

  // Returns the result's labels for an equation without an arrow: the dimensions of `...`, then the letters that occur
  // once, in alphabetical order.
  std::string implied() const {
    std::string once;
    for (const auto& [label, extent] : extents_)
      if (dots_letters.find(label) != std::string_view::npos || std::ranges::count(written_, label) == 1) once += label;
    return once;
  }

  void check_result() const {
    for (const char label : result_) {
      if (!extents_.contains(label)) fail(fmt::format("letters of the operands in the result, found '{}'", label));
      if (std::ranges::count(result_, label) > 1)
        fail(fmt::format("each letter once in the result, found '{}' twice", label));
    }
  }

  /// Returns the labels that the result or the operands after i still need.
  std::string later(std::size_t i) const {
    std::string labels = result_;
    for (std::size_t j = i + 1; j < operands_.size(); ++j) labels += operands_[j].labels;
    return labels;
  }

  /// Sums over the dimensions whose labels are not in `needed`.
  Labelled summed(const Labelled& x, const std::string& needed) const {
    Shape dims;
    std::string left;
    for (std::size_t d = 0; d < x.labels.size(); ++d)
      if (has(needed, x.labels[d]))
        left += x.labels[d];
      else
        dims.push_back(static_cast<std::int64_t>(d));
    return dims.empty() ? x : Labelled{g_.call("sum", {x.id}, {{"dims", dims}}), left};
  }

  Labelled ordered(const Labelled& x, const std::string& labels) const {
    const Shape dims = mapped(labels, [&](char label) { return static_cast<std::int64_t>(x.labels.find(label)); });
    return {g_.permute(x.id, dims), labels};
  }

  Shape shape_of(const std::string& labels) const {
    return mapped(labels, [&](char label) { return extents_.at(label); });
  }

  /// Expands each dimension of extent 1 to the extent of its label.
  Labelled expanded(const Labelled& x) const { return {g_.expand(x.id, shape_of(x.labels)), x.labels}; }

  /// Multiplies (batch, m, k) by (batch, k, n). Each of batch, m, k and n stands for several dimensions.
  Labelled multiplied(Labelled a, Labelled b, const std::string& needed) const {
    a = expanded(summed(a, needed + b.labels));
    b = expanded(summed(b, needed + a.labels));
    std::string batch, m, k, n;
    for (const char label : a.labels) (!has(b.labels, label) ? m : has(needed, label) ? batch : k) += label;
    for (const char label : b.labels)
      if (!has(a.labels, label)) n += label;
    const auto count = [&](const std::string& labels) { return element_count(shape_of(labels)); };
    const Id left = g_.reshape(ordered(a, batch + m + k).id, {count(batch), count(m), count(k)});
    const Id right = g_.reshape(ordered(b, batch + k + n).id, {count(batch), count(k), count(n)});
    const Id product = k.empty() ? g_.apply("mul", left, right) : g_.call("matmul", {left, right});
    return {g_.reshape(product, shape_of(batch + m + n)), batch + m + n};
  }

  const Given& g_;
  std::string written_;  // the letters of all operands, as the equation has them
  std::vector<Labelled> operands_;
  std::map<char, std::int64_t> extents_;
  std::size_t dots_ = 0;
  std::string result_;
};

Id einsum_of(const Given& g, const std::string& equation, std::vector<Id> operands) {
  if (operands.empty()) throw Error("einsum: expected at least one operand, found none");
  DType dtype = g.dtype(operands[0]);
  for (const Id id : operands)
    if (g.dtype(id) != dtype) g.refuse("operands of one dtype", id);
  return Einsum(g, equation, operands).run();
}

Id einsum(const Given& g) { return einsum_of(g, g.text("equation", ""), g.tensors("operands")); }

// Returns the letters of the labels of an operand: integers below 52, and `...`.
std::string letters_of_labels(const python::Call& c, const python::Value& labels) {
  const auto* list = labels.as<python::List>();
  if (!list) c.fail("operands", "a list of labels after each tensor, as in einsum(x, [0, 1], y, [1, 2], [0, 2])");
  std::string letters;
  for (const python::Value& label : *list->items) {
    const auto* number = label.as<std::int64_t>();
    if (label.as<python::Dots>())
      letters += "...";
    else if (number && *number >= 0 && *number < 52)
      letters += static_cast<char>(*number < 26 ? 'A' + *number : 'a' + *number - 26);
    else
      c.fail("operands", "labels from 0 to 51");
  }
  return letters;
}

// Evaluates einsum(equation, x, y), or einsum(x, [0, 1], y, [1, 2], [0, 2]) with lists of labels.
python::Value call_einsum(const python::Call& c) {
  if (!python::is_tensor(c.value("equation"))) return call_made<einsum>(c);
  const python::Value& others = c.value("operands");  // a single list has not been unpacked
  python::Values all = {c.value("equation")};
  const python::Values& rest = *others.as<python::List>()->items;
  if (rest.empty() || !rest[0].as<python::List>())
    all.push_back(others);
  else
    all.insert(all.end(), rest.begin(), rest.end());
  std::vector<Id> operands;
  std::string equation;
  std::size_t i = 0;
  for (; i + 1 < all.size(); i += 2) {
    if (!python::is_tensor(all[i])) c.fail("operands", "a tensor before each list of labels");
    operands.push_back(c.session.tensor(all[i]));
    equation += (i == 0 ? "" : ",") + letters_of_labels(c, all[i + 1]);
  }
  if (i < all.size()) equation += "->" + letters_of_labels(c, all[i]);
  return {python::Tensor{einsum_of(Given(c), equation, std::move(operands))}};
}

std::vector<Id> read_einsum(pt2::Call& call) {
  call.ignore({"path"});
  const Given g(call);
  return {einsum_of(g, g.text("equation", ""), call.tensors("tensors"))};
}

// y[…, o] = sum over i and j of x1[…, i] * weight[o, i, j] * x2[…, j] (+ bias[o])
Id bilinear(const Given& g) {
  const Id x1 = g.tensor("input1"), x2 = g.tensor("input2"), weight = g.tensor("weight");
  const Shape a = g.shape(x1), w = g.shape(weight);
  if (w.size() != 3 || a.empty() || a.back() != w[1] || g.shape(x2).empty() || g.shape(x2).back() != w[2])
    g.refuse("inputs (…, in1) and (…, in2) for a weight (out, in1, in2)", weight);
  Id result = Einsum(g, "...i,oij,...j->...o", {x1, weight, x2}).run();
  if (g.has("bias")) result = g.apply("add", result, g.tensor("bias"));
  return result;
}

}  // namespace

// clang-format off
Composites contractions() {
  return {
      {{"bilinear", in_functional | in_torch, "input1, input2, weight, bias=None", call_made<bilinear>},
       {"einsum", in_torch, "equation, *operands", call_einsum}},
      {{"aten.bilinear", read_made<bilinear>}, {"aten.einsum", read_einsum}}};
}
// clang-format on

}  // namespace deplo::ir::torch
