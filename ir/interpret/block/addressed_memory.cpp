#include "ir/interpret/block/addressed_memory.h"

#include "core/error.h"

namespace deplo::ir::exec {

std::uint64_t AddressedMemory::read(std::uint64_t address, DType dtype, int lane) {
  CHECK(memory_);
  ++accesses_;
  const auto bits = memory_->read(address, dtype);
  if (!bits) lanes_.fail("access outside of an array: " + memory_->outside(address, dtype), lane);
  return *bits;
}

void AddressedMemory::write(std::uint64_t address, DType dtype, std::uint64_t bits, int lane) {
  CHECK(memory_);
  ++accesses_;
  if (!memory_->write(address, dtype, bits))
    lanes_.fail("access outside of an array: " + memory_->outside(address, dtype), lane);
  if (memory_->changes() != changes_) changes_ = memory_->changes(), accesses_ = 0;
}

void AddressedMemory::note(std::uint64_t address, int lane, bool writes, bool atomic) {
  Touch& touch = touches_[address];
  if (touch.block != lanes_.block || touch.epoch != shared_.epoch) touch = {lanes_.block, shared_.epoch};
  const auto other = [&](int who) { return who != nobody && who != lane; };
  const bool race = (other(touch.writer) && !(atomic && touch.atomic)) || (writes && !atomic && other(touch.reader));
  if (race) lanes_.fail("race with another thread at " + memory_->describe(address), lane);
  if (writes) touch.writer = lane, touch.atomic = atomic;
  if (!atomic) touch.reader = lane;
}

std::uint64_t AddressedMemory::load(std::uint64_t address, DType dtype, int lane) {
  const std::uint64_t bits = read(address, dtype, lane);
  note(address, lane, false, false);
  return bits;
}

void AddressedMemory::store(std::uint64_t address, DType dtype, std::uint64_t bits, int lane) {
  write(address, dtype, bits, lane);
  note(address, lane, true, false);
}

std::uint64_t AddressedMemory::update(std::uint64_t address, DType dtype, int lane,
                                      const std::function<std::uint64_t(std::uint64_t)>& change) {
  const std::uint64_t before = read(address, dtype, lane);
  write(address, dtype, change(before), lane);
  note(address, lane, true, true);
  return before;
}

}  // namespace deplo::ir::exec
