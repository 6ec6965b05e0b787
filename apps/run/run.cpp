#include "apps/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/run/blocks_run.h"
#include "apps/run/file_run.h"
#include "apps/run/output_files.h"
#include "apps/run/subject.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "engine/compile/compiled_module.h"
#include "engine/compile/plan.h"
#include "engine/compile/target.h"
#include "engine/source/alternatives.h"
#include "engine/source/tile_program/form.h"
#include "engine/source/tile_program/tile_launch.h"
#include "engine/tune/adoption.h"
#include "engine/tune/build_ahead.h"
#include "ir/types/float16.h"
#include "measure/baselines/tile_baseline.h"
#include "measure/check/npy.h"
#include "measure/check/prove.h"
#include "measure/host_memory.h"
#include "measure/protocol/operand_sets.h"
#include "measure/ptx/device.h"
#include "measure/ptx/prove.h"
#include "measure/store/store.h"

namespace deplo::apps {
namespace {

ir::Buffer buffer_of(const ir::Tensor& tensor) {
  const ir::TensorType& type = tensor.type;
  return {tensor.name, type.dtype, ir::Role::output, type.shape, ir::row_major_strides(type.shape)};
}

// Checks that the host has enough memory. A graph that is timed as a whole does not need the reference: it is compared
// with launches of its kernels one by one.
void check_memory(const Subject& subject, bool whole, const engine::Plan& plan, const measure::DeviceInfo& device) {
  const double largest = plan.slots.empty() ? 0 : static_cast<double>(*std::ranges::max_element(plan.slots));
  double slots = 0;  // that are in host memory for the whole run
  if (device.cpu) slots += plan.bytes();
  if (device.backend == "interpreter") slots += 3 * plan.bytes();  // the arrays, and a copy in double
  if (device.backend == "ptx") slots += plan.bytes();
  const double needed = slots + std::max(2 * largest, whole ? 0 : subject.reference_bytes());
  const double free = measure::free_host_memory();
  if (needed > free)
    throw Error(fmt::format("expected {:.3g} GB of free memory for the tensors and their reference, found {:.3g} GB",
                            needed * 1e-9, free * 1e-9),
                Exit::environment);
}

/// A run of a graph or a tile program. The methods are the steps of three ways to run it: one launch after the other,
/// the whole graph timed, and proofs.
class Runner {
 public:
  Runner(const RunOptions& options, std::unique_ptr<Subject> subject, Progress& progress)
      : options_(options),
        progress_(progress),
        subject_(std::move(subject)),
        device_(measure::open_device(options.device)),
        target_(engine::pick_target(options.target, device_->info(), device_->dialect(), options.device, "--target")),
        cache_(options.tuned, device_->info(), target_, options.nearest, options.tolerance),
        adoption_(
            {options.device, device_->info(), target_, options.tolerance,
             [this](const std::string& kernel) { progress_.status(kernel, "timing another machine's schedule"); }}),
        graph_(subject_->lower(cache_)),
        module_(subject_->module()),
        plan_(engine::plan_buffers(module_)),
        report_(begin_report(options, device_->info(), target_, {})) {
    if (!subject_->note().empty()) progress.line("warning: " + subject_->note());
    if (!options.no_measure)
      cache_.decide_foreign([this](const ir::Program& kernel, const engine::Schedule& foreign) {
        return adoption_.decide(kernel, foreign);
      });
  }

  ProofReport prove() {
    build_schedules();
    const measure::PtxName name = measure::parse_ptx_name(options_.device);
    ProofReport report;
    for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
      if (compiled_.launches[i].kernel != report.lines.size()) continue;  // equal to an earlier kernel
      const engine::Schedule& schedule = compiled_.kernels[report.lines.size()];
      const std::string& kernel = module_.kernels[i].name;
      progress_.status(fmt::format("[{}/{}] {}", i + 1, module_.kernels.size(), kernel), "proving");
      const measure::ptx::EmittedProof proof(measure::with_index_ranges(schedule.loop), options_.seed);
      report.lines.push_back({kernel, proof.verdict(schedule.compiled.code, name.architecture, name.seed)});
    }
    return report;
  }

  RunReport run() {
    check_memory(*subject_, options_.whole, plan_, device_->info());
    build_all();
    if (options_.whole) {
      time_whole();
    } else {
      const auto slots = device_->allocate(slot_buffers());
      fill({slots.get()});
      const std::vector<ir::Numbers> found = launch_all(*slots);
      progress_.status("reference", "in double");
      compare(found);
      if (options_.outputs) write_outputs(found);  // reference() has thrown Error if the run is not valid
    }
    fill_report();
    return std::move(report_);
  }

 private:
  void build_schedules() {
    if (options_.require_tuned) cache_.require_tuned_or_foreign(module_.kernels, "--require-tuned");
    compiled_ = engine::compile(module_, [&](const ir::Program& loop) { return cache_.find(loop); });
    if (options_.require_tuned) cache_.require_tuned("--require-tuned");
  }

  void build_all() {
    build_schedules();
    report_.graph_trail = print(graph_.trail);
    report_.graph_note = graph_.note;
    std::vector<measure::KernelCode> codes;
    for (const engine::Schedule& schedule : compiled_.kernels) codes.push_back(schedule.compiled.code);
    engine::BuildAhead ahead(*device_, options_.device, std::move(codes));
    for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
      const ir::Program& loop = module_.kernels[i];
      progress_.status(fmt::format("[{}/{}] {}", i + 1, module_.kernels.size(), loop.name), "building");
      const std::size_t number = compiled_.launches[i].kernel;
      const engine::Schedule& schedule = compiled_.kernels[number];
      if (number == executables_.size()) {
        first_.push_back(i);
        executables_.push_back(build(loop.name, ahead));
      }
      const ir::Work work = ir::work(loop);
      KernelLaunch& row = report_.kernels.emplace_back();
      static_cast<engine::Provenance&>(row) = schedule;
      row.name = loop.name;
      row.first = first_[number];
      row.proof = schedule.proof;
      if (options_.fingerprint && row.first == i) {
        const ir::Program ranged = measure::with_index_ranges(schedule.loop);
        const ir::Program& kernel = schedule.compiled.code.kernel;
        row.fingerprint = print(measure::fingerprint_of(ranged, kernel, options_.seed));
        row.row_fingerprint = print(measure::row_fingerprint_of(ranged, kernel, options_.seed));
      }
      row.trail = print(schedule.compiled.trail);
      row.flops = work.flops;
      row.bytes = work.bytes;
    }
  }

  std::unique_ptr<measure::Executable> build(const std::string& name, engine::BuildAhead& ahead) {
    auto built = ahead.next();
    if (!built.ok())
      throw Error(
          fmt::format("kernel {}: cannot be built on {}: {}", name, device_->info().name, built.failure().message),
          Exit::environment);
    return std::move(built.value());
  }

  std::vector<ir::Buffer> slot_buffers() const {
    std::vector<ir::Buffer> buffers;
    for (std::size_t i = 0; i < plan_.slots.size(); ++i)
      buffers.push_back({fmt::format("slot{}", i), ir::DType::f32, ir::Role::output, {plan_.slots[i] / 4}, {1}});
    return buffers;
  }

  void fill(const std::vector<measure::Arrays*>& sets) {
    // Poison the slots, so that values that no kernel has written do not look like results.
    for (measure::Arrays* const slots : sets)
      for (std::size_t i = 0; i < plan_.slots.size(); ++i) slots->poison(i);
    for (const ir::Tensor& tensor : module_.tensors) {
      if (tensor.kind == ir::Tensor::Kind::computed) continue;
      progress_.status(tensor.name, "drawing");
      const measure::Place place = plan_.placement.at(tensor.name);
      const ir::Numbers values = subject_->values(tensor);
      for (measure::Arrays* const slots : sets)
        slots->view(std::span(&place, 1), {buffer_of(tensor)})->write(0, values);
    }
  }

  /// Returns the places of a kernel's tensors, in the order of its parameters.
  std::vector<measure::Place> places(std::size_t number) const {
    std::vector<measure::Place> places;
    for (const std::string& tensor : compiled_.launches[number].tensors) places.push_back(plan_.placement.at(tensor));
    return places;
  }

  double launch(std::size_t number, measure::Arrays& slots) {
    const std::size_t kernel = compiled_.launches[number].kernel;
    const engine::Schedule& schedule = compiled_.kernels[kernel];
    const auto arrays = slots.view(places(number), schedule.loop.buffers);
    const std::int64_t blocks = schedule.compiled.code.source.blocks;
    Result<double> time = 0.0;
    if (!options_.no_measure)
      time = executables_[kernel]->launch(*arrays, blocks);
    else if (const auto failed = executables_[kernel]->execute(*arrays, blocks))
      time = *failed;
    if (!time.ok())
      throw Error(fmt::format("kernel {}: failed on {}: {}", module_.kernels[number].name, device_->info().name,
                              time.failure().message),
                  Exit::environment);
    return time.value();
  }

  std::vector<ir::Numbers> launch_all(measure::Arrays& slots) {
    for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
      KernelLaunch& row = report_.kernels[i];
      progress_.status(fmt::format("[{}/{}] {}", i + 1, module_.kernels.size(), row.name), "running");
      row.microseconds = launch(i, slots);
    }
    return read_outputs(slots);
  }

  std::vector<ir::Numbers> read_outputs(measure::Arrays& slots) const {
    std::vector<ir::Numbers> found;
    for (const std::string& name : module_.outputs) {
      const measure::Place place = plan_.placement.at(name);
      found.push_back(slots.view(std::span(&place, 1), {buffer_of(*module_.find(name))})->read(0));
    }
    return found;
  }

  void write_outputs(const std::vector<ir::Numbers>& found) const {
    OutputFiles files(options_.outputs);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Subject::Output& output = subject_->outputs()[i];
      files.add(output.file, measure::npy_bytes(found[i], output.type));
    }
    for (const Subject::Output& output : subject_->empty_outputs())
      files.add(output.file, measure::npy_bytes({}, output.type));
    files.finish();
  }

  /// Times the whole graph as it runs in a model: a kernel finds in the caches what the previous kernel left there, but
  /// the graph's inputs are not cached.
  void time_whole() {
    if (module_.kernels.empty()) throw Error("--whole: expected kernels to time, found only outputs without elements");
    const std::int64_t l2_bytes = device_->info().l2_bytes;
    measure::OperandSets sets(*device_, slot_buffers(),
                              measure::operand_set_count(measure::footprint(slot_buffers()), l2_bytes));
    std::vector<measure::Arrays*> all;
    for (std::size_t i = 0; i < sets.size(); ++i) all.push_back(&sets[i]);
    fill(all);
    const std::vector<ir::Numbers> expected = launch_all(sets[0]);
    std::vector<measure::ChainLink> links;
    for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
      const engine::Schedule& schedule = compiled_.kernels[compiled_.launches[i].kernel];
      links.push_back({executables_[compiled_.launches[i].kernel].get(), schedule.compiled.code.source.blocks,
                       places(i), schedule.loop.buffers});
    }
    const auto chain = device_->chain(std::move(links));
    const std::unique_ptr<measure::Executable> beside = baseline_chain();
    std::vector<measure::Executable*> executables{chain.get()};
    if (beside) executables.push_back(beside.get());
    progress_.status("the whole graph", "timing");
    measure::Protocol protocol;
    protocol.tolerance = options_.tolerance;
    report_.protocol = protocol.text();
    auto timings = measure::time_in_turns(executables, sets, *device_, protocol);
    auto checks = replay(*chain, sets[0], expected, 0);
    const auto require = [&](const auto& result) {
      if (!result.ok())
        throw Error(fmt::format("the graph: failed on {}: {}", device_->info().name, result.failure().message),
                    Exit::environment);
    };
    require(timings[0]);
    require(checks);
    report_.whole = std::move(timings[0].value());
    report_.outputs = std::move(checks.value());
    if (options_.outputs) write_outputs(expected);
    // NVIDIA's kernel adds numbers in another order and rounds the weights of an attention. So the tolerance is ten
    // times the mean error, as for TF32.
    if (beside) add_baseline(std::move(timings[1]), replay(*beside, sets[0], expected, 10));
  }

  /// Launches the timed executable once more and compares its outputs with those of the kernels launched one by one.
  /// The tolerance is at least `roundings` unit roundoffs of the output's type, relative to the output's scale. With
  /// several roundoffs, the check shows whether another compiler's kernel computes the same function, but would not
  /// find a wrong index in one of deplo's kernels.
  Result<std::vector<OutputCheck>> replay(measure::Executable& executable, measure::Arrays& slots,
                                          const std::vector<ir::Numbers>& expected, double roundings) {
    for (const ir::Tensor& tensor : module_.tensors)
      if (tensor.kind == ir::Tensor::Kind::computed && tensor.part_of.empty())
        slots.poison(plan_.placement.at(tensor.name).buffer);
    measure::Arrays* const set = &slots;
    if (const auto sample = executable.sample({&set, 1}, 1, 1); !sample.ok()) return sample.failure();
    const std::vector<ir::Numbers> found = read_outputs(slots);
    std::vector<OutputCheck> checks;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Subject::Output& output = subject_->outputs()[i];
      const double tolerance = std::max(options_.tolerance, roundings * ir::unit_roundoff(output.type.dtype));
      checks.push_back(compare_output(found[i], expected[i].doubles(), output.type, tolerance));
      checks.back().name = output.name;
    }
    return checks;
  }

  /// Returns NVIDIA's kernel of a tile program, which works on the slots of the graph; null if there is none. If it
  /// cannot be built, the report says why.
  std::unique_ptr<measure::Executable> baseline_chain() {
    const auto call = subject_->tile_call();
    if (!call || device_->info().backend != "cuda") return nullptr;
    progress_.status("tileiras", "building");
    WholeBaseline& row = report_.beside.emplace();
    measure::ChainLink link;
    std::vector<std::size_t> zeroed;
    for (const ir::Tensor& tensor : module_.tensors) {
      if (tensor.kind == ir::Tensor::Kind::computed && std::ranges::count(module_.outputs, tensor.name) == 0) continue;
      if (is_partly_written(tensor.name)) zeroed.push_back(link.as.size());
      link.as.push_back(buffer_of(tensor));
      link.places.push_back(plan_.placement.at(tensor.name));
    }
    try {
      measure::Baseline baseline = measure::tile_baseline(*call, link.as, zeroed, *device_);
      row.version = baseline.version;
      beside_ = std::move(baseline.executable);
    } catch (const Error& error) {
      row.failure = error.what();
      return nullptr;
    }
    link.executable = beside_.get();
    return device_->chain({link});
  }

  /// Returns true if a kernel of deplo's sets the tensor to 0 before each launch (zeroed_buffers): for example, if
  /// loaded values decide which elements the kernel writes.
  bool is_partly_written(const std::string& tensor) const {
    return std::ranges::any_of(module_.kernels, [&](const ir::Program& kernel) {
      return std::ranges::any_of(zeroed_buffers(kernel),
                                 [&](std::size_t i) { return kernel.buffers[i].name == tensor; });
    });
  }

  void add_baseline(Result<measure::Timing> timing, const Result<std::vector<OutputCheck>>& checks) {
    WholeBaseline& row = *report_.beside;
    const auto fail = [&](const Failure& failure) {
      row.failure = fmt::format("tileiras: {}: {}", status_name(failure.status), failure.message);
    };
    if (!timing.ok()) return fail(timing.failure());
    if (!checks.ok()) return fail(checks.failure());
    for (const OutputCheck& check : checks.value())
      if (!check.right) return fail({Status::wrong_result, fmt::format("{}: {}", check.name, check.worst)});
    row.timing = std::move(timing.value());
    const std::vector<double>&ours = report_.whole->samples, &theirs = row.timing.samples;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
    row.ratio = measure::median(ratios);
    row.interval = measure::median_interval(ratios);
  }

  void compare(const std::vector<ir::Numbers>& found) {
    const std::vector<std::vector<double>> expected = subject_->reference();
    CHECK(expected.size() == found.size());
    const auto check_all = [&](const std::vector<std::vector<double>>& rounding) {
      report_.outputs.clear();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const Subject::Output& output = subject_->outputs()[i];
        OutputCheck& check = report_.outputs.emplace_back(
            compare_output(found[i], expected[i], output.type, options_.tolerance, rounding[i]));
        check.name = output.name;
      }
    };
    check_all(std::vector<std::vector<double>>(found.size()));
    if (report_.right()) return;
    progress_.status("reference", "estimating rounding errors");
    check_all(subject_->rounding(expected));
  }

  void fill_report() {
    report_.store = cache_.file();
    report_.buffer_bytes = plan_.bytes();
    for (const Subject::Output& output : subject_->empty_outputs()) {
      const auto at =
          report_.outputs.begin() + static_cast<std::ptrdiff_t>(std::min(output.place, report_.outputs.size()));
      OutputCheck& check = *report_.outputs.insert(at, OutputCheck{});
      check.name = output.name;
      check.shape = output.type.shape;
      check.right = true;
    }
    for (const ir::Tensor& tensor : module_.tensors)
      if (tensor.part_of.empty()) report_.tensor_bytes += static_cast<double>(engine::slot_bytes(tensor.type));
  }

  const RunOptions& options_;
  Progress& progress_;
  std::unique_ptr<Subject> subject_;
  std::unique_ptr<measure::Device> device_;
  Target target_;
  engine::TunedCache cache_;
  engine::Adoption adoption_;
  const engine::GraphSchedule graph_;
  const ir::Module& module_;
  engine::Plan plan_;
  engine::CompiledModule compiled_;
  std::vector<std::unique_ptr<measure::Executable>> executables_;  // [k]: compiled_.kernels[k], built for the device
  std::vector<std::size_t> first_;                                 // [k]: index of the first launch of that kernel
  std::unique_ptr<measure::Executable> beside_;                    // NVIDIA's kernel, which baseline_chain() launches
  RunReport report_;
};

/// Returns the decisions about the launch that tuning on the device chose; empty if there are none.
Trail stored_decisions(const RunOptions& options, Progress& progress) {
  const measure::DeviceInfo info = measure::find_device(options.device);
  const Target target = options.target == "auto" ? measure::target_of(info) : load_target(options.target);
  engine::TunedCache cache(options.tuned, info, target, options.nearest, options.tolerance);
  engine::GraphSchedule schedule =
      cache.find_graph({options.source, engine::fusion_target(options.target, options.device)});
  if (options.require_tuned) cache.require_tuned("--require-tuned");
  if (!schedule.note.empty()) progress.line("warning: " + schedule.note);
  return std::move(schedule.trail);
}

/// Chooses the form of a launch. If a flag is about kernels of Loop IR, the launch becomes such kernels if it can.
engine::LaunchForm form_of(const RunOptions& options, const engine::TileLaunch& launch, Progress& progress) {
  Trail taken;
  if (options.device == "interpreter" || options.reference || options.whole || options.nearest || options.fingerprint)
    taken = engine::take_form(engine::by_elements);
  else if (engine::Alternatives::exist_for(options.source))
    taken = stored_decisions(options, progress);
  return choose_form(launch, options.source.options, taken);
}

}  // namespace

RunReport begin_report(const RunOptions& options, const measure::DeviceInfo& device, const Target& target,
                       const std::vector<ir::Buffer>& buffers) {
  RunReport report;
  report.device = device.name;
  report.target = target.name;
  report.seed = options.seed;
  report.tolerance = options.tolerance;
  report.timed = !options.no_measure;
  for (const ir::Buffer& buffer : buffers)
    report.buffer_bytes += static_cast<double>(ir::element_count(buffer.shape) * ir::bytes(buffer.dtype));
  report.tensor_bytes = report.buffer_bytes;
  return report;
}

RunReport run(const RunOptions& options, Progress& progress) {
  if (options.source.kernel_file() != nullptr) return run_file(options, progress);
  const engine::TileSource* const tile = options.source.tile();
  if (tile == nullptr) return Runner(options, read_graph_subject(options), progress).run();
  engine::TileLaunch launch = read_tile_launch(*tile, options.inputs);
  engine::LaunchForm form = form_of(options, launch, progress);
  if (form.module)
    return Runner(options, tile_subject(std::move(launch), std::move(*form.module), options), progress).run();
  if (options.device == "interpreter") throw Error(form.why_blocks + "; without --as-kernels, it runs block by block");
  return run_blocks(options, form.why_blocks, progress);
}

bool ProofReport::refuted() const {
  return std::ranges::any_of(lines,
                             [](const Line& line) { return line.verdict.kind == ir::ProofVerdict::Kind::refuted; });
}

ProofReport prove_emitted(const RunOptions& options, Progress& progress) {
  const engine::TileSource* const tile = options.source.tile();
  if (tile == nullptr) return Runner(options, read_graph_subject(options), progress).prove();
  engine::TileLaunch launch = read_tile_launch(*tile, options.inputs);
  engine::LaunchForm form = choose_form(launch, options.source.options, engine::take_form(engine::by_elements));
  if (!form.module) throw Error("--prove: expected a tile program that becomes kernels, found: " + form.why_blocks);
  return Runner(options, tile_subject(std::move(launch), std::move(*form.module), options), progress).prove();
}

std::string print_lines(const ProofReport& report) {
  std::string text;
  for (const ProofReport::Line& line : report.lines) text += fmt::format("{}: {}\n", line.kernel, print(line.verdict));
  return text;
}

}  // namespace deplo::apps
