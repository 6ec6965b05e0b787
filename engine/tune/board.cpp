#include "engine/tune/board.h"

#include <chrono>
#include <utility>

#include "core/interrupt.h"

namespace deplo::engine {

void Board::start(Summary summary) {
  const std::lock_guard lock(mutex_);
  summary_ = std::move(summary);
  started_ = now();
}

void Board::set(std::size_t row, Row value) {
  const std::lock_guard lock(mutex_);
  summary_.rows.at(row) = std::move(value);
}

void Board::set(std::vector<GraphRow> graphs) {
  const std::lock_guard lock(mutex_);
  summary_.graphs = std::move(graphs);
}

void Board::set(std::vector<FamilyRow> families) {
  const std::lock_guard lock(mutex_);
  summary_.families = std::move(families);
}

Summary Board::read() const {
  const std::lock_guard lock(mutex_);
  Summary summary = summary_;
  summary.seconds = started_ > 0 ? now() - started_ : 0;
  summary.interrupted = interrupted() != 0;
  return summary;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace deplo::engine
