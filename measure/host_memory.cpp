#include "measure/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace deplo::measure {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

// Returns the machine's available memory in bytes, from the line "MemAvailable:   23456 kB".
double available_in_machine() {
  std::ifstream stream("/proc/meminfo");
  std::string key;
  double kilobytes = 0;
  for (std::string rest; stream >> key && key != "MemAvailable:";) std::getline(stream, rest);
  if (stream >> kilobytes && kilobytes > 0) return kilobytes * 1024;
  return no_limit;
}

// Returns the memory limit of the container in bytes. The file contains "max" or a number. The memory that the
// container already uses is not subtracted: it is small compared with the limit, or cache that can be freed.
double limit_of_container() {
  std::ifstream stream("/sys/fs/cgroup/memory.max");
  double bytes = 0;
  if (stream >> bytes && bytes > 0) return bytes;
  return no_limit;
}

}  // namespace

double free_host_memory() { return std::min(available_in_machine(), limit_of_container()); }

HostMemory allocate_host_memory(std::size_t bytes) {
  constexpr std::size_t large_page = std::size_t{2} << 20, line = 4096;  // 4096: required by drivers
  const std::size_t page = bytes >= large_page ? large_page : line;
  const std::size_t size = (bytes + page - 1) / page * page;
  HostMemory memory(std::aligned_alloc(page, size));
  if (memory && page == large_page) madvise(memory.get(), size, MADV_HUGEPAGE);  // a hint: small pages work too
  return memory;
}

}  // namespace deplo::measure
