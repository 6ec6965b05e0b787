// Damage to bytes and text: what bad disks, bad programs and bad people do to a file.
#pragma once
#include <string>

#include "core/rng.h"

namespace deplo::attack {

/// One to three edits: bits and bytes changed, spans cut, doubled, moved or repeated, the end cut off, a piece of
/// `other` put in, numbers and words replaced by hostile ones, lines doubled or dropped, brackets nested deeply, bytes
/// that are no text. At most 4 MiB where `bytes` is less than that.
std::string mutate(std::string bytes, const std::string& other, Rng&);

/// A number that code is prone to get wrong, as text: around powers of two, beyond int64 and double, none at all.
std::string hostile_number(Rng&);
/// A text that code is prone to get wrong: empty, long, no UTF-8, with control characters, escapes of terminals.
std::string hostile_text(Rng&);

}  // namespace deplo::attack
