#include "rules/materialize/mma_lowering.h"

#include <bit>
#include <utility>
#include <vector>

#include "ir/hardware/mma.h"
#include "ir/walk.h"
#include "rules/cost/fragments.h"

namespace deplo::rules::materializer {
namespace {

class ProductLowering {
 public:
  ProductLowering(const ir::Loop& loop, KernelBuilder& kernel, Replication& replication, const StageLowering& stages)
      : loop_(loop), kernel_(kernel), replication_(replication), stages_(stages) {
    const std::string fault = ir::mma::find_product(kernel.tile, loop, product_);
    CHECK(fault.empty());
  }

  SumsUnderWay run(ir::Body& to) {
    if (product_.atom->of_warpgroup()) return of_warpgroups(to);
    to.emplace_back(of_warps());
    return {};
  }

 private:
  ir::Loop of_warps() {
    ir::Loop loop = {loop_.axis, 0, 1, loop_.unroll, {}};
    loop.axis.extent = ir::mma::trips(loop_);
    kernel_.scope.emplace_back(loop.axis.name, ir::range_of(loop));
    kernel_.loops.push_back(loop.axis.name);
    const Operand a = rows(loop.body), b = columns(loop.body);
    const Copies& sums = replication_.copies(product_.acc);
    for (const auto& [at_a, left] : a.fragments)
      for (const auto& [at_b, right] : b.fragments)
        multiply(sums, joined(at_a, a.on, at_b, b.on), left, right, loop.body);
    kernel_.loops.pop_back();
    kernel_.scope.pop_back();
    return loop;
  }

  // All products of the loop are one group.
  SumsUnderWay of_warpgroups(ir::Body& to) {
    std::vector<std::string> all;
    const Copies& sums = replication_.copies(product_.acc);
    for (const Instance& instance : replication_.instances(sums.on)) all.push_back(replication_.name(sums, instance));
    to.emplace_back(ir::WgmmaFence{all});
    ir::Loop loop = {loop_.axis, 0, 1, loop_.unroll, {}};
    loop.axis.extent = ir::mma::trips(loop_);
    kernel_.scope.emplace_back(loop.axis.name, ir::range_of(loop));
    const std::uint64_t on_a = registers_of(*product_.a, product_.rows),
                        on_b = registers_of(*product_.b, product_.columns) & ~bit(product_.next);
    for (const Instance& at_a : replication_.instances({on_a, false}))
      for (const Instance& at_b : replication_.instances({on_b, false})) {
        const Instance at = joined(at_a, on_a, at_b, on_b);
        loop.body.emplace_back(ir::Wgmma{sums_at(sums, at), matrix(*product_.a, !product_.a_by_rows, at),
                                         matrix(*product_.b, !product_.b_by_columns, at), product_.atom->name});
      }
    kernel_.scope.pop_back();
    to.emplace_back(std::move(loop));
    to.emplace_back(ir::WgmmaCommit{});
    return all;
  }

  // Where the operand of one instruction begins: the element of the first row, column and turn.
  ir::SharedMatrix matrix(const ir::Load& load, bool transposed, const Instance& instance) const {
    ir::Substitution first = {{loop_.axis.name, ir::var(loop_.axis.name) * product_.atom->k}};
    for (const std::string& axis :
         {product_.row_thread, product_.column_thread, product_.warp, product_.rows, product_.columns, product_.next})
      if (!axis.empty()) first.emplace_back(axis, ir::Expr(0));
    std::vector<ir::Expr> index;
    for (const ir::Expr& e : load.index) index.push_back(ir::simplify(ir::substitute(e, first), kernel_.scope));
    return stages_.matrix(load.buffer, replication_.at(index, instance), transposed);
  }

  std::vector<std::string> sums_at(const Copies& sums, Instance instance) const {
    std::vector<std::string> result;
    for (std::int64_t j = 0; j < product_.atom->n / ir::mma::warp_columns; ++j) {
      set(instance, product_.next, j);
      append_sums(sums, instance, result);
    }
    return result;
  }

  void set(Instance& instance, const std::string& axis, std::int64_t value) const {
    const std::uint64_t mask = bit(axis);
    if (mask != 0) instance[static_cast<std::size_t>(std::countr_zero(mask))] = value;
  }

  // Of 16 x 8 sums those of a thread.
  void append_sums(const Copies& sums, Instance instance, std::vector<std::string>& to) const {
    for (std::int64_t r = 0; r < ir::mma::row_registers; ++r) {
      set(instance, product_.rows, r);
      for (std::int64_t v = 0; v < (sums.on.vector ? 1 : ir::mma::column_registers); ++v) {
        set(instance, product_.columns, v);
        to.push_back(replication_.name(sums, instance));
      }
    }
  }

  struct Part {
    std::string name;
    std::int64_t part = 0;  // the first of its matrices
  };
  struct Operand {
    std::uint64_t on = 0;  // REG axes
    std::vector<std::pair<Instance, Part>> fragments;
  };

  std::uint64_t bit(const std::string& axis) const { return axis.empty() ? 0 : replication_.of_axis(axis).reg; }

  // Of the axes in `mask` that the load depends on.
  std::uint64_t registers_of(const ir::Load& load, const std::string& without) const {
    return replication_.of(load.index).reg & ~bit(without);
  }

  std::string load(const Fragment& fragment, const Instance& instance, ir::Body& to) {
    const std::string& buffer = fragment.load->buffer;
    const ir::Type type = {stages_.dtype_of(buffer), static_cast<int>(product_.atom->packed()) * fragment.matrices};
    kernel_.scope.emplace_back(ir::lane_variable, ir::Interval{0, fragment.matrices - 1});
    std::vector<ir::Expr> index = stages_.place(buffer, replication_.at(fragment.index, instance));
    kernel_.scope.pop_back();
    std::string name = kernel_.fresh("in");
    if (fragment.fetch == Fetch::elements)
      to.emplace_back(ir::Load{name, type, buffer, std::move(index)});
    else
      to.emplace_back(ir::LdMatrix{name, type, buffer, std::move(index), fragment.fetch == Fetch::transposed});
    if (product_.atom->operands != ir::mma::Operands::tf32) return name;
    std::string rounded = kernel_.fresh("v");
    to.emplace_back(ir::Assign{rounded, type, ir::Op::round_tf32, {name}});
    return rounded;
  }

  Operand rows(ir::Body& to) {
    Operand result;
    result.on = registers_of(*product_.a, product_.rows);
    const Fragment fragment = fragment_of_a(product_, loop_.axis.name);
    for (const Instance& instance : replication_.instances({result.on, false}))
      result.fragments.push_back({instance, {load(fragment, instance, to), 0}});
    return result;
  }

  // Two neighbours along the innermost REG axis are one load.
  Operand columns(ir::Body& to) {
    Operand result;
    result.on = registers_of(*product_.b, product_.columns);
    std::string next;
    for (const ir::Axis& axis : kernel_.tile.axes)
      if (axis.bind == ir::Bind::reg && (bit(axis.name) & result.on) != 0) next = axis.extent % 2 == 0 ? axis.name : "";
    const Fragment fragment = fragment_of_b(product_, loop_.axis.name, next);
    const std::size_t place = next.empty() ? 0 : static_cast<std::size_t>(std::countr_zero(bit(next)));
    for (Instance& instance : replication_.instances({result.on, false})) {
      if (!next.empty() && instance[place] % 2 == 1) continue;
      const std::string name = load(fragment, instance, to);
      result.fragments.push_back({instance, {name, 0}});
      if (next.empty()) continue;
      ++instance[place];
      result.fragments.push_back({instance, {name, product_.atom->b_matrices()}});
    }
    return result;
  }

  static Instance joined(const Instance& a, std::uint64_t on_a, const Instance& b, std::uint64_t on_b) {
    Instance result = a;
    for (std::size_t i = 0; i < result.size(); ++i)
      if ((on_b >> i & 1) != 0 && (on_a >> i & 1) == 0) result[i] = b[i];
    return result;
  }

  void multiply(const Copies& sums, const Instance& instance, const Part& a, const Part& b, ir::Body& to) {
    ir::Mma mma = {{}, a.name, b.name, b.part, product_.atom->name};
    append_sums(sums, instance, mma.sums);
    to.emplace_back(std::move(mma));
  }

  const ir::Loop& loop_;
  KernelBuilder& kernel_;
  Replication& replication_;
  const StageLowering& stages_;
  ir::mma::Product product_;
};

}  // namespace

SumsUnderWay lower_products(const ir::Loop& loop, KernelBuilder& kernel, Replication& replication,
                            const StageLowering& stages, ir::Body& to) {
  return ProductLowering(loop, kernel, replication, stages).run(to);
}

}  // namespace deplo::rules::materializer
