#include "measure/interpreter.h"

#include <bit>
#include <cmath>
#include <utility>

#include "ir/interpret/interpret.h"
#include "ir/walk.h"
#include "measure/check/elements.h"
#include "measure/host_arrays.h"

namespace deplo::measure {
namespace {

/// Stores only the elements that changed. An element that the kernel did not write keeps its bytes.
void update(const HostArrays& arrays, std::size_t buffer, const std::vector<double>& before,
            const std::vector<double>& after) {
  const ir::DType dtype = arrays.dtype(buffer);
  const auto size = static_cast<std::size_t>(ir::bytes(dtype));
  ir::Numbers one(dtype, 1);
  for (std::size_t k = 0; k < after.size(); ++k) {
    if (std::bit_cast<std::uint64_t>(before[k]) == std::bit_cast<std::uint64_t>(after[k])) continue;
    one.set(0, after[k]);
    encode(one, dtype, arrays.bytes(buffer).data() + k * size);
  }
}

/// Returns the number of statements that all threads of a launch execute in total, including those under a condition.
double statement_count(const ir::Body& body) {
  double count = 0;
  for (const ir::Stmt& statement : body) {
    double times = 1;
    if (const auto* tile = statement.as<ir::Tile>())
      for (const ir::Axis& axis : tile->axes) times *= static_cast<double>(axis.extent);
    // A loop may start at the thread's number and step by the number of threads. This is the average over the threads.
    if (const auto* loop = statement.as<ir::Loop>())
      times = std::ceil(static_cast<double>(loop->axis.extent) / static_cast<double>(loop->step));
    const ir::Body* const inner = ir::inner_body(statement);
    count += 1 + (inner != nullptr ? times * statement_count(*inner) : 0);
  }
  return count;
}

/// Roughly the real time of one statement on a processor of 2.5 GHz, so that the protocol's time budgets hold.
constexpr double statement_us = 0.01;

class InterpretedKernel final : public Executable {
 public:
  explicit InterpretedKernel(ir::Program program)
      : program_(std::move(program)),
        us_(statement_us * statement_count(program_.body)),
        blocks_(ir::count_of(program_.body, ir::Bind::block) * ir::count_of(program_.body, ir::Bind::cluster)) {}

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    auto& host = static_cast<HostArrays&>(arrays);
    CHECK(host.count() == program_.buffers.size());
    ir::Memory memory;
    for (std::size_t i = 0; i < host.count(); ++i) {
      memory[program_.buffers[i].name] = host.read(i).doubles();
    }
    const ir::Memory before = memory;
    try {
      ir::interpret(program_, memory, ir::Limits{.shared_bytes = 0, .blocks = blocks});
    } catch (const Error& error) {  // the sanitizer's report is a failure of this candidate, not a user's error
      return Failure{Status::launch_error, error.what()};
    }
    for (std::size_t i = 0; i < host.count(); ++i) {
      const std::string& name = program_.buffers[i].name;
      update(host, i, before.at(name), memory.at(name));
    }
    return us_ * static_cast<double>(blocks) / static_cast<double>(blocks_);
  }

 private:
  ir::Program program_;
  double us_;  // per launch of the whole grid
  std::int64_t blocks_;
};

class Interpreter final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<HostArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode& candidate) override {
    if (std::string violation = ir::verify(candidate.kernel); !violation.empty())
      return Failure{Status::build_error, std::move(violation)};
    const std::int64_t threads = ir::count_of(candidate.kernel.body, ir::Bind::thread);
    if (threads > info_.max_threads)
      return Failure{Status::resource, std::to_string(threads) + " threads a block, the interpreter takes " +
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
          .driver = "2",  // version 1 reported wall-clock times
          .platform = "host",
          .units = 1,
          .shared_bytes = 49152,  // as on a GPU, because its purpose is to run schedules with barriers and staging
          .max_threads = 1024};
}

std::unique_ptr<Device> open_interpreter() { return std::make_unique<Interpreter>(); }

}  // namespace deplo::measure
