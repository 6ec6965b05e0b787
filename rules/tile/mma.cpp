// mma: computes the sum of a matmul with matrix instructions. `warps_m` x `warps_n` warps share the block's outputs.
// Each thread has the outputs that the instruction leaves in its registers (ir/hardware/mma.h), so the rest of the
// kernel stays unchanged.
//   Tile(…, a1:128=THREAD, …, a3:128=THREAD): … for k in 0..32: # reduce … a1 … a3 …
//     →   Tile(…, a1:2=THREAD, …, a3:2=THREAD, a6:8=THREAD, a7:4=THREAD, a8:4=REG, a9:2=REG, a10:8=REG, a11:2=REG):
//           … for k in 0..32: # reduce mma=m16n8k16
//             … (((a1 * 64) + (a8 * 16)) + (a9 * 8)) + a6 … (((a3 * 64) + (a10 * 8)) + (a7 * 2)) + a11 …
// Instructions of a warpgroup (m64nNk16) distribute rows over a THREAD axis of four warps, and TMA copies their slabs.
// `a=registers` or `b=registers`: the threads load the elements of that operand from memory to registers, without a
// slab:
//   a_smem = Stage(a, …) … in0 = load a_smem[a1, k]   →   … in0 = load a[((a0 * 128) + a1), ((a4 * 32) + k)]
// If an operand is gathered, the index of its row is then loaded in the loop, for the rows of each register:
//   in0 = load at[a1] … for k in 0..32: … in1 = load x[in0, k]
//     →   for k in 0..32: … in2 = load at[…] … in1 = load x[in2, k]
#include "ir/hardware/mma.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

using ir::mma::Atom;

constexpr const char *none = "none", *shared = "shared", *in_registers = "registers";

struct Block {
  std::int64_t m, n;  // numbers of outputs
};

Block block_of(const ir::Program& program, const Matmul& matmul) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  return {axes[matmul.m].extent, axes[matmul.n].extent};
}

// Returns the part of the block that the warps of one instruction (1 or 4) have in a grid of `rows` x `columns` warps.
Block part_of(const Block& block, const Atom& atom, std::int64_t rows, std::int64_t columns) {
  return {block.m * atom.warps / rows, block.n / columns};
}

// Returns the number of fragments of operand a that threads make for warpgroups: one for each instruction along K,
// because a product reads its fragment late. Computed elements are f32 before they are packed, two to a register.
std::int64_t fragments_made(const ir::Loop& reduce, const ir::mma::Factor& a, const Atom& atom) {
  const bool loaded = a.in_slab() || a.made_by.back()->as<ir::Load>() != nullptr;
  return reduce.axis.extent / atom.k * (loaded ? 1 : 1 + atom.packed());
}

// Returns whether a warp's accumulators and operand fragments fit in its registers. Each row and column of atoms has
// registers of operands. A warpgroup has `made` fragments of operand a for each row of atoms.
bool fits(const Block& part, std::int64_t threads, const Atom& atom, std::int64_t made, const Target& target) {
  const std::int64_t sums = part.m * part.n / (ir::gpu::warp * atom.warps);
  const std::int64_t rows = atom.a_matrices() * (part.m / atom.m);
  const std::int64_t operands = atom.of_warpgroup() ? rows * made : rows + atom.b_matrices() * (part.n / atom.n);
  return threads <= target.max_threads && sums <= target.register_floats &&
         sums + operands + (atom.of_warpgroup() ? other_registers_of_warpgroups : other_registers) <=
             thread_registers(threads, target);
}

using Grid = std::pair<std::int64_t, std::int64_t>;  // numbers of warps along the rows and along the columns

bool fits(const Block& block, const Grid& grid, const Atom& atom, std::int64_t made, const Target& target) {
  return fits(part_of(block, atom, grid.first, grid.second), grid.first * grid.second * ir::gpu::warp, atom, made,
              target);
}

// Returns a value that the tile's body defines outside of the loop, and that indexes a load in the loop's body; "" if
// there is none.
std::string gathered_outside(const ir::Tile& tile, const ir::Body& body) {
  const auto is_made_in = [](const ir::Body& in, const std::string& value) {
    return std::ranges::any_of(in, [&](const ir::Stmt& s) { return is_scalar(s) && ir::defined(s) == value; });
  };
  for (const ir::Stmt& stmt : body) {
    const ir::Reads reads = ir::reads(stmt);
    for (const std::string& value : reads.values)
      if (std::ranges::count(reads.axes, value) > 0 && !is_made_in(body, value) && is_made_in(tile.body, value))
        return value;
  }
  return "";
}

// Moves the statements that define these index values into the loop, so that each thread executes them for its
// registers.
ir::Program with_gathers_inside(ir::Program program) {
  const auto matmul = find_matmul(program);
  if (!matmul) return program;
  ir::Body& body = to_edit(program, *matmul->reduce).body;
  auto names = names_of(program);
  for (std::string value; !(value = gathered_outside(tile_of(program), body)).empty();) {
    const ir::Body& outside = tile_of(program).body;
    ir::Stmt made = *std::ranges::find_if(outside, [&](const ir::Stmt& s) { return ir::defined(s) == value; });
    body.insert(body.begin(), std::move(made));
    const std::string inside = fresh_name(names, "in");
    const auto rename = [&](ir::Use, std::string& name) {
      if (name == value) name = inside;
    };
    const auto in_index = [&](ir::Expr& e) { e = ir::substitute(e, {{value, ir::var(inside)}}); };
    for (ir::Stmt& stmt : body)
      ir::for_each_part(stmt, cases{in_index, rename, [](const ir::Axis&) {}, [](const ir::Body&) {}});
  }
  return program;
}

// Returns the two factors that the loop multiplies, the factor of the rows first.
ir::mma::Factors factors_of(const ir::Program& program, const Matmul& matmul) {
  const ir::Tile& tile = tile_of(program);
  auto factors = ir::mma::find_factors(tile, matmul.reduce->body, tile.axes[matmul.m].name);
  CHECK(factors.has_value());
  return *std::move(factors);
}

// Returns legal grids of warps, best first: those with the fewest fragments per product, in blocks of 4 to 8 warps.
std::vector<Grid> grids(const ir::Program& program, const Matmul& matmul, const Atom& atom, const Target& target) {
  const Block block = block_of(program, matmul);
  const ir::mma::Factor a = factors_of(program, matmul).a;
  const std::int64_t made = a.in_slab() ? 0 : fragments_made(*matmul.reduce, a, atom);
  std::vector<std::pair<double, Grid>> scored;
  const std::int64_t max_m = block.m / atom.m, max_n = block.n / atom.n;
  for (const std::int64_t groups : divisors(max_m, 1, max_m))
    for (const std::int64_t columns : divisors(max_n, 1, max_n)) {
      const std::int64_t rows = groups * atom.warps, warps = rows * columns;
      if (!fits(block, {rows, columns}, atom, made, target)) continue;
      const Block part = part_of(block, atom, rows, columns);
      const double loads = 1.0 / static_cast<double>(part.m) + 1.0 / static_cast<double>(part.n);
      const double shortage = std::max(0.0, 1 - static_cast<double>(warps) / 4), excess = warps > 8 ? 1 : 0;
      scored.push_back({loads * (1 + 4 * shortage + excess), {rows, columns}});
    }
  std::ranges::stable_sort(scored, {}, [](const auto& entry) { return entry.first; });
  std::vector<Grid> result;
  for (const auto& [score, grid] : scored) result.push_back(grid);
  return result;
}

// Returns whether only one warp, or only one of a row of warpgroups, reads each element of the operand. Then its
// threads may also load the elements to registers.
bool may_be_in_registers(const ir::Program& program, const Matmul& matmul, const Atom& atom, const Grid& grid,
                         bool rows, const Target& target) {
  const ir::mma::Factors factors = factors_of(program, matmul);
  const ir::mma::Factor& factor = rows ? factors.a : factors.b;
  if (!factor.in_slab() || has_rows_in_lines(*factor.slab)) return false;
  if (!rows) return !atom.of_warpgroup() && grid.first == 1;
  return grid.second == 1 &&
         fits(block_of(program, matmul), grid, atom, fragments_made(*matmul.reduce, factors.a, atom), target);
}

// Removes the operand's slab. Loads then read the operand directly from memory.
ir::Program without_slab(ir::Program program, const ir::Stage& stage) {
  ir::for_each(program.body, [&](ir::Stmt& stmt) {
    if (ir::Body* body = ir::inner_body(stmt))
      std::erase_if(*body, [&](const ir::Stmt& inner) {
        const auto* found = inner.as<ir::Stage>();
        return found != nullptr && found->buffer == stage.buffer;
      });
    auto* load = stmt.as<ir::Load>();
    if (load == nullptr || load->buffer != stage.buffer) return;
    std::vector<ir::Expr> index = stage.origin;
    for (std::size_t s = 0; s < stage.slab.size(); ++s) {
      ir::Expr& e = index[static_cast<std::size_t>(stage.slab[s].dim)];
      e = ir::simplify(e + load->index[s]);
    }
    load->buffer = stage.source;
    load->index = std::move(index);
  });
  return program;
}

ir::Program with_products(ir::Program program, const Atom& atom, std::int64_t rows, std::int64_t columns) {
  using namespace ir::mma;
  const auto matmul = find_matmul(program);
  const Block part = part_of(block_of(program, *matmul), atom, rows, columns);
  to_edit(program, *matmul->reduce).atom = atom.name;
  const auto add = [&](std::int64_t extent, ir::Bind bind) {
    if (extent == 1) return std::string();
    std::string name = ir::fresh_axis(program);
    tile_of(program).axes.push_back({name, extent, bind});
    return name;
  };
  const std::string m = tile_of(program).axes[matmul->m].name, n = tile_of(program).axes[matmul->n].name;
  const std::string w = add(atom.warps, ir::Bind::thread), g = add(row_threads, ir::Bind::thread),
                    t = add(column_threads, ir::Bind::thread);
  const std::string tile_m = add(part.m / atom.m, ir::Bind::reg), r = add(row_registers, ir::Bind::reg);
  const std::string tile_n = add(part.n / atom.n, ir::Bind::reg), j = add(atom.n / warp_columns, ir::Bind::reg),
                    v = add(column_registers, ir::Bind::reg);
  tile_of(program).axes[matmul->m].extent = rows / atom.warps;
  tile_of(program).axes[matmul->n].extent = columns;
  ir::substitute_axes(program,
                      {{m, position({{m, part.m}, {tile_m, atom.m}, {w, warp_rows}, {r, row_threads}, {g, 1}})},
                       {n, position({{n, part.n}, {tile_n, atom.n}, {j, warp_columns}, {t, 2}, {v, 1}})}});
  return program;
}

// Lets TMA copy the slabs of warpgroups, or cp.async if their rows are in lines. Returns false if neither can copy a
// slab in the required layout.
bool stage_for_warpgroups(ir::Program& program, const Target& target) {
  ir::mma::Product product;
  CHECK(ir::mma::find_product(tile_of(program), *products_loop(tile_of(program).body), product).empty());
  const std::string a = product.a.in_slab() ? product.a.slab->buffer : "", b = product.b.slab->buffer;
  int missing = a.empty() ? 1 : 2;
  ir::Tile& tile = tile_of(program);
  for (const ChunkStage& at : chunk_stages(tile)) {
    ir::Stage& stage = stage_at(tile, at);
    const bool left = stage.buffer == a;
    if (!left && stage.buffer != b) continue;
    const bool transposed = !(left ? product.a : product.b).along_k;
    const std::int64_t rows = left ? product.atom->m : product.atom->n;
    auto layout = has_rows_in_lines(stage) ? warpgroup_layout_in_lines(program, stage, transposed, rows,
                                                                       scope_in(tile, &loop_at(tile, at.loop)), target)
                                           : warpgroup_layout(program, stage, transposed, rows);
    if (!layout) return false;
    stage = *std::move(layout);
    put_wait(tile, at.loop);
    --missing;
  }
  return missing == 0;
}

// Returns why the atom cannot compute the products of a matmul; "" if it can. ldmatrix reads rows of 16 bytes, which
// must begin at multiples of 16 bytes in the slabs.
std::string obstacle(const ir::Program& program, const Matmul& matmul, const Atom& atom, const Target& target) {
  if (atom.of_warpgroup() && !target.wgmma) return "no matrix instructions of warpgroups on this target";
  if (matmul.reduce->axis.extent % atom.k != 0) return "the chunk's depth is not a multiple of the atom's";
  const Block block = block_of(program, matmul);
  if (block.m % atom.m != 0 || block.n % atom.n != 0) return "the block's size is not a multiple of the atom's";
  const ir::Tile& tile = tile_of(program);
  if (!ir::mma::find_factors(tile, matmul.reduce->body, tile.axes[matmul.m].name))
    return "the loop makes more than one product of two values";
  const std::vector<Grid> warps = grids(program, matmul, atom, target);
  if (warps.empty()) return "no grid of warps has enough registers for the block";
  ir::Program made = with_products(program, atom, warps.front().first, warps.front().second);
  ir::mma::Product product;
  if (std::string fault = ir::mma::find_product(tile_of(made), *products_loop(tile_of(made).body), product);
      !fault.empty())
    return fault;
  const bool tf32 = atom.operands == ir::mma::Operands::tf32;
  const auto a = ir::mma::element_type(made, product.a), b = ir::mma::element_type(made, product.b);
  if (!a || !b) return "an operand is computed and not rounded";
  if (!atom.takes(*a) || !atom.takes(*b)) return tf32 ? "the operands are not f32" : "the operands are not 16-bit";
  for (const ir::mma::Factor* factor : {&product.a, &product.b})
    if (factor->in_slab() && (factor->along_k || !tf32) &&
        factor->slab->slab.back().extent * ir::bytes(factor->slab->dtype) % 16 != 0)
      return "the rows of a slab are not a multiple of the matrices";
  if (*a != *b) return "the operands have two types";
  if (!atom.of_warpgroup()) return "";
  if (!stage_for_warpgroups(made, target)) return "neither TMA nor cp.async can copy an operand's slab with a swizzle";
  return fits_shared(made, target) ? "" : "no shared memory left for barriers and alignment";
}

Verdict decide_mma(const ir::Program& given, const Target& target, const Pins& pins) {
  if (!target.mma) return Skip{"no matrix instructions on this target (CUDA has them from sm_80 on)"};
  if (const auto name = pins.text("atom"); name && *name == none) return Skip{"atom=none: threads multiply"};
  const ir::Program program = with_gathers_inside(given);
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  if (pins.empty()) {
    std::vector<Value> groups, atoms;
    std::string why;
    for (const Atom& atom : ir::mma::atoms()) {
      if (atom.operands == ir::mma::Operands::tf32 && !program.allow_tf32) continue;
      std::string fault = obstacle(program, *matmul, atom, target);
      if (fault.empty()) (atom.of_warpgroup() ? groups : atoms).emplace_back(atom.name);
      // The reason of the tf32 atom if tf32 is allowed, otherwise of the first atom.
      if (!atom.of_warpgroup() && (why.empty() || program.allow_tf32)) why = std::move(fault);
    }
    // Warpgroups come before warps: they read operands once, directly from the slabs.
    std::ranges::move(atoms, std::back_inserter(groups));
    if (groups.empty()) return Skip{std::move(why)};
    groups.emplace_back(std::string(none));
    return Fork{"atom", std::move(groups)};
  }
  const Atom& atom = *ir::mma::find_atom(*pins.text("atom"));
  const auto rows = pins.integer("warps_m"), columns = pins.integer("warps_n");
  std::vector<Value> options;
  for (const auto& [m, n] : grids(program, *matmul, atom, target))
    if (!rows || *rows == m) add_option(options, rows ? n : m);
  if (!rows) return Fork{"warps_m", std::move(options)};
  if (!columns) return Fork{"warps_n", std::move(options)};
  for (const std::string_view operand : {"a", "b"})
    if (!pins.text(operand) && may_be_in_registers(program, *matmul, atom, {*rows, *columns}, operand == "a", target))
      return Fork{std::string(operand), {Value(std::string(shared)), Value(std::string(in_registers))}};
  return Apply{};
}

ir::Program apply_mma(ir::Program program, const Target& target, const Pins& pins) {
  const Atom& atom = *ir::mma::find_atom(*pins.text("atom"));
  program = with_gathers_inside(std::move(program));
  for (const std::string_view operand : {"a", "b"}) {
    if (pins.text(operand).value_or(shared) == shared) continue;
    const ir::mma::Factors factors = factors_of(program, *find_matmul(program));
    const ir::Stage slab = *(operand == "a" ? factors.a : factors.b).slab;
    program = with_gathers_inside(without_slab(std::move(program), slab));
  }
  program = with_products(std::move(program), atom, pins.integer("warps_m").value(), pins.integer("warps_n").value());
  if (atom.of_warpgroup()) CHECK(stage_for_warpgroups(program, target));
  return program;
}

}  // namespace

extern const Rule mma = {
    .name = "mma",
    .summary = "products of 16-bit or tf32 values by matrix instructions of a grid of warps",
    .knobs = {{"atom", KnobType::text, none},
              {"warps_m", KnobType::integer},
              {"warps_n", KnobType::integer},
              {"a", KnobType::text, shared},
              {"b", KnobType::text, shared}},
    .decide = decide_mma,
    .apply = apply_mma,
};

}  // namespace deplo::rules
