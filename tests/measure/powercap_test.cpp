// The energy of processors, read from folders with the layout of Linux's powercap.
#include "measure/powercap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/error.h"
#include "measure/store_fixture.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class Powercap : public ::testing::Test {
 protected:
  void add_zone(const std::string& zone, const std::string& name, const std::string& energy) const {
    fs::create_directories(folder_.path() / zone);
    write(zone + "/name", name);
    write(zone + "/energy_uj", energy);
    write(zone + "/max_energy_range_uj", "1000000");
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_.path() / file) << text << '\n';
  }
  std::string fault() const {
    try {
      open_powercap(folder_.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::environment);
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "";
  }
  const TemporaryFolder folder_;
};

TEST_F(Powercap, IsTheSumOfWholePackages) {
  add_zone("intel-rapl:0", "package-0", "5000");
  add_zone("intel-rapl:1", "package-1", "7000");
  add_zone("intel-rapl:0:0", "core", "100");
  add_zone("intel-rapl:2", "psys", "90000");
  add_zone("intel-rapl-mmio:0", "package-0", "5000");
  add_zone("dtpm", "package-9", "1");
  const auto counter = open_powercap(folder_.path());
  const double before = counter->millijoules().value();
  for (const char* other : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0", "dtpm"})
    write(std::string(other) + "/energy_uj", "95000");
  EXPECT_EQ(counter->millijoules().value(), before);
  write("intel-rapl:0/energy_uj", "6500");
  write("intel-rapl:1/energy_uj", "8000");
  EXPECT_DOUBLE_EQ(counter->millijoules().value() - before, 2.5);
}

TEST_F(Powercap, GoesOnWhereACounterBeginsAgain) {
  add_zone("intel-rapl:0", "package-0", "999000");
  const auto counter = open_powercap(folder_.path());
  const double before = counter->millijoules().value();
  for (int i = 0; i < 3; ++i) {  // the counter's range is 1000 mJ
    write("intel-rapl:0/energy_uj", "4000");
    EXPECT_DOUBLE_EQ(counter->millijoules().value() - before, i * 1000 + 5);
    write("intel-rapl:0/energy_uj", "999000");
    EXPECT_DOUBLE_EQ(counter->millijoules().value() - before, i * 1000 + 1000);
  }
}

TEST_F(Powercap, WhatIsMissingIsSaidInOneLine) {
  const std::string file = (folder_.path() / "intel-rapl:0/energy_uj").string();
  EXPECT_EQ(fault(), "no energy counter: expected " + file +
                         ", found none; Linux provides it for Intel and AMD processors, but not in virtual machines");
  add_zone("intel-rapl:0", "package-0", "none");
  EXPECT_THAT(fault(), HasSubstr("cannot read " + file + ": it contains no number"));
  fs::remove(file);
  EXPECT_THAT(fault(),
              HasSubstr("cannot read " + file + ": No such file or directory; run as root, or let root run `chmod"));
  // A user other than root cannot read this file. Root can read it whatever its mode.
  write("intel-rapl:0/energy_uj", "5000");
  fs::permissions(file, fs::perms::none);
  if (geteuid() == 0)
    EXPECT_EQ(fault(), "");
  else
    EXPECT_THAT(fault(), HasSubstr("cannot read " + file + ": Permission denied; run as root"));
}

TEST_F(Powercap, ACounterThatGoesAwayIsAFailure) {
  add_zone("intel-rapl:0", "package-0", "5000");
  const auto counter = open_powercap(folder_.path());
  fs::remove_all(folder_.path() / "intel-rapl:0");
  const auto reading = counter->millijoules();
  ASSERT_FALSE(reading.ok());
  EXPECT_EQ(reading.failure().status, Status::no_energy);
  EXPECT_THAT(reading.failure().message, HasSubstr("intel-rapl:0/energy_uj can no longer be read"));
}

}  // namespace
}  // namespace deplo::measure
