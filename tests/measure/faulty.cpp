#include "measure/faulty.h"

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <new>
#include <sstream>

#include "measure/worker/frame.h"
#include "measure/worker/serve.h"

namespace deplo::measure::worker {
namespace {

constexpr double right_us = 10;

struct Fault {
  std::string what, where;
  // Path of a file with one byte for each time that the fault happened. If this is not a path, the fault always
  // happens.
  std::string counted = {};
  std::uintmax_t times = 0;  // upper bound on the number of times that the fault happens
};

Fault fault_of(const ir::KernelSource& source) {
  std::istringstream words(source.text);
  std::string fault;
  Fault result;
  words >> fault >> result.what >> result.where >> result.counted >> result.times;
  return result;
}

void say(const std::string& bytes) {
  if (write(worker_socket, bytes.data(), bytes.size()) < 0) _exit(9);
}
void wait_for_ever() {
  for (;;) pause();
}
void die_of(int signal) {
  ::signal(signal, SIG_DFL);  // replaces a sanitizer's handler by the default
  raise(signal);
}
void flood() {
  const std::string line(999, 'x');
  for (int i = 0; i < 4000; ++i) std::fprintf(stderr, "%s\n", line.c_str());
}
/// Returns a frame in which the byte at index `at` is replaced.
std::string damaged(std::size_t at, char byte) {
  std::string bytes = encode(Frame{FrameType::answer, 1, "{}"});
  bytes.at(at) = byte;
  return bytes;
}

bool happens(const Fault& fault) {
  if (!fault.counted.starts_with('/')) return true;
  std::ofstream(fault.counted, std::ios::app).flush();
  if (std::filesystem::file_size(fault.counted) >= fault.times) return false;
  std::ofstream(fault.counted, std::ios::app) << '.';
  return true;
}

/// Performs the side effect of a fault at the step `where`: it hangs, crashes, writes garbage or throws.
void act(const Fault& fault, const char* where) {
  static const std::map<std::string, void (*)()> acts = {
      {"hang", wait_for_ever},
      {"segfault", [] { die_of(SIGSEGV); }},
      {"abort", [] { std::fputs("assertion failed: x > 0\n", stderr), die_of(SIGABRT); }},
      {"heap", [] { std::fputs("free(): invalid pointer\n", stderr), die_of(SIGABRT); }},
      {"killed", [] { die_of(SIGKILL); }},
      {"terminated", [] { die_of(SIGTERM); }},
      {"exit0", [] { _exit(0); }},
      {"exit3", [] { _exit(3); }},
      {"garbage", [] { say(std::string(100, '?')), wait_for_ever(); }},
      {"garbage-exit", [] { say(std::string(1000, '\0')), _exit(0); }},
      {"much-garbage", [] { say(std::string(50000, 'y')), wait_for_ever(); }},
      {"partial",
       [] {
         say(encode(Frame{FrameType::answer, 1, "{}"}).substr(0, 33)), _exit(0);
       }},
      {"partial-header",
       [] {
         say(encode(Frame{FrameType::answer, 1, "{}"}).substr(0, 7)), _exit(0);
       }},
      {"huge", [] { say(damaged(23, 'z')), wait_for_ever(); }},
      {"version", [] { say(damaged(4, 99)), wait_for_ever(); }},
      {"checksum", [] { say(damaged(24, 1)), wait_for_ever(); }},
      {"stale",
       [] {
         say(encode(Frame{FrameType::answer, 1'000'000'000, "[]"})), wait_for_ever();
       }},
      {"close", [] { close(worker_socket), wait_for_ever(); }},
      {"flood", flood},
      {"flood-hang", [] { flood(), wait_for_ever(); }},
      {"memory", [] { throw std::bad_alloc(); }},
      {"error", [] { throw Error("the device fell off the bus", Exit::environment); }},
      {"full", [] { throw CannotBuild("cannot write to /x: No space left on device"); }},
      {"full-exit", [] { std::fputs("LLVM ERROR: IO failure: No space left on device\n", stderr), _exit(1); }},
  };
  if (fault.where != where || !happens(fault)) return;
  if (const auto found = acts.find(fault.what); found != acts.end()) found->second();
}

class FaultyArrays final : public Arrays {
 public:
  explicit FaultyArrays(const std::vector<ir::Buffer>& buffers) {
    for (const ir::Buffer& buffer : buffers) data.emplace_back(static_cast<std::size_t>(ir::span(buffer)));
  }
  void write(std::size_t buffer, const ir::Numbers& values) override { data.at(buffer) = values.floats(); }
  ir::Numbers read(std::size_t buffer) override { return data.at(buffer); }
  void write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) override {
    std::memcpy(data.at(buffer).data(), bytes.data(), bytes.size());
  }
  std::vector<std::uint8_t> read_bytes(std::size_t buffer) override {
    act(fault, "check");
    std::vector<std::uint8_t> bytes(data.at(buffer).size() * sizeof(float));
    std::memcpy(bytes.data(), data[buffer].data(), bytes.size());
    return bytes;
  }
  void poison(std::size_t buffer) override {
    std::memset(data.at(buffer).data(), 0xff, data[buffer].size() * sizeof(float));
  }
  std::unique_ptr<Arrays> view(std::span<const Place>, const std::vector<ir::Buffer>&) override { return nullptr; }
  std::optional<std::string> overrun() override { return std::nullopt; }

  std::vector<std::vector<float>> data;
  Fault fault;  // fault of the candidate that was launched last
};

Resources some_resources() {
  Resources resources;
  resources.registers = 40;
  resources.limiter = "registers";
  return resources;
}

/// Counts 300 W during samples, but nothing during samples of a candidate with the fault "still".
class FaultyCounter final : public EnergyCounter {
 public:
  Result<double> millijoules() override { return std::floor(us / step_us()) * 300 * step_us() * 1e-3; }
  double step_us() const override { return 100e3; }
  double us = 0;  // total time of the samples
};

class FaultyKernel final : public Executable {
 public:
  FaultyKernel(Fault fault, double us, FaultyCounter& counter) : fault_(std::move(fault)), us_(us), counter_(counter) {}
  Result<double> launch(Arrays& arrays, std::int64_t) override {
    const char* const where = launches_++ == 0 ? "launch" : "sample";
    act(fault_, where);
    return copy(arrays, where);
  }
  Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t, int batch) override {
    act(fault_, "sample");
    if (fault_.what != "still") counter_.us += batch * us_;
    const auto time = copy(*sets.front(), "sample");
    if (!time.ok()) return time.failure();
    return Sample{time.value(), 0};
  }
  const Resources& resources() const override { return resources_; }

 private:
  Result<double> copy(Arrays& arrays, const char* where) {
    auto& faulty = static_cast<FaultyArrays&>(arrays);
    faulty.fault = fault_;
    faulty.data[1] = faulty.data[0];
    if (fault_.where != where) return us_;
    if (fault_.what == "wrong") faulty.data[1][7] += 1;
    if (fault_.what == "illegal") return Failure{Status::illegal_access, "CUDA_ERROR_ILLEGAL_ADDRESS"};
    if (fault_.what == "zero") return 0;
    return fault_.what == "slow" ? 1e6 * us_ : us_;
  }
  Fault fault_;
  double us_;
  FaultyCounter& counter_;
  int launches_ = 0;
  Resources resources_ = some_resources();
};

class FaultyDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::opencl; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<FaultyArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode& candidate) override {
    Fault fault = fault_of(candidate.source);
    act(fault, "build");
    if (fault.what == "no-build") return Failure{Status::build_error, "expected ';'\xff"};
    const double us = fault.what == "quick" && happens(fault) ? right_us / 2 : right_us;
    return std::unique_ptr<Executable>(std::make_unique<FaultyKernel>(std::move(fault), us, counter_));
  }
  EnergyCounter& energy() override { return counter_; }

 private:
  DeviceInfo info_{.backend = "faulty",
                   .name = "faulty",
                   .vendor = std::to_string(getpid()),
                   .driver = "1",
                   .platform = "host",
                   .units = 1,
                   .clock_mhz = 0,
                   .shared_bytes = 49152,
                   .max_threads = 1024,
                   .cpu = false};
  FaultyCounter counter_;
};

WorkerCommand command(const char* role) { return {"/proc/self/exe", {role, std::to_string(getpid())}}; }

}  // namespace

KernelCode faulty_candidate(const std::string& what, const std::string& where, const std::string& first) {
  return {ir::parse("=== kernel: copy ===\n"
                    "input a: f32[1000]\n"
                    "output b: f32[1000]\n"
                    "Tile(axes=(a0:10=BLOCK, a1:100=THREAD)):\n"
                    "  in0 = load a[((a0 * 100) + a1)]\n"
                    "  b[((a0 * 100) + a1)] = in0\n"),
          {.entry = "copy", .text = "fault " + what + " " + where + " " + first, .blocks = 10, .threads = 100}};
}

Task copy_task() {
  return {ir::parse("=== loop: copy ===\n"
                    "input a: f32[1000]\n"
                    "output b: f32[1000]\n"
                    "for a0 in 0..1000: # free\n"
                    "  in0 = load a[a0]\n"
                    "  b[a0] = in0\n"),
          1,
          {}};
}

std::unique_ptr<Device> open_faulty() { return std::make_unique<FaultyDevice>(); }

Result<Resources> faulty_compile(const KernelCode& code) {
  const Fault fault = fault_of(code.source);
  act(fault, "build");
  if (fault.what == "no-build") return Failure{Status::build_error, "expected ';'"};
  Resources resources;
  resources.registers = static_cast<std::int64_t>(code.source.text.size());
  return resources;
}

WorkerCommand faulty_worker() { return command("--worker"); }
WorkerCommand faulty_builder() { return command("--builder"); }

int run_as_worker(int argc, char** argv) {
  if (argc != 3) return -1;
  const pid_t tuner = std::atoi(argv[2]);
  if (argv[1] == std::string("--worker")) return serve_device(tuner, open_faulty);
  if (argv[1] == std::string("--builder")) return serve_builds(tuner, faulty_compile);
  return -1;
}

}  // namespace deplo::measure::worker
