// Private to measure/opencl: launches and times one kernel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/opencl/arrays.h"
#include "measure/opencl/pocl_files.h"

namespace deplo::measure::opencl {

class OpenclExecutable final : public Executable {
 public:
  OpenclExecutable(cl_command_queue, PoclFiles, Program, Kernel, const KernelCode&, Resources);
  Result<double> launch(Arrays&, std::int64_t blocks) override;
  Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) override;
  std::optional<Failure> execute(Arrays&, std::int64_t blocks) override;
  /// Includes the size of the machine code after the first launch, because PoCL generates the code then.
  const Resources& resources() const override { return resources_; }

  /// Runs only the blocks, without filling the outputs and without reading a clock.
  std::optional<Failure> run(const OpenclArrays&, std::int64_t blocks);

 private:
  /// The events of some launches' commands. The queue runs the commands in order.
  struct Commands {
    std::vector<Event> copies, fills, kernels;
  };
  cl_int enqueue_preparation(const OpenclArrays&, Commands&) const;
  cl_int set_arguments(const OpenclArrays&);
  cl_int enqueue_kernel(const OpenclArrays&, std::int64_t blocks, Commands&);
  std::optional<Failure> finish(cl_int enqueued);
  Result<double> span_of(const Commands&, std::int64_t blocks) const;
  Failure failure(cl_int code) const;
  std::string required_block() const;

  cl_command_queue queue_;
  PoclFiles files_;  // declared before program_, so that the files are stored after the program is released
  Program program_;
  Kernel kernel_;
  std::int64_t blocks_;
  std::size_t threads_;
  std::vector<std::size_t> zeroed_, restored_;
  std::optional<Launch> launch_;
  std::string entry_;
  Resources resources_;
  bool launched_ = false;
  int refused_argument_ = -1;  // index of the argument that the driver refused; -1: none
};

}  // namespace deplo::measure::opencl
