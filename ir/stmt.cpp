#include "ir/stmt.h"

namespace deplo::ir {

Stmt::Stmt(const Stmt&) = default;
Stmt::Stmt(Stmt&&) noexcept = default;
Stmt& Stmt::operator=(const Stmt&) = default;
Stmt& Stmt::operator=(Stmt&&) noexcept = default;
Stmt::~Stmt() = default;
bool Stmt::operator==(const Stmt& other) const { return node == other.node; }

}  // namespace deplo::ir
