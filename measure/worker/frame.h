// What crosses the pipe between the tuner and a worker: frames of a fixed header and a payload.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure::worker {

/// The payloads are those of message.h.
enum class FrameType : std::uint16_t {
  hello,    // from the worker, first: the device
  error,    // from the worker: the user's or the environment's mistake, in place of an answer
  kernel,   // to the worker: what the candidates from now on are of
  screen,   // to the worker: one candidate
  confirm,  // to the worker: candidates against each other
  build,    // to a worker that compiles: one source
  cancel,   // to the worker: end the confirmation with what there is
  answer,   // from the worker: to the frame of that job
  blocks,   // to a worker of blocks: one launch (blocks.h)
};

struct Frame {
  FrameType type = FrameType::hello;
  std::uint64_t job = 0;  // an answer has the number of what it answers
  std::string payload;
  bool operator==(const Frame&) const = default;
};

/// Header: magic, version, type, job, length, checksum (XXH3-64 of all before it and the payload), little endian.
inline constexpr std::size_t frame_header_bytes = 32;
/// A longer one is no frame: the largest kernel's text is below 1 MiB, a confirmation has sixteen.
inline constexpr std::size_t most_payload = std::size_t{64} << 20;

std::string encode(const Frame&);

/// Bytes in any portions → frames. Never throws for any bytes.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  /// The next whole frame; nullopt: more bytes are needed, or fault().
  std::optional<Frame> next();
  /// Why the bytes are no frames, "" while they are: after that nothing comes any more.
  const std::string& fault() const { return fault_; }
  /// Bytes of a frame that has no end yet.
  std::size_t pending() const { return bytes_.size() - start_; }

 private:
  std::string bytes_;
  std::size_t start_ = 0;  // of what was not returned yet
  std::string fault_;
};

}  // namespace deplo::measure::worker
