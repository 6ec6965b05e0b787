// chunk_matmul_k: splits the K reduce of a matmul into chunks of bk iterations. Staging copies one chunk at a time.
//   for a2 in 0..3584: # reduce         for a2 in 0..224: # free
//     S(a2)                       →       for a3 in 0..16: # reduce
//                                           S(((a2 * 16) + a3))
// If bk does not divide K, the last chunk guards its tail: if (((a2 * bk) + a3) < K).
#include <algorithm>
#include <array>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/split_sums.h"

namespace deplo::rules {
namespace {

constexpr std::array<std::int64_t, 5> gpu_chunks = {16, 32, 8, 64, 128};  // 16 first, as in the articles
// Chunks that slice_matmul_k splits: each slice should be as long as an ordinary chunk.
constexpr std::array<std::int64_t, 5> gpu_few_rows = {32, 16, 64, 8, 128};

// For matrix instructions: rows of 64 or 128 bytes (tf32: 128), and several products between two barriers.
constexpr std::array<std::int64_t, 5> product_chunks = {32, 64, 16, 128, 8};
// For warpgroups: rows as wide as TMA's widest pattern.
constexpr std::array<std::int64_t, 5> warpgroup_chunks = {64, 128, 32, 16, 8};

// On CPUs long chunks pay off: the accumulators of every thread of a block are spilled and reloaded once per chunk. One
// chunk is best as long as its panel, as wide as a thread's columns, takes no more than three fourths of the cache
// (measured with AVX2: one chunk of 512 x 2048 x 5632 takes 0.81 of the time of chunks of 256). With few rows there is
// little to reuse, and short chunks of wide panels read longer rows between TLB misses, unless the products of a batch
// reuse the panels. Chunks of 128 are the best for prefetch_chunks (docs/performance.md, "Chunks ahead"). A panel that
// is read in place has short chunks if its rows are pages apart, or if neighbouring vectors share cache lines, which
// are still in the level 1 cache then. Stored trails of 41 to 64 rows may have chunks of 1,024.
constexpr std::array<std::int64_t, 6> cpu_chunks = {256, 512, 128, 1024, 64, 32},
                                      cpu_in_place = {64, 128, 32, 256, 512, 16};
constexpr std::array<std::int64_t, 7> cpu_few_rows = {128, 64, 32, 256, 512, 16, 1024};
// One chunk is also faster than two halves with few rows (64 x 2048 x 96 takes 0.66 of the time), and than several
// chunks if 41 to 64 rows share a copied panel.
constexpr std::int64_t short_sum = 128, short_sum_of_rows = 1024;
// With few registers, the panel that a block copies should have 96 KiB (AVX2, 512 KiB of cache): 96 columns of 256
// rows, 48 of 512 or 24 of 1,024. The panel is wider if fewer rows of outputs share it. A transposed panel is read
// along K: 24 columns.
constexpr std::array<std::int64_t, 5> few_registers_few_rows = {256, 512, 128, 64, 32},
                                      few_registers_some_rows = {512, 1024, 256, 128, 64},
                                      few_registers_many_rows = {1024, 512, 256, 128, 64};
constexpr std::int64_t some_rows = 256;
// columns of a transposed operand, which is copied: as many as a block takes
constexpr std::int64_t copied_columns = 256;

std::int64_t nearest(const std::vector<std::int64_t>& sizes, std::int64_t wanted) {
  const auto distance = [&](std::int64_t size) {
    return static_cast<double>(std::max(size, wanted)) / static_cast<double>(std::min(size, wanted));
  };
  return *std::ranges::min_element(sizes, [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
}

bool is_near(std::int64_t size, std::int64_t wanted) { return 2 * size <= 3 * wanted && 3 * size >= 2 * wanted; }

// Adds further divisors from 8 to 128, first those whose rows are read in the widest accesses: for 3584 also 28, 56,
// 112. Divisors that need narrower accesses are added only if there are few others.
void add_divisors(std::vector<Value>& options, const std::vector<std::int64_t>& chunks, std::size_t guarded) {
  // Maximum number of options, including the guarded ones. More would add little choice.
  constexpr std::size_t max_options = 12;
  for (const std::int64_t wide : {4, 2, 1}) {
    if (wide < 4 && options.size() >= gpu_chunks.size()) return;
    for (const std::int64_t size : chunks)
      if (size >= 8 && size <= 128 && size < chunks.back() && size % wide == 0 &&
          options.size() + guarded < max_options)
        add_option(options, size);
  }
}

// If loads read K by its parts (k / 64 and k % 64: an element of a convolution's kernel, and its channels), a chunk of
// the inner part needs no divisions and reads in order. Returns the smallest such part that is worth a loop; 0 if K is
// read whole. A GPU takes chunks of its usual size that divide this part, so that a slab lies within it.
std::int64_t inner_part(const Matmul& matmul) {
  constexpr std::int64_t short_loop = 16;  // iterations; shorter loops cost more than the divisions
  const ir::Axis& k = matmul.reduce->axis;
  std::set<std::int64_t> divisors = divisors_of(matmul.reduce->body, k.name);
  std::erase_if(divisors, [&](std::int64_t d) { return d < short_loop || k.extent % d != 0 || d == k.extent; });
  return divisors.empty() ? 0 : *divisors.begin();
}

// Returns whether the rows of columns are pages apart, or share cache lines, and no batch reuses them. Rows of 16 bits
// have long chunks anyway (docs/performance.md, "Matmuls of few rows and 16 bits").
bool reads_rows_apart(const ir::Program& program, const Matmul& matmul) {
  const std::int64_t distance = row_distance(program, matmul);
  return (distance >= page || distance % line_bytes != 0) && columns_bytes(program, matmul) != 2 &&
         !sharing_axis(program, matmul);
}

std::span<const std::int64_t> cpu_sizes(const ir::Program& program, const Matmul& matmul, const Target& target) {
  const std::int64_t rows = tile_of(program).axes[matmul.m].extent;
  const bool in_place = reads_in_place(program, matmul, rows, in_place_limits(target));
  if (in_place && !has_few_registers(target) && reads_rows_apart(program, matmul)) return cpu_in_place;
  if (!has_few_registers(target) || in_place)
    return rows > few_rows || in_place ? std::span<const std::int64_t>(cpu_chunks) : cpu_few_rows;
  if (rows > some_rows || is_transposed(program, matmul)) return few_registers_many_rows;
  return rows > few_rows ? few_registers_some_rows : few_registers_few_rows;
}

// Returns whether one chunk is best on a CPU.
bool is_one_chunk(const ir::Program& program, const Matmul& matmul, const Target& target) {
  const std::int64_t rows = tile_of(program).axes[matmul.m].extent, k = matmul.reduce->axis.extent;
  const bool transposed = is_transposed(program, matmul), few_registers = has_few_registers(target);
  const bool reused = rows > (few_registers ? some_rows : few_rows) || transposed || sharing_axis(program, matmul);
  const InPlaceLimits limits = in_place_limits(target);
  const bool copied = !few_registers && rows > limits.near && !reads_in_place(program, matmul, rows, limits);
  const std::int64_t sum = copied ? short_sum_of_rows : short_sum;
  const bool is_short = k <= sum || (few_registers && 2 * k <= 3 * cpu_sizes(program, matmul, target).front());
  const std::int64_t columns = transposed && !few_registers ? copied_columns : cpu_columns(target);
  return (reused || is_short) && k * 4 * columns <= target.shared_bytes / 4 * 3;
}

// Returns the divisors near the wanted sizes. If there is none within a factor of 1.5, returns the wanted size, which
// needs a guarded tail.
std::vector<Value> chunk_sizes(const ir::Program& program, const Matmul& matmul, const Target& target) {
  const std::int64_t rows = tile_of(program).axes[matmul.m].extent, k = matmul.reduce->axis.extent;
  std::vector<Value> result;
  std::vector<Value> guarded;
  const std::vector<std::int64_t> chunks = divisors(k, 1, k);
  std::span<const std::int64_t> gpu = rows <= sliced_rows ? gpu_few_rows : gpu_chunks;
  if (multiplies_matrices(program, matmul, target)) gpu = target.wgmma ? warpgroup_chunks : product_chunks;
  if (const std::int64_t part = inner_part(matmul); part > 0) {
    const std::vector<std::int64_t> within = divisors(part, 1, part);
    if (!target.cpu)
      for (const std::int64_t wanted : gpu)
        if (const std::int64_t d = nearest(within, wanted); is_near(d, wanted)) add_option(result, d);
    if (result.empty()) add_option(result, part);
  }
  if (target.cpu && is_one_chunk(program, matmul, target)) add_option(result, k);
  for (const std::int64_t wanted : target.cpu ? cpu_sizes(program, matmul, target) : gpu) {
    const std::int64_t d = nearest(chunks, wanted);
    if (d < k && is_near(d, wanted))
      add_option(result, d);
    else if (wanted < k)
      add_option(guarded, wanted);
  }
  if (!target.cpu) add_divisors(result, chunks, guarded.size());
  for (const Value& bk : guarded) add_option(result, std::get<std::int64_t>(bk));
  if (target.cpu || result.empty()) add_option(result, k);  // one chunk: the loop stays as it is
  return result;
}

Verdict decide_chunk_matmul_k(const ir::Program& program, const Target& target, const Pins& pins) {
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  if (!pins.empty()) return Apply{};
  return Fork{"bk", chunk_sizes(program, *matmul, target)};
}

ir::Loop chunked(ir::Loop loop, std::int64_t bk, const std::string& inner_name) {
  const std::int64_t k = loop.axis.extent;
  ir::Loop inner = {{inner_name, bk, ir::Bind::reduce}, 0, 1, 1, std::move(loop.body)};
  if (k % bk != 0) inner.body = ir::single(ir::If{ir::less(ir::var(loop.axis.name), k), std::move(inner.body)});
  return {{loop.axis.name, ceil_div(k, bk), ir::Bind::free}, 0, 1, 1, ir::single(std::move(inner))};
}

ir::Program apply_chunk_matmul_k(ir::Program program, const Target&, const Pins& pins) {
  const std::int64_t bk = pins.integer("bk").value();
  ir::Loop& loop = to_edit(program, *find_matmul(program)->reduce);
  if (bk == loop.axis.extent) return program;
  const std::string outer = loop.axis.name, inner = ir::fresh_axis(program);
  loop = chunked(std::move(loop), bk, inner);
  ir::substitute_axes(program, {{outer, ir::var(outer) * bk + ir::var(inner)}});
  return program;
}

}  // namespace

extern const Rule chunk_matmul_k = {
    .name = "chunk_matmul_k",
    .summary = "K of a matmul in chunks of bk",
    .knobs = {{"bk", KnobType::integer}},
    .decide = decide_chunk_matmul_k,
    .apply = apply_chunk_matmul_k,
};

}  // namespace deplo::rules
