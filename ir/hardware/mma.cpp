#include "ir/hardware/mma.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/target.h"
#include "ir/walk.h"

namespace deplo::ir::mma {
namespace {

// PTX ISA, "wgmma.mma_async": 8 to 256 columns.
constexpr std::int64_t most_columns = 256;

// PTX ISA, "Matrix shape". The deeper one of a type is the faster one, and comes first; before all, the widest of a
// warpgroup.
const std::vector<Atom>& all() {
  static const std::vector<Atom> atoms = [] {
    std::vector<Atom> result;
    for (std::int64_t n = most_columns; n > 0; n -= warp_columns)
      result.push_back({fmt::format("m64n{}k16", n), 64, n, 16, Operands::float16, warpgroup / warp});
    result.push_back({"m16n8k16", 16, 8, 16, Operands::float16});
    result.push_back({"m16n8k8", 16, 8, 8, Operands::float16});
    result.push_back({"m16n8k8_tf32", 16, 8, 8, Operands::tf32});
    return result;
  }();
  return atoms;
}

/// The one dimension of an index that depends on the axis; -1: none or several.
int dimension_of(const std::vector<Expr>& index, const std::string& axis) {
  int found = -1;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (!depends_on(index[d], axis)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

bool steps(const std::vector<Expr>& index, int dimension, const std::string& axis, std::int64_t by) {
  return dimension >= 0 && dimension_of(index, axis) == dimension &&
         coefficient(index[static_cast<std::size_t>(dimension)], axis) == by;
}

/// Along one dimension the index steps by 1 with `unit`, by `wide` with `outer`; along another by 1 with `depth`; one of
/// them is the last. Sets whether that is the depth's.
bool walks(const std::vector<Expr>& index, const std::string& unit, const std::string& outer, std::int64_t wide,
           const std::string& depth, bool& by_depth) {
  const int along = dimension_of(index, unit), deep = dimension_of(index, depth);
  const auto last = static_cast<int>(index.size()) - 1;
  by_depth = deep == last;
  return along != deep && (along == last || deep == last) && steps(index, along, unit, 1) &&
         steps(index, along, outer, wide) && steps(index, deep, depth, 1);
}

const Load* load_of(const Body& body, const Arg& value) {
  const auto* name = std::get_if<std::string>(&value);
  for (const Stmt& stmt : body)
    if (const auto* load = stmt.as<Load>(); load != nullptr && name != nullptr && load->dst == *name) return load;
  return nullptr;
}

bool any_depends(const std::vector<Expr>& index, const std::string& axis) {
  return std::ranges::any_of(index, [&](const Expr& e) { return depends_on(e, axis); });
}

/// The axes w and j of a product by warpgroups; "" or why there are none.
std::string find_warpgroup(const Tile& tile, const std::vector<const Axis*>& threads, const std::string& depth,
                           Product& product) {
  const std::int64_t tiles = product.atom->n / warp_columns;
  const int row = dimension_of(product.a->index, product.row_thread),
            column = dimension_of(product.b->index, product.column_thread);
  if (threads.size() > 2 && threads.end()[-3]->extent == product.atom->warps &&
      steps(product.a->index, row, threads.end()[-3]->name, warp_rows) &&
      !any_depends(product.b->index, threads.end()[-3]->name))
    product.warp = threads.end()[-3]->name;
  for (const Axis& axis : tile.axes)
    if (axis.bind == Bind::reg && axis.extent == tiles && tiles > 1 && product.next.empty() &&
        steps(product.b->index, column, axis.name, warp_columns) && !any_depends(product.a->index, axis.name))
      product.next = axis.name;
  const auto last_two = [](const Load& load, int along) { return along >= static_cast<int>(load.index.size()) - 2; };
  for (const auto& [load, along] : {std::pair{product.a, row}, std::pair{product.b, column}})
    if (!last_two(*load, along) || !last_two(*load, dimension_of(load->index, depth)))
      return fmt::format("{} takes rows of `{}` that follow each other", product.atom->name, load->buffer);
  if (product.warp.empty() || (product.next.empty() && tiles > 1))
    return fmt::format("{} takes rows 16 w + 8 r + g, for {} warps w, and columns 8 j + 2 t + v, for {} registers j",
                       product.atom->name, product.atom->warps, tiles);
  return "";
}

}  // namespace

std::span<const Atom> atoms() { return all(); }

const Atom* find_atom(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Atom::name);
  return found == all().end() ? nullptr : &*found;
}

std::string_view element_names(const Atom& atom) { return atom.operands == Operands::float16 ? "f16 or bf16" : "f32"; }

std::int64_t multiply_adds_per_cycle(std::string_view architecture) {
  // By compute capability, from this one on: as the peaks of an A100, RTX 3090 and 4090, H100, B200 and RTX 5090 say in
  // NVIDIA's architecture whitepapers.
  constexpr std::pair<int, std::int64_t> rates[] = {{80, 1024}, {86, 256}, {90, 2048}, {100, 4096}, {120, 256}};
  std::int64_t found = rates[0].second;
  for (const auto& [since, rate] : rates)
    if (since <= compute_capability(architecture)) found = rate;
  return found;
}

double tensor_cycles(const Atom& atom, std::string_view architecture) {
  // NVIDIA A100 Tensor Core GPU Architecture, table 1: of tf32 half as many. Luo et al., Benchmarking and Dissecting the
  // Nvidia Hopper GPU Architecture via Microbenchmarking (arXiv 2402.13499): mma.sync reaches 0.63 of the peak on 9.0;
  // the same is taken for 10.0, whose peak is of another instruction, too.
  constexpr double schedulers = 4, tf32 = 0.5, reached_by_warps = 0.63;
  const int capability = compute_capability(architecture);
  double rate = static_cast<double>(multiply_adds_per_cycle(architecture)) / schedulers;
  if (atom.operands == Operands::tf32) rate *= tf32;
  if (!atom.of_warpgroup() && capability >= 90 && capability < 120) rate *= reached_by_warps;
  return static_cast<double>(atom.m * atom.n * atom.k / atom.warps) / rate;
}

std::int64_t trips(const Loop& loop) {
  const Atom* atom = find_atom(loop.atom);
  const std::int64_t step = atom != nullptr ? atom->k : loop.step;
  return (loop.axis.extent + step - 1) / step;
}

std::string find_product(const Tile& tile, const Loop& loop, Product& product) {
  product.atom = find_atom(loop.atom);
  if (product.atom == nullptr) return fmt::format("`{}` is no matrix instruction", loop.atom);
  if (loop.axis.bind != Bind::reduce || !loop.start.is_constant(0) || loop.step != 1 ||
      loop.axis.extent % product.atom->k != 0)
    return fmt::format("{} takes a reduce loop from 0 by 1 of whole {}s", loop.atom, product.atom->k);
  std::vector<const Axis*> threads;
  for (const Axis& axis : tile.axes)
    if (axis.bind == Bind::thread) threads.push_back(&axis);
  if (threads.size() < 2 || threads.back()->extent != column_threads || threads.end()[-2]->extent != row_threads)
    return fmt::format("{} takes {} x {} threads as the last axes", loop.atom, row_threads, column_threads);
  product.row_thread = threads.end()[-2]->name;
  product.column_thread = threads.back()->name;
  const auto* sum = loop.body.size() == 4 ? loop.body[3].as<Accum>() : nullptr;
  const auto* times = loop.body.size() == 4 ? loop.body[2].as<Assign>() : nullptr;
  const bool product_sum = sum != nullptr && times != nullptr && sum->op == Op::add && times->op == Op::multiply &&
                           sum->args.front() == Arg(times->dst);
  if (product_sum) {
    product.a = load_of(loop.body, times->args[0]);
    product.b = load_of(loop.body, times->args[1]);
  }
  if (product.a == nullptr || product.b == nullptr)
    return fmt::format("{} takes the sum of a product of two loads and nothing else", loop.atom);
  if (!any_depends(product.a->index, product.row_thread)) std::swap(product.a, product.b);
  product.acc = sum->dst;
  for (const Axis& axis : tile.axes) {
    if ((axis.bind != Bind::reg && axis.bind != Bind::vector) || axis.extent != 2) continue;
    if (axis.bind == Bind::reg && product.rows.empty() &&
        walks(product.a->index, product.row_thread, axis.name, row_threads, loop.axis.name, product.a_by_rows))
      product.rows = axis.name;
    else if (product.columns.empty() && walks(product.b->index, axis.name, product.column_thread, column_registers,
                                              loop.axis.name, product.b_by_columns))
      product.columns = axis.name;
  }
  const auto apart = [&](const Load& load, const std::string& one, const std::string& other) {
    return !any_depends(load.index, one) && !any_depends(load.index, other);
  };
  if (product.rows.empty() || product.columns.empty() || !apart(*product.a, product.columns, product.column_thread) ||
      !apart(*product.b, product.rows, product.row_thread))
    return fmt::format("{} takes rows 8 r + g and columns 2 t + v of two operands, for registers r and v", loop.atom);
  return product.atom->of_warpgroup() ? find_warpgroup(tile, threads, loop.axis.name, product) : "";
}

std::vector<std::string> find_products(const Program& program, Operands operands) {
  std::vector<std::string> found;
  const auto is_operand = [&](const Load* load) {
    const Buffer* buffer = load == nullptr ? nullptr : program.find(load->buffer);
    return buffer != nullptr && takes(operands, buffer->dtype);
  };
  for_each(program.body, [&](const Stmt& stmt) {
    const Body* body = inner_body(stmt);
    if (body == nullptr) return;
    for (const Stmt& inner : *body) {
      const auto* sum = inner.as<Accum>();
      if (sum == nullptr || sum->op != Op::add) continue;
      for (const Stmt& other : *body)
        if (const auto* times = other.as<Assign>();
            times != nullptr && times->op == Op::multiply && sum->args.front() == Arg(times->dst) &&
            times->args[0] != times->args[1] && is_operand(load_of(*body, times->args[0])) &&
            is_operand(load_of(*body, times->args[1])))
          found.push_back(times->dst);
    }
  });
  return found;
}

bool may_multiply(const Program& program) {
  return !find_products(program, Operands::float16).empty() ||
         (program.allow_tf32 && !find_products(program, Operands::tf32).empty());
}

}  // namespace deplo::ir::mma
