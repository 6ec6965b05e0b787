// Arrays in host memory, for the devices without memory of their own: Interpreter, the PTX machine, IsolatedDevice.
#pragma once
#include <memory>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

class HostArrays final : public Arrays {
 public:
  explicit HostArrays(const std::vector<ir::Buffer>& buffers);
  void write(std::size_t buffer, const ir::Numbers& values) override;
  ir::Numbers read(std::size_t buffer) override;
  void write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) override;
  std::vector<std::uint8_t> read_bytes(std::size_t buffer) override;
  void poison(std::size_t buffer) override;
  void save(std::size_t buffer) override;
  std::unique_ptr<Arrays> view(std::span<const Place> places, const std::vector<ir::Buffer>& as) override;
  std::optional<std::string> overrun() override { return std::nullopt; }  // the devices themselves check accesses

  std::size_t count() const { return slots_.size(); }
  std::span<std::byte> bytes(std::size_t buffer) const { return slots_.at(buffer).bytes; }
  /// Restores the contents that save() remembered.
  void restore(std::size_t buffer);
  ir::DType dtype(std::size_t buffer) const { return slots_.at(buffer).dtype; }

 private:
  struct Slot {
    std::span<std::byte> bytes;
    ir::DType dtype;
    std::vector<std::byte> saved = {};
  };
  std::vector<std::vector<std::byte>> owned_;
  std::vector<Slot> slots_;
};

}  // namespace deplo::measure
