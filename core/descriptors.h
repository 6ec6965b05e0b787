// Non-blocking reads and writes on pipes and sockets to other processes.
#pragma once
#include <sys/types.h>

#include <span>
#include <string>

namespace deplo {

/// Returns the number of bytes read, 0 if the other end is closed, or -1 if there is nothing to read now.
ssize_t read_some(int descriptor, std::span<char> bytes);
/// Sends what the socket accepts now, and removes it from `outgoing`. Clears `outgoing` if the other end no longer
/// reads; what the other end wrote before can still be read.
void send_some(int socket, std::string& outgoing);

}  // namespace deplo
