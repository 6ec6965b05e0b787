// Decides where the threads of a block wait for each other. Private to the room.
#pragma once
#include <cstdint>
#include <set>

#include "rules/blocks/thread_code.h"

namespace deplo::rules::blocks {

/// What threads may have to wait for: a kept tile, given by its value, or memory, given by the number of its array.
using Resource = std::int64_t;
using Resources = std::set<Resource>;

/// Numbers the resources: the entry's values, the arrays, the globals, the memory of allocas, and new resources after
/// these.
class ResourceNumbers {
 public:
  ResourceNumbers(std::size_t values, std::size_t arrays)
      : first_array_(static_cast<Resource>(values)), globals_(first_array_ + static_cast<Resource>(arrays)) {}
  Resource array(std::size_t number) const { return first_array_ + static_cast<Resource>(number); }
  Resource globals() const { return globals_; }
  Resource allocas() const { return globals_ + 1; }
  Resources all_memory() const;
  Resource make() { return next_++; }

 private:
  Resource first_array_, globals_, next_ = globals_ + 2;
};

/// Adds the barriers that accesses to tiles and memory require.
class Waits {
 public:
  explicit Waits(ThreadCode& code) : code_(code) {}
  void barrier();
  /// Adds a barrier if, since the last one, one of `reads` was written, or one of `writes` was read or written.
  void order(const Resources& reads, const Resources& writes);

  /// The accesses of threads since the last barrier.
  struct Accesses {
    Resources read, written;
    void join(const Accesses&);
  };
  Accesses since;

 private:
  ThreadCode& code_;
};

}  // namespace deplo::rules::blocks
