// Mutated texts give a program or an Error, and never a crash. A program that was parsed round-trips and can be
// verified.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "ir/program.h"

namespace deplo::ir {
namespace {

constexpr std::array<std::string_view, 5> seeds = {
    R"(=== loop: rms ===
input x: f32[33, 777]
input w: f32[777] strides=(1)
output y: f32[33, 777] strides=(1, 33)
v0 = reciprocal(777)
for a0 in 0..33: # free
  for a1 in 0..777: # reduce unroll=4
    in0 = load x[a0, a1]
    v1 = multiply(in0, in0)
    acc0 <- add(acc0, v1)
  v2 = add(acc0, 1e-06)
  for a2 in 0..777: # free
    if ((a2 < 776) && (a0 == 3)):
      in1 = load w[min(a2, 776)]
      v3 = multiply(v2, in1)
      y[a0, a2] = v3
)",
    R"(=== tile: mm ===
input a: f32[512, 64]
output c: f32[512, 256]
Tile(axes=(a0:8=BLOCK, a1:8=THREAD, a2:2=REG, a3:16=VECTOR)):
  for a5 in 0..4: # free
    a_smem = Stage(a, origin=((a0 * 64), (a5 * 16)), slab=(s0:64@0, s1:16@1))
    StridedLoop(a6 = a1; < 16; += 8): # reduce unroll
      in0 = load a_smem[((a1 * 8) + (a2 % 3)), a6]
      acc0 <- maximum(acc0, in0)
  Combine(acc0, op=maximum, over=(a1, a2))
  c[((a0 * 64) + (a1 * 8)), a3] += acc0
)",
    R"(=== kernel: k ===
input a: f32[32, 256]
output c: f32[32, 256]
Tile(axes=(a0:32=BLOCK, a1:16=THREAD)):
  Smem s[16, 16] (f32)
  Init(acc0:f32x16, op=add)
  in0:f32x16 = load a[a0, (a1 * 16)]
  v1:boolx16 = index (((a1 * 16) + lane) < (a0 + 1))
  acc0:f32x16 <- fma(acc0, in0, 0.5)
  v0 = lanes_add(acc0)
  s[0, a1] = v0
  s[(1 + (a1 / 16)), ((a1 - 5) / 4 + 2)] = -inf
  Sync
  TreeHalve(s[0], op=add, length=16, tid=a1)
  c[a0, (a1 * 16)]:x16 = acc0
)",
    R"(=== tile: pipeline ===
input a: f32[512, 64]
output c: f32[512, 256]
Tile(axes=(a0:8=BLOCK, a1:8=THREAD, a2:2=REG)):
  a_smem = Stage(a, origin=((a0 * 64), 0), slab=(s0:64@0, s1:16@1)) panel=8 pad=4 lanes=4 buffers=2@0 async
  t_smem = Stage(a, origin=((a0 * 64), 0), slab=(s0:64@0, s1:16@1)) panel=8 swizzle=32 tma
  for a5 in 0..3: # free
    AsyncWait(keep=0, phase=((a5 / 2) % 2), slot=(a5 % 2))
    a_smem = Stage(a, origin=((a0 * 64), ((a5 + 1) * 16)), slab=(s0:64@0, s1:16@1)) panel=8 pad=4 lanes=4 buffers=2@((a5 + 1) % 2) async
    for a6 in 0..16: # reduce unroll=4 per a2
      in0 = load a_smem[(a5 % 2), ((a1 * 8) + a2), a6]
      acc0 <- add(acc0, in0)
  c[((a0 * 64) + (a1 * 8)), a2] += acc0
)",
    R"(=== kernel: copies ===
input a: f32[32, 256]
output c: f32[32, 256]
TmaDescriptor d(a, box=(8, 16)) swizzle=64
Tile(axes=(a0:32=BLOCK, a1:32=THREAD)):
  Smem s[2, 8, 16] (f32) align=512
  MbarrierInit m[2] (count=1)
  Sync
  if (a1 == 0):
    MbarrierArriveExpectTx(m[(a0 % 2)], bytes=512)
    TmaLoad(s[0, 0, 0], d[a0, (a0 * 16)], m[(a0 % 2)])
  MbarrierWait(m[(a0 % 2)], phase=0)
  CpAsyncCopy(s[1, (a1 / 4), ((a1 % 4) * 4)], a[a0, (a1 * 4)], lanes=4)
  CpAsyncCommit
  CpAsyncWait(keep=0)
  Sync
  in0 = load s[1, ((a1 / 4) ^ 3), (a1 % 16)]
  WarpShuffle(v0 <- in0, op=maximum, length=32)
  c[a0, a1] += v0
)"};

constexpr std::array<std::string_view, 28> words = {"9223372036854775807",
                                                    "-9223372036854775808",
                                                    "1099511627776",
                                                    "99999999999999999999",
                                                    "1e308",
                                                    "0",
                                                    "-1",
                                                    "a0",
                                                    "acc0",
                                                    "((((((((",
                                                    "))",
                                                    "..",
                                                    "==",
                                                    "&&",
                                                    "\t",
                                                    "\r\n",
                                                    "\n      ",
                                                    "# free",
                                                    "# reduce unroll=65536",
                                                    "min(",
                                                    " / 3",
                                                    " % a1",
                                                    "\nif a0 < 1:\n  ",
                                                    " ^ ",
                                                    " buffers=2@",
                                                    " swizzle=64",
                                                    " tma",
                                                    "inf"};

// Returns a word at or after a random position. Words are replaced by words, which keeps most texts readable.
std::pair<std::size_t, std::size_t> word(const std::string& text, Rng& rng) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const std::size_t begin = text.find_first_of(letters, rng.below(text.size() + 1));
  if (begin == std::string::npos) return {0, 0};
  return {begin, std::min(text.find_first_not_of(letters, begin), text.size()) - begin};
}

void mutate_word(std::string& text, Rng& rng) {
  const auto [at, length] = word(text, rng);
  const auto [from, count] = word(text, rng);
  text.replace(at, length, rng.below(2) == 0 ? std::to_string(rng.below(70)) : text.substr(from, count));
}

void mutate_line(std::string& text, Rng& rng) {
  const std::size_t begin = text.rfind('\n', rng.below(text.size() + 1)) + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  if (rng.below(2) == 0)
    text.erase(begin, end - begin);
  else
    text.insert(begin, text.substr(begin, end - begin) + "\n");
}

void mutate_bytes(std::string& text, Rng& rng) {
  const std::size_t at = rng.below(text.size() + 1), length = rng.below(12);
  switch (rng.below(5)) {
    case 0:
      text.insert(at, 1, static_cast<char>(rng.below(256)));
      break;
    case 1:
      text.insert(at, words[rng.below(words.size())]);
      break;
    case 2:
      text.replace(at, length, words[rng.below(words.size())]);
      break;
    case 3:
      text.erase(at, length);
      break;
    default:
      text.insert(at, text.substr(rng.below(text.size() + 1), rng.below(80)));
      break;
  }
}

std::string mutate(std::string text, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(3); edits > 0; --edits) {
    switch (rng.below(4)) {
      case 0:
        mutate_bytes(text, rng);
        break;
      case 1:
        mutate_line(text, rng);
        break;
      default:
        mutate_word(text, rng);
        break;
    }
  }
  return text;
}

TEST(FuzzParse, MutatedTextsParseAndRoundTripOrFailWithAPlace) {
  Rng rng(7);
  int parsed = 0, verified = 0;
  constexpr int texts = 24000;
  for (int i = 0; i < texts; ++i) {
    const std::string text = mutate(std::string(seeds[rng.below(seeds.size())]), rng);
    try {
      const Program p = parse(text, {}, "fuzz");
      ++parsed;
      ASSERT_EQ(parse(print(p)), p) << text;
      verified += verify(p).empty();
    } catch (const Error& e) {
      ASSERT_TRUE(std::string_view(e.what()).starts_with("fuzz:")) << e.what() << "\n" << text;
    }
  }
  RecordProperty("parsed", parsed);
  RecordProperty("verified", verified);
  EXPECT_GT(parsed, texts / 20);  // the mutations reach code beyond the first error
  EXPECT_GT(verified, texts / 100);
  EXPECT_LT(verified, parsed);
}

TEST(FuzzParse, SeedsAreLegalAndEveryPrefixIsHandled) {
  for (const std::string_view seed : seeds) {
    const Program p = parse(seed);
    EXPECT_EQ(verify(p), "");
    EXPECT_EQ(parse(print(p)), p);
    for (std::size_t n = 0; n < seed.size(); ++n) {
      try {
        verify(parse(seed.substr(0, n)));
      } catch (const Error&) {
      }
    }
  }
}

TEST(FuzzParse, Noise) {
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    std::string text = "=== kernel: k ===\n";
    for (std::uint64_t n = rng.below(200); n > 0; --n) text += static_cast<char>(rng.below(256));
    try {
      parse(text);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace deplo::ir
