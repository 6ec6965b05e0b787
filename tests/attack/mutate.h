// Damage to bytes and text: what bad disks, bad programs and bad people do to a file.
#pragma once
#include <string>

#include "core/rng.h"

namespace deplo::attack {

/// Makes one to three edits: changes bits and bytes; cuts, doubles, moves or repeats spans; cuts off the end; inserts a
/// piece of `other`; replaces numbers and words by hostile ones; doubles or drops lines; nests brackets deeply; inserts
/// bytes that are not text. The result has at most 4 MiB if `bytes` has less than that.
std::string mutate(std::string bytes, const std::string& other, Rng&);

/// Returns a number that code is prone to get wrong, as text: near powers of two, beyond int64 or double, or no number.
std::string hostile_number(Rng&);
/// Returns a text that code is prone to get wrong: empty, long, not UTF-8, with control characters or terminal escapes.
std::string hostile_text(Rng&);

}  // namespace deplo::attack
