// Lowers a Combine whose total goes to one thread or one block: all threads or blocks write their parts to shared
// memory, and the receiver adds them up. Private to rules/materialize.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "rules/materialize/replication.h"

namespace deplo::rules::materializer {

/// Returns how many Combines, from statement `i` on, form one exchange: consecutive ones with the same receiver.
std::size_t exchange_run(const ir::Body&, std::size_t i);

class ExchangeLowering {
 public:
  ExchangeLowering(KernelBuilder& kernel, Replication& replication) : kernel_(kernel), replication_(replication) {}

  /// Lowers a run with one barrier for all its Combines. In a cluster, a second barrier follows the reads, so that no
  /// block ends before its memory is read. The parts of a sum are always added in the same order, whoever receives it,
  /// so that blocks that overlap compute the same bits.
  void exchange(std::span<const ir::Stmt> run, ir::Body& to);

 private:
  struct Part;
  std::vector<Part> parts(const ir::Combine&, const ir::Axis&);
  std::vector<Part> by_receiver(const ir::Combine&, const Copies&);
  ir::Expr holds(const std::string& acc, const Instance&) const;

  KernelBuilder& kernel_;
  Replication& replication_;
  std::map<std::string, std::vector<const ir::Combine*>> merged_;  // accumulator → its earlier Combines
};

}  // namespace deplo::rules::materializer
