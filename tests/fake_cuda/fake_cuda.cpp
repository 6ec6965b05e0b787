// The functions of cuda.h that measure/cuda/driver.h uses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fake_cuda/fake_call.h"

using namespace deplo::measure::cuda;

namespace {

struct Step {
  std::function<void()> run;
};
struct FakeGraph {
  std::vector<Step> steps;
};
struct FakeEvent {
  double us = -1;
};

FakeGraph* capturing = nullptr;

bool is_sticky_code(int code) { return code >= 700 && code != 701; }

constexpr int invalid_value = 1, out_of_memory = 2, not_found = 500, illegal_address = 700, capture_unmatched = 903;

}  // namespace

namespace deplo::measure::cuda {

FakeCuda state;

int begin(const std::string& call, const char* function) {
  state.calls.push_back(call);
  if (state.sticky != 0) return state.sticky;
  const auto found = state.fail.find(function);
  if (found == state.fail.end()) return 0;
  const int code = found->second;
  state.fail.erase(found);
  if (is_sticky_code(code)) state.sticky = code;
  return code;
}

void enqueue(std::function<void()> run) {
  if (capturing != nullptr)
    capturing->steps.push_back({std::move(run)});
  else
    run();
}

bool inside(const void* at, std::size_t bytes) {
  for (const auto& [memory, size] : state.memory) {
    const auto* const start = static_cast<const std::byte*>(memory);
    const auto* const from = static_cast<const std::byte*>(at);
    if (from >= start && from + bytes <= start + size) return true;
  }
  for (const auto& [name, variable] : state.variables) {
    const auto* const from = static_cast<const unsigned char*>(at);
    if (from >= variable.data() && from + bytes <= variable.data() + variable.size()) return true;
  }
  return false;
}

}  // namespace deplo::measure::cuda

extern "C" {

FakeCuda* fake_cuda() { return &state; }

int cuInit(unsigned) { return state.init_code; }
int cuDriverGetVersion(int* version) {
  *version = state.version;
  return 0;
}
int cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> names{{2, "CUDA_ERROR_OUT_OF_MEMORY"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second;
  return *name == nullptr ? invalid_value : 0;
}
int cuDeviceGetCount(int* count) {
  *count = state.devices;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index + 40;  // a handle, not the index
  return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU %d", device - 40);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const auto found = state.attributes.find(attribute);
  *value = found == state.attributes.end() ? 0 : found->second;
  return found == state.attributes.end() ? invalid_value : 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{80} << 30;
  return 0;
}
int cuDeviceGetPCIBusId(char* bus, int size, int device) {
  std::snprintf(bus, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 2);
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  BEGIN("cuDevicePrimaryCtxRetain {}", device);
  ++state.contexts;
  *context = &state;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --state.contexts;
  return 0;
}
int cuCtxSetCurrent(void* context) { return context == &state ? state.sticky : invalid_value; }

int cuModuleLoadData(void** module, const void* image) {
  BEGIN("cuModuleLoadData");
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return 200;
  ++state.modules;
  *module = &state;
  return 0;
}
int cuModuleUnload(void*) {
  state.calls.emplace_back("cuModuleUnload");
  --state.modules;
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  BEGIN("cuModuleGetFunction {}", name);
  const auto found = state.kernels.find(name);
  if (found == state.kernels.end()) return not_found;
  *function = const_cast<std::pair<const std::string, FakeKernel>*>(&*found);
  return 0;
}
int cuModuleGetGlobal_v2(void** address, std::size_t* bytes, void*, const char* name) {
  BEGIN("cuModuleGetGlobal {}", name);
  const auto found = state.variables.find(name);
  if (found == state.variables.end()) return not_found;
  *address = found->second.data();
  *bytes = found->second.size();
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  BEGIN("cuFuncSetAttribute {} {}", attribute, value);
  static_cast<std::pair<const std::string, FakeKernel>*>(function)->second.attributes[attribute] = value;
  return 0;
}

int cuMemAlloc_v2(void** address, std::size_t bytes) {
  BEGIN("cuMemAlloc {}", bytes);
  *address = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (*address == nullptr) return out_of_memory;
  std::memset(*address, 0x5a, bytes);
  state.memory[*address] = bytes;
  return 0;
}
int cuMemFree_v2(void* address) {
  if (state.memory.erase(address) != 1) return invalid_value;
  std::free(address);
  return 0;
}
int cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
  BEGIN("cuMemcpyHtoDAsync {}", bytes);
  if (!inside(to, bytes)) return invalid_value;
  std::memcpy(to, from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
  BEGIN("cuMemcpyDtoHAsync {}", bytes);
  if (!inside(from, bytes)) return invalid_value;
  std::memcpy(to, from, bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
  BEGIN("cuMemcpyDtoDAsync {}", bytes);
  if (!inside(to, bytes) || !inside(from, bytes)) return invalid_value;
  enqueue([=] {
    std::memcpy(to, from, bytes);
    state.now_us += state.fill_us;
  });
  return 0;
}
int cuMemsetD8Async(void* to, unsigned char byte, std::size_t bytes, void*) {
  BEGIN("cuMemsetD8Async {:#x} {}", byte, bytes);
  if (!inside(to, bytes)) return invalid_value;
  enqueue([=] {
    std::memset(to, byte, bytes);
    state.now_us += state.fill_us;
  });
  return 0;
}

int cuStreamCreate(void** stream, unsigned flags) {
  BEGIN("cuStreamCreate {}", flags);
  ++state.streams;
  *stream = &state;
  return 0;
}
int cuStreamDestroy_v2(void*) {
  --state.streams;
  return 0;
}
int cuStreamSynchronize(void*) {
  BEGIN("cuStreamSynchronize");
  const int code = std::exchange(state.fails_at_wait, 0);
  if (is_sticky_code(code)) state.sticky = code;
  return code;
}
int cuEventCreate(void** event, unsigned) {
  BEGIN("cuEventCreate");
  ++state.events;
  *event = new FakeEvent;
  return 0;
}
int cuEventDestroy_v2(void* event) {
  --state.events;
  delete static_cast<FakeEvent*>(event);
  return 0;
}
int cuEventRecord(void* event, void*) {
  BEGIN("cuEventRecord");
  static_cast<FakeEvent*>(event)->us = state.now_us;
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  BEGIN("cuEventElapsedTime");
  *milliseconds = static_cast<float>((static_cast<FakeEvent*>(to)->us - static_cast<FakeEvent*>(from)->us) * 1e-3);
  return 0;
}

int cuLaunchKernel(void* function, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads, unsigned,
                   unsigned, unsigned shared, void*, void** parameters, void**) {
  auto& [name, kernel] = *static_cast<std::pair<const std::string, FakeKernel>*>(function);
  BEGIN("cuLaunchKernel {} blocks={} threads={} shared={}", name, blocks, threads, shared);
  if (blocks == 0 || blocks_y == 0 || blocks_z == 0 || threads == 0 || threads > 1024) return invalid_value;
  if (shared > 48 * 1024 && kernel.attributes[8] < static_cast<int>(shared)) return invalid_value;
  FakeLaunch launch{blocks, blocks_y, blocks_z, threads, shared, {}};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
    launch.parameters.emplace_back(bytes, bytes + kernel.parameters[i]);
    // A tensor map: the driver demands this alignment of its address.
    if (kernel.parameters[i] == 128 && reinterpret_cast<std::uintptr_t>(bytes) % 64 != 0) return invalid_value;
  }
  enqueue([launch, &kernel = kernel] {
    state.launches.push_back(launch);
    if (kernel.run) kernel.run(launch);
    state.now_us += kernel.us;
  });
  return 0;
}

int cuStreamBeginCapture_v2(void*, int mode) {
  BEGIN("cuStreamBeginCapture {}", mode);
  capturing = new FakeGraph;
  ++state.graphs;
  return 0;
}
int cuStreamEndCapture(void*, void** graph) {
  *graph = std::exchange(capturing, nullptr);
  BEGIN("cuStreamEndCapture");
  return *graph == nullptr ? capture_unmatched : 0;
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  BEGIN("cuGraphInstantiate steps={}", static_cast<FakeGraph*>(graph)->steps.size());
  ++state.execs;
  *exec = new FakeGraph(*static_cast<FakeGraph*>(graph));
  return 0;
}
int cuGraphUpload(void*, void*) {
  BEGIN("cuGraphUpload");
  return 0;
}
int cuGraphLaunch(void* exec, void*) {
  BEGIN("cuGraphLaunch");
  for (const Step& step : static_cast<FakeGraph*>(exec)->steps) step.run();
  return 0;
}
int cuGraphExecDestroy(void* exec) {
  state.calls.emplace_back("cuGraphExecDestroy");
  --state.execs;
  delete static_cast<FakeGraph*>(exec);
  return 0;
}
int cuGraphDestroy(void* graph) {
  --state.graphs;
  delete static_cast<FakeGraph*>(graph);
  return 0;
}

// Writes its arguments into the map: type, rank, swizzle, then shape, strides, box, address.
int fake_encode(std::uint64_t* map, int type, std::uint32_t rank, void* address, const std::uint64_t* shape,
                const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps, int, int swizzle,
                int, int) {
  BEGIN("cuTensorMapEncodeTiled rank={}", rank);
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return invalid_value;
  std::fill_n(map, 16, 0);
  map[0] = static_cast<std::uint64_t>(type) << 16 | rank << 8 | static_cast<std::uint64_t>(swizzle);
  for (std::uint32_t d = 0; d < rank; ++d) {
    map[1 + d] = shape[d];
    if (d > 0) map[6 + d - 1] = strides[d - 1];
    map[10 + d] = box[d];
    if (steps[d] != 1) return invalid_value;
  }
  map[15] = reinterpret_cast<std::uint64_t>(address);
  return 0;
}
int cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int* found) {
  *found = std::strcmp(name, "cuTensorMapEncodeTiled") == 0 && state.version >= 12000 ? 0 : 1;
  *function = *found == 0 ? reinterpret_cast<void*>(fake_encode) : nullptr;
  return 0;
}

}  // extern "C"
