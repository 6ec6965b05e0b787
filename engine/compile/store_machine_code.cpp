#include "engine/compile/store_machine_code.h"

#include <fmt/format.h>

#include <optional>

#include "core/trail.h"
#include "engine/compile/compiled.h"
#include "engine/loop/kernel.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/sass/disassemble.h"
#include "measure/cuda/sass/instruction_mix.h"
#include "rules/lower.h"

namespace deplo::engine {
namespace {

using measure::upkeep::UnknownCode;

/// Returns the source that the trial built, made again by this program's rules and emitter. Returns nullopt if the
/// trail no longer leads to that source.
std::optional<ir::KernelSource> source_of(const UnknownCode& code) {
  const ir::Program loop = parse_kernel(code.text, {}, fmt::format("the text of {}", code.kernel));
  const auto lowering =
      rules::follow(loop, measure::target_of(code.device), parse_trail(code.trail), rules::TrailIs::whole);
  if (!lowering.ok()) return std::nullopt;
  Compiled compiled = compile(lowering.value());
  if (compiled.digest != code.digest) return std::nullopt;
  return std::move(compiled.code.source);
}

measure::upkeep::MachineCode figures(const std::string& cubin) {
  using namespace measure::cuda::sass;
  const Listing listing = parse_listing(disassemble(cubin));
  const KernelMix kernel = kernel_mix(listing);
  measure::upkeep::MachineCode code;
  code.instructions = kernel.whole.instructions;
  code.calls = kernel.whole.calls;
  const LoopMix* hot = hot_loop(kernel);
  if (hot == nullptr) return code;
  const IssueBound bound = issue_bound(hot->mix, listing.architecture);
  code.loop_instructions = hot->mix.instructions;
  code.arithmetic_share = hot->mix.arithmetic_share();
  code.issue_cycles = bound.cycles;
  code.issue_limiter = name(bound.limiter);
  for (const auto& [kind, count] : hot->mix.kinds) code.classes[name(kind)] = count;
  return code;
}

}  // namespace

MachineCodeCounts add_machine_code(measure::sqlite::Database& store, const measure::upkeep::Filter& filter,
                                   measure::upkeep::Chosen chosen,
                                   const std::function<bool(const std::string& kernel, std::int64_t left)>& begin) {
  MachineCodeCounts counts;
  const std::vector<UnknownCode> codes = unknown_code(store, filter, chosen);
  auto left = static_cast<std::int64_t>(codes.size());
  if (!codes.empty()) measure::cuda::sass::nvdisasm();  // throws before anything is built if nvdisasm is missing
  for (const UnknownCode& code : codes) {
    if (!begin(code.kernel, left--)) break;
    const auto source = source_of(code);
    if (!source) {
      ++counts.stale;
      continue;
    }
    const auto cubin = measure::cuda::compile_cubin(*source, code.device.architecture,
                                                    {.nvrtc = &measure::cuda::Nvrtc::for_machine()});
    if (!cubin.ok() || cubin.value().resources.binary_digest != code.binary_digest) {
      ++counts.other_compiler;
      continue;
    }
    measure::upkeep::MachineCode made = figures(cubin.value().code);
    made.binary_digest = code.binary_digest;
    add_machine_code(store, made);
    ++counts.added;
  }
  return counts;
}

}  // namespace deplo::engine
