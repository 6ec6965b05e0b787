#include "apps/inspect/machine_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/columns.h"
#include "core/error.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/elf.h"
#include "measure/cuda/sass/disassemble.h"
#include "measure/cuda/sass/instruction_mix.h"

namespace deplo::apps {
namespace {

template <class T>
T built(Result<T> result, const std::string& place) {
  if (!result.ok())
    throw Error(fmt::format("{}: {}: {}", place, status_name(result.failure().status), result.failure().message));
  return std::move(result.value());
}

/// Returns the classes of instructions, the most frequent first, and the names of instructions without a class: "fp32
/// 1024, LDS.128 64, …".
std::string by_class(const measure::cuda::sass::InstructionMix& mix) {
  using measure::cuda::sass::Kind;
  std::vector<std::pair<Kind, std::int64_t>> kinds(mix.kinds.begin(), mix.kinds.end());
  std::ranges::stable_sort(kinds, std::greater(), &std::pair<Kind, std::int64_t>::second);
  std::vector<std::string> words;
  for (const auto& [kind, count] : kinds) words.push_back(fmt::format("{} {}", name(kind), count));
  std::string text = join(words, ", ");
  if (!mix.unknown.empty()) text += " (" + join(std::vector(mix.unknown.begin(), mix.unknown.end()), ", ") + ")";
  return text;
}

std::string notes_of(const std::string& kernel, const measure::Resources& resources) {
  return resources.compiler_notes.empty() ? "" : fmt::format("{}: ptxas: {}\n", kernel, resources.compiler_notes);
}

/// Returns the compiler's options: the defaults and, for a user's own kernel, the options of its launch.
measure::cuda::CompileOptions options_of(const measure::KernelCode& code) {
  measure::cuda::CompileOptions options;
  if (code.launch) options.more = code.launch->options;
  return options;
}

}  // namespace

std::string machine_code(const measure::KernelCode& kernel, const Target& target, const std::string& level,
                         const std::string& place) {
  using namespace measure::cuda;
  if (level == "ptx") return built(compile_ptx(kernel.source, target.name, options_of(kernel)), place);
  std::string code = built(compile_cubin(kernel.source, target.name, options_of(kernel)), place).code;
  return level == "cubin" ? code : print(sass::parse_listing(sass::disassemble(code)));
}

void ResourceTable::add(const std::string& name, const measure::KernelCode& code) {
  using namespace measure::cuda;
  const ir::KernelSource& source = code.source;
  const Cubin cubin = built(compile_cubin(source, target_.name, options_of(code)), name);
  const measure::Resources r = built(with_occupancy(cubin.resources, source, target_), name);
  const std::string blocks =
      code.launch ? fmt::format("{}", fmt::join(code.launch->blocks, "x")) : std::to_string(source.blocks);
  rows_.push_back({name, blocks, std::to_string(source.threads), std::to_string(r.registers),
                   std::to_string(r.spill_bytes), std::to_string(r.stack_bytes), std::to_string(r.static_shared_bytes),
                   std::to_string(r.dynamic_shared_bytes), fmt::format("{:.1f}%", 100 * r.occupancy), r.limiter});
  notes_ += notes_of(name, r);
}

std::string ResourceTable::print(std::size_t width) const {
  std::vector<std::vector<std::string>> rows{{target_.name, "blocks", "threads", "registers", "spilled", "stack",
                                              "static shared", "dynamic shared", "occupancy", "limited by"}};
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  return align_columns(rows, {false, true, true, true, true, true, true, true, true, false}, width) + notes_;
}

void InstructionTable::add(const std::string& name, const measure::KernelCode& code) {
  using namespace measure::cuda;
  const Cubin cubin = built(compile_cubin(code.source, target_.name, options_of(code)), name);
  const measure::Resources r = built(with_occupancy(cubin.resources, code.source, target_), name);
  add_rows(name, cubin.code,
           {std::to_string(r.registers), std::to_string(r.spill_bytes), fmt::format("{:.1f}%", 100 * r.occupancy),
            r.limiter});
  notes_ += notes_of(name, r);
}

void InstructionTable::add_cubin(const std::string& name, const std::string& cubin, const std::string& entry) {
  const auto facts = measure::cuda::inspect_cubin(cubin, entry);
  if (!facts) throw Error(fmt::format("{}: expected a cubin, found other bytes", name), Exit::environment);
  add_rows(name, cubin, {facts->registers < 0 ? "-" : std::to_string(facts->registers), "-", "-", "-"});
}

void InstructionTable::add_rows(const std::string& name, const std::string& cubin,
                                const std::array<std::string, 4>& facts) {
  using namespace measure::cuda;
  const sass::KernelMix kernel = kernel_mix(sass::parse_listing(sass::disassemble(cubin)));
  std::vector<std::string> row{name, std::to_string(kernel.whole.instructions), std::to_string(kernel.whole.calls)};
  row.insert(row.end(), facts.begin(), facts.end());
  row.push_back(by_class(kernel.whole));
  kernels_.push_back(std::move(row));
  for (const sass::LoopMix& loop : kernel.loops) {
    const sass::IssueBound bound = issue_bound(loop.mix, target_.name);
    loops_.push_back({name, std::string(2 * loop.depth, ' ') + loop.label, std::to_string(loop.mix.instructions),
                      fmt::format("{:.1f}%", 100 * loop.mix.arithmetic_share()), std::to_string(loop.mix.calls),
                      std::to_string(bound.cycles), std::string(sass::name(bound.limiter)), by_class(loop.mix)});
  }
}

std::string InstructionTable::print(std::size_t width) const {
  std::vector<std::vector<std::string>> kernels{
      {target_.name, "instructions", "calls", "registers", "spilled", "occupancy", "limited by", "by class"}};
  kernels.insert(kernels.end(), kernels_.begin(), kernels_.end());
  std::string text = align_columns(kernels, {false, true, true, true, true, true, false, false}, width);
  if (loops_.empty()) return text + notes_;
  std::vector<std::vector<std::string>> loops{
      {"kernel", "loop", "instructions", "arithmetic", "calls", "cycles", "bound by", "by class"}};
  loops.insert(loops.end(), loops_.begin(), loops_.end());
  return text + "\n" + align_columns(loops, {false, false, true, true, true, true, false, false}, width) + notes_;
}

}  // namespace deplo::apps
