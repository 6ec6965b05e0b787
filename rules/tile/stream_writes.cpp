// stream_writes: writes large outputs to memory past the caches.
//   relu[a0, ((a1 * 1024) + (a2 * 16) + a3)] = v0   →   relu[a0, ((a1 * 1024) + (a2 * 16) + a3)] = v0 streamed
// A store to a line that is not in the cache reads the line first. A streamed store of a whole line does not (Intel 64
// and IA-32 Architectures Optimization Reference Manual, "Memory Optimization Using Non-Temporal Stores"), but the next
// reader of the output finds it only in memory. So only outputs that would not stay in the caches are streamed:
// Target::stream_bytes.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/features.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"

namespace deplo::rules {
namespace {

const ir::Axis* vector_axis(const ir::Program& program) {
  for (const ir::Axis& axis : tile_of(program).axes)
    if (axis.bind == ir::Bind::vector) return &axis;
  return nullptr;
}

// Returns substitutions that express the axes of loops that step by whole vectors as multiples of the lanes.
ir::Substitution whole_steps(const ir::Program& program, std::int64_t lanes) {
  ir::Substitution steps;
  ir::for_each<ir::Loop>(tile_of(program).body, [&](const ir::Loop& loop) {
    if (loop.step % lanes == 0 && ir::known_divisor(loop.start) % lanes == 0)
      steps.emplace_back(loop.axis.name, ir::var(loop.axis.name) * lanes);
  });
  return steps;
}

// Returns whether a thread writes whole vectors, which begin at multiples of their size.
bool writes_vectors(const ir::Program& program, const ir::Write& write, const ir::Buffer& buffer,
                    const ir::Axis& lane) {
  if (write.index.empty()) return false;  // a single number
  if (ir::coefficient(write.index.back(), lane.name) != 1 || buffer.strides.back() != 1) return false;
  ir::Substitution starts = whole_steps(program, lane.extent);
  starts.emplace_back(lane.name, ir::Expr(0));
  return ir::known_divisor(ir::substitute(ir::flat_offset(write.index, buffer.strides), starts)) % lane.extent == 0;
}

bool is_streamable(const ir::Program& program, const Target& target, const ir::Write& write) {
  const ir::Buffer* buffer = program.find(write.buffer);
  const ir::Axis* lane = vector_axis(program);
  if (lane == nullptr || buffer == nullptr || buffer->dtype != ir::DType::f32 || write.mode != ir::WriteMode::assign)
    return false;
  const std::int64_t size = std::min(element_count(*buffer), span(*buffer)) * ir::bytes(buffer->dtype);
  return size >= target.stream_bytes && writes_vectors(program, write, *buffer, *lane);
}

std::vector<const ir::Write*> streamable(const ir::Program& program, const Target& target) {
  std::vector<const ir::Write*> found;
  ir::for_each<ir::Write>(tile_of(program).body, [&](const ir::Write& write) {
    if (is_streamable(program, target, write)) found.push_back(&write);
  });
  return found;
}

// Returns whether consecutive vectors, written by a loop, a thread or neighbouring threads, fill cache lines. A line
// that is written only in part is read first.
bool fills_lines(const ir::Program& program, const ir::Write& write) {
  const ir::Axis& lane = *vector_axis(program);
  if (lane.extent * ir::bytes(program.find(write.buffer)->dtype) % line_bytes == 0) return true;
  bool neighbours = false;
  for (const ir::Axis& axis : tile_of(program).axes)
    neighbours |= axis.name != lane.name && ir::coefficient(write.index.back(), axis.name) == lane.extent;
  ir::for_each<ir::Loop>(tile_of(program).body, [&](const ir::Loop& loop) {
    neighbours |= loop.step == lane.extent && ir::coefficient(write.index.back(), loop.axis.name) == 1;
  });
  return neighbours;
}

int functions(const ir::Body& body) {
  int sum = 0;
  for (const ir::Stmt& stmt : body)
    if (const auto* assign = stmt.as<ir::Assign>()) sum += exponentials(assign->op);
  return sum;
}

bool has(const ir::Body& body, const ir::Write* write) {
  return std::ranges::any_of(body, [&](const ir::Stmt& stmt) { return stmt.as<ir::Write>() == write; });
}

// Returns whether memory waits for the arithmetic next to a write. Plain stores are then as fast, or up to 1.14 times
// as fast (softplus), and leave a part of the output in the caches.
bool waits(const ir::Program& program, const ir::Write& write) {
  const ir::Body& body = tile_of(program).body;
  bool much = has(body, &write) && functions(body) > 1;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const ir::Body* inner = ir::inner_body(stmt);
    much |= inner != nullptr && has(*inner, &write) && functions(*inner) > 1;
  });
  return much;
}

Verdict decide_stream_writes(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.stream_bytes == 0) return Skip{"this target does not say which outputs leave its caches"};
  const std::vector<const ir::Write*> writes = streamable(program, target);
  if (writes.empty()) return Skip{"no output is larger than the caches and written in vectors"};
  if (pins.on_off("outputs")) return Apply{};
  const auto pays = [&](const ir::Write* write) { return fills_lines(program, *write) && !waits(program, *write); };
  return on_off_fork("outputs", std::ranges::all_of(writes, pays));
}

ir::Program apply_stream_writes(ir::Program program, const Target& target, const Pins& pins) {
  if (!*pins.on_off("outputs")) return program;
  const std::vector<const ir::Write*> writes = streamable(program, target);
  ir::for_each<ir::Write>(tile_of(program).body, [&](ir::Write& write) {
    if (std::ranges::count(writes, &write) > 0) write.mode = ir::WriteMode::stream;
  });
  return program;
}

}  // namespace

extern const Rule stream_writes = {
    .name = "stream_writes",
    .summary = "large outputs that bypass the caches",
    .knobs = {{"outputs", KnobType::on_off, Value{std::int64_t{0}}}},
    .decide = decide_stream_writes,
    .apply = apply_stream_writes,
};

}  // namespace deplo::rules
