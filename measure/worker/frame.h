// The frames that the tuner and a worker exchange: a fixed header and a payload.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure::worker {

/// The types of frames. message.h defines their payloads.
enum class FrameType : std::uint16_t {
  hello,    // from the worker, the first frame: the device
  error,    // from the worker, instead of an answer: an Error of the user or the environment
  kernel,   // to the worker: the task of all later candidates
  screen,   // to the worker: one candidate
  confirm,  // to the worker: candidates to time against each other
  build,    // to a worker that compiles: one source
  cancel,   // to the worker: end the confirmation with the samples so far
  answer,   // from the worker: the answer to the request with the same job number
  launch,   // to a worker that launches kernels once: one launch (single_launch.h)
  energy,   // to the worker: the question whether its device has an energy counter
};

struct Frame {
  FrameType type = FrameType::hello;
  std::uint64_t job = 0;  // an answer has the job number of its request
  std::string payload;
  bool operator==(const Frame&) const = default;
};

/// Header: magic, version, type, job, length, checksum (XXH3-64 of the fields before it and the payload), little
/// endian.
inline constexpr std::size_t frame_header_bytes = 32;
/// The largest payload; longer ones are refused. The largest kernel's text is below 1 MiB, and a confirmation has
/// sixteen kernels unless an experiment wants more (WorkerRunner::confirm() refuses a request that does not fit).
inline constexpr std::size_t max_payload = std::size_t{64} << 20;

std::string encode(const Frame&);

/// Reads frames from bytes that arrive in any portions. Never throws, whatever the bytes are.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  /// Returns the next whole frame; nullopt if more bytes are needed, or if there is a fault().
  std::optional<Frame> next();
  /// Returns why the bytes are not frames; "" as long as they are. After a fault, next() returns nullopt.
  const std::string& fault() const { return fault_; }
  /// The number of bytes of an incomplete frame.
  std::size_t pending() const { return bytes_.size() - start_; }

 private:
  std::string bytes_;
  std::size_t start_ = 0;  // start of the bytes that were not returned yet
  std::string fault_;
};

}  // namespace deplo::measure::worker
