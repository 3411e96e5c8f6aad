#ifndef COHORT_WORKER_LEADER_SESSIONS_H_
#define COHORT_WORKER_LEADER_SESSIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread_pool.h"
#include "runtime/coordination/coordination.h"
#include "runtime/driver/client_session.h"

namespace cohort {

// How the leader reaches tasks; for its own task the worker in this process.
struct TaskLinks {
  std::function<std::shared_ptr<WorkerLink>(const TaskAddress&)> worker;
  std::function<std::shared_ptr<PsLink>(const TaskAddress&)> parameter_server;
};

struct LeaderSessionsOptions {
  absl::Duration start_timeout = absl::Minutes(5);  // a session whose turn has come waits as long for missing tasks
  absl::Duration lease = absl::Seconds(10);         // as coordination has it, for clients to know
  absl::Duration control = absl::Seconds(10);       // for tasks to free a session
};

// The sessions of attached clients, as the leader keeps them: their turn, the tasks they are given, and the freeing of
// what those hold when a session ends. Calls of clients do not block. Safe from any thread.
class LeaderSessions {
 public:
  // What a client hears over one stream; from any thread, without locks; must not block.
  struct Events {
    std::function<void(const SessionGrant&)> opened;
    // The last one. ok: the client closed the session.
    std::function<void(const absl::Status&)> ended;
  };

  // `coordination` and `clock` outlive this and hand on what happens: OnEnd, OnLoss.
  LeaderSessions(LeaderSessionsOptions options, TaskLinks links, Coordination& coordination, const Clock& clock);

  // A client asks for a session over a stream. Events may come before this returns.
  //   InvalidArgument: the strategy needs tasks that are not in the cluster.  ResourceExhausted: somebody else has the
  //   cluster, and options.wait is false.  The reason of Coordination::Close.
  absl::StatusOr<SessionStream> Open(const ClientSessionOptions& options, uint64_t client_incarnation, Events events);
  // The client is back on a new stream, whose events take the place of the old ones. Errors as SessionTable::Resume.
  absl::StatusOr<SessionStream> Resume(int64_t session, uint64_t client_incarnation, Events events);
  // The stream broke: the lease begins.
  void Disconnected(const SessionStream& stream) { coordination_.sessions().Disconnected(stream); }
  // The client is done.
  void Close(int64_t session, const absl::Status& reason = absl::OkStatus());
  // Who goes first; empty once it is its turn.
  std::string Behind(int64_t session) const;

  // A session has ended (of a job: nothing to do here).
  void OnEnd(int64_t session, const absl::Status& reason);
  // A task was lost: sessions that were given it end.
  void OnLoss(const MemberLoss& loss);
  // Ends all sessions; freeing does not wait long from now on.
  void CloseAll(const absl::Status& reason);

  absl::Duration lease() const { return options_.lease; }

 private:
  struct Entry;

  void OnAdmitted(const std::shared_ptr<Entry>& entry, const absl::Status& status);
  void AskForRoster(const std::shared_ptr<Entry>& entry);
  void OnRoster(const std::shared_ptr<Entry>& entry, const absl::StatusOr<Roster>& roster);
  void Free(const SessionGrant& grant, const absl::Status& reason);

  const LeaderSessionsOptions options_;
  const TaskLinks links_;
  Coordination& coordination_;
  const Clock& clock_;
  mutable Mutex mu_;
  std::map<int64_t, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  ThreadPool freeing_;
};

// The hold of a client in the leader's own process.
absl::StatusOr<std::unique_ptr<ClientSession>> OpenLocalSession(LeaderSessions& sessions, TaskLinks links,
                                                                const ClientSessionOptions& options,
                                                                absl::Time deadline);

}  // namespace cohort

#endif  // COHORT_WORKER_LEADER_SESSIONS_H_
