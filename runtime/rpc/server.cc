#include "runtime/rpc/server.h"

#include <arpa/inet.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/rpc/arguments.h"
#include "runtime/rpc/credentials.h"

namespace cohort {
namespace {

struct ListenAddress {
  std::string host;  // without brackets
  int port = 0;
  sockaddr_storage socket = {};
  socklen_t socket_size = 0;

  std::string WithPort(int p) const {
    return absl::StrCat(socket.ss_family == AF_INET6 ? absl::StrCat("[", host, "]") : host, ":", p);
  }
};

// Numeric only: gRPC binds each address that a name resolves to and is content with one of them, so a taken port would
// go unnoticed.
absl::StatusOr<ListenAddress> Parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  const auto bad = [&] { return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a numeric host:port")); };
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &address.port)) return bad();
  if (address.port < 0 || address.port > 65535) return bad();
  address.host = text.substr(0, colon);
  if (address.host == "localhost") address.host = "127.0.0.1";
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.socket);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.socket);
  if (inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<uint16_t>(address.port));
    address.socket_size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<uint16_t>(address.port));
    address.socket_size = sizeof(*v6);
  } else {
    return bad();
  }
  return address;
}

// gRPC only says that it could not listen; the system says why.
absl::Status WhyNot(const ListenAddress& address) {
  const std::string where = address.WithPort(address.port);
  const int fd = socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::UnavailableError(absl::StrCat("cannot listen on ", where, ": ", strerror(errno)));
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));  // as gRPC does
  int error = 0;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address.socket), address.socket_size) != 0 || listen(fd, 1) != 0) {
    error = errno;
  }
  close(fd);
  switch (error) {
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", where, ": not an address of this machine"));
    case EACCES:
      return absl::PermissionDeniedError(absl::StrCat("cannot listen on ", where, ": ", strerror(error)));
    case 0:  // free by now: it was taken a moment ago
    case EADDRINUSE:
      return absl::AlreadyExistsError(absl::StrCat("cannot listen on ", where, ": address in use: port ", address.port,
                                                   " is held by another process; stop it or choose another port"));
    default:
      return absl::UnavailableError(absl::StrCat("cannot listen on ", where, ": ", strerror(error)));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(const RpcServerOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const ListenAddress address, Parse(options.listen_address));
  if (options.services.empty() && options.generic == nullptr && !options.extend) {
    return absl::InternalError("a server without services");
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  ForEachCommonArgument([&](const char* name, int value) { builder.AddChannelArgument(name, value); });
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Clients probe silent connections every 10 s; without this the server would call that abuse.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  int port = 0;
  builder.AddListeningPort(address.WithPort(address.port), MakeCredentials().server, &port);
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  if (options.generic != nullptr) builder.RegisterCallbackGenericService(options.generic);
  if (options.extend) options.extend(builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) return WhyNot(address);
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(server), address.WithPort(port), port));
}

RpcServer::RpcServer(std::unique_ptr<grpc::Server> server, std::string address, int port)
    : server_(std::move(server)), address_(std::move(address)), port_(port) {}

RpcServer::~RpcServer() { Stop(absl::Now()); }

void RpcServer::SetNotServing() {
  if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(false);
}

void RpcServer::Stop(absl::Time deadline) {
  {
    MutexLock lock(&mu_);
    if (stopped_) return;
    stopped_ = true;
  }
  SetNotServing();
  server_->Shutdown(absl::ToChronoTime(deadline));
  server_->Wait();
}

}  // namespace cohort
