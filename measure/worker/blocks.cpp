#include "measure/worker/blocks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace deplo::measure::worker {
namespace {

namespace tiles = ir::tile_program;
using Json = nlohmann::json;

[[noreturn]] void fail(const char* what) {
  throw Error(fmt::format("worker: {}: {}", what, std::strerror(errno)), Exit::environment);
}

/// What the task's file holds, in its order.
std::vector<std::vector<std::uint8_t>*> parts(BlocksTask& task) {
  std::vector<std::vector<std::uint8_t>*> all;
  for (tiles::Array& array : task.arrays) all.push_back(&array.bytes);
  for (rules::BlockKernel::Initial& initial : task.kernel.initial) all.push_back(&initial.bytes);
  return all;
}

void write_memory(BlocksTask& task) {
  std::ofstream out(task.memory, std::ios::binary);
  for (const auto* bytes : parts(task))
    out.write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  if (!out.flush()) fail("arrays cannot be written");
}

void read_memory(BlocksTask& task) {
  std::ifstream in(task.memory, std::ios::binary);
  for (auto* bytes : parts(task))
    in.read(reinterpret_cast<char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  if (!in) fail("arrays cannot be read");
}

/// Standard output goes to this file as long as this lives.
class Redirected {
 public:
  explicit Redirected(const std::string& file) : old_(dup(STDOUT_FILENO)) {
    const int taken = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (old_ < 0 || taken < 0 || dup2(taken, STDOUT_FILENO) < 0) fail("standard output");
    close(taken);
  }
  ~Redirected() {
    std::fflush(stdout);
    dup2(old_, STDOUT_FILENO);
    close(old_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int old_;
};

}  // namespace

SharedFile::SharedFile() : descriptor_(memfd_create("deplo", MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail("shared memory");
}

SharedFile::~SharedFile() { close(descriptor_); }

std::string SharedFile::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_); }

std::string encode(const BlocksTask& task) {
  const KernelCode code{task.kernel.kernel, task.kernel.source};
  Json arrays = Json::array(), initial = Json::array();
  for (const tiles::Array& array : task.arrays)
    arrays.push_back({array.name, static_cast<int>(array.element), array.bytes.size()});
  for (const rules::BlockKernel::Initial& one : task.kernel.initial) initial.push_back({one.buffer, one.bytes.size()});
  return Json{{"code", encode(std::span(&code, 1), 0, 1, 0, 0)},
              {"arrays", arrays},
              {"initial", initial},
              {"assertion_buffer", task.kernel.assertion_buffer},
              {"assertions", task.kernel.assertions},
              {"memory", task.memory},
              {"printed", task.printed},
              {"timed", task.timed}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

BlocksTask decode_blocks(std::string_view text) {
  BlocksTask task;
  try {
    const Json json = Json::parse(text);
    KernelCode code = std::move(decode_ask(json.at("code").get<std::string>()).candidates.at(0));
    task.kernel.kernel = std::move(code.kernel);
    task.kernel.source = std::move(code.source);
    for (const Json& array : json.at("arrays"))
      task.arrays.push_back({array.at(0).get<std::string>(), static_cast<ir::DType>(array.at(1).get<int>()),
                             std::vector<std::uint8_t>(array.at(2).get<std::size_t>())});
    for (const Json& one : json.at("initial"))
      task.kernel.initial.push_back(
          {one.at(0).get<std::size_t>(), std::vector<std::uint8_t>(one.at(1).get<std::size_t>())});
    json.at("assertion_buffer").get_to(task.kernel.assertion_buffer);
    json.at("assertions").get_to(task.kernel.assertions);
    json.at("memory").get_to(task.memory);
    json.at("timed").get_to(task.timed);
    json.at("printed").get_to(task.printed);
  } catch (const Json::exception& e) {
    throw Error(std::string("a worker's message: ") + e.what(), Exit::environment);
  }
  read_memory(task);
  return task;
}

double run_task(BlocksTask& task, Device& device) {
  const Redirected output(task.printed);
  const double us = run_blocks(device, task.kernel, task.arrays, task.timed).value_or_throw();
  write_memory(task);
  return us;
}

BlocksWorker::BlocksWorker(const WorkerCommand& command) : worker_(command) {
  const auto hello = worker_.hello({});
  if (const auto* lost = std::get_if<Lost>(&hello)) throw Error(describe(*lost), Exit::environment);
  hello_ = decode_hello(std::get<std::string>(hello));
}

double BlocksWorker::run(const rules::BlockKernel& kernel, std::vector<tiles::Array>& arrays, double seconds,
                         bool timed) {
  BlocksTask task{kernel, std::move(arrays), memory_.path(), printed_.path(), timed};
  write_memory(task);
  Deadlines deadlines = Deadlines::of(info());
  deadlines.launch = seconds;
  const std::string payload = encode(task);
  const auto answer = worker_.ask({FrameType::blocks, payload, deadlines, {}});
  if (const auto* lost = std::get_if<Lost>(&answer)) {
    if (lost->cause == Lost::Cause::late)
      throw Error(
          fmt::format("{}: expected the blocks to end within {:g} s, found some that run on: they may wait for one "
                      "that has not begun",
                      kernel.source.entry, seconds));
    throw Error(fmt::format("{}: expected the blocks to run on {}, found: {}", kernel.source.entry, info().name,
                            describe(*lost)),
                Exit::environment);
  }
  read_memory(task);
  arrays = std::move(task.arrays);
  return Json::parse(std::get<std::string>(answer)).get<double>();
}

std::string BlocksWorker::printed() const {
  std::ifstream in(printed_.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace deplo::measure::worker
