// Emits programs, loops and shared memory. The other files emit_*.cpp emit the remaining statements.
#include "ir/emit/statements.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/error.h"
#include "core/text/match.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace emitter {
namespace {

bool has_sync(const Body& body) { return has<Sync, TreeHalve>(body); }

std::int64_t producer_threads(const Body& body) {
  std::int64_t threads = 0;
  for_each<Produce>(body, [&](const Produce& produce) { threads = produce.threads; });
  return threads;
}

// True if the kernel moves registers between its threads (setmaxnreg). ptxas ignores setmaxnreg unless it knows how
// many registers the launch allocates (its message C7508). A minimum number of blocks per multiprocessor tells it.
bool moves_registers(const Body& body) {
  return std::ranges::any_of(body, [](const Stmt& s) {
    const auto* produce = s.as<Produce>();
    return produce != nullptr && produce->own > 0;
  });
}

bool has_loop(const Body& body) { return has<Loop>(body); }

// Returns the type of index variables up to this value.
std::string_view index_type(const Speller& spell, std::int64_t max_value) {
  return max_value > INT32_MAX ? spell.long_type : spell.index_type;
}

// Defines the axes of one kind. The last axis varies fastest.
void define_axes(KernelText& k, const Tile& tile, Bind bind, std::string_view id) {
  std::int64_t total = count_of(tile, bind);
  bool first = true;
  for (const Axis& axis : tile.axes) {
    if (axis.bind != bind) continue;
    total /= axis.extent;
    std::string text = total == 1 ? std::string(id) : fmt::format("{} / {}", id, total);
    if (!first) text = fmt::format("{} % {}", text, axis.extent);
    k.print("const {} {} = {};", index_type(k.spell, axis.extent - 1), axis.name, axis.extent == 1 ? "0" : text);
    if (axis.extent > 1) first = false;
  }
}

void declare(KernelText& k, const Smem& s) {
  shared_array(k, element_name({s.dtype, 1}, k.spell.dialect), s.buffer, element_count(s.shape),
               alignment(s, k.target));
}

// CUDA's compilers lay out static arrays in the order of their declarations. So arrays are declared by falling
// alignment, as shared_layout counts them. Barriers are declared after them and have the lowest alignment.
void declare_shared(KernelText& k) {
  std::vector<const Smem*> arrays;
  for_each<Smem>(k.kernel.body, [&](const Smem& s) { arrays.push_back(&s); });
  std::ranges::stable_sort(arrays, std::ranges::greater(), [&](const Smem* s) { return alignment(*s, k.target); });
  for (const Smem* s : arrays) declare(k, *s);
}

}  // namespace

void emit(KernelText& k, const Body& statements) {
  for (const Stmt& stmt : statements) match(stmt.node, [&](const auto& s) { emit(k, s); });
}

void emit(KernelText& k, const Tile& tile) {
  for (const Axis& axis : tile.axes) k.names.ranges.emplace_back(axis.name, Interval{0, axis.extent - 1});
  const std::int64_t cluster = k.source.cluster;
  k.print("const {0} block = {1}{2}, thread = {3};", index_type(k.spell, k.source.blocks - 1), k.spell.block_id,
          cluster == 1 ? "" : fmt::format(" / {}", cluster), k.spell.thread_id);
  if (k.spell.ptx) {
    // With this assumption, a loop that starts at the thread has a known trip count. NVRTC cannot derive the count from
    // the launch bounds or from the sum of the thread axes, so the text uses the thread itself instead of that sum.
    k.print("__builtin_assume(thread >= 0 && thread < {});", k.source.threads);
    Expr sum = 0;
    for (const Axis& axis : tile.axes)
      if (axis.bind == Bind::thread) sum = sum * axis.extent + var(axis.name);
    k.names.thread = simplify(sum, k.names.ranges);
  }
  if (!k.descriptors.empty()) prepare_issue(k);
  define_axes(k, tile, Bind::block, "block");
  define_axes(k, tile, Bind::cluster, fmt::format("{} % {}", k.spell.block_id, cluster));
  define_axes(k, tile, Bind::thread, "thread");
  if (k.spell.ptx) declare_shared(k);
  declare_block_memory(k);
  emit(k, tile.body);
}

void emit(KernelText& k, const Loop& s) {
  if (s.unroll == 0) k.line("#pragma unroll");
  if (s.unroll > 1) k.print("#pragma unroll {}", s.unroll);
  const bool hide = k.hide_bounds && !has_loop(s.body) && !has_sync(s.body);
  const std::string step =
      s.step == 1 ? fmt::format("{}++", s.axis.name) : fmt::format("{} += {}", s.axis.name, s.step);
  const Expr end = s.end ? simplify(min(s.axis.extent, *s.end), k.names.ranges) : Expr(s.axis.extent);
  Interval range = range_of(s);
  const bool ends_far = range.high + s.step > INT32_MAX;  // the value that ends the loop does not fit in 32 bits
  if (ends_far) range.high = std::max<std::int64_t>(range.high, std::int64_t{INT32_MAX} + 1);  // selects the long type
  k.print("for ({0} {1} = {2}; {1} < {3}{4}; {5}) {{", index_type(k.spell, range.high), s.axis.name,
          k.names.code(s.start), k.names.code(end), hide ? " + zero" : "", step);
  k.indent();
  k.names.ranges.emplace_back(s.axis.name, range);
  const bool guarded = std::exchange(k.block.guarded, false);
  emit(k, s.body);
  k.block.guarded = guarded;
  k.names.ranges.pop_back();
  k.end();
}

void emit(KernelText& k, const If& s) {
  // One thread arrives for its whole warp, whose other threads may still be loading, so the warp is synchronised first.
  // This is not needed if only Wgmma reads the elements.
  if (s.then.size() == 1 && s.then.front().as<MbarrierArrive>() != nullptr && k.fences_reads) k.line("__syncwarp();");
  k.print("if ({}) {{", is_issue(k, s) ? first_warp_elects(k) : k.names.code(s.condition));
  k.indent();
  emit(k, s.then);
  k.end();
}

void shared_array(KernelText& k, std::string_view element, const std::string& name, std::int64_t count,
                  std::int64_t align) {
  if (k.layout.dynamic)
    return k.print("{0}* const {1} = reinterpret_cast<{0}*>(smem + {2});", element, name, k.layout.offset.at(name));
  const std::string aligned = fmt::format(fmt::runtime(k.spell.aligned), align);
  k.print("{} {} {} {}[{}];", k.spell.shared, aligned, element, name, count);
}

void emit(KernelText& k, const Smem& s) {
  k.names.memory[s.buffer] = {s.dtype, row_major_strides(s.shape), element_count(s.shape), k.spell.shared};
  if (!k.spell.ptx) declare(k, s);
}

// Barrier 0 is for all threads of the block. After a Produce, the threads other than the producer's use barrier 1.
void emit(KernelText& k, const Sync&) {
  if (k.produced)
    k.print("asm volatile(\"bar.sync 1, {};\" ::: \"memory\");", count_of(k.kernel.body, Bind::thread));
  else
    k.line(k.block.used ? k.spell.full_barrier : k.spell.barrier);
}

void emit(KernelText& k, const TreeHalve& s) {
  std::vector<Expr> index = s.prefix;
  index.push_back(s.tid);
  const std::string at = k.names.offset(s.buffer, index);
  k.print("for (int s = {}; s > 0; s >>= 1) {{", s.length / 2);
  k.indent();
  k.print("if ({} < s) {{", k.names.code(s.tid));
  k.indent();
  const std::string left = fmt::format("{}[{}]", s.buffer, at), right = fmt::format("{}[{} + s]", s.buffer, at);
  k.print("{} = {};", left,
          operation(k, s.op, std::array<std::string_view, 2>{left, right}, {}, {k.names.memory.at(s.buffer).dtype, 1}));
  k.end();
  emit(k, Sync{});
  k.end();
}

namespace {

std::string signature(const KernelText& k) {
  const std::string cluster = k.source.cluster > 1 ? fmt::format(" __cluster_dims__({}, 1, 1)", k.source.cluster) : "";
  std::string bounds = std::to_string(k.source.threads);
  for (const Stmt& stmt : k.kernel.body)
    if (const auto* tile = stmt.as<Tile>(); tile != nullptr && tile->resident > 0)
      bounds += fmt::format(", {}", tile->resident);
    else if (tile != nullptr && moves_registers(tile->body))
      bounds += ", 1";
  std::string text = fmt::format(fmt::runtime(k.spell.kernel_head), bounds, cluster, k.source.entry);
  std::string_view comma;
  for (const Buffer& buffer : k.kernel.buffers) {
    const std::string_view space = k.names.memory.at(buffer.name).space;
    text += fmt::format("{}{}{}{}* {} {}", comma, space, space.empty() ? "" : " ",
                        element_name({buffer.dtype, 1}, k.spell.dialect), k.spell.restricted, buffer.name);
    comma = ", ";
  }
  for (const TmaDescriptor* descriptor : k.descriptors)
    text += fmt::format(", const __grid_constant__ CUtensorMap {}", descriptor->name);
  return text + ") {";
}

void declare(KernelText& k, const Buffer& buffer) {
  const std::string_view space = buffer.role == Role::input ? k.spell.global_in : k.spell.global_out;
  k.names.memory[buffer.name] = {buffer.dtype, buffer.strides, span(buffer), space};
}

void declare(KernelText& k, const TmaDescriptor& s) {
  for (std::size_t i = 0; i < k.kernel.buffers.size(); ++i)
    if (const Buffer& buffer = k.kernel.buffers[i]; buffer.name == s.source)
      k.source.tensor_maps.push_back({i, buffer.shape, buffer.strides, s.box, s.swizzle});
  k.descriptors.push_back(&s);
  k.functions.call(Helper::tensor_map);
}

// Collects what the statements need to know about the whole kernel.
void prepare(KernelText& k) {
  for (const Buffer& buffer : k.kernel.buffers) declare(k, buffer);
  for (const Stmt& stmt : k.kernel.body)
    if (const auto* descriptor = stmt.as<TmaDescriptor>()) declare(k, *descriptor);
  k.layout = shared_layout(k.kernel.body, k.target);
  k.hide_bounds = k.target.cpu && has_sync(k.kernel.body);
  for_each(k.kernel.body, [&](const Stmt& stmt) {
    k.fences_reads |= stmt.as<ProxyFence>() != nullptr;
    k.reads_other_blocks |= stmt.as<ClusterLoad>() != nullptr;
    k.block.used |= is_block_statement(stmt);
  });
  k.source.entry = "k_" + k.kernel.name;
  k.source.cluster = count_of(k.kernel.body, Bind::cluster);
  k.source.blocks = count_of(k.kernel.body, Bind::block) * k.source.cluster;
  k.source.threads = count_of(k.kernel.body, Bind::thread) + producer_threads(k.kernel.body);
  k.source.shared_bytes = k.layout.bytes;
  k.source.dynamic_shared = k.layout.dynamic;
  k.source.zeroed = zeroed_buffers(k.kernel);
}

void write(KernelText& k) {
  k.reserve(1 << 14);  // enough for most kernels
  k.line(signature(k));
  k.indent();
  // TMA's widest swizzle repeats after 1024 bytes.
  if (k.layout.dynamic) k.line("extern __shared__ __align__(1024) unsigned char smem[];");
  if (k.hide_bounds) {
    // PoCL turns an innermost loop with uniform bounds into barrier regions, and keeps the values of each work-item in
    // memory. It leaves a loop alone if a bound depends on a work-item id, which is always 0 here
    // (docs/performance.md).
    k.line("const long zero = get_local_id(1);  // keeps PoCL from spilling across work-items");
  }
  emit(k, k.kernel.body);
  k.end();
}

}  // namespace
}  // namespace emitter

KernelSource emit(const Program& kernel, const Target& target) {
  CHECK(kernel.level == Level::kernel);
  emitter::KernelText k(kernel, target);
  emitter::prepare(k);
  emitter::write(k);
  if (k.block.used) k.functions.float16.clear();  // block_definitions also defines these functions
  k.source.text = k.functions.definitions(target.dialect);
  if (k.block.used) k.source.text += block_definitions(k);
  k.source.text += k.text();
  return std::move(k.source);
}

}  // namespace deplo::ir
