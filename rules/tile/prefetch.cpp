// prefetch: requests whole vectors before they are read or written.
//   for a7 in 0..64: # reduce                    for a7 in 0..64: # reduce
//     in1 = load b[a7, (a3 * 64)]         →        Prefetch(b[(a7 + 8), (a3 * 64)])
//                                                  in1 = load b[a7, (a3 * 64)]
//   b_smem = Stage(b, …, slab=(s0:64@0, s1:256@1)) lanes=16   →   b_smem = Stage(…) lanes=16 prefetch=4
// Each buffer has a knob, its distance: in iterations of the loop around the access, in blocks if the kernel has no
// loops, or in rows for the copies of a Stage.
// If several threads read the same elements, each of them prefetches these: a condition would cost the loop more, and
// the later prefetches bring the elements from the second level of the caches to the first (docs/performance.md). A
// hardware prefetcher stops at the end of a page of 4 KiB (Intel 64 and IA-32 Architectures Optimization Reference
// Manual, "Data Prefetching"), which short rows and narrow blocks reach all the time.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t least_bytes = 32;  // bytes of an access: half a cache line

struct Site {
  const ir::Stmt* access = nullptr;
  const ir::Loop* loop = nullptr;  // the innermost loop around the access; nullptr if there is none
};

// The accesses of a buffer that are prefetched. If there are none, the copies of the buffer's Stages are prefetched.
struct Stream {
  std::string buffer;
  bool write = false;
  std::vector<Site> sites;
  bool staged = false;
};

// Returns the index of an access, and sets its buffer and kind; nullptr if the statement is not an access to prefetch.
const std::vector<ir::Expr>* index_of(const ir::Stmt& stmt, std::string& buffer, bool& write) {
  const auto* store = stmt.as<ir::Write>();
  write = store != nullptr;
  if (const auto* load = stmt.as<ir::Load>()) return buffer = load->buffer, &load->index;
  return store == nullptr || store->mode != ir::WriteMode::assign ? nullptr : (buffer = store->buffer, &store->index);
}

bool is_wide(const ir::Program& program, const std::string& buffer, const std::vector<ir::Expr>& index) {
  const ir::Buffer* source = program.find(buffer);
  if (source == nullptr || index.empty() || gathers(program, index)) return false;
  // The elements of a vector. With elements of one byte, all vectors of a thread lie in one cache line, and count
  // together.
  std::int64_t elements = 0;
  for (const ir::Axis& axis : tile_of(program).axes)
    if (axis.bind == ir::Bind::vector && ir::depends_on(index.back(), axis.name)) elements = axis.extent;
  for (const ir::Axis& axis : tile_of(program).axes)
    if (axis.bind == ir::Bind::reg && ir::is_narrow_integer(source->dtype) && ir::depends_on(index.back(), axis.name))
      elements *= axis.extent;
  return elements * ir::bytes(source->dtype) >= least_bytes;
}

// Returns whether the stage copies rows by loads and stores that are wide enough.
bool is_row_copy(const ir::Program& program, const ir::Stage& stage) {
  const bool plain = stage.transport == ir::Transport::copy || stage.transport == ir::Transport::ahead;
  return plain && stage.slab.size() > 1 && stage.lanes * ir::bytes(program.find(stage.source)->dtype) >= least_bytes;
}

void collect(const ir::Program& program, const ir::Body& body, const ir::Loop* loop, std::vector<Stream>& found) {
  for (const ir::Stmt& stmt : body) {
    std::string buffer;
    bool write = false;
    const auto* index = index_of(stmt, buffer, write);
    if (index != nullptr && is_wide(program, buffer, *index)) {
      const auto same = [&](const Stream& s) { return s.buffer == buffer && s.write == write; };
      auto stream = std::find_if(found.begin(), found.end(), same);
      if (stream == found.end()) stream = found.insert(found.end(), {buffer, write, {}});
      stream->sites.push_back({&stmt, loop});
    }
    const auto* inner = stmt.as<ir::Loop>();
    if (const ir::Body* inside = ir::inner_body(stmt))
      collect(program, *inside, inner != nullptr ? inner : loop, found);
  }
}

// Returns the streams to prefetch. If a row is swept several times, the second sweep prefetches the next row: the first
// sweep waits for its own row, and while the second one computes the memory is idle. In a kernel with loops, accesses
// outside of the loops are left out, because they run once.
std::vector<Stream> streams(const ir::Program& program) {
  std::vector<Stream> result;
  collect(program, tile_of(program).body, nullptr, result);
  for (const Staged& staged : staged_buffers(program))
    if (is_row_copy(program, *staged.stage)) result.push_back({staged.stage->source, false, {}, true});
  const bool loops = ir::has<ir::Loop>(tile_of(program).body);
  for (Stream& stream : result) {
    if (loops) std::erase_if(stream.sites, [](const Site& site) { return site.loop == nullptr; });
    if (stream.sites.empty()) continue;
    const ir::Loop* const first = stream.sites[0].loop;
    const auto other = [&](const Site& site) { return site.loop != first; };
    const auto second = std::find_if(stream.sites.begin(), stream.sites.end(), other);
    const ir::Loop* const chosen = second == stream.sites.end() ? first : second->loop;
    std::erase_if(stream.sites, [&](const Site& site) { return site.loop != chosen; });
  }
  std::erase_if(result, [](const Stream& stream) { return stream.sites.empty() && !stream.staged; });
  return result;
}

// For a load that steps from row to row in memory, returns the number of rows in which a thread reads 4 KiB
// (docs/performance.md, "Matmuls of few rows and 16 bits"). Returns 0 if the load walks along rows.
std::int64_t rows_ahead(const ir::Program& program, const Stream& stream) {
  constexpr std::int64_t ahead = 4096;  // bytes
  const Site& site = stream.sites[0];
  const auto* load = site.access->as<ir::Load>();
  if (load == nullptr || ir::depends_on(load->index.back(), site.loop->axis.name)) return 0;
  std::int64_t row = ir::bytes(program.find(stream.buffer)->dtype);
  for (const ir::Axis& axis : tile_of(program).axes)
    if ((axis.bind == ir::Bind::reg || axis.bind == ir::Bind::vector) && ir::depends_on(load->index.back(), axis.name))
      row *= axis.extent;
  return std::max<std::int64_t>(1, ahead / std::max(row, line_bytes));
}

// Returns whether the loop walks a window, (a6 % 7) and (a6 / 7). Its iterations, and the next blocks, mostly read the
// same lines.
bool walks_window(const Stream& stream) {
  const auto* load = stream.sites[0].access->as<ir::Load>();
  const std::string& turn = stream.sites[0].loop->axis.name;
  return load != nullptr && std::ranges::any_of(load->index, [&](const ir::Expr& e) {
           return ir::depends_on(e, turn) && !ir::coefficient(e, turn);
         });
}

// Returns whether the next block of a matmul reads the same elements, or elements that a loaded number selects, which
// are mostly the same for neighbours. The next block then finds them in the cache.
bool next_block_shares(const ir::Program& program, const Stream& stream) {
  if (!find_matmul(program)) return false;
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  const auto steps = [](const ir::Axis& axis) { return axis.bind == ir::Bind::block && axis.extent > 1; };
  const auto last = std::find_if(axes.rbegin(), axes.rend(), steps);
  const auto* load = stream.sites[0].access->as<ir::Load>();
  return load != nullptr && last != axes.rend() && !ir::depends_on(load->index, last->name);
}

// Returns whether the stages of the buffer copy so few bytes of each row that four rows are copied before their memory
// has answered. Rows of up to 384 bytes gained from eight (docs/performance.md, "Transposed panels").
bool has_short_rows(const ir::Program& program, const std::string& buffer) {
  constexpr std::int64_t least_row = 512;  // bytes
  return std::ranges::any_of(staged_buffers(program), [&](const Staged& staged) {
    const ir::Stage& stage = *staged.stage;
    return stage.source == buffer && stage.slab.back().extent * ir::bytes(program.find(buffer)->dtype) < least_row;
  });
}

// The best of a few distances that were measured on matmuls, softmax and gelu (docs/performance.md) comes first. The
// distance of a whole sweep prefetches the next row.
std::vector<Value> distances(const ir::Program& program, const Stream& stream) {
  if (stream.staged) return options({has_short_rows(program, stream.buffer) ? 8 : 4, 0, 2, 4, 8, 16}, 0, 16);
  const ir::Loop* loop = stream.sites[0].loop;
  if (loop == nullptr) return options({1, 0, 2, 4}, 0, 4);
  const std::int64_t trips = ceil_div(loop->axis.extent, loop->step), rows = rows_ahead(program, stream);
  std::int64_t first = rows == 0 ? trips : rows;
  if (stream.write) first = 16;
  if (walks_window(stream) || (rows > 0 && next_block_shares(program, stream))) first = 0;
  return options({std::min(first, trips), 0, 2, 4, 8, 16, 32, 64, trips}, 0, trips);
}

Verdict decide_prefetch(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.prefetch) return Skip{"no prefetch by address on this target"};
  const std::vector<Stream> found = streams(program);
  for (const Stream& stream : found)
    if (!pins.integer(stream.buffer)) return Fork{stream.buffer, distances(program, stream)};
  if (found.empty()) return Skip{"no wide access in a loop, or in a kernel without loops"};
  return Apply{};
}

// Returns the index after the axis has moved by `by`. The difference is taken at the origin, so that an index that is
// clamped at a tail moves as if it were not clamped.
ir::Expr moved(const ir::Expr& index, const std::string& axis, std::int64_t by) {
  const auto at = [&](std::int64_t value) {
    ir::Substitution substitution;
    ir::for_each_variable(
        index, [&](const std::string& name) { substitution.emplace_back(name, ir::Expr(name == axis ? value : 0)); });
    return ir::simplify(ir::substitute(index, substitution));
  };
  return ir::simplify(index + (at(by) - at(0)));
}

// Returns the axis to prefetch along: the loop's, or the last block axis that the access depends on.
std::string axis_of(const ir::Tile& tile, const Site& site, const std::vector<ir::Expr>& index) {
  if (site.loop != nullptr) return site.loop->axis.name;
  std::string last;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::block && axis.extent > 1 && ir::depends_on(index, axis.name)) last = axis.name;
  return last;
}

std::optional<ir::Stmt> ahead(const ir::Tile& tile, const Site& site, std::int64_t distance) {
  ir::Prefetch result;
  const std::vector<ir::Expr>& index = *index_of(*site.access, result.buffer, result.write);
  const std::string axis = axis_of(tile, site, index);
  if (distance == 0 || axis.empty()) return std::nullopt;
  const std::int64_t by = site.loop != nullptr ? site.loop->step * distance : distance;
  for (const ir::Expr& e : index) result.index.push_back(moved(e, axis, by));
  return result;
}

// A statement, and the statement to insert before it.
using Additions = std::vector<std::pair<const ir::Stmt*, ir::Stmt>>;

void insert(ir::Body& body, const Additions& additions) {
  ir::Body result;
  for (ir::Stmt& stmt : body) {
    for (const auto& [before, addition] : additions)
      if (before == &stmt) result.push_back(addition);
    if (ir::Body* inner = ir::inner_body(stmt)) insert(*inner, additions);
    result.push_back(std::move(stmt));
  }
  body = std::move(result);
}

void set_prefetch(ir::Body& body, const std::string& source, int rows) {
  ir::for_each<ir::Stage>(body, [&](ir::Stage& stage) {
    if (stage.source == source) stage.prefetch = rows;
  });
}

ir::Program apply_prefetch(ir::Program program, const Target&, const Pins& pins) {
  Additions additions;
  for (const Stream& stream : streams(program)) {
    const std::int64_t distance = pins.integer(stream.buffer).value();
    if (stream.staged) set_prefetch(program.body, stream.buffer, static_cast<int>(distance));
    for (const Site& site : stream.sites)
      if (auto stmt = ahead(tile_of(program), site, distance)) additions.emplace_back(site.access, std::move(*stmt));
  }
  if (!additions.empty()) insert(tile_of(program).body, additions);
  return program;
}

}  // namespace

extern const Rule prefetch = {
    .name = "prefetch",
    .summary = "vectors prefetched before they are used",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide_prefetch,
    .apply = apply_prefetch,
};

}  // namespace deplo::rules
