// The protocol between tuner and worker: frames, and a reader that is robust against any bytes.
#include "measure/worker/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "measure/faulty.h"
#include "measure/worker/message.h"

namespace deplo::measure::worker {
namespace {

using ::testing::HasSubstr;

const Frame frames[] = {{FrameType::hello, 0, ""},
                        {FrameType::screen, 1, std::string(100'000, 'a')},
                        {FrameType::answer, 1, std::string("\0\1dplw", 6)},
                        {FrameType::answer, ~0ULL, "x"}};

std::string all_frames() {
  std::string bytes;
  for (const Frame& frame : frames) bytes += encode(frame);
  return bytes;
}

TEST(Frames, ArriveInAnyPortions) {
  const std::string bytes = all_frames();
  for (const std::size_t portion : {std::size_t{1}, std::size_t{7}, std::size_t{32}, std::size_t{4096}, bytes.size()}) {
    FrameReader reader;
    std::vector<Frame> read;
    for (std::size_t i = 0; i < bytes.size(); i += portion) {
      reader.feed(std::string_view(bytes).substr(i, portion));
      while (auto frame = reader.next()) read.push_back(std::move(*frame));
    }
    EXPECT_EQ(read, std::vector<Frame>(std::begin(frames), std::end(frames))) << portion;
    EXPECT_EQ(reader.fault(), "");
    EXPECT_EQ(reader.pending(), 0U);
  }
}

/// Returns what the reader reports for a frame in which one byte is replaced.
std::string fault_of(std::size_t at, char byte) {
  std::string bytes = encode(frames[2]);
  bytes.at(at) = byte;
  FrameReader reader;
  reader.feed(bytes);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.next(), std::nullopt);
  return reader.fault();
}

TEST(Frames, DamageIsNamed) {
  EXPECT_THAT(fault_of(0, 'x'), HasSubstr("expected a frame, found bytes that begin with"));
  EXPECT_THAT(fault_of(4, 2), HasSubstr("expected frames of version 1, found 2"));
  EXPECT_THAT(fault_of(6, 99), HasSubstr("expected a frame of a known type, found 99"));
  EXPECT_THAT(fault_of(23, 1), HasSubstr("expected at most 67108864 bytes in a frame, found"));
  EXPECT_THAT(fault_of(8, 7), HasSubstr("checksum"));   // the job number
  EXPECT_THAT(fault_of(24, 1), HasSubstr("checksum"));  // the checksum itself
  EXPECT_THAT(fault_of(35, 1), HasSubstr("checksum"));  // the payload
}

TEST(Frames, APartOfAFrameIsNoneYet) {
  const std::string bytes = encode(frames[1]);
  for (const std::size_t part : {std::size_t{0}, std::size_t{31}, std::size_t{32}, bytes.size() - 1}) {
    FrameReader reader;
    reader.feed(std::string_view(bytes).substr(0, part));
    EXPECT_EQ(reader.next(), std::nullopt);
    EXPECT_EQ(reader.fault(), "");
    EXPECT_EQ(reader.pending(), part);
  }
}

// The reader returns only frames that were written, and returns none after a fault.
TEST(Frames, DamagedStreams) {
  Rng rng(3);
  const std::string bytes = encode(frames[0]) + encode(frames[2]) + encode(frames[3]);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (std::uint64_t n = rng.below(3) + 1; n > 0; --n)
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.next());
    damaged.resize(rng.below(damaged.size() + 1));
    FrameReader reader;
    reader.feed(damaged);
    while (const auto frame = reader.next()) EXPECT_THAT(frames, ::testing::Contains(*frame));
    reader.feed(bytes);
    EXPECT_TRUE(reader.fault().empty() || reader.next() == std::nullopt);
  }
}

TEST(Messages, CandidatesArriveWhole) {
  KernelCode candidate = faulty_candidate("none");
  candidate.source.tensor_maps = {{1, {2, 3}, {3, 1}, {2, 2}, 128}};
  candidate.source.zeroed = {1};
  candidate.source.dynamic_shared = true;
  candidate.source.shared_bytes = 70'000;
  const Ask ask = decode_ask(encode({&candidate, 1}, std::numeric_limits<double>::infinity(), 0.25, ~0ULL, 1.5));
  ASSERT_EQ(ask.candidates.size(), 1U);
  EXPECT_EQ(ask.candidates[0].kernel, candidate.kernel);
  const ir::KernelSource& source = ask.candidates[0].source;
  EXPECT_EQ(source.text, candidate.source.text);
  EXPECT_EQ(source.entry, "copy");
  EXPECT_EQ(source.blocks, 10);
  EXPECT_EQ(source.threads, 100);
  EXPECT_EQ(source.shared_bytes, 70'000);
  EXPECT_TRUE(source.dynamic_shared);
  EXPECT_EQ(source.zeroed, candidate.source.zeroed);
  ASSERT_EQ(source.tensor_maps.size(), 1U);
  EXPECT_EQ(source.tensor_maps[0].strides, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(source.tensor_maps[0].swizzle, 128);
  EXPECT_EQ(ask.best_us, std::numeric_limits<double>::infinity());
  EXPECT_EQ(ask.effort, 0.25);
  EXPECT_EQ(ask.seed, ~0ULL);
  EXPECT_EQ(ask.seconds, 1.5);
  for (const double effort : {0.0, -1.0, 1.01, 1e300})
    EXPECT_THROW(decode_ask(encode({&candidate, 1}, 1, effort, 0, 0)), Error) << effort;
}

TEST(Messages, RepliesArriveWhole) {
  Reply sent{Timing{1.5, 0.25, {1, 2}, {3}, 4, 5, 6, 7, true, 10, 8},
             {1, 2, 3, 4, 5, 6, 0.5, "registers", "digest", "C7510: slow"},
             9};
  const std::string text = encode({&sent, 1});
  EXPECT_EQ(
      text,
      R"([{"build_ms":9.0,"resources":{"binary_digest":"digest","code_bytes":6,"compiler_notes":"C7510: slow",)"
      R"("dynamic_shared_bytes":5,"limiter":"registers","occupancy":0.5,"registers":1,"spill_bytes":2,"stack_bytes":3,)"
      R"("static_shared_bytes":4},"timing":{)"
      R"("batch":4,"clock_mhz":7.0,"energy_mj":10.0,"fidelity":0.25,"first_launch_ms":8.0,"median_us":1.5,)"
      R"("rejected":[3.0],"samples":[1.0,2.0],"sets":5,"stopped":true,"warm_us":6.0}}])");
  EXPECT_EQ(encode(decode_replies(text, 1)), text);
  const Hello hello{{"cuda", "name", "vendor", "driver", "platform", 1, 2, 3, 4, true, "sm_90", 5, 6}, Dialect::cuda};
  EXPECT_EQ(decode_hello(encode(hello)).info, hello.info);
}

TEST(Messages, WhatIsNoMessageIsAnError) {
  const std::string reply = encode(std::vector<Reply>(1, Reply{Failure{Status::hang, "a \xff byte"}}));
  EXPECT_EQ(decode_replies(reply, 1).front().timing.failure().status, Status::hang);
  EXPECT_THROW(decode_replies(reply, 2), Error);
  for (std::size_t i = 0; i < reply.size(); ++i) EXPECT_THROW(decode_replies(reply.substr(0, i), 1), Error);
  for (const char* text : {"[1]", "{}", "null", "[{}]", R"([{"failure": [1, 2], "resources": {}, "build_ms": 0}])",
                           R"([{"failure": ["no such", ""], "resources": {}, "build_ms": 0}])"})
    EXPECT_THROW(decode_replies(text, 1), Error) << text;
}

}  // namespace
}  // namespace deplo::measure::worker
