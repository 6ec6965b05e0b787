// Several tuners of one store do not measure the same candidate: who begins first has it, the others wait for his
// trial.
#include "measure/store_state.h"

namespace deplo::measure {
namespace {

// Of the same kernel, source, protocol and stage on the same device.
constexpr const char* same =
    " FROM {} c JOIN run r ON r.id = c.run WHERE c.kernel = ? AND c.digest = ? AND c.protocol = ? AND c.stage = ? AND "
    "r.device = ? AND ";

std::string sql(const std::string& columns, const std::string& table, const std::string& condition) {
  std::string text = "SELECT " + columns + same + condition;
  return text.replace(text.find("{}"), 2, table);
}

void bind(Statement& select, const TrialRecord& trial, std::int64_t device) {
  select.bind(1, trial.kernel).bind(2, trial.digest).bind(3, trial.protocol).bind(4, name(trial.stage));
  select.bind(5, device);
}

}  // namespace

Claim Store::claim(const TrialRecord& trial, std::int64_t device, std::int64_t since) {
  Transaction transaction(*state_->database);
  Claim claim;
  Statement finished(*state_->database, sql("c.id", "trial", "c.id > ? ORDER BY c.id DESC LIMIT 1"));
  bind(finished, trial, device);
  Statement taken(*state_->database, sql("c.id", "running", "c.run <> ?"));
  bind(taken, trial, device);
  if (finished.bind(6, since).step()) {
    Statement read(*state_->database, "SELECT " + trial_columns() + " FROM trial t WHERE t.id = ?");
    CHECK(read.bind(1, finished.integer(0)).step());
    claim.done = read_trial(read);
  } else if (!taken.bind(6, trial.run).step()) {
    claim.running = begin(trial);
  }
  transaction.commit();
  return claim;
}

std::int64_t Store::latest_trial() { return state_->database->integer("SELECT ifnull(max(id), 0) FROM trial"); }

}  // namespace deplo::measure
