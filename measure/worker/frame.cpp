#include "measure/worker/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/error.h"
#include "core/hash.h"

namespace deplo::measure::worker {
namespace {

// Both ends are the same program on the same machine, so the byte order is the host's. The version changes with the
// layout of the header or with a message.
constexpr std::uint32_t magic = 0x776c7064;  // "dplw"
constexpr std::uint16_t version = 1;

struct Header {
  std::uint32_t start = magic;
  std::uint16_t form = version;
  std::uint16_t type = 0;
  std::uint64_t job = 0;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
};
static_assert(sizeof(Header) == frame_header_bytes && std::has_unique_object_representations_v<Header>);

std::uint64_t sum_of(Header header, std::string_view payload) {
  header.sum = 0;
  return checksum(payload, checksum({reinterpret_cast<const char*>(&header), sizeof header}));
}

std::string fault_of(const Header& header) {
  if (header.start != magic) return fmt::format("expected a frame, found bytes that begin with {:08x}", header.start);
  if (header.form != version) return fmt::format("expected frames of version {}, found {}", version, header.form);
  if (header.type > static_cast<std::uint16_t>(FrameType::energy))
    return fmt::format("expected a frame of a known type, found {}", header.type);
  if (header.length > max_payload)
    return fmt::format("expected at most {} bytes in a frame, found {}", max_payload, header.length);
  return "";
}

}  // namespace

std::string encode(const Frame& frame) {
  CHECK(frame.payload.size() <= max_payload);
  Header header;
  header.type = static_cast<std::uint16_t>(frame.type);
  header.job = frame.job;
  header.length = frame.payload.size();
  header.sum = sum_of(header, frame.payload);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes += frame.payload;
}

void FrameReader::feed(std::string_view bytes) {
  if (start_ > 0) bytes_.erase(0, start_), start_ = 0;
  bytes_ += bytes;
}

std::optional<Frame> FrameReader::next() {
  Header header;
  if (!fault_.empty() || pending() < sizeof header.start) return std::nullopt;
  // Fields that have not arrived yet keep their defaults, which are valid. So the first wrong bytes are found at once.
  std::memcpy(&header, bytes_.data() + start_, std::min(pending(), sizeof header));
  fault_ = fault_of(header);
  if (!fault_.empty() || pending() < sizeof header || pending() - sizeof header < header.length) return std::nullopt;
  Frame frame{static_cast<FrameType>(header.type), header.job, bytes_.substr(start_ + sizeof header, header.length)};
  if (sum_of(header, frame.payload) != header.sum) {
    fault_ = "expected a whole frame, found one with a wrong checksum";
    return std::nullopt;
  }
  start_ += sizeof header + header.length;
  return frame;
}

}  // namespace deplo::measure::worker
