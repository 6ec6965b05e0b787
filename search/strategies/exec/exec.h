// --search "exec:COMMAND": a strategy in another process, in any language. docs/protocol.md specifies its messages.
#pragma once
#include <memory>
#include <string_view>

#include "search/searcher.h"

namespace deplo::search::exec {

/// The version of the protocol, in the first message of both sides.
inline constexpr int protocol_version = 1;

/// `name`: "exec:COMMAND". Throws Error if the command is empty.
const SearcherKind& kind(std::string_view name);
/// Starts the program and exchanges the first messages. Throws Error for bad parameters. Throws StrategyFailed if the
/// program ends, hangs or breaks the protocol, as all functions of the searcher do.
std::unique_ptr<Searcher> make(std::string_view name, const Space&, const SearchOptions&);

}  // namespace deplo::search::exec
