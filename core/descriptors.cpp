#include "core/descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace deplo {

ssize_t read_some(int descriptor, std::span<char> bytes) {
  for (;;) {
    const ssize_t count = read(descriptor, bytes.data(), bytes.size());
    if (count >= 0) return count;
    if (errno == EAGAIN) return -1;
    if (errno != EINTR) return 0;  // ECONNRESET: the other process died with bytes unread
  }
}

void send_some(int socket, std::string& outgoing) {
  while (!outgoing.empty()) {
    const ssize_t count = send(socket, outgoing.data(), outgoing.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0)
      outgoing.erase(0, static_cast<std::size_t>(count));
    else if (errno == EAGAIN)
      return;
    else if (errno != EINTR)
      outgoing.clear();
  }
}

}  // namespace deplo
