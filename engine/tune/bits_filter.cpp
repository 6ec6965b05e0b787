#include "engine/tune/bits_filter.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "measure/check/prove.h"

namespace deplo::engine {

std::string describe(const BitsWish& wish) {
  return (wish.deterministic ? " deterministic" : "") + (wish.same_as.empty() ? "" : " same-bits-as=" + wish.same_as);
}

BitsFilter::BitsFilter(BitsWish wish, ir::Program loop, std::uint64_t seed, measure::InputFiles files,
                       const std::optional<Compiled>& wanted)
    : wish_(std::move(wish)), loop_(std::move(loop)), seed_(seed), files_(std::move(files)) {
  if (wish_.same_as.empty()) return;
  CHECK(wanted.has_value());
  wanted_ = fingerprint_of(wanted->code.kernel);
  if (!wanted_->is_known())
    throw Error(fmt::format("--same-bits-as {}: expected a schedule whose order is known, found one of {}: {}",
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
  if (!wanted_) return "";
  const ir::Fingerprint found = fingerprint_of(kernel);
  if (found == *wanted_) return "";
  return fmt::format("left out: its fingerprint is {}, not {}", print(found), print(*wanted_));
}

}  // namespace deplo::engine
