// Programs, loops, shared memory; the other emit_*.cpp have the rest.
#include "ir/emit/emitter.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/error.h"
#include "core/text/match.h"
#include "ir/emit/float16.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

bool has_sync(const Body& body) {
  bool found = false;
  for_each(body, [&](const Stmt& s) { found |= s.as<Sync>() != nullptr || s.as<TreeHalve>() != nullptr; });
  return found;
}

std::int64_t producer_threads(const Body& body) {
  std::int64_t threads = 0;
  for_each(body, [&](const Stmt& s) {
    if (const auto* produce = s.as<Produce>()) threads = produce->threads;
  });
  return threads;
}

// ptxas ignores setmaxnreg unless it knows how many registers the launch deals out (its message C7508). The least
// number of blocks of a unit says that.
bool moves_registers(const Body& body) {
  return std::ranges::any_of(body, [](const Stmt& s) {
    const auto* produce = s.as<Produce>();
    return produce != nullptr && produce->own > 0;
  });
}

bool has_loop(const Body& body) {
  bool found = false;
  for_each(body, [&](const Stmt& s) { found |= s.as<Loop>() != nullptr; });
  return found;
}

}  // namespace

void Emitter::declare(const Buffer& buffer) {
  const std::string_view space = buffer.role == Role::input ? spell_.global_in : spell_.global_out;
  memory_[buffer.name] = {buffer.dtype, buffer.strides, span(buffer), space};
}

void Emitter::body(const Body& statements) {
  for (const Stmt& stmt : statements) match(stmt.node, [&](const auto& s) { emit(s); });
}

void Emitter::declare(const TmaDescriptor& s) {
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i)
    if (const Buffer& buffer = kernel_.buffers[i]; buffer.name == s.source)
      source_.tensor_maps.push_back({i, buffer.shape, buffer.strides, s.box, s.swizzle});
  descriptors_.push_back(&s);
  helpers_.insert(Helper::tensor_map);
}

KernelSource Emitter::run() {
  for (const Buffer& buffer : kernel_.buffers) declare(buffer);
  for (const Stmt& stmt : kernel_.body)
    if (const auto* descriptor = stmt.as<TmaDescriptor>()) declare(*descriptor);
  layout_ = shared_layout(kernel_.body, target_);
  for_each(kernel_.body, [&](const Stmt& stmt) {
    fences_reads_ |= stmt.as<ProxyFence>() != nullptr;
    reads_other_blocks_ |= stmt.as<ClusterLoad>() != nullptr;
    block_.used |= is_block_statement(stmt);
  });
  source_.entry = "k_" + kernel_.name;
  source_.cluster = count_of(kernel_.body, Bind::cluster);
  source_.blocks = count_of(kernel_.body, Bind::block) * source_.cluster;
  source_.threads = count_of(kernel_.body, Bind::thread) + producer_threads(kernel_.body);
  source_.shared_bytes = layout_.bytes;
  source_.dynamic_shared = layout_.dynamic;
  source_.zeroed = zeroed_buffers(kernel_);
  out_.reserve(1 << 14);  // of most kernels
  line(signature());
  ++indent_;
  // TMA's widest swizzle repeats after 1024 bytes.
  if (layout_.dynamic) line("extern __shared__ __align__(1024) unsigned char smem[];");
  hide_bounds_ = target_.cpu && has_sync(kernel_.body);
  if (hide_bounds_) {
    // PoCL turns an innermost loop whose bounds are uniform into barrier regions and keeps the values of each work-item
    // in memory; a bound that depends on a work-item id (always 0 here) is left alone (docs/performance.md).
    line("const long zero = get_local_id(1);  // keeps PoCL from spilling across work-items");
  }
  body(kernel_.body);
  --indent_;
  line("}");
  if (block_.used) float16_.clear();  // block_definitions() has these functions
  for (const auto& [dtype, lanes] : float16_) source_.text += float16_definition(dtype, lanes, dialect()) + "\n";
  for (const auto& [atom, dtype] : mma_) source_.text += mma_definition(*atom, dtype) + "\n";
  for (const int lanes : tf32_) source_.text += tf32_definition(lanes, dialect()) + "\n";
  for (const int lanes : simd_lanes_) source_.text += simd_lanes_definition(lanes);
  for (const int lanes : simd_streams_) source_.text += simd_stream_definition(lanes);
  for (const auto& [op, lanes] : simd_) source_.text += simd_definition(op, lanes) + "\n";
  for (const Helper helper : helpers_) source_.text += definition(helper) + "\n";
  if (block_.used) source_.text += block_definitions();
  source_.text += out_;
  return std::move(source_);
}

std::string Emitter::signature() const {
  const std::string cluster = source_.cluster > 1 ? fmt::format(" __cluster_dims__({}, 1, 1)", source_.cluster) : "";
  std::string bounds = std::to_string(source_.threads);
  for (const Stmt& stmt : kernel_.body)
    if (const auto* tile = stmt.as<Tile>(); tile != nullptr && tile->resident > 0)
      bounds += fmt::format(", {}", tile->resident);
    else if (tile != nullptr && moves_registers(tile->body))
      bounds += ", 1";
  std::string text = fmt::format(fmt::runtime(spell_.kernel_head), bounds, cluster, source_.entry);
  std::string_view comma;
  for (const Buffer& buffer : kernel_.buffers) {
    const std::string_view space = memory_.at(buffer.name).space;
    text += fmt::format("{}{}{}{}* {} {}", comma, space, space.empty() ? "" : " ",
                        element_name({buffer.dtype, 1}, dialect()), spell_.restricted, buffer.name);
    comma = ", ";
  }
  for (const TmaDescriptor* descriptor : descriptors_)
    text += fmt::format(", const __grid_constant__ CUtensorMap {}", descriptor->name);
  return text + ") {";
}

// Of variables up to this value.
std::string_view Emitter::index_type(std::int64_t most) const {
  return most > INT32_MAX ? spell_.long_type : spell_.index_type;
}

// The last axis of each kind is the fastest.
void Emitter::axes(const Tile& tile, Bind bind, std::string_view id) {
  std::int64_t total = count_of(tile, bind);
  bool first = true;
  for (const Axis& axis : tile.axes) {
    if (axis.bind != bind) continue;
    total /= axis.extent;
    std::string text = total == 1 ? std::string(id) : fmt::format("{} / {}", id, total);
    if (!first) text = fmt::format("{} % {}", text, axis.extent);
    print("const {} {} = {};", index_type(axis.extent - 1), axis.name, axis.extent == 1 ? "0" : text);
    if (axis.extent > 1) first = false;
  }
}

void Emitter::emit(const Tile& tile) {
  for (const Axis& axis : tile.axes) ranges_.emplace_back(axis.name, Interval{0, axis.extent - 1});
  const std::int64_t cluster = source_.cluster;
  print("const {0} block = {1}{2}, thread = {3};", index_type(source_.blocks - 1), spell_.block_id,
        cluster == 1 ? "" : fmt::format(" / {}", cluster), spell_.thread_id);
  if (spell_.ptx) {
    // A loop that starts at the thread has a known number of trips then: NVRTC does not conclude it from the bounds of
    // the launch, nor from the sum of the axes, for which the thread itself is written.
    print("__builtin_assume(thread >= 0 && thread < {});", source_.threads);
    Expr sum = 0;
    for (const Axis& axis : tile.axes)
      if (axis.bind == Bind::thread) sum = sum * axis.extent + var(axis.name);
    thread_ = simplify(sum, ranges_);
  }
  if (!descriptors_.empty()) prepare_issue();
  axes(tile, Bind::block, "block");
  axes(tile, Bind::cluster, fmt::format("{} % {}", spell_.block_id, cluster));
  axes(tile, Bind::thread, "thread");
  if (spell_.ptx) declare_shared();
  declare_block_memory();
  body(tile.body);
}

Expr Emitter::by_thread(const Expr& e) const {
  if (e.kind() != Expr::Kind::binary) return e;
  if (e == thread_) return var("thread");
  return e.op() == ExprOp::eq && e.lhs() == thread_ ? equal(var("thread"), e.rhs()) : e;
}

void Emitter::emit(const Loop& s) {
  if (s.unroll == 0) line("#pragma unroll");
  if (s.unroll > 1) print("#pragma unroll {}", s.unroll);
  const bool hide = hide_bounds_ && !has_loop(s.body) && !has_sync(s.body);
  const std::string step =
      s.step == 1 ? fmt::format("{}++", s.axis.name) : fmt::format("{} += {}", s.axis.name, s.step);
  const Expr end = s.end ? simplify(min(s.axis.extent, *s.end), ranges_) : Expr(s.axis.extent);
  Interval range = range_of(s);
  const bool ends_far = range.high + s.step > INT32_MAX;  // the value that ends the loop
  if (ends_far) range.high = std::max<std::int64_t>(range.high, std::int64_t{INT32_MAX} + 1);  // so it is long
  print("for ({0} {1} = {2}; {1} < {3}{4}; {5}) {{", index_type(range.high), s.axis.name, code(s.start), code(end),
        hide ? " + zero" : "", step);
  ++indent_;
  ranges_.emplace_back(s.axis.name, range);
  const bool guarded = std::exchange(block_.guarded, false);
  body(s.body);
  block_.guarded = guarded;
  ranges_.pop_back();
  --indent_;
  line("}");
}

void Emitter::emit(const If& s) {
  // A thread arrives for its warp, whose other threads may still be at their loads; products of warpgroups have none.
  if (s.then.size() == 1 && s.then.front().as<MbarrierArrive>() != nullptr && fences_reads_) line("__syncwarp();");
  print("if ({}) {{", is_issue(s) ? first_warp_elects() : code(s.condition));
  ++indent_;
  body(s.then);
  --indent_;
  line("}");
}

void Emitter::shared_array(std::string_view element, const std::string& name, std::int64_t count, std::int64_t align) {
  if (layout_.dynamic)
    return print("{0}* const {1} = reinterpret_cast<{0}*>(smem + {2});", element, name, layout_.offset.at(name));
  const std::string aligned = fmt::format(fmt::runtime(spell_.aligned), align);
  print("{} {} {} {}[{}];", spell_.shared, aligned, element, name, count);
}

void Emitter::declare(const Smem& s) {
  shared_array(element_name({s.dtype, 1}, dialect()), s.buffer, element_count(s.shape), alignment(s, target_));
}

// CUDA's compilers lay static arrays out in the order of their declarations: by falling alignment, as shared_layout
// counts them. Barriers, which stand behind, have the least.
void Emitter::declare_shared() {
  std::vector<const Smem*> arrays;
  for_each(kernel_.body, [&](const Stmt& stmt) {
    if (const auto* s = stmt.as<Smem>()) arrays.push_back(s);
  });
  std::ranges::stable_sort(arrays, std::ranges::greater(), [&](const Smem* s) { return alignment(*s, target_); });
  for (const Smem* s : arrays) declare(*s);
}

void Emitter::emit(const Smem& s) {
  memory_[s.buffer] = {s.dtype, row_major_strides(s.shape), element_count(s.shape), spell_.shared};
  if (!spell_.ptx) declare(s);
}

// Barrier 0 is that of all threads.
void Emitter::emit(const Sync&) {
  if (produced_)
    print("asm volatile(\"bar.sync 1, {};\" ::: \"memory\");", count_of(kernel_.body, Bind::thread));
  else
    line(block_.used ? spell_.full_barrier : spell_.barrier);
}

void Emitter::emit(const TreeHalve& s) {
  std::vector<Expr> index = s.prefix;
  index.push_back(s.tid);
  const std::string at = offset(s.buffer, index);
  print("for (int s = {}; s > 0; s >>= 1) {{", s.length / 2);
  ++indent_;
  print("if ({} < s) {{", code(s.tid));
  ++indent_;
  const std::string left = fmt::format("{}[{}]", s.buffer, at), right = fmt::format("{}[{} + s]", s.buffer, at);
  print("{} = {};", left,
        operation(s.op, std::array<std::string_view, 2>{left, right}, {}, {memory_.at(s.buffer).dtype, 1}));
  --indent_;
  line("}");
  emit(Sync{});
  --indent_;
  line("}");
}

KernelSource emit(const Program& kernel, const Target& target) {
  CHECK(kernel.level == Level::kernel);
  return Emitter(kernel, target).run();
}

}  // namespace deplo::ir
