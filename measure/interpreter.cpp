#include "measure/interpreter.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "ir/interpret.h"
#include "ir/walk.h"

namespace deplo::measure {
namespace {

class HostArrays final : public Arrays {
 public:
  explicit HostArrays(const std::vector<ir::Buffer>& buffers) {
    for (const ir::Buffer& buffer : buffers) arrays_.emplace_back(static_cast<std::size_t>(ir::span(buffer)));
  }
  void write(std::size_t buffer, std::span<const float> values) override {
    CHECK(values.size() == arrays_.at(buffer).size());
    arrays_[buffer].assign(values.begin(), values.end());
  }
  std::vector<float> read(std::size_t buffer) override { return arrays_.at(buffer); }
  void poison(std::size_t buffer) override {
    std::vector<float>& array = arrays_.at(buffer);
    std::memset(array.data(), 0xff, array.size() * sizeof(float));
  }
  std::vector<std::vector<float>>& all() { return arrays_; }

 private:
  std::vector<std::vector<float>> arrays_;
};

/// The blocks before `blocks` in launch order only: the others find a false condition around all they do.
void keep_prefix(ir::Tile& tile, std::int64_t blocks) {
  if (blocks >= ir::count_of(tile, ir::Bind::block)) return;
  ir::Expr linear = 0;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::block) linear = linear * axis.extent + ir::var(axis.name);
  ir::Body declarations;
  ir::If guarded{ir::less(linear, blocks), {}};
  for (ir::Stmt& statement : tile.body)
    (statement.as<ir::Smem>() ? declarations : guarded.then).push_back(std::move(statement));
  tile.body = std::move(declarations);
  tile.body.emplace_back(std::move(guarded));
}

class InterpretedKernel final : public Executable {
 public:
  explicit InterpretedKernel(ir::Program program) : program_(std::move(program)) {}

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    auto& host = static_cast<HostArrays&>(arrays).all();
    CHECK(host.size() == program_.buffers.size());
    ir::Program program = program_;
    for (ir::Stmt& statement : program.body)
      if (auto* tile = statement.as<ir::Tile>()) keep_prefix(*tile, blocks);
    ir::Memory memory;
    for (std::size_t i = 0; i < host.size(); ++i)
      memory[program.buffers[i].name].assign(host[i].begin(), host[i].end());
    const auto start = std::chrono::steady_clock::now();
    try {
      ir::interpret(program, memory);
    } catch (const Error& error) {  // the sanitizer's finding is this candidate's failure, not the user's mistake
      return Failure{Status::launch_error, error.what()};
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    for (std::size_t i = 0; i < host.size(); ++i) {
      const std::vector<double>& values = memory[program.buffers[i].name];
      for (std::size_t k = 0; k < values.size(); ++k) host[i][k] = static_cast<float>(values[k]);
    }
    return time.count();
  }

 private:
  ir::Program program_;
};

class Interpreter final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<HostArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const Candidate& candidate) override {
    if (std::string violation = ir::verify(candidate.kernel); !violation.empty())
      return Failure{Status::build_error, std::move(violation)};
    const std::int64_t threads = ir::count_of(candidate.kernel.body, ir::Bind::thread);
    if (threads > info_.max_threads)
      return Failure{Status::launch_error, std::to_string(threads) + " threads a block, the interpreter takes " +
                                               std::to_string(info_.max_threads)};
    return std::unique_ptr<Executable>(std::make_unique<InterpretedKernel>(candidate.kernel));
  }

 private:
  DeviceInfo info_ = interpreter_info();
};

}  // namespace

DeviceInfo interpreter_info() {
  return {.backend = "interpreter",
          .name = "Kernel IR interpreter",
          .vendor = "deplo",
          .driver = "1",
          .platform = "host",
          .units = 1,
          .clock_mhz = 0,
          .shared_bytes = 49152,  // as on a GPU: schedules that use barriers and staging are what it is there for
          .max_threads = 1024,
          .cpu = false};
}

std::unique_ptr<Device> open_interpreter() { return std::make_unique<Interpreter>(); }

}  // namespace deplo::measure
