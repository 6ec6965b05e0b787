#include "measure/powercap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;

/// Returns the first word of a file; "" if the file cannot be read, with the reason in errno.
std::string read_word(const fs::path& file) {
  errno = 0;
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// Returns the number in a file; nullopt if it contains none.
std::optional<double> read_number(const fs::path& file) {
  const std::string word = read_word(file);
  if (word.empty() || !std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return std::stod(word);
}

/// Returns the zones of whole packages. Sub-zones (`intel-rapl:0:0`) are parts of packages, and the zone `psys` is the
/// whole machine.
std::vector<fs::path> packages(const fs::path& folder) {
  constexpr std::string_view prefix = "intel-rapl:";
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.find(':', prefix.size()) == std::string::npos &&
        read_word(entry.path() / "name").starts_with("package"))
      found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// The counter of one package in microjoules. Adds the range of the counter each time it wraps.
class Package {
 public:
  explicit Package(const fs::path& zone) : file_(zone / "energy_uj") {
    const auto now = read_number(file_);
    if (!now)
      throw Error(fmt::format("cannot read {}: {}; run as root, or let root run `chmod a+r {}`", file_.string(),
                              errno == 0 ? "it contains no number" : std::generic_category().message(errno),
                              (zone.parent_path() / "intel-rapl:*/energy_uj").string()),
                  Exit::environment);
    last_ = *now;
    range_ = read_number(zone / "max_energy_range_uj").value_or(0);
  }

  std::optional<double> microjoules() {
    const auto now = read_number(file_);
    if (!now) return std::nullopt;
    sum_ += *now - last_ + (*now < last_ ? range_ : 0);
    last_ = *now;
    return sum_;
  }
  const fs::path& file() const { return file_; }

 private:
  fs::path file_;
  double last_ = 0, sum_ = 0;
  double range_ = 0;  // the counter wraps to 0 after this many microjoules; 0: not known
};

class PackageEnergy final : public EnergyCounter {
 public:
  explicit PackageEnergy(std::vector<Package> packages) : packages_(std::move(packages)) {}

  Result<double> millijoules() override {
    double sum = 0;
    for (Package& package : packages_) {
      const auto energy = package.microjoules();
      if (!energy) return Failure{Status::no_energy, fmt::format("{} can no longer be read", package.file().string())};
      sum += *energy * 1e-3;
    }
    return sum;
  }
  // The counter is updated about every millisecond: Intel's Software Developer's Manual, volume 3B, "RAPL Interfaces".
  double step_us() const override { return 1000; }

 private:
  std::vector<Package> packages_;
};

}  // namespace

std::unique_ptr<EnergyCounter> open_powercap(const fs::path& folder) {
  std::vector<Package> found;
  for (const fs::path& zone : packages(folder)) found.emplace_back(zone);
  if (found.empty())
    throw Error(fmt::format("no energy counter: expected {}, found none; Linux provides it for Intel and AMD "
                            "processors, but not in virtual machines",
                            (folder / "intel-rapl:0/energy_uj").string()),
                Exit::environment);
  return std::make_unique<PackageEnergy>(std::move(found));
}

}  // namespace deplo::measure
