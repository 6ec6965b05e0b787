#include "rules/materialize/renaming.h"

#include "ir/walk.h"

namespace deplo::rules::materializer {

NewNames names_of_copy(const ir::Body& body, KernelBuilder& kernel) {
  NewNames names;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
      const bool starts = stmt.as<ir::Accum>() == nullptr && stmt.as<ir::Scale>() == nullptr &&
                          stmt.as<ir::Mma>() == nullptr && stmt.as<ir::DotPairs>() == nullptr;
      if (use == ir::Use::defines && starts) names.emplace(name, kernel.fresh(name));
    });
  });
  return names;
}

}  // namespace deplo::rules::materializer
