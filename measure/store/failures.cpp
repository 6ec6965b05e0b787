// Groups failures by their messages.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "core/text/characters.h"
#include "measure/store/upkeep/choice.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {
namespace {

constexpr std::size_t least_hash = 8;  // a hash has at least this many hexadecimal digits, one of them 0 to 9

bool hexadecimal(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

std::size_t count_while(std::string_view text, bool (*holds)(char)) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, holds) - text.begin());
}

/// Returns the length of the number (such as 12, 1.5e-06 or 0x7f) or hash with which the text begins; 0 if there is
/// none.
std::size_t number_length(std::string_view text) {
  if (text.starts_with("0x") && text.size() > 2 && hexadecimal(text[2]))
    return 2 + count_while(text.substr(2), hexadecimal);
  const std::size_t hash = count_while(text, hexadecimal);
  if (hash >= least_hash && std::ranges::any_of(text.substr(0, hash), is_digit)) return hash;
  std::size_t length = count_while(text, is_digit);
  if (length == 0) return 0;
  const auto more = [&](std::size_t skip) {
    const std::size_t digits = length + skip < text.size() ? count_while(text.substr(length + skip), is_digit) : 0;
    if (digits > 0) length += skip + digits;
  };
  if (length < text.size() && text[length] == '.') more(1);
  if (length < text.size() && text[length] == 'e')
    more(length + 1 < text.size() && (text[length + 1] == '-' || text[length + 1] == '+') ? 2 : 1);
  return length;
}

struct Cluster {
  std::int64_t trials = 0;
  std::map<std::string, std::int64_t> kernels;
  sqlite::Cell id, trail, message;  // of the latest trial
};

}  // namespace

std::string mask_numbers(std::string_view text) {
  std::string masked;
  while (!text.empty()) {
    const bool minus =
        text[0] == '-' && (masked.empty() || std::isalnum(static_cast<unsigned char>(masked.back())) == 0);
    const std::size_t length = number_length(text.substr(minus ? 1 : 0));
    const bool number = length > 0;
    masked += number ? '#' : text[0];
    text.remove_prefix(number ? length + (minus ? 1 : 0) : 1);
  }
  return masked;
}

sqlite::Rows failure_clusters(sqlite::Database& database, const Filter& filter) {
  const std::array<sqlite::Cell, 3> parameters{chosen_ids(database, "kernel", filter.kernel),
                                               chosen_ids(database, "device", filter.device), filter.status};
  const sqlite::Rows all =
      query(database,
            "SELECT t.status, t.message, k.name, t.id, t.trail FROM trial t JOIN run r ON r.id = t.run "
            "JOIN kernel k ON k.id = t.kernel JOIN device d ON d.id = r.device WHERE t.status <> 'ok' AND "
            "k.id IN (SELECT value FROM json_each(?1)) AND d.id IN (SELECT value FROM json_each(?2)) "
            "AND ?3 IN ('', t.status) ORDER BY t.id",
            parameters);
  std::map<std::pair<std::string, std::string>, Cluster> clusters;
  for (const auto& row : all.rows) {
    Cluster& cluster = clusters[{sqlite::text_of(row[0]), mask_numbers(sqlite::text_of(row[1]))}];
    ++cluster.trials;
    ++cluster.kernels[sqlite::text_of(row[2])];
    cluster.id = row[3];
    cluster.trail = row[4];
    cluster.message = row[1];
  }
  sqlite::Rows rows{{"trials", "kernels", "status", "example", "message", "trail"}, {}};
  for (const auto& [key, cluster] : clusters)
    rows.rows.push_back({cluster.trials, static_cast<std::int64_t>(cluster.kernels.size()), key.first, cluster.id,
                         cluster.message, cluster.trail});
  std::ranges::stable_sort(rows.rows, std::greater(), [](const auto& row) { return sqlite::integer_of(row[0]); });
  if (filter.limit >= 0 && rows.rows.size() > static_cast<std::size_t>(filter.limit))
    rows.rows.resize(static_cast<std::size_t>(filter.limit));
  return rows;
}

}  // namespace deplo::measure::upkeep
