// split_matmul_k: turns the chunk loop of K into a dimension of the grid. The partial sums are added in memory.
//   Tile(axes=(a0:32=THREAD, a1:512=THREAD)):        Tile(axes=(a0:28=THREAD, a1:32=THREAD, a2:512=THREAD)):
//     for a2 in 0..112: # free                  →      for a3 in 0..4: # free
//       … x[a0, ((a2 * 32) + a3)] …                      … x[a1, (((a0 * 128) + (a3 * 32)) + a4)] …
//     y[a0, a1] = acc0                                 y[a1, a2] += acc0
// The epilogue must be linear in the accumulator: scales distribute over the partial sums, and a summand is added by
// one block only, `if (a0 == 0)`.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/linear_epilogue.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t max_splits = 64;  // with more, the atomics on one element queue up
// Twice the 8 blocks of 256 threads that a multiprocessor holds (CUDA C++ Programming Guide, "Technical
// Specifications"): with two rounds of blocks the last round wastes little, and a further split only means more
// additions in memory.
constexpr std::int64_t max_blocks_a_unit = 16;

// Returns the position in the tile's body of the loop over the chunks of the matmul's sum; nullopt if the sum is not
// chunked.
std::optional<std::size_t> chunk_loop(const ir::Tile& tile, const Matmul& matmul) {
  for (std::size_t i = 0; i < tile.body.size(); ++i) {
    const auto* loop = tile.body[i].as<ir::Loop>();
    if (loop == nullptr || loop->axis.bind != ir::Bind::free || loop->body.size() != 1) continue;
    if (loop->body[0].as<ir::Loop>() == matmul.reduce) return i;
  }
  return std::nullopt;
}

// Returns the only accumulator of the program; nullptr if there are several, or if it is not a sum of f32.
const ir::Accum* only_accumulator(const ir::Program& program) {
  const ir::Accum* found = nullptr;
  bool alone = true;
  ir::for_each<ir::Accum>(program.body, [&](const ir::Accum& accum) {
    alone &= found == nullptr && accum.op == ir::Op::add && accum.type == ir::Type{};
    found = &accum;
  });
  return alone ? found : nullptr;
}

// Returns why partial sums cannot be added up in the output; "" if they can.
std::string obstacle(const ir::Program& program, const ir::Body& body, std::size_t chunks) {
  int writes = 0;
  std::string output;
  ir::for_each<ir::Write>(program.body, [&](const ir::Write& write) {
    ++writes;
    output = write.buffer;
  });
  if (writes != 1) return "more than one output is written";
  const ir::Buffer& buffer = *program.find(output);
  if (buffer.dtype != ir::DType::f32) return "the output is not f32";
  // The launch that zeroes the output writes everything between its first and its last element.
  if (ir::span(buffer) != ir::element_count(buffer)) return "the output has gaps between its rows";
  if (loads(program.body, output)) return "the output is read as well";
  if (only_accumulator(program) == nullptr) return "more than one accumulator";
  for (std::size_t i = 0; i < body.size(); ++i)
    if (i < chunks && !is_scalar(body[i])) return "another loop precedes the chunk loop";
  return "";
}

// Returns the number of blocks of the natural grid, which has the articles' 64 x 128 outputs per block.
std::int64_t natural_blocks(const ir::Tile& tile, const Matmul& matmul) {
  std::int64_t blocks = ceil_div(tile.axes[matmul.m].extent, 64) * ceil_div(tile.axes[matmul.n].extent, 128);
  for (std::size_t i = 0; i < matmul.m; ++i) blocks *= tile.axes[i].extent;
  return blocks;
}

// Returns whether `blocks` blocks, each with `chunks` chunks of K, fill the target, if necessary as clusters
// (cluster_matmul_k).
bool fill(std::int64_t blocks, std::int64_t chunks, const Target& target) {
  std::int64_t cluster = 1;
  while (blocks * cluster < target.units && cluster < target.cluster) cluster *= 2;
  return blocks * cluster >= target.units && chunks % cluster == 0;
}

// The first option is the smallest split whose blocks fill the target, because clusters merge their sums without
// additions in memory. The others follow in order.
std::vector<Value> split_options(std::int64_t chunks, std::int64_t blocks, const Target& target) {
  const std::vector<std::int64_t> splits = divisors(chunks, 1, max_splits);
  const auto fills = [&](std::int64_t split) { return fill(blocks * split, chunks / split, target); };
  const auto first = std::find_if(splits.begin(), splits.end(), fills);
  std::vector<Value> result = {Value{first == splits.end() ? splits.back() : *first}};
  for (const std::int64_t split : splits)
    if (split == 1 || target.cpu || blocks * split <= max_blocks_a_unit * target.units) add_option(result, split);
  return result;
}

Verdict decide_split_matmul_k(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.atomic_add) return Skip{"the target has no atomic addition of floats"};
  if (const auto splits = pins.integer("splits"))
    return *splits == 1 ? Verdict(Skip{"splits=1: every block sums the whole of K"}) : Apply{};
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  const ir::Tile& tile = tile_of(program);
  const auto chunks = chunk_loop(tile, *matmul);
  if (!chunks) return Skip{"no chunk loop"};
  if (std::string why = obstacle(program, tile.body, *chunks); !why.empty()) return Skip{std::move(why)};
  const ir::Body epilogue(tile.body.begin() + static_cast<std::ptrdiff_t>(*chunks) + 1, tile.body.end());
  if (!distribute(program, epilogue, only_accumulator(program)->dst)) return Skip{not_linear};
  const std::int64_t extent = tile.body[*chunks].as<ir::Loop>()->axis.extent;
  std::vector<Value> options = split_options(extent, natural_blocks(tile, *matmul), target);
  if (options.size() == 1) return Skip{"no split from 2 to 64 divides the number of chunks"};
  return Fork{"splits", std::move(options)};
}

// Replaces the statements after the loop: every block adds its partial sum, and the first one along `split` adds the
// rest.
void add_up(const ir::Program& program, ir::Body& body, std::size_t chunks, const std::string& split) {
  const auto behind = body.begin() + static_cast<std::ptrdiff_t>(chunks) + 1;
  const ir::Body epilogue(behind, body.end());
  LinearEpilogue parts = *distribute(program, epilogue, only_accumulator(program)->dst);
  body.erase(behind, body.end());
  std::move(parts.partial.begin(), parts.partial.end(), std::back_inserter(body));
  if (!parts.once.empty()) body.emplace_back(ir::If{ir::equal(ir::var(split), 0), std::move(parts.once)});
}

ir::Program apply_split_matmul_k(ir::Program program, const Target&, const Pins& pins) {
  const std::size_t at = *chunk_loop(tile_of(program), *find_matmul(program));
  const ir::Axis split = {ir::fresh_axis(program), pins.integer("splits").value(), ir::Bind::thread};
  ir::Tile& tile = tile_of(program);
  add_up(program, tile.body, at, split.name);
  tile.axes.insert(tile.axes.begin(), split);
  auto& loop = *tile.body[at].as<ir::Loop>();
  const std::string chunk = loop.axis.name;
  loop.axis.extent /= split.extent;
  ir::Expr first = ir::var(split.name) * loop.axis.extent;
  if (loop.axis.extent > 1) {
    first = first + ir::var(chunk);
  } else {  // one chunk per block: no loop is left
    ir::Stmt inner = std::move(loop.body[0]);
    tile.body[at] = std::move(inner);
  }
  ir::substitute_axes(program, {{chunk, first}});
  return program;
}

}  // namespace

extern const Rule split_matmul_k = {
    .name = "split_matmul_k",
    .summary = "K split over several blocks, partial sums added in memory",
    .knobs = {{"splits", KnobType::integer}},
    .decide = decide_split_matmul_k,
    .apply = apply_split_matmul_k,
};

}  // namespace deplo::rules
