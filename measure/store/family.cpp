// Stores the schedules that tuning runs kept for families of shapes.
#include "measure/store/rows/inserts.h"
#include "measure/store/state.h"

namespace deplo::measure {

void Store::append(const FamilyRecord& family) {
  const std::int64_t kernel = add_kernel(family.kernel);
  state_->add([&](sqlite::Database& database) { return insert_family(database, family, kernel); });
}

std::optional<FamilyRecord> Store::family(std::string_view key, std::int64_t device) {
  return state_->read([&]() -> std::optional<FamilyRecord> {
    sqlite::Statement row(
        *state_->database,
        "SELECT f.run, k.name, k.text, f.key, f.name, f.rule, f.goal, f.loss, r.pipeline, f.created, "
        "f.id FROM family f JOIN run r ON r.id = f.run JOIN kernel k ON k.id = f.kernel WHERE f.key = "
        "? AND r.device = ? ORDER BY f.id DESC LIMIT 1");
    if (!row.bind(1, key).bind(2, device).step()) return std::nullopt;
    return FamilyRecord{row.integer(0), {row.text(1), row.text(2)},
                        row.text(3),    row.text(4),
                        row.text(5),    row.text(6),
                        row.real(7),    row.text(8),
                        row.text(9),    row.integer(10)};
  });
}

}  // namespace deplo::measure
