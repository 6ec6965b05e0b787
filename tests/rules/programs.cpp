#include "rules/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "core/rng.h"
#include "ir/interpret/proof.h"
#include "ir/softmax.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/inline_kernels.h"

namespace deplo::rules {
namespace {

Kernel make_kernel(std::string name, std::string text) {
  std::vector<std::string> symbols = ir::declared_symbols(text, name);
  return {std::move(name), std::move(text), std::move(symbols)};
}

std::vector<Kernel> load_kernels() {
  std::vector<Kernel> result;
  for (const char* folder : {DEPLO_SOURCE_DIR "/configs/kernels", DEPLO_SOURCE_DIR "/tests/kernels"})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".loop")
        result.push_back(make_kernel(entry.path().stem(), read_text(entry.path())));
  // The order of files in a directory differs between machines, but a seed must draw the same kernels everywhere.
  std::sort(result.begin(), result.end(), [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  for (const auto& [name, text] : inline_kernels()) result.push_back(make_kernel(name, text));
  return result;
}

double trips(const ir::Loop& loop) {
  return std::ceil(static_cast<double>(loop.axis.extent) / static_cast<double>(loop.step));
}

double steps(const ir::Body& body) {
  double total = 0;
  for (const ir::Stmt& stmt : body) {
    double each = 1;
    if (const auto* loop = stmt.as<ir::Loop>()) each = trips(*loop);
    if (const auto* tile = stmt.as<ir::Tile>())
      for (const ir::Axis& axis : tile->axes) each *= static_cast<double>(axis.extent);
    const ir::Body* inner = ir::inner_body(stmt);
    total += inner == nullptr ? 1 : each * steps(*inner);
  }
  return total;
}

}  // namespace

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = load_kernels();
  return all;
}

const Kernel& kernel(std::string_view name) {
  const auto& all = kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Kernel& k) { return k.name == name; });
  CHECK(found != all.end());
  return *found;
}

ir::Program matmul(std::int64_t m, std::int64_t n, std::int64_t k, ir::DType dtype) {
  ir::Program loop = ir::parse(kernel("matmul").text, {{"M", m}, {"N", n}, {"K", k}}, "matmul");
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
  return loop;
}

ir::Program down_rounded(ir::DType dtype, const ir::Symbols& symbols) {
  std::string text = kernel("down_rounded").text;
  const auto replace = [&](const std::string& from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  const bool bits = ir::is_float16(dtype);
  replace("round_bf16", bits ? fmt::format("round_{}", name(dtype)) : "round_tf32");
  replace(": bf16", fmt::format(": {}", name(dtype)));
  ir::Program loop = ir::parse(text, symbols, "down_rounded");
  loop.allow_tf32 = !bits;
  return loop;
}

bool has_fragments(const ir::Program& kernel) {
  bool found = false;
  ir::for_each(kernel.body, [&](const ir::Stmt& stmt) { found |= stmt.as<ir::Pack>() != nullptr; });
  return found;
}

ir::Program with_fragments_reversed(const ir::Program& kernel) {
  return edited<ir::Pack>(kernel, [](ir::Pack& s) { std::ranges::reverse(s.values); });
}

std::string finding(const ir::Program& loop, const ir::Program& program, std::uint64_t seed) {
  const ir::Memory memory = random_memory(loop, seed);
  try {
    const std::string wrong = difference(loop, result(loop, memory), result(program, memory, {.seed = seed}));
    return wrong.empty() ? ir::Proof(loop, memory, seed).difference(program, {.seed = seed}) : wrong;
  } catch (const Error& error) {
    return error.what();
  }
}

Lowering heuristic_with(const ir::Program& loop, const Target& target, std::string_view knob, const Value& value) {
  Lowering lowering(loop, target);
  while (const auto& fork = lowering.fork()) {
    const auto wanted = fork->knob == knob ? std::ranges::find(fork->options, value) : fork->options.begin();
    if (wanted == fork->options.end()) throw Error(fmt::format("{} is no option of {}", print(value), knob));
    lowering.choose(static_cast<std::size_t>(wanted - fork->options.begin()));
  }
  return lowering;
}

void edit_bodies(ir::Body& body, const std::function<void(ir::Body&)>& edit) {
  edit(body);
  for (ir::Stmt& stmt : body)
    if (ir::Body* inner = ir::inner_body(stmt)) edit_bodies(*inner, edit);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

namespace {

// Returns whether loaded indices choose the elements that are written. Such indices must be distinct.
bool scatters(const ir::Program& program) {
  bool found = false;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    const auto* write = stmt.as<ir::Write>();
    found = found || (write != nullptr && ir::names_value(program.body, write->index));
  });
  return found;
}

}  // namespace

ir::Memory random_memory(const ir::Program& program, std::uint64_t seed) {
  ir::Memory memory;
  Rng rng(seed);
  const bool distinct = scatters(program);
  for (const ir::Buffer& buffer : program.buffers) {
    std::vector<double>& values = memory[buffer.name];
    values.assign(static_cast<std::size_t>(ir::span(buffer)), NAN);
    if (buffer.role != ir::Role::input) continue;
    if (distinct && buffer.dtype == ir::DType::i32) {
      const double past = static_cast<double>(values.size()) + 32;
      values = ir::draw({ir::Fill::Draw::distinct, -4, past}, buffer.dtype, std::ssize(values), rng);
      continue;
    }
    for (double& v : values) {
      v = rng.uniform(-1, 1);
      if (program.allow_tf32) v = ir::rounded_tf32(v);  // so that rounding the factors changes nothing
      if (buffer.dtype == ir::DType::i32) v = std::floor(16 + 20 * v);
      if (buffer.dtype == ir::DType::boolean) v = v < 0 ? 0 : 1;
    }
  }
  return memory;
}

ir::Memory result(const ir::Program& program, ir::Memory memory, const ir::Limits& limits) {
  ir::interpret(program, memory, limits);
  return memory;
}

namespace {

bool is_written(const ir::Program& program, const std::string& value) {
  bool found = false;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    const auto* write = stmt.as<ir::Write>();
    found |= write != nullptr && write->value == ir::Arg(value);
  });
  return found;
}

// Bounds how far results move if exponentials, which are at most 1, are rounded to 16 bits. An average of values in
// [-1, 1] with these weights moves by the unit roundoff. If their sum is written, it moves by the unit roundoff per
// term.
double by_exponentials(const ir::Program& program) {
  double most = 0;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    const auto* step = loop == nullptr || loop->body.empty() ? nullptr : loop->body.back().as<ir::SoftmaxSum>();
    for (std::size_t i = 0; step != nullptr && i < step->weights.size(); ++i)
      most = std::max(most, ir::unit_roundoff(ir::exponential_type(program, step->weights[i])) *
                                (is_written(program, step->sums[i]) ? static_cast<double>(loop->axis.extent) : 1));
  });
  return most;
}

}  // namespace

std::string difference(const ir::Program& program, const ir::Memory& expected, const ir::Memory& found) {
  const double averages = by_exponentials(program);
  for (const ir::Buffer& buffer : program.buffers) {
    const auto& want = expected.find(buffer.name)->second;
    const auto& have = found.find(buffer.name)->second;
    double scale = 0;
    for (const double v : want)
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
    // A value halfway between two 16-bit numbers may be rounded to either.
    const double spacing = 2 * ir::unit_roundoff(buffer.dtype), least = ir::is_float16(buffer.dtype) ? 0x1p-24 : 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const bool same =
          std::isnan(want[i])
              ? std::isnan(have[i])
              : want[i] == have[i] || std::abs(want[i] - have[i]) <=
                                          std::max({1e-9 * scale, spacing * std::abs(want[i]), least}) + averages;
      if (!same)
        return buffer.name + "[" + std::to_string(i) + "]: expected " + std::to_string(want[i]) + ", found " +
               std::to_string(have[i]);
    }
  }
  return "";
}

double lane_steps(const ir::Program& program) { return steps(program.body); }

}  // namespace deplo::rules
