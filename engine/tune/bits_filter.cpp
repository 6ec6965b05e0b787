#include "engine/tune/bits_filter.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "measure/check/prove.h"

namespace deplo::engine {

std::string describe(const BitsWish& wish) {
  return (wish.deterministic ? " deterministic" : "") + (wish.same_as.empty() ? "" : " same-bits-as=" + wish.same_as) +
         (wish.same_rows_as.empty() ? "" : " same-rows-as=" + wish.same_rows_as);
}

void check_bits(const BitsWish& wish) {
  constexpr std::size_t digits = 16;
  const std::string& rows = wish.same_rows_as;
  if (!rows.empty() && (rows.size() != digits || rows.find_first_not_of("0123456789abcdef") != std::string::npos))
    throw Error(
        fmt::format("--same-rows-as: expected 16 hexadecimal digits, which `deplo run --fingerprint` prints, "
                    "found '{}'",
                    rows));
}

BitsFilter::BitsFilter(BitsWish wish, ir::Program loop, std::uint64_t seed, measure::InputFiles files,
                       const std::optional<Compiled>& wanted)
    : wish_(std::move(wish)), loop_(std::move(loop)), seed_(seed), files_(std::move(files)) {
  if (wish_.same_as.empty()) return;
  CHECK(wanted.has_value());
  wanted_ = fingerprint_of(wanted->code.kernel);
  if (!wanted_->is_known())
    throw Error(
        fmt::format("--same-bits-as {}: expected a schedule whose order of additions is known, found one of {}: {}",
                    wish_.same_as, loop_.name, wanted_->unknown));
}

ir::Fingerprint BitsFilter::fingerprint_of(const ir::Program& kernel) const {
  return measure::fingerprint_of(loop_, kernel, seed_, files_);
}

std::string BitsFilter::refusal(const Compiled& schedule) {
  if (wish_.is_any()) return "";
  const auto [known, fresh] = known_.try_emplace(schedule.digest);
  if (fresh) known->second = refusal_of(schedule.code.kernel);
  return known->second;
}

std::string BitsFilter::refusal_of(const ir::Program& kernel) const {
  if (std::string why = order_dependence(kernel); !why.empty()) return "left out: " + why;
  if (!wish_.same_rows_as.empty()) {
    const std::string rows = print(measure::row_fingerprint_of(loop_, kernel, seed_, files_));
    if (rows != wish_.same_rows_as)
      return fmt::format("left out: the fingerprint of its rows is {}, not {}", rows, wish_.same_rows_as);
  }
  if (!wanted_) return "";
  const ir::Fingerprint found = fingerprint_of(kernel);
  if (found == *wanted_) return "";
  return fmt::format("left out: its fingerprint is {}, not {}", print(found), print(*wanted_));
}

}  // namespace deplo::engine
