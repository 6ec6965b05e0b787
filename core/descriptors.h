// Reading and writing of descriptors that never block, of pipes and sockets to other processes.
#pragma once
#include <sys/types.h>

#include <span>
#include <string>

namespace deplo {

/// The number of bytes read; 0: the other end is closed; -1: nothing is there now.
ssize_t read_some(int descriptor, std::span<char> bytes);
/// Sends what the socket takes now, and removes it from `outgoing`. All of it is dropped if nobody reads any more: what
/// the other end wrote before is still to be read.
void send_some(int socket, std::string& outgoing);

}  // namespace deplo
