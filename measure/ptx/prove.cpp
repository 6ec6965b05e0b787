#include "measure/ptx/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "core/mapped.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/ptx/finding.h"
#include "measure/ptx/floats.h"
#include "measure/ptx/kernel.h"

namespace deplo::measure::ptx {
namespace {

using Kind = ir::ProofVerdict::Kind;

constexpr double max_flops = 1e8;  // takes about a minute

/// True if each element of the 16-bit arrays can have a pattern of its own (see Floats), with as many patterns left for
/// values in between.
bool fits_16_bits(const ir::Program& loop) {
  std::int64_t elements = 0;
  for (const ir::Buffer& buffer : loop.buffers)
    if (ir::is_float16(buffer.dtype)) elements += ir::span(buffer);
  constexpr std::int64_t patterns = 1 << 16;
  return elements <= patterns / 2;
}
// Number of different 16-bit elements if not all fit. A prime, so that neighbours along a stride differ.
constexpr std::uint64_t fewer_elements = 4093;

/// Returns the float constants among the arguments of a program's operations.
std::vector<double> constants_of(const ir::Program& program) {
  std::vector<double> constants;
  const auto note = [&](const std::vector<ir::Arg>& args) {
    for (const ir::Arg& arg : args)
      if (const auto* value = std::get_if<double>(&arg)) constants.push_back(*value);
  };
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    if (const auto* assign = stmt.as<ir::Assign>()) note(assign->args);
    if (const auto* accum = stmt.as<ir::Accum>()) note(accum->args);
  });
  return constants;
}

/// Writes elements to an array, as the bytes that stand for them.
void write(HostArrays& arrays, std::size_t number, const ir::Buffer& buffer, const std::vector<double>& elements,
           Floats& floats) {
  if (!ir::is_float(buffer.dtype)) {
    ir::Numbers numbers(buffer.dtype, elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) numbers.set(i, elements[i]);
    return arrays.write(number, numbers);
  }
  const auto copy = [&](const auto& bits) {
    std::ranges::copy(std::as_bytes(std::span(bits)), arrays.bytes(number).begin());
  };
  if (ir::is_float16(buffer.dtype)) {
    const std::vector<std::uint16_t> bits = mapped(
        elements, [&](double x) { return floats.encode(floats.arithmetic().stored(x, buffer.dtype), buffer.dtype); });
    return copy(bits);
  }
  const std::vector<std::uint32_t> bits = mapped(elements, [&](double x) { return floats.encode(x); });
  copy(bits);
}

std::vector<double> read(HostArrays& arrays, std::size_t number, const ir::Buffer& buffer, Floats& floats) {
  if (!ir::is_float(buffer.dtype)) return arrays.read(number).doubles();
  const std::span<const std::byte> bytes = arrays.bytes(number);
  std::vector<double> elements;
  const auto each = [&](auto word, const auto& decode) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
      std::memcpy(&word, bytes.data() + at, sizeof word);
      elements.push_back(decode(word));
    }
  };
  if (ir::is_float16(buffer.dtype))
    each(std::uint16_t{}, [&](std::uint16_t bits) { return floats.decode(bits, buffer.dtype); });
  else
    each(std::uint32_t{}, [&](std::uint32_t bits) { return floats.decode(bits); });
  return elements;
}

/// Text that is put before the source of a candidate. It replaces functions for which NVRTC computes with the bits of
/// floats, such as expf, by instructions of the machine (exact.cpp).
std::string exact_prelude() {
  std::string text;
  for (const std::string_view name : {"exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", "pow"}) {
    const bool two = name == "pow";
    text += fmt::format(
        "static __device__ __forceinline__ float deplo_{0}(float a{1}) {{\n  float r;\n"
        "  asm(\"deplo.{0}.f32 %0, %1{2};\" : \"=f\"(r) : \"f\"(a){3});\n  return r;\n}}\n"
        "#define {0}f deplo_{0}\n",
        name, two ? ", float b" : "", two ? ", %2" : "", two ? ", \"f\"(b)" : "");
  }
  return text + "#line 1\n";
}

}  // namespace

EmittedProof::EmittedProof(const ir::Program& loop, std::uint64_t seed, const InputFiles& files) : loop_(loop) {
  if (const double flops = ir::work(loop).flops; flops > max_flops) {
    too_large_ = fmt::format("it has {:.4g} operations, the most is {:.4g}; choose smaller extents", flops, max_flops);
    return;
  }
  ir::Proof::Inputs inputs;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (loop.buffers[i].role == ir::Role::input) inputs[loop.buffers[i].name] = input_elements(loop, i, seed, files);
  proof_.emplace(loop, std::move(inputs), seed,
                 ir::Proof::Options{.sigmoid = ir::Ring::Sigmoid::expanded,
                                    .different_in_16_bits = fits_16_bits(loop) ? 0 : fewer_elements});
  if (!proof_->is_whole()) too_large_ = "it has too many statements to execute all of them; choose smaller extents";
}

Result<std::string> EmittedProof::compile(const KernelCode& code, std::string_view architecture) {
  ir::KernelSource source = code.source;
  source.text = exact_prelude() + source.text;
  return cuda::compile_ptx(source, architecture, {.lines = true});
}

ir::ProofVerdict EmittedProof::verdict(const KernelCode& code, std::string_view architecture,
                                       std::uint64_t order) const {
  if (!too_large_.empty()) return {Kind::open, too_large_};
  const Result<std::string> text = compile(code, architecture);
  if (!text.ok()) return {Kind::open, text.failure().message};
  return verdict_of_ptx(text.value(), code, order);
}

ir::ProofVerdict EmittedProof::verdict_of_ptx(const std::string& text, const KernelCode& code,
                                              std::uint64_t order) const {
  if (!too_large_.empty()) return {Kind::open, too_large_};
  try {
    std::string wrong = difference(text, code, order);
    if (!wrong.empty()) return {Kind::refuted, std::move(wrong)};
    return {Kind::proved, ir::ignored(loop_, code.kernel)};
  } catch (const Finding& finding) {
    return {Kind::refuted, finding.what()};
  } catch (const Error& error) {  // an instruction that the machine does not execute, or Unproved
    return {Kind::open, error.what()};
  }
}

std::string EmittedProof::difference(const std::string& text, const KernelCode& code, std::uint64_t order) const {
  Floats floats(proof_->ring(), constants_of(code.kernel));
  const std::vector<ir::Buffer>& buffers = code.kernel.buffers;
  const Kernel kernel(text, code.source, buffers, floats);
  HostArrays arrays(buffers);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    arrays.poison(i);
    if (buffers[i].role == ir::Role::input) write(arrays, i, buffers[i], proof_->input(buffers[i]), floats);
  }
  for (const std::size_t i : code.source.zeroed) std::ranges::fill(arrays.bytes(i), std::byte{0});
  kernel.launch(arrays, code.source.blocks, order);
  ir::Memory found;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].role == ir::Role::output) found[buffers[i].name] = read(arrays, i, buffers[i], floats);
  return proof_->difference(std::move(found));
}

}  // namespace deplo::measure::ptx
