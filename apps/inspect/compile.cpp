#include "apps/inspect/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "apps/cli/compile_levels.h"
#include "apps/inspect/diff.h"
#include "apps/inspect/launch_comment.h"
#include "apps/inspect/machine_code.h"
#include "apps/inspect/module_summary.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text/text.h"
#include "engine/compile/tuned.h"
#include "engine/foreign/kernel_file.h"
#include "engine/source/experiment.h"
#include "engine/source/graph.h"
#include "engine/source/tile_program/block_program.h"
#include "engine/source/tile_program/form.h"
#include "engine/source/tile_program/tile_launch.h"
#include "ir/tile_program/program.h"
#include "ir/tile_program/text/text.h"
#include "measure/check/prove.h"
#include "measure/cuda/compiler/tileiras.h"
#include "measure/device.h"
#include "measure/ptx/prove.h"
#include "rules/cost/banks_drawing.h"
#include "rules/lower.h"

namespace deplo::apps {
namespace {

bool is_machine(const std::string& level) { return level == "ptx" || level == "cubin" || level == "sass"; }

/// Returns the levels of source text, and of what its compiler makes from it.
std::vector<std::string> source_levels(Dialect dialect) {
  switch (dialect) {
    case Dialect::opencl:
      return {"opencl"};
    case Dialect::cuda:
      return {"cuda", "ptx", "cubin", "sass"};
  }
  CHECK(false);
}
bool is_source(const std::string& level, Dialect dialect) {
  return std::ranges::count(source_levels(dialect), level) != 0;
}
bool is_cuda(const std::string& level) { return is_source(level, Dialect::cuda); }
bool is_source(const std::string& level) { return is_source(level, Dialect::opencl) || is_cuda(level); }

/// Returns the level of the source text for a target as CompileOptions names it.
std::string source_level(const std::string& target) {
  const bool opencl = target.empty() || target == "auto";
  return source_levels(opencl ? Dialect::opencl : load_target(target).dialect).front();
}

/// Returns the given flags that print something else instead of a level.
std::vector<std::string> modes(const CompileOptions& options) {
  std::vector<std::string> given;
  if (options.smem) given.emplace_back("--smem");
  if (options.prove) given.emplace_back("--prove");
  if (options.resources) given.emplace_back("--resources");
  if (options.instructions) given.emplace_back("--instructions");
  return given;
}

Target pick_target(const CompileOptions& options) {
  if (options.target.empty()) return load_target(is_cuda(options.level) || options.smem ? "sm_90" : "opencl-cpu");
  Target target =
      options.target == "auto" ? measure::target_of(measure::find_device("opencl")) : load_target(options.target);
  if ((options.resources || options.instructions) && target.dialect != Dialect::cuda)
    throw Error(
        fmt::format("{}: expected a CUDA target (sm_80, sm_90, …), found {}", modes(options).front(), target.name));
  if (is_source(options.level) && !is_source(options.level, target.dialect))
    throw Error(fmt::format("--ir: expected {} (or loop, tile, kernel) for the target {}, found {}",
                            join(source_levels(target.dialect), ", "), target.name, options.level));
  return target;
}

// Returns the trace of a step, in the form of "A Principled ML Compiler Stack", part 1: `t` stands for the rules on
// Tile IR.
std::string trace(const rules::Lowering::Step& step, int verbose, const std::string& kernel) {
  const std::string rule = fmt::format("t:{}", step.rule.name);
  if (!step.skipped.empty()) return fmt::format("--- {} skipped at {}: {}\n", rule, kernel, step.skipped);
  if (verbose < 2) return fmt::format(">>> {}\n", rule);
  return fmt::format(">>> {0}: {1}\n@@ matched at {2} (in-place) @@\n{3}<<< {0}\n", rule, step.rule.summary, kernel,
                     unified_diff(print(step.before), print(step.after)));
}

std::string trace(const rules::FoundAttention& a) {
  std::string text = fmt::format("attention {}", a.output);
  if (!a.scores.empty()) text += fmt::format(" of {} scores", join(a.scores, " x "));
  text += a.fused ? ": one kernel" : a.may_be_other ? fmt::format(": {} kernels", a.kernels) : ": several kernels";
  text += a.why.empty() ? fmt::format(", as --attention {} says", a.fused ? "fused" : "split") : ", because " + a.why;
  if (a.may_be_other && !a.why.empty())
    text += a.fused ? fmt::format(" (--attention split leaves {})", a.kernels) : " (--attention fused makes one)";
  return text + "\n";
}

std::string trace(const rules::KeyParts& p) {
  const std::string parts = p.parts == 1 ? "one part" : fmt::format("{} parts of {}", p.parts, p.keys);
  return fmt::format("keys of {}: {}, {}\n", p.kernel, parts,
                     p.why.empty() ? "as --key-parts says" : "because " + p.why);
}

std::string trace(const rules::Apart& pair) {
  return fmt::format("{} and {}: two kernels, because {}\n", pair.producer, pair.consumer, pair.why);
}

/// Returns a line such as "schedule: tuned" about a kernel's schedule, as a comment in the level's language.
std::string remark(const std::string& which, const engine::Provenance& of, const engine::TunedCache& cache,
                   const CompileOptions& options) {
  std::string text = fmt::format("{} {}", is_source(options.level) ? "//" : "#", which);
  if (of.measured_us > 0) text += fmt::format(", measured {} us", significant(of.measured_us));
  if (!of.from.empty()) text += " as " + of.from;
  text += ", by " + cache.file();
  return text + (of.note.empty() ? "" : "; " + of.note) + "\n";
}

std::string remark(const engine::Provenance& of, const engine::TunedCache& cache, const CompileOptions& options) {
  return remark(fmt::format("schedule: {}", name(of.origin)), of, cache, options);
}

/// Returns a line about the decisions that a graph or a launch gets; "" unless they are tuned or stale.
std::string remark(const engine::GraphSchedule& schedule, const engine::TunedCache& cache,
                   const CompileOptions& options) {
  const std::string said = schedule.note.empty() ? print(schedule.trail) : schedule.note;
  if (said.empty()) return "";
  return fmt::format("{} {}: {}, by {}: {}\n", is_source(options.level) ? "//" : "#",
                     options.selection.source.is_graph() ? "graph" : "launch", name(schedule.origin), cache.file(),
                     said);
}

/// Receives a kernel's name and source, instead of printing the source.
using Table = std::function<void(const std::string&, const measure::KernelCode&)>;

constexpr std::uint64_t proof_seed = 1;

/// Returns a line such as "matmul: proved". Throws Error if the schedule is refuted.
std::string proof_line(const ir::Program& loop, const ir::ProofVerdict& verdict) {
  const std::string line = fmt::format("{}: {}", loop.name, print(verdict));
  if (verdict.kind == ir::ProofVerdict::Kind::refuted) throw Error(line);
  return line + "\n";
}

/// Prints the code at options.level, which must be a level of source text or of its compiler's output.
std::string print_code(const std::string& name, const measure::KernelCode& code, const Target& target,
                       const CompileOptions& options) {
  const std::string launch = options.level == "cubin" || options.level == "sass" ? "" : launch_comment(code, target);
  return launch + (is_machine(options.level) ? machine_code(code, target, options.level, name) : code.source.text);
}

/// Prints the kernel with this schedule at a level below Loop IR. If there is a `table`, adds the source to it instead
/// of printing the source.
std::string lower(const ir::Program& loop, const Target& target, const Trail& trail, const CompileOptions& options,
                  const Table& table) {
  std::string text;
  rules::Lowering::Observer observer;
  if (options.verbose > 0)
    observer = [&](const rules::Lowering::Step& step) { text += trace(step, options.verbose, loop.name); };
  const rules::Lowering lowering =
      rules::follow(rules::Lowering(loop, target, observer), trail, rules::TrailIs::beginning).value_or_throw();
  if (options.verbose > 0) text += fmt::format("schedule: {}\n", print(lowering.trail()));
  if (options.smem) return text + rules::draw_banks(lowering.program(), target);
  if (options.level == "tile") return text + print(lowering.program());
  if (options.prove && options.level == "kernel")
    return text + proof_line(loop, measure::prove(measure::with_index_ranges(loop),
                                                  rules::materialize(lowering.program(), target), proof_seed));
  const measure::KernelCode code = engine::compile(lowering).code;
  if (options.prove)
    return text +
           proof_line(
               loop,
               measure::ptx::EmittedProof(measure::with_index_ranges(loop), proof_seed).verdict(code, target.name));
  if (options.level == "kernel") return text + print(code.kernel);
  if (table) table(loop.name, code);
  if (table) return text;
  return text + print_code(loop.name, code, target, options);
}

void add_tileiras(InstructionTable& table, const engine::TileSource& tile, const Target& target) {
  const std::string bytes = read_file(tile.file);
  const auto program = ir::tile_program::read_program(bytes, tile.file);
  if (!program.is_bytecode)
    throw Error(fmt::format("--tileiras: expected bytecode, found text, which tileiras does not read ({})", tile.file));
  table.add_cubin("tileiras", measure::cuda::compile_tile_bytecode(bytes, target.name),
                  find_entry(program, tile.entry).name);
}

/// The target, and the schedules that were tuned for it, if --tuned asks for them.
struct Backend {
  Target target;
  std::optional<engine::TunedCache> cache;

  /// `language`: the language of a kernel whose text is the same for all targets of that language.
  explicit Backend(const CompileOptions& options, std::optional<Dialect> language = {}) : target(pick_target(options)) {
    if (!options.tuned) return;
    const std::string file = options.tuned->empty() ? engine::default_store() : *options.tuned;
    const measure::DeviceInfo device = language && options.target.empty()
                                           ? engine::device_for(file, *language, options.tuned_on)
                                           : engine::device_for(file, target, options.tuned_on);
    target = measure::target_of(device);
    cache.emplace(file, device, target, options.nearest);
  }
};

std::string compile_kernels(const std::vector<engine::LoadedKernel>& kernels, bool titles,
                            const CompileOptions& options, Backend backend) {
  const Target& target = backend.target;
  std::optional<engine::TunedCache>& cache = backend.cache;
  if (kernels.size() != 1 && (!options.schedule.empty() || options.level == "cubin"))
    throw Error(fmt::format("{}: expected a single kernel, found {}; choose one with --only",
                            options.schedule.empty() ? "--ir cubin" : "--schedule", kernels.size()));
  std::vector<engine::Schedule> schedules;
  for (std::size_t i = 0; cache && i < kernels.size(); ++i) schedules.push_back(cache->find(kernels[i].loop));
  if (options.require_tuned) cache->require_tuned("--require-tuned");
  ResourceTable resources(target);
  InstructionTable instructions(target);
  Table table;
  if (options.resources) table = std::bind_front(&ResourceTable::add, &resources);
  if (options.instructions) table = std::bind_front(&InstructionTable::add, &instructions);
  titles = titles && !table && !options.prove && options.level != "cubin";
  std::string text;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& [number, loop, files, tile, opaque] = kernels[i];
    if (titles) text += fmt::format("{} {}\n", is_source(options.level) ? "//" : "#", title(loop, number));
    if (options.level == "loop") {
      text += print(loop);
      continue;
    }
    if (!cache) {
      text += lower(loop, target, parse_trail(options.schedule), options, table);
      continue;
    }
    const engine::Schedule& schedule = schedules[i];
    if (options.level != "cubin") text += remark(schedule, *cache, options);
    text += lower(schedule.loop, target, schedule.compiled.trail, options, table);
  }
  if (options.tileiras) add_tileiras(instructions, *options.selection.source.tile(), target);
  if (options.resources) text += resources.print(options.width);
  if (options.instructions) text += instructions.print(options.width);
  return text;
}

/// Prints an opaque kernel at options.level, or its table. `title`: lines of comments about the kernel, printed first.
std::string print_opaque(const std::string& name, const measure::KernelCode& code, const Target& target,
                         const CompileOptions& options, const std::string& title) {
  const auto print_in = [&](auto table) {
    table.add(name, code);
    return title + table.print(options.width);
  };
  if (options.resources) return print_in(ResourceTable(target));
  if (options.instructions) return print_in(InstructionTable(target));
  return (options.level == "cubin" ? "" : title) + print_code(name, code, target, options);
}

/// Prints the only kernel of a launch that is lowered block by block to Kernel IR. `why`: why it is not lowered to Loop
/// IR.
std::string compile_blocks(engine::TileLaunch launch, const std::string& why, const CompileOptions& options,
                           Backend backend) {
  const auto refuse = [&](bool given, const std::string& flag) {
    if (given) throw Error(fmt::format("{} needs kernels, but this program is lowered block by block: {}", flag, why));
  };
  refuse(options.smem, "--smem");
  refuse(options.prove, "--prove");
  refuse(options.level != "kernel" && !is_source(options.level), "--ir " + options.level);
  refuse(options.nearest, "--nearest");
  refuse(options.selection.only.has_value(), "--only");
  const Target& target = backend.target;
  std::optional<engine::TunedCache>& cache = backend.cache;
  const engine::BlockProgram program(std::move(launch), target);
  Trail trail = parse_trail(options.schedule);
  std::string about;
  if (cache) {
    const engine::OpaqueSchedule schedule = cache->find(program);
    if (options.require_tuned) cache->require_tuned("--require-tuned");
    trail = schedule.trail;
    about = remark(schedule, *cache, options);
  }
  rules::BlockKernel kernel = program.lower(program.schedule(trail).value_or_throw());
  if (options.level == "kernel") return print(kernel.kernel);
  const measure::KernelCode code{std::move(kernel.kernel), std::move(kernel.source)};
  return print_opaque(program.name(), code, target, options,
                      fmt::format("// {} block by block; reason: {}\n{}", program.name(), why, about));
}

/// Prints the kernel of a user's own file.
std::string compile_file(CompileOptions options) {
  const engine::foreign::KernelFile file(*options.selection.source.kernel_file());
  const bool cuda = file.language() == Dialect::cuda;
  if (options.level.empty()) options.level = cuda ? "cuda" : "opencl";
  if (!is_source(options.level, file.language()))
    throw Error(fmt::format("--ir: expected {} for a kernel in {}, found {}",
                            join(source_levels(file.language()), ", "), cuda ? "CUDA C++" : "OpenCL C", options.level));
  Backend backend(options, file.language());
  Trail trail = file.candidate(options.configuration, "--configuration")->trail();
  const std::string replaced = file.replaced_defaults(options.configuration, "--configuration");
  std::string about = fmt::format("// configuration: {}{}\n", options.configuration.empty() ? "default" : "given",
                                  replaced.empty() ? "" : "; " + replaced);
  if (backend.cache) {
    engine::OpaqueSchedule schedule = backend.cache->find(file);
    if (options.require_tuned) backend.cache->require_tuned("--require-tuned");
    trail = schedule.trail;
    const bool is_tuned = schedule.origin == engine::Origin::tuned;
    if (schedule.note.empty() && !is_tuned) schedule.note = replaced;
    about = remark(is_tuned ? "configuration: tuned" : "configuration: default", schedule, *backend.cache, options);
  }
  const measure::KernelCode code = file.code(*file.space().find(trail));
  return print_opaque(file.name(), code, backend.target, options, about);
}

/// Returns whether a flag is about kernels of Loop IR.
bool asks_for_elements(const CompileOptions& options) {
  return options.smem || options.prove || options.summary || options.nearest || options.selection.only ||
         (options.level != "kernel" && !is_source(options.level));
}

std::string compile_launch(const engine::TileSource& tile, const CompileOptions& options) {
  const engine::Source& source = options.selection.source;
  engine::TileLaunch launch = read_launch(tile);
  Backend backend(options);
  engine::GraphSchedule stored;
  std::string text;
  if (asks_for_elements(options)) {
    stored.trail = engine::take_form(engine::by_elements);
  } else if (backend.cache && engine::Alternatives::exist_for(source)) {
    stored = backend.cache->find_graph({source, backend.target});
    if (options.level != "cubin") text = remark(stored, *backend.cache, options);
  }
  engine::LaunchForm form = choose_form(launch, source.options, stored.trail);
  if (!form.module) return text + compile_blocks(std::move(launch), form.why_blocks, options, std::move(backend));
  return text +
         compile_kernels(engine::pick_kernels(*form.module, options.selection.only), true, options, std::move(backend));
}

std::string compile_graph(const engine::Source& source, const CompileOptions& options) {
  const std::string passes_text = options.passes.value_or("dolm");
  engine::Passes passes = engine::parse_passes(passes_text);
  passes.guard = !options.no_guard;
  passes.fixed = engine::passes_of(source.options, {}).fixed;
  if (!passes.lift && options.level != "torch" && options.level != "tensor")
    throw Error(fmt::format("--passes: expected dol or dolm for --ir {}, found '{}'", options.level, passes_text));
  const ir::torch::Graph graph = engine::read_graph(source);
  std::string text;
  if (!graph.note.empty() && options.level != "cubin")
    text = fmt::format("{} {}\n", is_source(options.level) ? "//" : "#", graph.note);
  if (options.level == "torch") return text + print(graph);
  if (options.level == "tensor") return text + print(engine::lower_to_tensor(graph, passes));
  passes.target = pick_target(options);
  rules::FusionObserver observer;
  if (options.verbose > 0) {
    observer.found = [&](const rules::FoundAttention& attention) { text += trace(attention); };
    observer.parted = [&](const rules::KeyParts& parts) { text += trace(parts); };
    observer.apart = [&](const rules::Apart& pair) { text += trace(pair); };
  }
  Backend backend(options);
  const engine::GraphSchedule schedule =
      backend.cache ? backend.cache->find_graph({graph, passes}) : engine::GraphSchedule{};
  if (backend.cache && options.level != "cubin") text += remark(schedule, *backend.cache, options);
  const ir::Module module = engine::lower_by_trail(graph, passes, schedule.trail, observer).value_or_throw().module;
  return text + (options.summary ? print_summary(module, options.width)
                                 : compile_kernels(engine::pick_kernels(module, options.selection.only), true, options,
                                                   std::move(backend)));
}

/// Reads, verifies and prints a tile program: all its entries, or the named one. Throws Error with the place of a
/// mistake.
std::string print_tile_program(const engine::TileSource& source) {
  ir::tile_program::Program program = ir::tile_program::read_program(read_file(find_data(source.file)), source.file);
  if (!source.entry.empty()) {
    const std::string name = find_entry(program, source.entry).name;
    std::erase_if(program.entries, [&](const ir::tile_program::Entry& entry) { return entry.name != name; });
  }
  return print(program);
}

/// Throws Error for options that do not apply to the source or to the level.
void check_options(const CompileOptions& options) {
  const engine::Source& source = options.selection.source;
  engine::check_name("--ir", "a level", options.level, compile_levels(source.kind()));
  if (options.summary && options.level != "loop")
    throw Error(fmt::format("--summary cannot be combined with --ir {}, only with --ir loop", options.level));
  const bool scheduled = options.level != "torch" && options.level != "tensor" && options.level != "loop" &&
                         options.level != "tile-program";
  if (!scheduled && !options.schedule.empty())
    throw Error(fmt::format("--schedule: expected a level below loop, found --ir {}", options.level));
  if (!scheduled && options.tuned)
    throw Error(fmt::format("--tuned: expected a level below loop, found --ir {}", options.level));
}

}  // namespace

std::string compile(CompileOptions options) {
  const engine::Source& source = options.selection.source;
  const engine::TileSource* tile = source.tile();
  // Without a launch, a tile program has no kernels, only its own text.
  const bool launched = tile != nullptr && (!tile->arguments.empty() || !tile->grid.empty());
  if (tile != nullptr && !launched && modes(options).empty() && !options.summary && options.level.empty())
    options.level = "tile-program";
  if (options.level == "cubin" && options.verbose > 0)
    throw Error("-v: expected a level that is text, found --ir cubin");
  if (options.smem) options.level = "tile";
  const bool proves_ptx = options.prove && options.level == "ptx";
  if (options.prove && !options.level.empty() && options.level != "kernel" && !proves_ptx)
    throw Error("--prove: expected --ir kernel or ptx, found --ir " + options.level);
  if (options.prove && !proves_ptx) options.level = "kernel";
  if (options.resources || options.instructions) options.level = "cuda";
  if (options.level.empty() && source.kernel_file() == nullptr)
    options.level = options.summary ? "loop" : source_level(options.target);
  if (!options.level.empty()) check_options(options);
  if (source.kernel_file() != nullptr) return compile_file(std::move(options));
  if (engine::find_fixed(source.options, "form") != nullptr && !launched)
    throw Error("--form: expected --tile with --arg and --grid, found no --grid");
  if (options.level == "tile-program") return print_tile_program(*tile);
  if (tile != nullptr && !launched)
    throw Error(fmt::format("--tile: expected --arg and --grid with --ir {}, found none", options.level));
  if (source.is_graph()) return compile_graph(source, options);
  if (tile != nullptr) return compile_launch(*tile, options);
  return compile_kernels({{0, engine::read_kernel(source)}}, false, options, Backend(options));
}

}  // namespace deplo::apps
