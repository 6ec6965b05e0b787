#include "measure/worker/single_launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "measure/worker/redirected_output.h"

namespace deplo::measure::worker {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const char* what) {
  throw Error(fmt::format("worker: {}: {}", what, std::strerror(errno)), Exit::environment);
}

void write_memory(const SingleLaunch& task) {
  std::ofstream out(task.memory, std::ios::binary);
  for (const auto& bytes : task.contents)
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) fail("arrays cannot be written");
}

void read_memory(SingleLaunch& task) {
  std::ifstream in(task.memory, std::ios::binary);
  for (auto& bytes : task.contents)
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) fail("arrays cannot be read");
}

}  // namespace

SharedFile::SharedFile() : file_(memfd_create("deplo", MFD_CLOEXEC)) {
  if (file_.number < 0) fail("shared memory");
}

std::string SharedFile::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_.number); }

std::string SharedFile::text() const {
  std::ifstream in(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string encode(const SingleLaunch& task) {
  Json sizes = Json::array();
  for (const auto& bytes : task.contents) sizes.push_back(bytes.size());
  return Json{{"code", encode(std::span(&task.code, 1), 0, 1, 0, 0)},
              {"sizes", sizes},
              {"memory", task.memory},
              {"printed", task.printed},
              {"timed", task.timed}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

SingleLaunch decode_launch(std::string_view text) {
  SingleLaunch task;
  try {
    const Json json = Json::parse(text);
    task.code = std::move(decode_ask(json.at("code").get<std::string>()).candidates.at(0));
    for (const Json& size : json.at("sizes")) task.contents.emplace_back(size.get<std::size_t>());
    json.at("memory").get_to(task.memory);
    json.at("timed").get_to(task.timed);
    json.at("printed").get_to(task.printed);
  } catch (const Json::exception& e) {
    throw Error(std::string("a worker's message: ") + e.what(), Exit::environment);
  }
  read_memory(task);
  return task;
}

double run_launch(SingleLaunch& task, Device& device) {
  const Descriptor printed(open(task.printed.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (printed.number < 0) fail("standard output");
  const RedirectedOutput output(printed.number);
  const double us = launch_once(device, task.code, task.contents, task.timed).value_or_throw();
  write_memory(task);
  return us;
}

LaunchWorker::LaunchWorker(const WorkerCommand& command) : worker_(command) {
  const auto hello = worker_.hello({});
  if (const auto* lost = std::get_if<Lost>(&hello)) throw Error(describe(*lost), Exit::environment);
  hello_ = decode_hello(std::get<std::string>(hello));
}

double LaunchWorker::run(const KernelCode& code, Contents& contents, double seconds, bool timed) {
  SingleLaunch task{code, std::move(contents), memory_.path(), printed_.path(), timed};
  write_memory(task);
  Deadlines deadlines = Deadlines::of(info());
  deadlines.launch = seconds;
  const std::string payload = encode(task);
  const auto answer = worker_.ask({FrameType::launch, payload, deadlines, {}});
  if (const auto* lost = std::get_if<Lost>(&answer)) {
    if (lost->cause == Lost::Cause::late)
      throw Error(
          fmt::format("{}: expected the blocks to end within {:g} s, found some still running: they may be waiting for "
                      "a block that has not started",
                      code.source.entry, seconds));
    throw Error(
        fmt::format("{}: expected the blocks to run on {}, found: {}", code.source.entry, info().name, describe(*lost)),
        Exit::environment);
  }
  read_memory(task);
  contents = std::move(task.contents);
  return Json::parse(std::get<std::string>(answer)).get<double>();
}

}  // namespace deplo::measure::worker
