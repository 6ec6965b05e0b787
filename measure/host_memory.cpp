#include "measure/host_memory.h"

#include <sys/mman.h>

namespace deplo::measure {

HostMemory allocate_host_memory(std::size_t bytes) {
  constexpr std::size_t large_page = std::size_t{2} << 20, line = 4096;  // 4096: what drivers ask of a host pointer
  const std::size_t page = bytes >= large_page ? large_page : line;
  const std::size_t size = (bytes + page - 1) / page * page;
  HostMemory memory(std::aligned_alloc(page, size));
  if (memory && page == large_page) madvise(memory.get(), size, MADV_HUGEPAGE);  // a wish: small pages do as well
  return memory;
}

}  // namespace deplo::measure
