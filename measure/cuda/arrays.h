// Private to measure/cuda: the buffers of a kernel, each between two red zones (measure/check/red_zone.h).
#pragma once
#include <string>
#include <vector>

#include "measure/cuda/context.h"
#include "measure/device.h"

namespace deplo::measure::cuda {

/// All operations are enqueued on the context's stream.
class CudaArrays final : public Arrays {
 public:
  /// Throws Error(environment) if there is not enough memory.
  CudaArrays(const Context&, const std::vector<ir::Buffer>&);
  ~CudaArrays() override;
  CudaArrays(const CudaArrays&) = delete;
  CudaArrays& operator=(const CudaArrays&) = delete;
  void write(std::size_t buffer, const ir::Numbers& values) override;
  ir::Numbers read(std::size_t buffer) override;
  void write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) override;
  std::vector<std::uint8_t> read_bytes(std::size_t buffer) override;
  void poison(std::size_t buffer) override;
  void save(std::size_t buffer) override;
  std::unique_ptr<Arrays> view(std::span<const Place> places, const std::vector<ir::Buffer>& as) override;
  /// The same as view(), with the actual type of the result.
  std::unique_ptr<CudaArrays> seen(std::span<const Place> places, const std::vector<ir::Buffer>& as) const;
  std::optional<std::string> overrun() override;

  std::size_t count() const { return slots_.size(); }
  Address address(std::size_t buffer) const { return slots_.at(buffer).address; }
  /// Enqueues a fill of the buffer with `byte`. Returns the driver's code.
  int fill(std::size_t buffer, unsigned char byte) const;
  /// Enqueues a copy of the saved contents to the buffer. Returns the driver's code.
  int restore(std::size_t buffer) const;

 private:
  struct Slot {
    Address address = 0;
    std::size_t size = 0;
    // for a view: where it begins in the whole buffer, and the bytes of the whole buffer
    std::size_t offset = 0, capacity = 0;
    std::size_t zones = 0;  // number of the red zones, as in red_zone()
    ir::DType dtype = ir::DType::f32;
    std::string name;
    Address saved = 0;  // 0: nothing is saved
  };
  explicit CudaArrays(const Context& context) : context_(context) {}
  void allocate(const ir::Buffer&);
  void copy_to(Address, const void*, std::size_t bytes) const;
  void copy_from(void*, Address, std::size_t bytes) const;

  const Context& context_;
  std::vector<Slot> slots_;
  std::vector<Address> owned_;  // empty in a view
};

}  // namespace deplo::measure::cuda
