#include "measure/store/upkeep/machine_code.h"

#include <fmt/format.h>

#include "core/text/json.h"
#include "measure/store/rows/device_row.h"
#include "measure/store/upkeep/choice.h"

namespace deplo::measure::upkeep {
namespace {

/// Returns an SQL condition for rows of `ranked` whose machine code can be made without the device on which it ran.
std::string chosen_trials(Chosen chosen) {
  return fmt::format("d.backend = 'cuda' AND b.binary_digest <> '' AND {}AND ?3 = ?3{} ", is_chosen,
                     chosen == Chosen::best ? " AND b.place = 1" : "");
}

}  // namespace

std::vector<UnknownCode> unknown_code(sqlite::Database& database, const Filter& filter, Chosen chosen) {
  sqlite::Statement rows(
      database,
      fmt::format("{}, chosen AS (SELECT k.name, k.text, b.trail, b.digest, b.binary_digest, d.id AS device, k.id AS "
                  "kernel, b.place FROM ranked b JOIN kernel k ON k.id = b.kernel JOIN device d ON d.id = b.device "
                  "WHERE {}ORDER BY k.name, k.id, d.id, b.place LIMIT ?4) "
                  "SELECT c.name, c.text, c.trail, c.digest, c.binary_digest, {} FROM chosen c JOIN device d ON d.id = "
                  "c.device WHERE NOT EXISTS (SELECT 1 FROM machine_code m WHERE m.binary_digest = c.binary_digest) "
                  "ORDER BY c.name, c.kernel, c.device, c.place",
                  ranked(), chosen_trials(chosen), device_columns()));
  const auto given = parameters(database, filter);
  sqlite::bind(rows, given);
  std::vector<UnknownCode> codes;
  while (rows.step())
    codes.push_back({.kernel = rows.text(0),
                     .text = rows.text(1),
                     .device = read_device(rows, 5),
                     .trail = rows.text(2),
                     .digest = rows.text(3),
                     .binary_digest = rows.text(4)});
  return codes;
}

void add_machine_code(sqlite::Database& database, const MachineCode& code) {
  sqlite::Statement insert(database,
                           "INSERT INTO machine_code (binary_digest, instructions, calls, loop_instructions, "
                           "arithmetic_share, issue_cycles, issue_limiter, classes) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                           "ON CONFLICT DO NOTHING");
  const std::string classes = Json::object(code.classes).print();
  insert.bind(1, std::string_view(code.binary_digest)).bind(2, code.instructions).bind(3, code.calls);
  insert.bind(4, code.loop_instructions).bind(5, code.arithmetic_share).bind(6, code.issue_cycles);
  insert.bind(7, std::string_view(code.issue_limiter)).bind(8, std::string_view(classes)).step();
}

sqlite::Rows machine_code(sqlite::Database& database, const Filter& filter, Chosen chosen) {
  return query(
      database,
      fmt::format(
          "{}SELECT k.name AS kernel, d.name AS device, b.median_us, b.registers, b.spill_bytes, "
          "b.occupancy, m.instructions, m.calls, m.loop_instructions, m.arithmetic_share, "
          "m.issue_cycles, m.issue_limiter, b.compiler_notes, b.trail FROM ranked b JOIN kernel k ON k.id = b.kernel "
          "JOIN device d ON d.id = b.device LEFT JOIN machine_code m ON m.binary_digest = "
          "b.binary_digest WHERE {}ORDER BY k.name, k.id, d.id, b.place LIMIT ?4",
          ranked(), chosen_trials(chosen)),
      parameters(database, filter));
}

}  // namespace deplo::measure::upkeep
