// mma: the sum of a matmul by matrix instructions. `warps_m` x `warps_n` warps share the block's outputs, and each thread
// has those that the instruction leaves in its registers (ir/mma.h): so the rest of the kernel stays as it is.
//   Tile(…, a1:128=THREAD, …, a3:128=THREAD): … for k in 0..32: # reduce … a1 … a3 …
//     →   Tile(…, a1:2=THREAD, …, a3:2=THREAD, a6:8=THREAD, a7:4=THREAD, a8:4=REG, a9:2=REG, a10:8=REG, a11:2=REG):
//           … for k in 0..32: # reduce mma=m16n8k16
//             … (((a1 * 64) + (a8 * 16)) + (a9 * 8)) + a6 … (((a3 * 64) + (a10 * 8)) + (a7 * 2)) + a11 …
#include "ir/mma.h"

#include <algorithm>
#include <utility>

#include "ir/float16.h"
#include "ir/walk.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/common.h"

namespace deplo::rules {
namespace {

using ir::mma::Atom;

constexpr const char* none = "none";

struct Block {
  std::int64_t m, n;  // outputs
};

Block block_of(const ir::Program& program, const Matmul& matmul) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  return {axes[matmul.m].extent, axes[matmul.n].extent};
}

// A warp's fragments, besides the sums: each row and column of atoms has two registers of operands.
bool fits(const Block& warp, std::int64_t threads, const Atom& atom, const Target& target) {
  const std::int64_t sums = warp.m * warp.n / ir::mma::warp;
  const std::int64_t operands = atom.a_matrices() * (warp.m / atom.m) + atom.b_matrices() * (warp.n / atom.n);
  return threads <= target.max_threads && sums <= target.register_floats &&
         sums + operands + other_registers <= thread_registers(threads, target);
}

// Legal grids of warps, best first: the fewest fragments for each product, in blocks of 4 to 8 warps.
std::vector<std::pair<std::int64_t, std::int64_t>> grids(const Block& block, const Atom& atom, const Target& target) {
  std::vector<std::pair<double, std::pair<std::int64_t, std::int64_t>>> scored;
  const std::int64_t most_m = block.m / atom.m, most_n = block.n / atom.n;
  for (const std::int64_t rows : divisors(most_m, 1, most_m))
    for (const std::int64_t columns : divisors(most_n, 1, most_n)) {
      const std::int64_t warps = rows * columns;
      const Block warp = {block.m / rows, block.n / columns};
      if (!fits(warp, warps * ir::mma::warp, atom, target)) continue;
      const double loads = 1.0 / static_cast<double>(warp.m) + 1.0 / static_cast<double>(warp.n);
      const double few = std::max(0.0, 1 - static_cast<double>(warps) / 4), many = warps > 8 ? 1 : 0;
      scored.push_back({loads * (1 + 4 * few + many), {rows, columns}});
    }
  std::ranges::stable_sort(scored, {}, [](const auto& each) { return each.first; });
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const auto& [score, grid] : scored) result.push_back(grid);
  return result;
}

ir::Expr position(const std::string& warp, std::int64_t each, const std::string& tile, std::int64_t atom,
                  const ir::Expr& within) {
  return ir::var(warp) * each + (tile.empty() ? ir::Expr(0) : ir::var(tile) * atom) + within;
}

ir::Program with_products(ir::Program program, const Atom& atom, std::int64_t rows, std::int64_t columns) {
  const auto matmul = find_matmul(program);
  const Block block = block_of(program, *matmul), warp = {block.m / rows, block.n / columns};
  to_edit(program, *matmul->reduce).atom = std::string(atom.name);
  const auto add = [&](std::int64_t extent, ir::Bind bind) {
    std::string name = ir::fresh_axis(program);
    tile_of(program).axes.push_back({name, extent, bind});
    return name;
  };
  const std::string m = tile_of(program).axes[matmul->m].name, n = tile_of(program).axes[matmul->n].name;
  const std::string g = add(ir::mma::row_threads, ir::Bind::thread), t = add(ir::mma::column_threads, ir::Bind::thread);
  const std::string tile_m = warp.m == atom.m ? "" : add(warp.m / atom.m, ir::Bind::reg);
  const std::string r = add(ir::mma::row_registers, ir::Bind::reg);
  const std::string tile_n = warp.n == atom.n ? "" : add(warp.n / atom.n, ir::Bind::reg);
  const std::string v = add(ir::mma::column_registers, ir::Bind::reg);
  tile_of(program).axes[matmul->m].extent = rows;
  tile_of(program).axes[matmul->n].extent = columns;
  ir::substitute_axes(program,
                      {{m, position(m, warp.m, tile_m, atom.m, ir::var(r) * ir::mma::row_threads + ir::var(g))},
                       {n, position(n, warp.n, tile_n, atom.n, ir::var(t) * ir::mma::column_registers + ir::var(v))}});
  return program;
}

// Why the products of a matmul are none for an atom; "" where they are. Rows of 16 bytes, which ldmatrix reads, begin
// at multiples of that in the slabs.
std::string obstacle(const ir::Program& program, const Matmul& matmul, const Atom& atom, const Target& target) {
  if (matmul.reduce->axis.extent % atom.k != 0) return "a chunk is no whole number of atoms deep";
  const Block block = block_of(program, matmul);
  if (block.m % atom.m != 0 || block.n % atom.n != 0) return "the block is no whole number of atoms";
  const std::vector<std::pair<std::int64_t, std::int64_t>> warps = grids(block, atom, target);
  if (warps.empty()) return "no grid of warps has registers for the block";
  const ir::Program made = with_products(program, atom, warps.front().first, warps.front().second);
  const ir::Loop* marked = nullptr;
  ir::for_each(made.body, [&](const ir::Stmt& stmt) {
    if (const auto* loop = stmt.as<ir::Loop>(); loop != nullptr && !loop->atom.empty()) marked = loop;
  });
  ir::mma::Product product;
  if (std::string fault = ir::mma::find_product(tile_of(made), *marked, product); !fault.empty()) return fault;
  const bool tf32 = atom.operands == ir::mma::Operands::tf32;
  ir::DType dtype = ir::DType::f32;
  for (const ir::Load* load : {product.a, product.b}) {
    const ir::Stage* stage = nullptr;
    for (const Staged& staged : staged_buffers(made))
      if (staged.stage->buffer == load->buffer) stage = staged.stage;
    if (stage == nullptr) return "an operand is not in shared memory";
    if (!atom.takes(stage->dtype)) return tf32 ? "the operands are not f32" : "the operands have no 16 bits";
    const bool along_k = load == product.a ? product.a_by_rows : product.b_by_columns;
    if ((along_k || !tf32) && stage->slab.back().extent * ir::bytes(stage->dtype) % 16 != 0)
      return "rows of a slab that matrices do not divide";
    if (load == product.b && stage->dtype != dtype) return "the operands have two types";
    dtype = stage->dtype;
  }
  return "";
}

Verdict decide(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.mma) return Skip{"no matrix instructions on this target (CUDA has them from sm_80 on)"};
  if (const auto name = pins.text("atom"); name && *name == none) return Skip{"atom=none: threads multiply"};
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  if (pins.empty()) {
    std::vector<Value> atoms;
    std::string why;
    for (const Atom& atom : ir::mma::atoms()) {
      if (atom.operands == ir::mma::Operands::tf32 && !program.allow_tf32) continue;
      std::string fault = obstacle(program, *matmul, atom, target);
      if (fault.empty()) atoms.emplace_back(std::string(atom.name));
      if (why.empty() || program.allow_tf32) why = std::move(fault);  // of what the program is made for
    }
    if (atoms.empty()) return Skip{std::move(why)};
    atoms.emplace_back(std::string(none));
    return Fork{"atom", std::move(atoms)};
  }
  const Atom& atom = *ir::mma::find_atom(*pins.text("atom"));
  const auto rows = pins.integer("warps_m");
  std::vector<Value> options;
  for (const auto& [m, n] : grids(block_of(program, *matmul), atom, target))
    if (!rows || *rows == m) add_option(options, rows ? n : m);
  if (!rows) return Fork{"warps_m", std::move(options)};
  if (!pins.integer("warps_n")) return Fork{"warps_n", std::move(options)};
  return Apply{};
}

ir::Program apply(ir::Program program, const Target&, const Pins& pins) {
  return with_products(std::move(program), *ir::mma::find_atom(*pins.text("atom")), pins.integer("warps_m").value(),
                       pins.integer("warps_n").value());
}

}  // namespace

extern const Rule mma = {
    .name = "mma",
    .summary = "products of 16 bits, or of tf32, by matrix instructions of a grid of warps",
    .knobs = {{"atom", KnobType::text, none}, {"warps_m", KnobType::integer}, {"warps_n", KnobType::integer}},
    .decide = decide,
    .apply = apply,
};

}  // namespace deplo::rules
