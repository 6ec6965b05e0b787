// Private to measure/cuda: launches and times a kernel or a function of a library.
#pragma once
#include <deque>
#include <vector>

#include "measure/cuda/arrays.h"
#include "measure/cuda/clock.h"
#include "measure/cuda/tensor_map.h"

namespace deplo::measure::cuda {

/// Enqueues launches of a kernel or of a function of a library.
class Launches {
 public:
  virtual ~Launches() = default;
  /// Enqueues what must be done once before launches on these arrays. This work is not timed.
  virtual std::optional<Failure> prepare(const CudaArrays&) const { return std::nullopt; }
  /// Enqueues the first `blocks` blocks on the context's stream.
  virtual std::optional<Failure> enqueue(const CudaArrays&, std::int64_t blocks) const = 0;
  /// A description for messages, such as "128 threads a block".
  virtual std::string what() const = 0;
};

/// Repeats and times launches.
class CudaExecutable final : public Executable {
 public:
  /// What happens to buffers before each launch.
  struct Preparation {
    // buffers filled with 0; buffers filled with their saved contents
    std::vector<std::size_t> zeroed = {}, restored = {};
  };
  /// `blocks`: the number of blocks in the whole grid.
  CudaExecutable(const Context&, const ClockProbe&, std::unique_ptr<const Launches>, std::int64_t blocks, Preparation,
                 Resources);
  ~CudaExecutable() override;
  CudaExecutable(const CudaExecutable&) = delete;
  CudaExecutable& operator=(const CudaExecutable&) = delete;
  /// Launches directly on the stream, without a graph. Used for checking.
  Result<double> launch(Arrays&, std::int64_t blocks) override;
  std::optional<Failure> execute(Arrays&, std::int64_t blocks) override;
  /// Times one replay of a CUDA graph, between two events. The graph is a chain of all launches and fills. It is kept
  /// for the next sample with the same addresses.
  Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) override;
  /// Keeps the device busy with these launches while `meanwhile` runs. Between this call and the next, the device idles
  /// for only about 20 µs.
  std::optional<Failure> repeat(std::span<Arrays* const> sets, std::int64_t blocks, int batch,
                                const std::function<void()>& meanwhile) override;
  const Resources& resources() const override { return resources_; }
  /// Enqueues one launch of the whole grid, with its copies and fills.
  std::optional<Failure> enqueue(const CudaArrays& arrays) const { return enqueue(arrays, blocks_, Part::whole); }

 private:
  enum class Part : std::uint8_t { whole, fills, copies };
  struct Plan {
    std::span<Arrays* const> sets;
    std::int64_t blocks = 1;
    int batch = 1;
    Part part = Part::whole;
  };
  struct KeptGraph {
    std::vector<std::uint64_t> key;
    GraphExec exec = nullptr;
  };
  std::optional<Failure> enqueue_fills(const CudaArrays&) const;
  std::optional<Failure> enqueue_copies(const CudaArrays&) const;
  std::optional<Failure> enqueue(const CudaArrays&, std::int64_t blocks, Part) const;
  std::optional<Failure> enqueue_all(const Plan&) const;
  Result<GraphExec> graph_of(const Plan&);
  Result<GraphExec> build_graph(const Plan&) const;
  Result<double> replay(GraphExec) const;
  Result<double> time_of(const Plan&);
  Failure failure(int code) const;
  double part_left_out(std::int64_t blocks) const;

  const Context& context_;
  const ClockProbe& clock_;
  std::unique_ptr<const Launches> launches_;  // must outlive the graphs, because their nodes use its code
  std::int64_t blocks_;
  Preparation preparation_;
  Resources resources_;
  std::deque<KeptGraph> graphs_;  // newest first
};

/// The machine code of a kernel, loaded into the driver.
class LoadedKernel {
 public:
  /// `dynamic_shared`: bytes of shared memory beyond what the code declares. `carveout`: preferred percentage of a
  /// unit's memory to be used as shared memory; 0: the driver chooses. Fails with load_error or resource.
  static Result<std::unique_ptr<LoadedKernel>> load(const Context&, const std::string& cubin, const std::string& entry,
                                                    std::int64_t dynamic_shared, int carveout);
  ~LoadedKernel();
  Function function() const { return function_; }
  struct Variable {
    Address address = 0;
    std::size_t bytes = 0;
  };
  /// Finds a __constant__ or __device__ variable of the code; nullopt if there is none.
  std::optional<Variable> variable(const std::string& name) const;

 private:
  explicit LoadedKernel(const Context& context) : context_(context) {}
  const Context& context_;
  Module module_ = nullptr;
  Function function_ = nullptr;
};

/// A variable of the code, and the buffer that is copied to it.
struct ConstantSymbol {
  std::size_t buffer = 0;
  Address address = 0;
  std::size_t bytes = 0;
};

class KernelLaunches final : public Launches {
 public:
  KernelLaunches(const Context&, EncodeTiled, std::unique_ptr<LoadedKernel>, const KernelCode&,
                 std::vector<ConstantSymbol> = {});
  std::optional<Failure> prepare(const CudaArrays&) const override;
  std::optional<Failure> enqueue(const CudaArrays&, std::int64_t blocks) const override;
  std::string what() const override;

 private:
  const Context& context_;
  EncodeTiled encode_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::int64_t threads_;
  std::optional<Launch> launch_;
  unsigned dynamic_shared_;
  std::vector<ConstantSymbol> symbols_;
  std::vector<ir::KernelSource::TensorMap> maps_;
  std::vector<ir::DType> map_types_;  // the element types of the maps' buffers
};

/// Kernels of one device that run one after another.
class ChainLaunches final : public Launches {
 public:
  explicit ChainLaunches(std::vector<ChainLink> links) : links_(std::move(links)) {}
  std::optional<Failure> enqueue(const CudaArrays&, std::int64_t blocks) const override;
  std::string what() const override;

 private:
  std::vector<ChainLink> links_;
};

}  // namespace deplo::measure::cuda
