#include "core/descriptors.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace deplo {

Ends::~Ends() {
  for (const int end : ends)
    if (end >= 0) close(end);
}

int Ends::take(std::size_t end) { return std::exchange(ends.at(end), -1); }

Descriptor::~Descriptor() {
  if (number >= 0) close(number);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

ssize_t read_some(int descriptor, std::span<char> bytes) {
  for (;;) {
    const ssize_t count = read(descriptor, bytes.data(), bytes.size());
    if (count >= 0) return count;
    if (errno == EAGAIN) return -1;
    if (errno != EINTR) return 0;  // ECONNRESET: the other process died with bytes unread
  }
}

void Outgoing::send(int socket) {
  while (size() > 0) {
    const ssize_t count = ::send(socket, bytes_.data() + sent_, size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0)
      sent_ += static_cast<std::size_t>(count);
    else if (errno == EAGAIN)
      break;
    else if (errno != EINTR)
      sent_ = bytes_.size();
  }
  if (sent_ < size()) return;  // erasing moves the rest: for a long text, not after each part
  bytes_.erase(0, sent_);
  sent_ = 0;
}

}  // namespace deplo
