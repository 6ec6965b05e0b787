// Programs, loops, shared memory; emit_values.cpp has the rest.
#include "ir/emit/emitter.h"

#include "core/error.h"
#include "core/match.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

bool has_sync(const Body& body) {
  bool found = false;
  for_each(body, [&](const Stmt& s) { found |= s.as<Sync>() != nullptr || s.as<TreeHalve>() != nullptr; });
  return found;
}

bool has_loop(const Body& body) {
  bool found = false;
  for_each(body, [&](const Stmt& s) { found |= s.as<Loop>() != nullptr; });
  return found;
}

}  // namespace

void Emitter::declare(const Buffer& buffer) {
  if (buffer.dtype == DType::f16 || buffer.dtype == DType::bf16)
    throw Error(fmt::format("buffer {}: expected f32, i32 or bool, which can be emitted, found {}", buffer.name,
                            name(buffer.dtype)));
  memory_[buffer.name] = {buffer.dtype, buffer.strides};
}

void Emitter::body(const Body& statements) {
  for (const Stmt& stmt : statements) match(stmt.node, [&](const auto& s) { emit(s); });
}

KernelSource Emitter::run() {
  for (const Buffer& buffer : kernel_.buffers) declare(buffer);
  source_.entry = "k_" + kernel_.name;
  line(signature(source_.entry));
  ++indent_;
  hide_bounds_ = target_.dialect == Dialect::opencl && target_.cpu && has_sync(kernel_.body);
  if (hide_bounds_) {
    // PoCL turns an innermost loop whose bounds are uniform into barrier regions and keeps the values of each work-item
    // in memory; a bound that depends on a work-item id (always 0 here) is left alone (docs/performance.md).
    line("const long zero = get_local_id(1);  // keeps PoCL from spilling across work-items");
  }
  body(kernel_.body);
  --indent_;
  line("}");
  source_.text = fmt::to_string(out_);
  return std::move(source_);
}

std::string Emitter::signature(const std::string& entry) const {
  const std::int64_t threads = count_of(kernel_.body, Bind::thread);
  const bool cuda = target_.dialect == Dialect::cuda;
  std::string text =
      cuda ? fmt::format("extern \"C\" __global__ __launch_bounds__({})\nvoid {}(", threads, entry)
           : fmt::format("__kernel __attribute__((reqd_work_group_size({}, 1, 1)))\nvoid {}(", threads, entry);
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const Buffer& buffer = kernel_.buffers[i];
    const std::string_view space = buffer.role == Role::input ? spell_.global_in : spell_.global_out;
    text += fmt::format("{}{}{}{}* {} {}", i == 0 ? "" : ", ", space, space.empty() ? "" : " ",
                        element_name({buffer.dtype, 1}, dialect()), cuda ? "__restrict__" : "restrict", buffer.name);
  }
  return text + ") {";
}

// The last axis of each kind is the fastest.
void Emitter::axes(const Tile& tile, Bind bind, std::string_view id) {
  std::int64_t total = count_of(tile, bind);
  (bind == Bind::block ? source_.blocks : source_.threads) = total;
  bool first = true;
  for (const Axis& axis : tile.axes) {
    if (axis.bind != bind) continue;
    total /= axis.extent;
    std::string text = total == 1 ? std::string(id) : fmt::format("{} / {}", id, total);
    if (!first) text = fmt::format("{} % {}", text, axis.extent);
    print("const {} {} = {};", spell_.index_type, axis.name, axis.extent == 1 ? "0" : text);
    if (axis.extent > 1) first = false;
  }
}

void Emitter::emit(const Tile& tile) {
  for (const Axis& axis : tile.axes) ranges_.emplace_back(axis.name, Interval{0, axis.extent - 1});
  print("const {0} block = {1}, thread = {2};", spell_.index_type, spell_.block_id, spell_.thread_id);
  axes(tile, Bind::block, "block");
  axes(tile, Bind::thread, "thread");
  body(tile.body);
}

void Emitter::emit(const Loop& s) {
  if (s.unroll == 0) line("#pragma unroll");
  if (s.unroll > 1) print("#pragma unroll {}", s.unroll);
  const bool hide = hide_bounds_ && !has_loop(s.body) && !has_sync(s.body);
  const std::string step =
      s.step == 1 ? fmt::format("{}++", s.axis.name) : fmt::format("{} += {}", s.axis.name, s.step);
  print("for ({0} {1} = {2}; {1} < {3}{4}; {5}) {{", spell_.index_type, s.axis.name, code(s.start), s.axis.extent,
        hide ? " + zero" : "", step);
  ++indent_;
  ranges_.emplace_back(s.axis.name, range_of(s));
  body(s.body);
  ranges_.pop_back();
  --indent_;
  line("}");
}

void Emitter::emit(const If& s) {
  print("if ({}) {{", code(s.condition));
  ++indent_;
  body(s.then);
  --indent_;
  line("}");
}

void Emitter::emit(const Smem& s) {
  std::int64_t count = 1;
  for (const std::int64_t extent : s.shape) count *= extent;
  memory_[s.buffer] = {s.dtype, row_major_strides(s.shape)};
  source_.shared_bytes += count * bytes(s.dtype);
  // 16 bytes: the widest access of a thread.
  print("{} {} {} {}[{}];", spell_.shared,
        dialect() == Dialect::cuda ? "__align__(16)" : "__attribute__((aligned(64)))",
        element_name({s.dtype, 1}, dialect()), s.buffer, count);
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
  print("{} = {};", left, call(s.op, {left, right}, {memory_.at(s.buffer).dtype, 1}, dialect()));
  --indent_;
  line("}");
  line(spell_.barrier);
  --indent_;
  line("}");
}

KernelSource emit(const Program& kernel, const Target& target) {
  CHECK(kernel.level == Level::kernel);
  return Emitter(kernel, target).run();
}

}  // namespace deplo::ir
