// A scripted device: its `copy` kernels report the times of a script, and a test can make them write wrong results.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "measure/check/elements.h"
#include "measure/device.h"

namespace deplo::measure {

class ScriptedArrays final : public Arrays {
 public:
  explicit ScriptedArrays(const std::vector<ir::Buffer>& buffers) {
    for (const auto& buffer : buffers) {
      dtypes_.push_back(buffer.dtype);
      data.emplace_back(static_cast<std::size_t>(ir::span(buffer)));
    }
  }
  void write(std::size_t buffer, const ir::Numbers& values) override { data.at(buffer) = values.floats(); }
  ir::Numbers read(std::size_t buffer) override { return data.at(buffer); }
  void write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) override {
    data.at(buffer) = decode(std::as_bytes(bytes), dtypes_.at(buffer)).floats();
  }
  std::vector<std::uint8_t> read_bytes(std::size_t buffer) override {
    const ir::DType dtype = dtypes_.at(buffer);
    std::vector<std::uint8_t> bytes(data.at(buffer).size() * static_cast<std::size_t>(ir::bytes(dtype)));
    encode(data[buffer], dtype, std::as_writable_bytes(std::span(bytes)).data());
    return bytes;
  }
  void poison(std::size_t buffer) override {
    std::memset(data.at(buffer).data(), 0xff, data[buffer].size() * sizeof(float));
  }
  std::unique_ptr<Arrays> view(std::span<const Place>, const std::vector<ir::Buffer>&) override { return nullptr; }
  std::optional<std::string> overrun() override { return beside; }
  std::optional<std::string> beside;
  std::vector<std::vector<float>> data;

 private:
  std::vector<ir::DType> dtypes_;
};

class ScriptedDevice final : public Device {
 public:
  ScriptedDevice() { info_.cpu = true; }  // a CPU is not warmed up with additional launches
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<ScriptedArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override {
    return Failure{Status::build_error, "scripted"};
  }

 private:
  DeviceInfo info_;
};

/// Returns a program that copies 1000 elements. ScriptedCopy executes it: with n of the grid's blocks, it copies the
/// first n / grid of the elements.
inline ir::Program copy_program() {
  return ir::parse(
      "=== loop: copy ===\n"
      "input a: f32[1000]\n"
      "output b: f32[1000]\n"
      "for a0 in 0..1000: # free\n"
      "  in0 = load a[a0]\n"
      "  b[a0] = in0\n");
}

class ScriptedCopy final : public Executable {
 public:
  /// Returns the time in microseconds of launch number `launch` (from 0) with `blocks` blocks.
  using Script = std::function<Result<double>(int launch, std::int64_t blocks)>;
  ScriptedCopy(std::int64_t grid, Script script) : grid_(grid), script_(std::move(script)) {}

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    auto& data = static_cast<ScriptedArrays&>(arrays).data;
    const std::size_t end = data[0].size() * static_cast<std::size_t>(blocks) / static_cast<std::size_t>(grid_);
    for (std::size_t i = 0; i < end; ++i) data[1][i] = data[0][i];
    if (damage) damage(launches, data[1]);
    sizes.push_back(blocks);
    return script_(launches++, blocks);
  }

  const Resources& resources() const override { return resources_; }

  std::function<void(int launch, std::vector<float>& output)> damage;
  int launches = 0;
  std::vector<std::int64_t> sizes;  // number of blocks of each launch

 private:
  std::int64_t grid_;
  Script script_;
  Resources resources_;
};

}  // namespace deplo::measure
