// A Combine whose total goes to one thread or one block: all write what they have to shared memory, and it adds that up.
// Private to rules/materialize.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "rules/materialize/replication.h"

namespace deplo::rules::materializer {

/// How many Combines from statement `i` on are one exchange: neighbours with one receiver.
std::size_t exchange_run(const ir::Body&, std::size_t i);

class ExchangeLowering {
 public:
  ExchangeLowering(KernelBuilder& kernel, Replication& replication) : kernel_(kernel), replication_(replication) {}

  /// One barrier for all of them; of a cluster a second one, behind the reads, before a block may end. Whoever receives
  /// a sum, its parts are added in one order: blocks that overlap make the same bits.
  void exchange(std::span<const ir::Stmt> run, ir::Body& to);

 private:
  struct Part;
  std::vector<Part> parts(const ir::Combine&, const ir::Axis&);
  std::vector<Part> by_receiver(const ir::Combine&, const Copies&);
  ir::Expr holds(const std::string& acc, const Instance&) const;

  KernelBuilder& kernel_;
  Replication& replication_;
  std::map<std::string, std::vector<const ir::Combine*>> merged_;  // of each accumulator, those before
};

}  // namespace deplo::rules::materializer
