#include "measure/cuda/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace deplo::measure::cuda {

namespace {

const CudaArrays& arrays_of(std::span<Arrays* const> sets, int launch) {
  return static_cast<const CudaArrays&>(*sets[static_cast<std::size_t>(launch) % sets.size()]);
}

}  // namespace

CudaExecutable::CudaExecutable(const Context& context, const ClockProbe& clock,
                               std::unique_ptr<const Launches> launches, std::int64_t blocks, Preparation preparation,
                               Resources resources)
    : context_(context),
      clock_(clock),
      launches_(std::move(launches)),
      blocks_(blocks),
      preparation_(std::move(preparation)),
      resources_(std::move(resources)) {}

CudaExecutable::~CudaExecutable() {
  context_.enter_to_free();
  for (const KeptGraph& graph : graphs_) context_.driver().graph_exec_destroy(graph.exec);
}

Failure CudaExecutable::failure(int code) const {
  return context_.driver().failure(code, Status::launch_error, launches_->what());
}

// Returns the share of a fill's time that does not count. A fill always covers the whole buffer; if only some of the
// blocks run, only their share of its time counts.
double CudaExecutable::part_left_out(std::int64_t blocks) const {
  return 1 - static_cast<double>(blocks) / static_cast<double>(blocks_);
}

std::optional<Failure> CudaExecutable::enqueue_fills(const CudaArrays& arrays) const {
  for (const std::size_t buffer : preparation_.zeroed)
    if (const int code = arrays.fill(buffer, 0); code != 0) return failure(code);
  return std::nullopt;
}

std::optional<Failure> CudaExecutable::enqueue_copies(const CudaArrays& arrays) const {
  for (const std::size_t buffer : preparation_.restored)
    if (const int code = arrays.restore(buffer); code != 0) return failure(code);
  return std::nullopt;
}

Result<double> CudaExecutable::launch(Arrays& arrays, std::int64_t blocks) {
  CHECK(blocks >= 1 && blocks <= blocks_);
  using enum Context::Mark;
  context_.enter();
  const auto& memory = static_cast<const CudaArrays&>(arrays);
  std::optional<Failure> failed = launches_->prepare(memory);
  if (!failed) failed = enqueue_copies(memory);
  int code = clock_.before();
  if (code == 0) code = context_.mark(start);
  if (!failed) failed = enqueue_fills(memory);
  if (code == 0) code = context_.mark(middle);
  if (!failed) failed = launches_->enqueue(memory, blocks);
  if (code == 0) code = context_.mark(end);
  // Wait even if enqueueing failed: what runs must be done before the arrays are freed.
  const int finished = context_.wait();
  if (failed) return *failed;
  if (code != 0 || finished != 0) return failure(finished != 0 ? finished : code);
  return context_.elapsed_us(start, end) - context_.elapsed_us(start, middle) * part_left_out(blocks);
}

std::optional<Failure> CudaExecutable::execute(Arrays& arrays, std::int64_t blocks) {
  CHECK(blocks >= 1 && blocks <= blocks_);
  context_.enter();
  const auto& memory = static_cast<const CudaArrays&>(arrays);
  std::optional<Failure> failed = launches_->prepare(memory);
  if (!failed) failed = enqueue(memory, blocks, Part::whole);
  const int finished = context_.wait();  // even if enqueueing failed, as in launch()
  if (!failed && finished != 0) failed = failure(finished);
  return failed;
}

Result<Sample> CudaExecutable::sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) {
  CHECK(blocks >= 1 && blocks <= blocks_ && batch >= 1 && !sets.empty());
  context_.enter();
  if (auto failed = launches_->prepare(static_cast<const CudaArrays&>(*sets[0]))) return *failed;
  const auto us = time_of({sets, blocks, batch, Part::whole});
  if (!us.ok()) return us.failure();
  Sample sample{us.value() / batch, clock_.mhz()};
  if (!preparation_.zeroed.empty() && blocks < blocks_) {
    const auto fills = time_of({sets, blocks, batch, Part::fills});
    if (!fills.ok()) return fills.failure();
    sample.us -= fills.value() / batch * part_left_out(blocks);
  }
  if (!preparation_.restored.empty()) {
    const auto copies = time_of({sets, blocks, batch, Part::copies});
    if (!copies.ok()) return copies.failure();
    sample.us -= copies.value() / batch;
  }
  return sample;
}

Result<double> CudaExecutable::time_of(const Plan& plan) {
  const auto graph = graph_of(plan);
  if (!graph.ok()) return graph.failure();
  return replay(graph.value());
}

// Returns microseconds on the device. The clock is read outside the timed part.
Result<double> CudaExecutable::replay(GraphExec graph) const {
  using enum Context::Mark;
  int code = clock_.before();
  if (code == 0) code = context_.mark(start);
  if (code == 0) code = context_.driver().graph_launch(graph, context_.stream());
  if (code == 0) code = context_.mark(end);
  if (code == 0) code = clock_.after();
  const int finished = context_.wait();
  if (code != 0 || finished != 0) return failure(finished != 0 ? finished : code);
  return context_.elapsed_us(start, end);
}

std::optional<Failure> CudaExecutable::repeat(std::span<Arrays* const> sets, std::int64_t blocks, int batch,
                                              const std::function<void()>& meanwhile) {
  CHECK(blocks >= 1 && blocks <= blocks_ && batch >= 1 && !sets.empty());
  context_.enter();
  if (auto failed = launches_->prepare(static_cast<const CudaArrays&>(*sets[0]))) return failed;
  const Plan plan{sets, blocks, batch, Part::whole};
  // Short batches are enqueued without a graph. A short batch begins with a different set of arrays each time, so its
  // graph would have to be built again each time. A batch is short if its launches are long; long launches are enqueued
  // faster than they run, so they need no graph.
  constexpr int least_graph = 64;
  std::optional<Failure> failed;
  if (batch < least_graph) {
    failed = enqueue_all(plan);
  } else if (const auto graph = graph_of(plan); !graph.ok()) {
    return graph.failure();
  } else if (const int code = context_.driver().graph_launch(graph.value(), context_.stream()); code != 0) {
    failed = failure(code);
  }
  meanwhile();
  const int finished = context_.wait();  // even if enqueueing failed, as in launch()
  if (!failed && finished != 0) failed = failure(finished);
  return failed;
}

std::optional<Failure> CudaExecutable::enqueue(const CudaArrays& arrays, std::int64_t blocks, Part part) const {
  std::optional<Failure> failed = part == Part::fills ? std::nullopt : enqueue_copies(arrays);
  if (!failed && part != Part::copies) failed = enqueue_fills(arrays);
  if (!failed && part == Part::whole) failed = launches_->enqueue(arrays, blocks);
  return failed;
}

std::optional<Failure> CudaExecutable::enqueue_all(const Plan& plan) const {
  for (int i = 0; i < plan.batch; ++i)
    if (auto failed = enqueue(arrays_of(plan.sets, i), plan.blocks, plan.part)) return failed;
  return std::nullopt;
}

Result<GraphExec> CudaExecutable::graph_of(const Plan& plan) {
  // A graph holds addresses, not arrays. If other arrays have been allocated at the same addresses, the graph is right
  // for them, too.
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(plan.blocks), static_cast<std::uint64_t>(plan.batch),
                                 static_cast<std::uint64_t>(plan.part)};
  for (int i = 0; i < plan.batch && i < static_cast<int>(plan.sets.size()); ++i) {
    const CudaArrays& arrays = arrays_of(plan.sets, i);
    for (std::size_t b = 0; b < arrays.count(); ++b) key.push_back(arrays.address(b));
  }
  for (const KeptGraph& graph : graphs_)
    if (graph.key == key) return graph.exec;
  auto exec = build_graph(plan);
  if (!exec.ok()) return exec;
  graphs_.push_front({std::move(key), exec.value()});
  // cold and warm caches, each with a batch for screening and one for confirmation
  constexpr std::size_t max_graphs = 4;
  if (graphs_.size() > max_graphs) {
    context_.driver().graph_exec_destroy(graphs_.back().exec);
    graphs_.pop_back();
  }
  return exec;
}

// Captures the stream's launches as a chain of graph nodes, which keep the parameters' current values.
Result<GraphExec> CudaExecutable::build_graph(const Plan& plan) const {
  const Driver& driver = context_.driver();
  constexpr int thread_local_mode = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: meanwhile, other threads may load code
  if (const int code = driver.capture_begin(context_.stream(), thread_local_mode); code != 0) return failure(code);
  const std::optional<Failure> failed = enqueue_all(plan);
  Graph graph = nullptr;
  int code = driver.capture_end(context_.stream(), &graph);
  GraphExec exec = nullptr;
  if (code == 0 && !failed) code = driver.graph_instantiate(&exec, graph, 0);
  if (graph != nullptr) driver.graph_destroy(graph);
  if (failed) return *failed;
  if (code == 0) code = driver.graph_upload(exec, context_.stream());
  if (code == 0) return exec;
  if (exec != nullptr) driver.graph_exec_destroy(exec);
  return failure(code);
}

Result<std::unique_ptr<LoadedKernel>> LoadedKernel::load(const Context& context, const std::string& cubin,
                                                         const std::string& entry, std::int64_t dynamic_shared,
                                                         int carveout) {
  context.enter();
  const Driver& driver = context.driver();
  std::unique_ptr<LoadedKernel> kernel(new LoadedKernel(context));
  int code = driver.module_load(&kernel->module_, cubin.data());
  if (code != 0) return driver.failure(code, Status::load_error, "load the cubin");
  code = driver.module_function(&kernel->function_, kernel->module_, entry.c_str());
  if (code != 0) return driver.failure(code, Status::load_error, fmt::format("find the kernel '{}'", entry));
  constexpr int dynamic_shared_size = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  // More dynamic shared memory needs this attribute. CUDA C++ Programming Guide, "Shared Memory" of each architecture.
  constexpr std::int64_t without_asking = std::int64_t{48} * 1024;
  if (dynamic_shared > without_asking) {
    code = driver.function_set(kernel->function_, dynamic_shared_size, static_cast<int>(dynamic_shared));
    if (code != 0)
      return driver.failure(code, Status::resource, fmt::format("ask for {} bytes of shared memory", dynamic_shared));
  }
  // Only a preference: a driver that refuses it chooses the split itself, and every launch still works.
  constexpr int preferred_carveout = 9;  // CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
  if (carveout > 0) driver.function_set(kernel->function_, preferred_carveout, carveout);
  return kernel;
}

std::optional<LoadedKernel::Variable> LoadedKernel::variable(const std::string& name) const {
  Variable found;
  if (context_.driver().module_global(&found.address, &found.bytes, module_, name.c_str()) != 0) return std::nullopt;
  return found;
}

LoadedKernel::~LoadedKernel() {
  if (module_ == nullptr) return;
  context_.enter_to_free();
  context_.driver().module_unload(module_);
}

KernelLaunches::KernelLaunches(const Context& context, EncodeTiled encode, std::unique_ptr<LoadedKernel> kernel,
                               const KernelCode& candidate, std::vector<ConstantSymbol> symbols)
    : context_(context),
      encode_(encode),
      kernel_(std::move(kernel)),
      threads_(candidate.source.threads),
      launch_(candidate.launch),
      dynamic_shared_(candidate.source.dynamic_shared ? static_cast<unsigned>(candidate.source.shared_bytes) : 0),
      symbols_(std::move(symbols)),
      maps_(candidate.source.tensor_maps) {
  for (const auto& map : maps_) map_types_.push_back(candidate.kernel.buffers.at(map.buffer).dtype);
}

/// All sets of arrays have the same inputs, so a single copy is right for launches on any of them.
std::optional<Failure> KernelLaunches::prepare(const CudaArrays& arrays) const {
  const Driver& driver = context_.driver();
  for (const ConstantSymbol& symbol : symbols_)
    if (const int code =
            driver.copy_within(symbol.address, arrays.address(symbol.buffer), symbol.bytes, context_.stream());
        code != 0)
      return driver.failure(code, Status::launch_error, "copy an array to a __constant__ variable");
  return std::nullopt;
}

std::string KernelLaunches::what() const { return fmt::format("{} threads a block", threads_); }

// The parameters are the addresses of the buffers, with the user's values at their positions among them, and then each
// tensor map by value.
std::optional<Failure> KernelLaunches::enqueue(const CudaArrays& arrays, std::int64_t blocks) const {
  const Driver& driver = context_.driver();
  std::vector<Address> addresses(arrays.count());
  std::vector<TensorMap> maps(maps_.size());
  std::vector<void*> parameters;
  std::vector<std::vector<std::uint8_t>> values;
  if (launch_)
    for (const Launch::Scalar& scalar : launch_->scalars) values.push_back(scalar.bytes);
  auto add_values = [&, next = std::size_t{0}]() mutable {
    for (; next < values.size() && launch_->scalars[next].position == parameters.size(); ++next)
      parameters.push_back(values[next].data());
  };
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (launch_ && !launch_->is_parameter(i)) continue;
    add_values();
    addresses[i] = arrays.address(i);
    parameters.push_back(&addresses[i]);
  }
  add_values();
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto map = encode_tensor_map(driver, encode_, maps_[i], map_types_[i], addresses.at(maps_[i].buffer));
    if (!map.ok()) return map.failure();
    maps[i] = map.value();
    parameters.push_back(&maps[i]);
  }
  std::array<unsigned, 3> grid{static_cast<unsigned>(blocks), 1, 1}, block{static_cast<unsigned>(threads_), 1, 1};
  for (std::size_t i = 0; launch_ && i < launch_->blocks.size(); ++i) {
    grid[i] = static_cast<unsigned>(launch_->blocks[i]);
    block[i] = static_cast<unsigned>(launch_->threads[i]);
  }
  const int code = driver.launch(kernel_->function(), grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                 dynamic_shared_, context_.stream(), parameters.data(), nullptr);
  if (code != 0) return driver.failure(code, Status::launch_error, what());
  return std::nullopt;
}

std::string ChainLaunches::what() const { return fmt::format("{} kernels", links_.size()); }

std::optional<Failure> ChainLaunches::enqueue(const CudaArrays& arrays, std::int64_t) const {
  for (const ChainLink& link : links_) {
    const auto seen = arrays.seen(link.places, link.as);
    if (auto failed = static_cast<const CudaExecutable&>(*link.executable).enqueue(*seen)) return failed;
  }
  return std::nullopt;
}

}  // namespace deplo::measure::cuda
