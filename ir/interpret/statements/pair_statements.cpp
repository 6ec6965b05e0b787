// The statements of Kernel IR that only CPUs have: copies as pairs, transposed copies, and dot products of pairs.
#include <fmt/format.h>

#include <array>

#include "ir/hardware/pairs.h"
#include "ir/interpret/statements/statements.h"

namespace deplo::ir::exec {
namespace {

using pairs::depth;

struct RunCopyPairs {
  Access to;
  std::array<Access, depth> from;
  std::array<std::size_t, depth> rows;  // temporary values that hold the source's rows

  void operator()(Machine& m, Mask mask) {
    for (std::size_t i = 0; i < depth; ++i) m.load(from[i], rows[i], mask);
    const Offsets offsets = m.locate(to, mask);
    Shared& buffer = m.shared.buffers[static_cast<std::size_t>(to.buffer)];
    for (int l = 0; l < m.lanes.count; ++l) {
      if (mask != nullptr && mask[l] == 0) continue;
      for (int element = 0; element < to.lanes; ++element) {
        const double value = m.lanes.element(rows[static_cast<std::size_t>(element % depth)], element / depth)[l];
        m.shared.write(buffer, buffer.cells[static_cast<std::size_t>(offsets[l] + element)], l,
                       m.stored(buffer, value));
      }
    }
  }
};

struct RunCopyTransposed {
  std::vector<Access> to, from;
  std::vector<std::size_t> rows;  // temporary values that hold the source's rows

  void operator()(Machine& m, Mask mask) {
    for (std::size_t j = 0; j < from.size(); ++j) m.load(from[j], rows[j], mask);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Offsets offsets = m.locate(to[i], mask);
      Shared& buffer = m.shared.buffers[static_cast<std::size_t>(to[i].buffer)];
      for (int l = 0; l < m.lanes.count; ++l) {
        if (mask != nullptr && mask[l] == 0) continue;
        for (std::size_t j = 0; j < from.size(); ++j)
          m.shared.write(buffer, buffer.cells[static_cast<std::size_t>(offsets[l]) + j], l,
                         m.stored(buffer, m.lanes.element(rows[j], static_cast<int>(i))[l]));
      }
    }
  }
};

struct RunDotPairs {
  Access a, b;
  std::size_t pair, wide;  // temporary values that hold the operands
  std::size_t sums;

  void operator()(Machine& m, Mask mask) {
    m.load(a, pair, mask);
    m.load(b, wide, mask);
    for (int group = 0; group < b.lanes / depth; ++group)
      for (int l = 0; l < m.lanes.count; ++l) {
        if (!is_active(mask, l)) continue;
        std::array<double, depth> left{}, right{};
        for (int k = 0; k < depth; ++k) {
          left[static_cast<std::size_t>(k)] = m.lanes.element(pair, k)[l];
          right[static_cast<std::size_t>(k)] = m.lanes.element(wide, group * depth + k)[l];
        }
        double& sum = m.lanes.element(sums, group)[l];
        sum = m.arithmetic.dot(sum, left, right);
      }
  }
};

}  // namespace

void compile(Compiler& c, const CopyPairs& s) {
  if (static_cast<std::size_t>(s.dim) >= s.at.size()) c.fail("expected a dimension of " + s.source);
  RunCopyPairs run{c.access(s.buffer, s.index, depth * pairs::lanes),
                   {c.access(s.source, s.at, pairs::lanes), c.access(s.source, s.next(), pairs::lanes)},
                   {c.define("even rows", pairs::lanes), c.define("odd rows", pairs::lanes)}};
  if (!run.to.shared) c.fail("expected a shared buffer, found " + s.buffer);
  c.emit(std::move(run));
}

void compile(Compiler& c, const CopyTransposed& s) {
  if (s.index.size() < 2) c.fail("expected two dimensions of " + s.buffer);
  if (static_cast<std::size_t>(s.dim) >= s.at.size()) c.fail("expected a dimension of " + s.source);
  RunCopyTransposed run;
  for (int i = 0; i < s.size; ++i) {
    std::vector<Expr> row = s.index;
    row.end()[-2] = row.end()[-2] + i;
    run.to.push_back(c.access(s.buffer, row, s.size));
    run.from.push_back(c.access(s.source, s.row(i), s.size));
    run.rows.push_back(c.define(fmt::format("row {} of a block", i), s.size));
  }
  if (!run.to.front().shared) c.fail("expected a shared buffer, found " + s.buffer);
  c.emit(std::move(run));
}

void compile(Compiler& c, const DotPairs& s) {
  const Operand sums = c.operand(s.acc, pairs::lanes);
  if (sums.lanes != pairs::lanes) c.fail("the lanes of " + s.acc + " do not agree");
  c.emit(RunDotPairs{c.access(s.a, s.at_a, depth), c.access(s.b, s.at_b, depth * pairs::lanes),
                     c.define("a pair", depth), c.define("pairs", depth * pairs::lanes), sums.value});
}

}  // namespace deplo::ir::exec
