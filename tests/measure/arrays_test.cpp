// Buffers of several dtypes, and views of their memory, on each device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "ir/program.h"
#include "measure/device.h"

namespace deplo::measure {
namespace {

std::vector<float> ramp(float start, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = start + static_cast<float>(i);
  return values;
}

class AnyArrays : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Device> device_ = open_device(GetParam());
};

TEST_P(AnyArrays, ArraysOfIntegersAndTruthValues) {
  const ir::Program p = ir::parse("=== loop: p ===\ninput i: i32[4]\ninput b: bool[5]\noutput y: f32[1]\ny[0] = 1\n");
  const auto arrays = device_->allocate(p.buffers);
  arrays->write(0, std::vector<float>{-3, 2.6F, 16777216, -2.4F});
  EXPECT_EQ(arrays->read(0), (std::vector<float>{-3, 3, 16777216, -2}));
  arrays->write(1, std::vector<float>{0, 1, 0.5F, -2, 0});
  EXPECT_EQ(arrays->read(1), (std::vector<float>{0, 1, 1, 1, 0}));
  arrays->poison(0);
  arrays->poison(1);
  EXPECT_EQ(arrays->read(0), std::vector<float>(4, -1));
  EXPECT_EQ(arrays->read(1), std::vector<float>(5, 255));
}

TEST_P(AnyArrays, IntegersAreExact) {
  const ir::Program p = ir::parse("=== loop: p ===\ninput i: i32[3]\ninput j: i64[3]\noutput y: f32[1]\ny[0] = 1\n");
  const auto arrays = device_->allocate(p.buffers);
  const std::vector<std::int32_t> narrow{std::numeric_limits<std::int32_t>::min(), 16777217, 2147483647};
  const std::vector<std::int64_t> wide{std::numeric_limits<std::int64_t>::min(), (std::int64_t{1} << 53) + 1, -1};
  arrays->write(0, narrow);
  arrays->write(1, wide);
  EXPECT_EQ(arrays->read(0), narrow);
  EXPECT_EQ(arrays->read(1), wide);
  arrays->write(1, narrow);
  EXPECT_EQ(arrays->read(1), narrow);
  arrays->poison(1);
  EXPECT_EQ(arrays->read(1), std::vector<std::int64_t>(3, -1));
}

TEST_P(AnyArrays, AViewSharesMemory) {
  const ir::Program p =
      ir::parse("=== loop: p ===\ninput a: f32[12]\ninput b: f32[5]\ninput c: i32[3]\noutput y: f32[1]\ny[0] = 1\n");
  const ir::Program q =
      ir::parse("=== loop: q ===\ninput c: i32[3]\ninput a: f32[2, 5]\noutput b: bool[7]\nb[0] = 1\n");
  const auto arrays = device_->allocate(p.buffers);
  arrays->write(0, ramp(1, 12));
  arrays->write(2, std::vector<float>{7, -8, 9});
  const auto view = arrays->view(std::vector<Place>{{2}, {0}, {1}}, q.buffers);
  EXPECT_EQ(view->read(0), (std::vector<float>{7, -8, 9}));
  EXPECT_EQ(view->read(1), ramp(1, 10));
  view->write(1, ramp(50, 10));
  view->write(2, std::vector<float>{1, 0, 1, 1, 0, 0, 1});
  std::vector<float> expected = ramp(50, 10);
  expected.insert(expected.end(), {11, 12});
  EXPECT_EQ(arrays->read(0), expected);
  EXPECT_EQ(view->read(2), (std::vector<float>{1, 0, 1, 1, 0, 0, 1}));
  view->poison(0);
  EXPECT_EQ(arrays->read(2), std::vector<float>(3, -1));
}

TEST_P(AnyArrays, AViewBeginsWhereItsPlaceSays) {
  const ir::Program p = ir::parse("=== loop: p ===\noutput y: f32[100]\ny[0] = 1\n");
  const ir::Program q =
      ir::parse("=== loop: q ===\ninput head: f32[32]\ninput tail: f32[4]\noutput y: f32[1]\ny[0] = 1\n");
  const auto arrays = device_->allocate(p.buffers);
  arrays->write(0, ramp(0, 100));
  const auto view = arrays->view(std::vector<Place>{{0, 0}, {0, 384}, {0, 128}}, q.buffers);  // multiples of 128
  EXPECT_EQ(view->read(0), ramp(0, 32));
  EXPECT_EQ(view->read(1), ramp(96, 4));
  view->write(2, std::vector<float>{-5});
  std::vector<float> expected = ramp(0, 100);
  expected[32] = -5;
  EXPECT_EQ(arrays->read(0), expected);
  const auto inner = view->view(std::vector<Place>{{0, 0}}, {q.buffers[1]});
  EXPECT_EQ(inner->read(0), ramp(0, 4));
}

INSTANTIATE_TEST_SUITE_P(Devices, AnyArrays, testing::Values("opencl", "interpreter"),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace deplo::measure
