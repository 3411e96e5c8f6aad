#ifndef COHORT_RUNTIME_COORDINATION_SESSION_TABLE_H_
#define COHORT_RUNTIME_COORDINATION_SESSION_TABLE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/coordination/admission_queue.h"
#include "runtime/coordination/callback_queue.h"

namespace cohort {

struct SessionRequest {
  std::string client;                              // "cohort train, pid 71 on h0": how messages name it
  uint64_t client_incarnation = 0;                 // who may resume the session
  bool synchronous = true;                         // false: beside others, without waiting
  absl::Duration wait = absl::InfiniteDuration();  // for its turn; zero: now or not at all
};

enum class SessionState {
  kWaiting,  // for its turn; holds nothing on any task
  kOpen,
  kDisconnected,  // the client's stream broke; the lease runs
  kEnding,        // being freed on the tasks
};

// "waiting", "open", "disconnected", "ending".
absl::string_view SessionStateName(SessionState state);

struct SessionRecord {
  int64_t id = 0;
  std::string owner;  // the client, or "job 3"
  int64_t job = 0;    // 0: a client's
  SessionState state = SessionState::kWaiting;
  std::string behind;  // while waiting: who goes first
  absl::Time opened = absl::InfinitePast();
};

// One of the streams that held a session, one after the other.
struct SessionStream {
  int64_t session = 0;
  int64_t stream = 0;
};

struct SessionOptions {
  absl::Duration lease = absl::Seconds(10);
  int64_t first_id = 1;  // a restarted leader begins above the ids that its members may still hold
  // The session is over: free it on all tasks, then call Freed. ok: the client closed it. Unavailable: the client was
  // lost; the message names it. Called without locks; must not block.
  std::function<void(int64_t session, const absl::Status& reason)> on_end;
};

// The sessions on this cluster and their leases. A client holds its session by a long stream; if that breaks and is not
// resumed within the lease, the session ends. A job's session is held by the leader and has no lease. A session keeps
// its turn in the admission queue until it has been freed. Safe from any thread; callbacks must not block.
class SessionTable {
 public:
  // `admission` and `clock` outlive this.
  SessionTable(SessionOptions options, AdmissionQueue& admission, const Clock& clock);

  // A client asks for a session over a stream; answers the id at once. Nothing may run in it before `admitted` was
  // called with ok, which happens when its turn has come; or `admitted` gets an error and the session is gone:
  //   ResourceExhausted: its wait is over; names who holds the cluster.  Cancelled: the stream broke, or Close.
  // Returned at once: ResourceExhausted, if `wait` is zero; the reason of AdmissionQueue::Close.
  absl::StatusOr<SessionStream> Open(SessionRequest request, std::function<void(absl::Status)> admitted);

  // A session for a running job, whose turn it uses.
  int64_t OpenForJob(int64_t job);

  // The client is back, on a new stream; the old one no longer counts.
  //   NotFound: the session has ended; says why.  Aborted: it belongs to another client.  FailedPrecondition: waiting.
  absl::StatusOr<SessionStream> Resume(int64_t session, uint64_t client_incarnation);

  // The stream broke: the lease begins, a waiting session ends. News of earlier streams are ignored.
  void Disconnected(const SessionStream& stream);

  // Ends a session: `on_end` follows, or `admitted` with Cancelled. NotFound: has ended or is ending already.
  absl::Status Close(int64_t session, const absl::Status& reason = absl::OkStatus());

  // The tasks hold nothing of it any more: lets the next one in.
  void Freed(int64_t session);

  // NotFound, with the reason if it is known: no such session, or it is over. FailedPrecondition: still waiting.
  absl::Status Check(int64_t session) const;

  // Ends sessions whose lease has run out.
  void Tick();

  std::vector<SessionRecord> List() const;  // ascending by id

 private:
  struct Session {
    SessionRecord record;
    uint64_t client_incarnation = 0;
    int64_t ticket = 0;  // 0: none
    int64_t stream = 1;
    absl::Time lease_ends = absl::InfiniteFuture();
    std::function<void(absl::Status)> admitted;  // while waiting
  };

  void OnTurn(int64_t id, const absl::Status& status);
  void End(Session& session, const absl::Status& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Answers a waiting session with `status` and forgets it; returns its ticket, which the caller gives back.
  int64_t Drop(int64_t id, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status GoneStatus(int64_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RememberEnd(int64_t id, const absl::Status& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SessionOptions options_;
  AdmissionQueue& admission_;
  const Clock& clock_;
  CallbackQueue callbacks_;
  mutable Mutex mu_;  // before admission_'s lock
  std::map<int64_t, Session> sessions_ ABSL_GUARDED_BY(mu_);
  std::deque<std::pair<int64_t, absl::Status>> ended_ ABSL_GUARDED_BY(mu_);  // the last few, with their reasons
  int64_t next_id_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_SESSION_TABLE_H_
