#include "ir/hardware/mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/target.h"
#include "ir/walk.h"

namespace deplo::ir::mma {
namespace {

// PTX ISA, "wgmma.mma_async": 8 to 256 columns.
constexpr std::int64_t max_columns = 256;

// PTX ISA, "Matrix shape". Faster atoms come first: those of a warpgroup, from the widest down, and then for each
// operand type the deeper atom before the others.
const std::vector<Atom>& all() {
  static const std::vector<Atom> atoms = [] {
    std::vector<Atom> result;
    for (std::int64_t n = max_columns; n > 0; n -= warp_columns)
      result.push_back({fmt::format("m64n{}k16", n), 64, n, 16, Operands::float16, gpu::warps_of_group});
    result.push_back({"m16n8k16", 16, 8, 16, Operands::float16});
    result.push_back({"m16n8k8", 16, 8, 8, Operands::float16});
    result.push_back({"m16n8k8_tf32", 16, 8, 8, Operands::tf32});
    return result;
  }();
  return atoms;
}

/// The only dimension of an index that depends on the axis; -1 if no dimension or several depend on it.
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

/// Checks that the index steps by 1 with `unit` and by `wide` with `outer` along one dimension, and by 1 with `depth`
/// along another, and that one of these dimensions is the last. Sets `by_depth` to whether `depth` walks the last
/// dimension.
bool walks(const std::vector<Expr>& index, const std::string& unit, const std::string& outer, std::int64_t wide,
           const std::string& depth, bool& by_depth) {
  const int along = dimension_of(index, unit), deep = dimension_of(index, depth);
  const auto last = static_cast<int>(index.size()) - 1;
  by_depth = deep == last;
  return along != deep && (along == last || deep == last) && steps(index, along, unit, 1) &&
         steps(index, along, outer, wide) && steps(index, deep, depth, 1);
}

const Stmt* definition(const Body& body, const std::string& value) {
  for (const Stmt& stmt : body)
    if (defined(stmt) == value) return &stmt;
  return nullptr;
}

/// The type in memory of the elements that the statement rounds to; nullopt if the statement does not round.
std::optional<DType> rounded_by(const Stmt& stmt) {
  const auto* assign = stmt.as<Assign>();
  if (assign == nullptr || std::get_if<std::string>(assign->args.data()) == nullptr) return std::nullopt;
  if (assign->op == Op::round_f16) return DType::f16;
  if (assign->op == Op::round_bf16) return DType::bf16;
  return assign->op == Op::round_tf32 ? std::optional(DType::f32) : std::nullopt;
}

// Calls f(expression) for each index expression that the factor's value depends on.
template <class F>
void for_each_index(const Factor& factor, F&& f) {
  for (const Stmt* stmt : factor.made_by) visit_reads(*stmt, f, [](const std::string&) {});
}

// Checks that the factor depends on `inner`, and that each of its index expressions steps `times` as far with `outer`
// as with `inner`.
bool steps_with(const Factor& factor, const std::string& outer, std::int64_t times, const std::string& inner) {
  bool found = false, all = true;
  for_each_index(factor, [&](const Expr& e) {
    const auto wide = coefficient(e, outer), unit = coefficient(e, inner);
    all &= wide && unit && *wide == times * *unit;
    found |= unit && *unit != 0;
  });
  return found && all;
}

bool defines(const Tile& tile, const std::string& value) {
  bool found = false;
  for_each(tile.body, [&](const Stmt& stmt) { found |= defined(stmt) == value; });
  return found;
}

// Returns the factor that computes the value, if the body contains all its statements and none is an accumulator;
// nullopt otherwise.
std::optional<Factor> factor_of(const Tile& tile, const Body& body, const std::string& value) {
  Factor factor;
  factor.value = value;
  std::vector<std::string> wanted = {value};
  for (std::size_t i = body.size(); i-- > 0;) {
    const Stmt& stmt = body[i];
    if (std::ranges::count(wanted, defined(stmt)) == 0) continue;
    if (stmt.as<Load>() == nullptr && stmt.as<Index>() == nullptr && stmt.as<Assign>() == nullptr) return std::nullopt;
    std::erase(wanted, defined(stmt));
    factor.made_by.insert(factor.made_by.begin(), &stmt);
    const auto gathered = [&](const std::string& name) {
      if (defines(tile, name)) wanted.push_back(name);
    };
    visit_reads(
        stmt, [&](const Expr& e) { for_each_variable(e, gathered); },
        [&](const std::string& name) { wanted.push_back(name); });
  }
  if (!wanted.empty()) return std::nullopt;
  if (const Load* load = factor.load()) factor.slab = find_stage(tile.body, load->buffer);
  return factor;
}

// Checks that the factor's elements are laid out by 8 r + g, or by 2 t + v. For a slab, this is the place from which
// the instruction fetches them. For a factor that threads compute, it is how the value depends on these axes.
bool is_dealt(Factor& factor, const std::string& unit, const std::string& outer, std::int64_t wide,
              const std::string& depth) {
  return factor.in_slab() ? walks(factor.load()->index, unit, outer, wide, depth, factor.along_k)
                          : steps_with(factor, outer, wide, unit);
}

// Checks that the slab's rows are adjacent, as a descriptor requires.
bool rows_follow(const Factor& factor, const std::string& unit, const std::string& depth) {
  const auto last_two = [&](int along) { return along >= static_cast<int>(factor.load()->index.size()) - 2; };
  return last_two(dimension_of(factor.load()->index, unit)) && last_two(dimension_of(factor.load()->index, depth));
}

/// Finds the axes w and j of a product by warpgroups. Returns "", or the reason if there are none.
std::string find_warpgroup(const Tile& tile, const std::vector<const Axis*>& threads, const std::string& depth,
                           Product& product) {
  const std::int64_t tiles = product.atom->n / warp_columns;
  if (!product.b.in_slab()) return fmt::format("{} takes operand b from shared memory", product.atom->name);
  if (threads.size() > 2 && threads.end()[-3]->extent == product.atom->warps &&
      steps_with(product.a, threads.end()[-3]->name, warp_rows, product.row_thread) &&
      !product.b.depends_on(threads.end()[-3]->name))
    product.warp = threads.end()[-3]->name;
  for (const Axis& axis : tile.axes)
    if (axis.bind == Bind::reg && axis.extent == tiles && tiles > 1 && product.next.empty() &&
        steps_with(product.b, axis.name, warp_columns, product.columns) && !product.a.depends_on(axis.name))
      product.next = axis.name;
  for (const auto& [factor, unit] :
       {std::pair{&product.a, product.row_thread}, std::pair{&product.b, product.column_thread}})
    if (factor->in_slab() && !rows_follow(*factor, unit, depth))
      return fmt::format("{} takes consecutive rows of `{}`", product.atom->name, factor->slab->buffer);
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
  // Rates by the compute capability from which they hold. They follow from the peaks of an A100, RTX 3090 and 4090,
  // H100, B200 and RTX 5090 in NVIDIA's architecture whitepapers.
  constexpr std::pair<int, std::int64_t> rates[] = {{80, 1024}, {86, 256}, {90, 2048}, {100, 4096}, {120, 256}};
  std::int64_t found = rates[0].second;
  for (const auto& [since, rate] : rates)
    if (since <= compute_capability(architecture)) found = rate;
  return found;
}

double tensor_cycles(const Atom& atom, std::string_view architecture) {
  // NVIDIA A100 Tensor Core GPU Architecture, table 1: tf32 has half the rate. Luo et al., Benchmarking and Dissecting
  // the Nvidia Hopper GPU Architecture via Microbenchmarking (arXiv 2402.13499): mma.sync reaches 0.63 of the peak on
  // 9.0. The same is assumed for 10.0, because its peak also belongs to another instruction than mma.sync.
  constexpr double schedulers = 4, tf32 = 0.5, reached_by_warps = 0.63;
  const int capability = compute_capability(architecture);
  double rate = static_cast<double>(multiply_adds_per_cycle(architecture)) / schedulers;
  if (atom.operands == Operands::tf32) rate *= tf32;
  if (!atom.of_warpgroup() && capability >= 90 && capability < 120) rate *= reached_by_warps;
  return static_cast<double>(atom.m * atom.n * atom.k) / static_cast<double>(atom.warps) / rate;
}

std::int64_t trips(const Loop& loop) {
  const Atom* atom = find_atom(loop.atom);
  const std::int64_t step = atom != nullptr ? atom->k : loop.step;
  return (loop.axis.extent + step - 1) / step;
}

bool Factor::depends_on(const std::string& axis) const {
  bool found = false;
  for_each_index(*this, [&](const Expr& e) { found |= ir::depends_on(e, axis); });
  return found;
}

std::optional<DType> element_type(const Program& program, const Factor& factor) {
  if (factor.in_slab()) return factor.slab->dtype;
  const auto* const load = factor.made_by.back()->as<Load>();  // earlier statements compute its index
  if (load == nullptr) return rounded_by(*factor.made_by.back());
  if (const Buffer* buffer = program.find(load->buffer)) return buffer->dtype;
  std::optional<DType> kept;
  for_each<Smem>(program.body, [&](const Smem& smem) {
    if (smem.buffer == load->buffer) kept = smem.dtype;
  });
  return kept;
}

std::optional<Factors> find_factors(const Tile& tile, const Body& body, const std::string& rows) {
  const auto* sum = body.empty() ? nullptr : body.back().as<Accum>();
  if (sum == nullptr || sum->op != Op::add) return std::nullopt;
  const auto* value = std::get_if<std::string>(&sum->args.front());
  const Stmt* product = value == nullptr ? nullptr : definition(body, *value);
  const auto* times = product == nullptr ? nullptr : product->as<Assign>();
  if (times == nullptr || times->op != Op::multiply) return std::nullopt;
  const auto *left = std::get_if<std::string>(&times->args[0]), *right = std::get_if<std::string>(&times->args[1]);
  if (left == nullptr || right == nullptr) return std::nullopt;
  auto a = factor_of(tile, body, *left), b = factor_of(tile, body, *right);
  if (!a || !b) return std::nullopt;
  const auto needed = [&](const Stmt& stmt) {
    return &stmt == product || &stmt == &body.back() || std::ranges::count(a->made_by, &stmt) > 0 ||
           std::ranges::count(b->made_by, &stmt) > 0;
  };
  if (!std::ranges::all_of(body, needed)) return std::nullopt;
  if (!a->depends_on(rows)) std::swap(a, b);
  return Factors{std::move(*a), std::move(*b), sum->dst};
}

std::string find_product(const Tile& tile, const Loop& loop, Product& product) {
  product.atom = find_atom(loop.atom);
  if (product.atom == nullptr) return fmt::format("`{}` is not a matrix instruction", loop.atom);
  if (loop.axis.bind != Bind::reduce || !loop.start.is_constant(0) || loop.step != 1 ||
      loop.axis.extent % product.atom->k != 0)
    return fmt::format("{} takes a reduce loop from 0 by 1 whose extent is a multiple of {}", loop.atom,
                       product.atom->k);
  std::vector<const Axis*> threads;
  for (const Axis& axis : tile.axes)
    if (axis.bind == Bind::thread) threads.push_back(&axis);
  if (threads.size() < 2 || threads.back()->extent != column_threads || threads.end()[-2]->extent != row_threads)
    return fmt::format("{} takes {} x {} threads as the last axes", loop.atom, row_threads, column_threads);
  product.row_thread = threads.end()[-2]->name;
  product.column_thread = threads.back()->name;
  std::optional<Factors> factors = find_factors(tile, loop.body, product.row_thread);
  if (!factors)
    return fmt::format("{} takes the sum of a product of two values of the loop and nothing else", loop.atom);
  product.a = std::move(factors->a);
  product.b = std::move(factors->b);
  product.acc = std::move(factors->acc);
  for (const Axis& axis : tile.axes) {
    if ((axis.bind != Bind::reg && axis.bind != Bind::vector) || axis.extent != 2) continue;
    if (axis.bind == Bind::reg && product.rows.empty() &&
        is_dealt(product.a, product.row_thread, axis.name, row_threads, loop.axis.name))
      product.rows = axis.name;
    else if (product.columns.empty() &&
             is_dealt(product.b, axis.name, product.column_thread, column_registers, loop.axis.name))
      product.columns = axis.name;
  }
  const auto apart = [](const Factor& factor, const std::string& one, const std::string& other) {
    return !factor.depends_on(one) && !factor.depends_on(other);
  };
  if (product.rows.empty() || product.columns.empty() || !apart(product.a, product.columns, product.column_thread) ||
      !apart(product.b, product.rows, product.row_thread))
    return fmt::format("{} takes rows 8 r + g and columns 2 t + v of two operands, for registers r and v", loop.atom);
  return product.atom->of_warpgroup() ? find_warpgroup(tile, threads, loop.axis.name, product) : "";
}

std::vector<std::string> find_products(const Program& program, Operands operands) {
  std::vector<std::string> found;
  for_each(program.body, [&](const Stmt& stmt) {
    const Body* body = inner_body(stmt);
    if (body == nullptr) return;
    // the statement that defines each value of the body; a map, because unrolled bodies are long
    std::map<std::string, const Stmt*, std::less<>> made;
    for (const Stmt& inner : *body) made.emplace(defined(inner), &inner);
    const auto maker = [&](const Arg& arg) {
      const auto* value = std::get_if<std::string>(&arg);
      const auto at = value == nullptr ? made.end() : made.find(*value);
      return at == made.end() ? nullptr : at->second;
    };
    const auto is_operand = [&](const Arg& arg) {
      const Stmt* const by = maker(arg);
      if (by == nullptr) return false;
      const auto* load = by->as<Load>();
      const Buffer* buffer = load == nullptr ? nullptr : program.find(load->buffer);
      const std::optional<DType> dtype = buffer != nullptr ? buffer->dtype : rounded_by(*by);
      return dtype && takes(operands, *dtype);
    };
    for (const Stmt& inner : *body) {
      const auto* sum = inner.as<Accum>();
      const Stmt* const by = sum == nullptr || sum->op != Op::add ? nullptr : maker(sum->args.front());
      const auto* times = by == nullptr ? nullptr : by->as<Assign>();
      if (times != nullptr && times->op == Op::multiply && times->args[0] != times->args[1] &&
          is_operand(times->args[0]) && is_operand(times->args[1]))
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
