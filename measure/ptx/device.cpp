#include "measure/ptx/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/target.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/cuda.h"
#include "measure/host_arrays.h"
#include "measure/ptx/kernel.h"

namespace deplo::measure {
namespace ptx {
namespace {

class PtxExecutable final : public Executable {
 public:
  PtxExecutable(Kernel kernel, const ir::KernelSource& source, std::uint64_t seed)
      : kernel_(std::move(kernel)), zeroed_(source.zeroed), restored_(source.restored), seed_(seed) {}

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    if (auto failed = execute(arrays, blocks)) return *failed;
    return 0.0;  // the machine has no clock
  }

  std::optional<Failure> execute(Arrays& arrays, std::int64_t blocks) override {
    auto& host = static_cast<HostArrays&>(arrays);
    for (const std::size_t buffer : restored_) host.restore(buffer);
    for (const std::size_t buffer : zeroed_) std::ranges::fill(host.bytes(buffer), std::byte{0});
    try {
      const LaunchResult result = kernel_.launch(host, blocks, seed_);
      std::fwrite(result.printed.data(), 1, result.printed.size(), stdout);
    } catch (const Error& error) {  // what the machine finds is this candidate's failure, not the user's mistake
      return Failure{Status::launch_error, error.what()};
    }
    return std::nullopt;
  }

  const Resources& resources() const override { return resources_; }

 private:
  Kernel kernel_;
  std::vector<std::size_t> zeroed_, restored_;
  std::uint64_t seed_;
  Resources resources_;
};

class PtxDevice final : public Device {
 public:
  PtxDevice(std::string architecture, std::uint64_t seed) : architecture_(std::move(architecture)), seed_(seed) {
    const cuda::Nvrtc& nvrtc = cuda::Nvrtc::get();
    if (!nvrtc.supports(architecture_))
      throw Error(fmt::format("ptx:{}: expected an architecture that NVRTC {} knows ({})", architecture_,
                              nvrtc.version(), join(nvrtc.architectures(), ", ")),
                  Exit::environment);
    info_ = {.backend = "ptx",
             .name = fmt::format("PTX machine of {}", architecture_),
             .vendor = "deplo",
             .driver = "1",
             .platform = fmt::format("host, NVRTC {}", nvrtc.version()),
             .max_threads = 1024,
             .architecture = architecture_};
    const Target target = architecture_target(architecture_);
    info_.units = target.units;
    info_.shared_bytes = target.shared_bytes;
    info_.max_threads = target.max_threads;
  }

  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::cuda; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<HostArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode& candidate) override {
    const auto text = cuda::compile_ptx(candidate.source, architecture_, {.lines = true});
    if (!text.ok()) return text.failure();
    try {
      return std::unique_ptr<Executable>(std::make_unique<PtxExecutable>(
          Kernel(text.value(), candidate.source, candidate.kernel.buffers), candidate.source, seed_));
    } catch (const Error& error) {  // an instruction that the machine does not execute
      return Failure{Status::build_error, error.what()};
    }
  }

 private:
  std::string architecture_;
  std::uint64_t seed_;
  DeviceInfo info_;
};

}  // namespace
}  // namespace ptx

std::unique_ptr<Device> open_ptx(std::string_view name) {
  const auto fail = [&] {
    throw Error(fmt::format("expected ptx:ARCHITECTURE or ptx:ARCHITECTURE:SEED, such as ptx:sm_90, found '{}'", name));
  };
  if (!name.starts_with("ptx:")) fail();
  std::string_view architecture = name.substr(4);
  std::uint64_t seed = 0;
  if (const std::size_t colon = architecture.find(':'); colon != std::string_view::npos) {
    const std::string_view digits = architecture.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
    if (error != std::errc() || end != digits.data() + digits.size()) fail();
    architecture = architecture.substr(0, colon);
  }
  if (!architecture.starts_with("sm_")) fail();
  return std::make_unique<ptx::PtxDevice>(std::string(architecture), seed);
}

}  // namespace deplo::measure
