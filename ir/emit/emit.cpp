// One-to-one tree walk over Kernel IR.
#include "ir/emit/emit.h"

#include <fmt/format.h>

#include <map>

#include "core/match.h"
#include "ir/emit/dialect.h"
#include "ir/emit/expression.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

class Emitter {
 public:
  Emitter(const Program& kernel, const Target& target)
      : kernel_(kernel), target_(target), spell_(speller(target)), native_(spell_.vectors) {}
  Source run();

 private:
  void line(std::string_view text) { fmt::format_to(std::back_inserter(out_), "{:{}}{}\n", "", 2 * indent_, text); }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    line(fmt::format(format, std::forward<Args>(args)...));
  }
  std::string signature(const std::string& entry) const;
  void launch(const Tile&);
  void axes(const Tile&, Bind, std::string_view id);
  void body(const Body& body) {
    for (const Stmt& stmt : body) match(stmt.node, [&](const auto& s) { emit(s); });
  }
  void emit(const Loop&);
  void emit(const Load&);
  void emit(const Index&);
  void emit(const Assign&);
  void emit(const Accum&);
  void emit(const Write&);
  void emit(const If&);
  void emit(const Tile& s) { launch(s); }
  void emit(const Smem&);
  void emit(const Init&);
  void emit(const Sync&) { line(spell_.barrier); }
  void emit(const TreeHalve&);
  void emit(const Stage&) { CHECK(!"not Kernel IR"); }
  void emit(const Combine&) { CHECK(!"not Kernel IR"); }

  std::string offset(const std::string& buffer, const std::vector<Expr>& index) const;
  std::string argument(const Arg&, int lane) const;
  std::string broadcast(const Arg&, int lanes) const;
  void assign(const std::string& name, Type, Op, const std::vector<Arg>&, bool declare);
  std::string code(const Expr& e) const { return index_code(e, spell_.index_type == "long"); }
  const std::vector<std::int64_t>& strides(const std::string& buffer) const { return strides_.at(buffer); }

  const Program& kernel_;
  const Target& target_;
  const Speller& spell_;
  const bool native_;
  fmt::memory_buffer out_;
  int indent_ = 0;
  bool hide_bounds_ = false;
  std::map<std::string, int> lanes_;  // of every value with more than one
  std::map<std::string, std::vector<std::int64_t>> strides_;
  Source source_;
};

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

Source Emitter::run() {
  for (const Buffer& buffer : kernel_.buffers) {
    if (buffer.dtype != DType::f32)
      throw Error(fmt::format("buffer {}: expected f32, the one element type that is emitted so far, found {}",
                              buffer.name, name(buffer.dtype)));
    strides_[buffer.name] = buffer.strides;
  }
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
    text += fmt::format("{}{}{}float* {} {}", i == 0 ? "" : ", ", space, space.empty() ? "" : " ",
                        cuda ? "__restrict__" : "restrict", buffer.name);
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

void Emitter::launch(const Tile& tile) {
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
  body(s.body);
  --indent_;
  line("}");
}

std::string Emitter::offset(const std::string& buffer, const std::vector<Expr>& index) const {
  return code(flat_offset(index, strides(buffer)));
}

void Emitter::emit(const Load& s) {
  const int n = s.type.lanes;
  const std::string at = offset(s.buffer, s.index);
  if (n == 1) return print("const float {} = {}[{}];", s.dst, s.buffer, at);
  lanes_[s.dst] = n;
  if (native_) return print("const float{0} {1} = vload{0}(0, &{2}[{3}]);", n, s.dst, s.buffer, at);
  print("const float{0} {1} = *reinterpret_cast<const float{0}*>(&{2}[{3}]);", n, s.dst, s.buffer, at);
  for (int i = 0; i < n; ++i) print("const float {0}_{1} = {0}.{2};", s.dst, i, "xyzw"[i]);
}

std::string Emitter::argument(const Arg& arg, int lane) const {
  if (const auto* constant = std::get_if<double>(&arg)) return literal(*constant, target_.dialect);
  const std::string& value = std::get<std::string>(arg);
  return lane >= 0 && !native_ && lanes_.count(value) > 0 ? fmt::format("{}_{}", value, lane) : value;
}

// OpenCL's functions take arguments of one type.
std::string Emitter::broadcast(const Arg& arg, int lanes) const {
  const auto* value = std::get_if<std::string>(&arg);
  std::string text = argument(arg, -1);
  if (lanes == 1 || (value != nullptr && lanes_.count(*value) > 0)) return text;
  return fmt::format("(float{})({})", lanes, text);
}

void Emitter::assign(const std::string& name, Type type, Op op, const std::vector<Arg>& args, bool declare) {
  const std::string_view prefix = declare ? "const " : "";
  const auto* vector = std::get_if<std::string>(&args[0]);
  const int from = vector != nullptr && lanes_.count(*vector) > 0 ? lanes_.at(*vector) : 1;  // of a lanes_ operation
  if (type.lanes > 1 && declare) lanes_[name] = type.lanes;
  const bool split = type.lanes > 1 && !native_;
  for (int lane = 0; lane < (split ? type.lanes : 1); ++lane) {
    std::vector<std::string> texts;
    for (const Arg& arg : args) texts.push_back(split ? argument(arg, lane) : broadcast(arg, type.lanes));
    const std::string target = split ? fmt::format("{}_{}", name, lane) : name;
    print("{}{}{} = {};", prefix, declare ? type_name(type, target_.dialect) + " " : "", target,
          call(op, texts, target_.dialect, from));
  }
}

void Emitter::emit(const Index&) { throw Error("an index value: not emitted yet"); }

void Emitter::emit(const Assign& s) { assign(s.dst, s.type, s.op, s.args, true); }

void Emitter::emit(const Accum& s) {
  std::vector<Arg> args = s.args;
  args.insert(s.op == Op::fma ? args.end() : args.begin(), s.dst);  // fma(a, b, acc), op(acc, value)
  assign(s.dst, s.type, s.op, args, false);
}

void Emitter::emit(const Init& s) {
  const std::string value = literal(*neutral(s.op), target_.dialect);
  if (s.type.lanes > 1) lanes_[s.acc] = s.type.lanes;
  if (s.type.lanes == 1 || native_) return print("{} {} = {};", type_name(s.type, target_.dialect), s.acc, value);
  for (int i = 0; i < s.type.lanes; ++i) print("float {}_{} = {};", s.acc, i, value);
}

void Emitter::emit(const Write& s) {
  if (s.mode != WriteMode::assign) throw Error("a += write: not emitted yet, no rule makes one");
  const std::string at = offset(s.buffer, s.index);
  if (s.lanes == 1) return print("{}[{}] = {};", s.buffer, at, argument(s.value, -1));
  if (native_) return print("vstore{}({}, 0, &{}[{}]);", s.lanes, broadcast(s.value, s.lanes), s.buffer, at);
  std::string parts;
  for (int i = 0; i < s.lanes; ++i) parts += (i == 0 ? "" : ", ") + argument(s.value, i);
  print("*reinterpret_cast<float{0}*>(&{1}[{2}]) = make_float{0}({3});", s.lanes, s.buffer, at, parts);
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
  strides_[s.buffer] = row_major_strides(s.shape);
  source_.shared_bytes += count * bytes(s.dtype);
  // 16 bytes: the widest access of a thread.
  print("{} {} float {}[{}];", spell_.shared,
        target_.dialect == Dialect::cuda ? "__align__(16)" : "__attribute__((aligned(64)))", s.buffer, count);
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
  print("{} = {};", left, call(s.op, {left, right}, target_.dialect, 1));
  --indent_;
  line("}");
  line(spell_.barrier);
  --indent_;
  line("}");
}

}  // namespace

Source emit(const Program& kernel, const Target& target) {
  CHECK(kernel.level == Level::kernel);
  return Emitter(kernel, target).run();
}

}  // namespace deplo::ir
