#include "apps/report/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace deplo::apps::report {
namespace {

// Returns ticks that are 1, 2 or 5 times a power of ten apart, in the unit in which the numbers are shown, and at least
// `finest` apart.
std::vector<double> even_ticks(double low, double high, double unit = 1, double finest = 0) {
  low /= unit;
  high /= unit;
  const double span = high - low, power = std::pow(10, std::floor(std::log10(span / 4))), rest = span / 4 / power;
  const double step = std::max(finest, power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10));
  std::vector<double> out;
  for (double i = std::ceil(low / step - 1e-9); i <= high / step + 1e-9; ++i)
    out.push_back(i * step * unit + 0.0);  // + 0.0 turns -0 into 0
  return out;
}

std::vector<double> log_ticks(double low, double high, std::span<const double> digits) {
  std::vector<double> out;
  for (double power = std::floor(std::log10(low)); power <= std::ceil(std::log10(high)); ++power)
    for (const double digit : digits)
      if (const double tick = digit * std::pow(10, power); tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9))
        out.push_back(tick);
  return out;
}

using Units = std::array<std::pair<double, const char*>, 4>;
constexpr Units long_times = {{{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}}};
constexpr Units short_times = {{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}, {1e-3, "ns"}}};

const std::pair<double, const char*>& unit_of(double value, const Units& units) {
  for (const auto& unit : units)
    if (std::abs(value) >= unit.first * (1 - 1e-9)) return unit;
  return units.back();
}

}  // namespace

std::string print(double value, Unit unit) {
  if (value == 0 || unit == Unit::none || unit == Unit::count) return fmt::format("{:.6g}", value);
  if (unit == Unit::percent) return fmt::format("{:.3g} %", 100 * value);
  const auto& [size, name] = unit_of(value, unit == Unit::seconds ? long_times : short_times);
  return fmt::format("{:.3g} {}", value / size, name);
}

std::string print_factor(double factor) {
  if (factor >= 1e5 || factor < 0.005) return fmt::format("{:.2g}×", factor);
  return fmt::format("{:.{}f}×", factor, factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0);
}

double Axis::share(double value) const {
  const double part = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return std::clamp(part, 0.0, 1.0);
}

std::vector<double> Axis::ticks() const {
  if (!logarithmic && unit == Unit::percent) return even_ticks(low, std::min(high, 1.0));
  if (!logarithmic)
    return even_ticks(low, high, unit == Unit::seconds ? unit_of(high, long_times).first : 1, unit == Unit::count);
  constexpr std::array coarse = {1.0};
  constexpr std::array fine = {1.0, 2.0, 5.0};
  std::vector<double> out = log_ticks(low, high, coarse);
  if (out.size() < 3) out = log_ticks(low, high, fine);
  if (out.size() < 3)  // the axis covers less than a factor of ten, so it is nearly linear
    out = even_ticks(low, high, 1, unit == Unit::count);
  constexpr std::size_t max_ticks = 7;
  const std::size_t step = (out.size() + max_ticks - 1) / max_ticks;
  std::vector<double> kept;
  for (std::size_t i = 0; i < out.size(); i += step) kept.push_back(out[i]);
  return kept;
}

Axis around(std::string title, double low, double high, bool logarithmic, Unit unit) {
  if (logarithmic) {
    const double room = std::max(std::pow(high / low, 0.05), 1.02);
    return {std::move(title), low / room, high * room, true, unit};
  }
  // If the ends are too close for distinct ticks, make room on both sides.
  const double size = std::max(std::abs(low), std::abs(high));
  const double room = high - low > 1e-6 * size ? 0 : std::max(0.1 * size, 1e-9);
  return {std::move(title), low - room, high + room, false, unit};
}

}  // namespace deplo::apps::report
