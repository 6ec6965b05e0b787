#include "rules/materialize/mma_lowering.h"

#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/hardware/mma.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/fragments.h"
#include "rules/materialize/factor_elements.h"

namespace deplo::rules::materializer {
namespace {

std::string text(const std::vector<ir::Expr>& index, const ir::Ranges& scope) {
  std::string result;
  for (const ir::Expr& e : index) result.append(ir::print(ir::simplify(e, scope))) += ',';
  return result;
}

// Returns instance `a`, with the positions of `b` along the axes that are in `on_b` but not in `on_a`.
Instance joined(const Instance& a, std::uint64_t on_a, const Instance& b, std::uint64_t on_b) {
  Instance result = a;
  for (std::size_t i = 0; i < result.size(); ++i)
    if ((on_b >> i & 1) != 0 && (on_a >> i & 1) == 0) result[i] = b[i];
  return result;
}

// Lowers the products of a loop, for warps or for warpgroups. These two differ in how operands are read. They share the
// sums, the factors that threads make, and the turns.
class ProductLowering {
 public:
  ProductLowering(const ir::Loop& loop, KernelBuilder& kernel, const Replication& replication,
                  const StagePlaces& stages, const KeptFragments& kept)
      : loop_(loop),
        kernel_(kernel),
        replication_(replication),
        stages_(stages),
        elements_(loop.axis.name, kernel, replication, stages) {
    const std::string fault = ir::mma::find_product(kernel.tile, loop, product_);
    CHECK(fault.empty());
    const auto dtype = ir::mma::element_type(kernel.tile_program, product_.b);
    CHECK(dtype.has_value());
    element_ = *dtype;
    const ir::Load* load = product_.a.load();
    if (const auto found = load == nullptr ? kept.end() : kept.find(load->buffer); found != kept.end())
      kept_ = &found->second;
  }

  UnderWay run(ir::Body& to) {
    if (product_.atom->of_warpgroup()) return of_warpgroups(to);
    if (kept_ == nullptr)
      to.emplace_back(loop_of_turns([&](ir::Body& body) { multiply_turn(body); }));
    else
      written_out(to);
    return {};
  }

  // Packs the values that a thread writes. The thread that writes element (row, k) of a fragment is the one that must
  // have it.
  void keep(const ir::Write& write, KeptFragments::mapped_type& kept, ir::Body& to) {
    const Dependence on = replication_.of(write.index);
    std::map<std::string, std::string> written;  // names of the first lanes' values, by index
    for (const Instance& instance : replication_.instances(on))
      written[text(replication_.at(write.index, instance), kernel_.scope)] =
          std::get<std::string>(replication_.at({write.value}, instance)[0]);
    const auto packed = static_cast<int>(product_.atom->packed());
    const ir::Type type = {element_, packed * static_cast<int>(product_.atom->a_matrices())};
    const ir::Substitution place = element_of_a(product_, loop_.axis.name);
    const std::vector<Instance> instances = replication_.instances({registers_of(product_.a, product_.rows), false});
    for (turn_ = 0; *turn_ < ir::mma::trips(loop_); ++*turn_)
      for (const Instance& instance : instances) {
        std::vector<std::string> values;
        for (int lane = 0; lane < type.lanes; lane += on.vector ? packed : 1) {
          const auto value = written.find(
              text(elements_.placed(product_.a.load()->index, elements_.at_lane(place, lane, turn()), instance),
                   kernel_.scope));
          CHECK(value != written.end());
          values.push_back(value->second);
        }
        const std::string name = kernel_.fresh("v");
        to.emplace_back(ir::Pack{name, type, std::move(values)});
        kept[{*turn_, instance}] = name;
      }
    turn_.reset();
  }

 private:
  // Returns a loop over the turns. `multiply` emits the products of one turn.
  template <class F>
  ir::Loop loop_of_turns(F&& multiply) {
    ir::Loop loop = {loop_.axis, 0, 1, loop_.unroll, {}};
    loop.axis.extent = ir::mma::trips(loop_);
    kernel_.scope.emplace_back(loop.axis.name, ir::range_of(loop));
    multiply(loop.body);
    kernel_.scope.pop_back();
    return loop;
  }

  // Emits all turns one after the other. Each turn has its own registers.
  void written_out(ir::Body& to) {
    for (turn_ = 0; *turn_ < ir::mma::trips(loop_); ++*turn_) multiply_turn(to);
    turn_.reset();
  }

  void multiply_turn(ir::Body& to) {
    const Operand a = rows(to), b = columns(to);
    const Copies& sums = replication_.copies(product_.acc);
    for (const auto& [at_a, left] : a.fragments)
      for (const auto& [at_b, right] : b.fragments) multiply(sums, joined(at_a, a.on, at_b, b.on), left, right, to);
  }

  // All products of the loop form one group.
  UnderWay of_warpgroups(ir::Body& to) {
    std::vector<std::string> all;
    const Copies& sums = replication_.copies(product_.acc);
    for (const Instance& instance : replication_.instances(sums.on)) all.push_back(replication_.name(sums, instance));
    const std::uint64_t on_a = registers_of(product_.a, product_.rows),
                        on_b = registers_of(product_.b, product_.columns) & ~bit(product_.next);
    const std::vector<Instance> of_a = replication_.instances({on_a, false}),
                                of_b = replication_.instances({on_b, false});
    std::vector<std::string> fragments;  // one for each turn and each instance in of_a
    if (!product_.a.in_slab()) fragments = all_rows(of_a, to);
    to.emplace_back(ir::WgmmaFence{all, fragments});
    const auto multiply = [&](std::size_t turn, ir::Body& body) {
      for (std::size_t i = 0; i < of_a.size(); ++i)
        for (const Instance& at_b : of_b) {
          const Instance at = joined(of_a[i], on_a, at_b, on_b);
          ir::Wgmma wgmma = {sums_at(sums, at), {}, matrix(product_.b, at), product_.atom->name};
          if (fragments.empty())
            wgmma.a = matrix(product_.a, at);
          else
            wgmma.a = fragments[turn * of_a.size() + i];
          body.emplace_back(std::move(wgmma));
        }
    };
    if (fragments.empty()) to.emplace_back(loop_of_turns([&](ir::Body& body) { multiply(0, body); }));
    const std::size_t turns = fragments.size() / of_a.size();  // number of turns that are written out
    for (std::size_t turn = 0; turn < turns; ++turn) {
      turn_ = static_cast<std::int64_t>(turn);
      multiply(turn, to);
    }
    turn_.reset();
    to.emplace_back(ir::WgmmaCommit{});
    return {std::move(all), !fragments.empty()};
  }

  // Registers must not change while a product reads them, so each turn has its own registers.
  std::vector<std::string> all_rows(const std::vector<Instance>& instances, ir::Body& to) {
    std::vector<std::string> fragments;
    for (turn_ = 0; *turn_ < ir::mma::trips(loop_); ++*turn_)
      for (const Instance& instance : instances)
        fragments.push_back(kept_ != nullptr ? kept_->at({*turn_, instance})
                                             : made(product_.a, element_of_a(product_, loop_.axis.name),
                                                    product_.atom->a_matrices(), instance, to));
    turn_.reset();
    return fragments;
  }

  // Returns the operand of one instruction, which begins at the element of the first row, column and turn.
  ir::SharedMatrix matrix(const ir::mma::Factor& factor, const Instance& instance) const {
    const ir::Load& load = *factor.load();
    ir::Substitution first = {{loop_.axis.name, turn() * product_.atom->k}};
    for (const std::string& axis :
         {product_.row_thread, product_.column_thread, product_.warp, product_.rows, product_.columns, product_.next})
      if (!axis.empty()) first.emplace_back(axis, ir::Expr(0));
    std::vector<ir::Expr> index;
    for (const ir::Expr& e : load.index) index.push_back(ir::simplify(ir::substitute(e, first), kernel_.scope));
    return stages_.matrix(load.buffer, replication_.at(index, instance), !factor.along_k);
  }

  // Returns the turn as a variable of the kernel's loop or, if the turns are written out, as a number.
  ir::Expr turn() const { return turn_ ? ir::Expr(*turn_) : ir::var(loop_.axis.name); }

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

  // Appends the thread's share of an instruction's 16 x 8 sums.
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
    std::int64_t part = 0;  // the first of the fragment's matrices
  };
  struct Operand {
    std::uint64_t on = 0;  // REG axes that the operand depends on
    std::vector<std::pair<Instance, Part>> fragments;
  };

  std::uint64_t bit(const std::string& axis) const { return axis.empty() ? 0 : replication_.of_axis(axis).reg; }

  // Returns the REG axes that the factor depends on, except the axis `without`.
  std::uint64_t registers_of(const ir::mma::Factor& factor, const std::string& without) const {
    std::uint64_t on = 0;
    for (const ir::Axis& axis : kernel_.tile.axes)
      if (factor.depends_on(axis.name)) on |= bit(axis.name);
    return on & ~bit(without);
  }

  std::string load(const Fragment& fragment, const Instance& instance, ir::Body& to) {
    const std::string& buffer = fragment.load->buffer;
    const ir::Type type = {stages_.dtype_of(buffer), static_cast<int>(product_.atom->packed()) * fragment.matrices};
    kernel_.scope.emplace_back(ir::lane_variable, ir::Interval{0, fragment.matrices - 1});
    std::vector<ir::Expr> at = fragment.index;
    if (turn_)
      for (ir::Expr& e : at) e = ir::substitute(e, {{loop_.axis.name, turn()}});
    std::vector<ir::Expr> index = stages_.place(buffer, replication_.at(at, instance));
    kernel_.scope.pop_back();
    std::string name = kernel_.fresh("in");
    if (fragment.fetch == Fetch::elements)
      to.emplace_back(ir::Load{name, type, buffer, std::move(index)});
    else
      to.emplace_back(ir::LdMatrix{name, type, buffer, std::move(index), fragment.fetch == Fetch::transposed});
    return rounded(name, type, to);
  }

  // Returns a fragment that each thread makes from its own elements.
  std::string made(const ir::mma::Factor& factor, const ir::Substitution& place, std::int64_t matrices,
                   const Instance& instance, ir::Body& to) {
    const ir::Type type = {element_, static_cast<int>(product_.atom->packed() * matrices)};
    return rounded(elements_.pack(factor, type, place, turn(), instance, to), type, to);
  }

  std::string rounded(const std::string& fragment, ir::Type type, ir::Body& to) {
    if (product_.atom->operands != ir::mma::Operands::tf32) return fragment;
    std::string name = kernel_.fresh("v");
    to.emplace_back(ir::Assign{name, type, ir::Op::round_tf32, {fragment}});
    return name;
  }

  // Returns an operand with one fragment for each instance: fragment_at(instance).
  template <class F>
  Operand operand_of(std::uint64_t on, F&& fragment_at) {
    Operand result = {on, {}};
    for (const Instance& instance : replication_.instances({on, false}))
      result.fragments.push_back({instance, {fragment_at(instance), 0}});
    return result;
  }

  Operand made_operand(const ir::mma::Factor& factor, const std::string& unit, const ir::Substitution& place,
                       std::int64_t matrices, ir::Body& to) {
    return operand_of(registers_of(factor, unit),
                      [&](const Instance& instance) { return made(factor, place, matrices, instance, to); });
  }

  Operand rows(ir::Body& to) {
    const std::uint64_t on = registers_of(product_.a, product_.rows);
    if (kept_ != nullptr) return operand_of(on, [&](const Instance& at) { return kept_->at({*turn_, at}); });
    if (!product_.a.in_slab())
      return made_operand(product_.a, product_.rows, element_of_a(product_, loop_.axis.name),
                          product_.atom->a_matrices(), to);
    const Fragment fragment = fragment_of_a(product_, loop_.axis.name);
    return operand_of(on, [&](const Instance& at) { return load(fragment, at, to); });
  }

  // Two neighbours along the innermost REG axis are loaded by one instruction.
  Operand columns(ir::Body& to) {
    if (!product_.b.in_slab())
      return made_operand(product_.b, product_.columns, element_of_b(product_, loop_.axis.name),
                          product_.atom->b_matrices(), to);
    Operand result;
    result.on = registers_of(product_.b, product_.columns);
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

  void multiply(const Copies& sums, const Instance& instance, const Part& a, const Part& b, ir::Body& to) {
    ir::Mma mma = {{}, a.name, b.name, b.part, product_.atom->name};
    append_sums(sums, instance, mma.sums);
    to.emplace_back(std::move(mma));
  }

  const ir::Loop& loop_;
  KernelBuilder& kernel_;
  const Replication& replication_;
  const StagePlaces& stages_;
  FactorElements elements_;
  const KeptFragments::mapped_type* kept_ = nullptr;  // the fragments of operand a that were kept in registers
  ir::mma::Product product_;
  ir::DType element_ = ir::DType::f32;  // the type of both operands' elements
  std::optional<std::int64_t> turn_;    // the turn that is being written out, if the kernel has no loop
};

}  // namespace

void keep_fragments(const ir::Write& write, KernelBuilder& kernel, const Replication& replication,
                    const StagePlaces& stages, KeptFragments& kept, ir::Body& to) {
  const ir::Loop* reader = nullptr;
  ir::for_each<ir::Loop>(kernel.tile.body, [&](const ir::Loop& loop) {
    if (!loop.atom.empty() && loads(loop.body, write.buffer)) reader = &loop;
  });
  CHECK(reader != nullptr);
  ProductLowering(*reader, kernel, replication, stages, {}).keep(write, kept[write.buffer], to);
}

UnderWay lower_products(const ir::Loop& loop, KernelBuilder& kernel, const Replication& replication,
                        const StagePlaces& stages, const KeptFragments& kept, ir::Body& to) {
  return ProductLowering(loop, kernel, replication, stages, kept).run(to);
}

}  // namespace deplo::rules::materializer
