#ifndef COHORT_RUNTIME_COLLECTIVE_DIRECT_EXCHANGE_H_
#define COHORT_RUNTIME_COLLECTIVE_DIRECT_EXCHANGE_H_

#include <memory>

#include "runtime/collective/communicator.h"
#include "runtime/collective/exchange_options.h"
#include "runtime/collective/transport.h"

namespace cohort {

// A Communicator over any Transport.
//
// All-reduce of n ranks cuts the buffer into n segments, one owned by each rank. Every rank sends each owner its
// unfolded part of that owner's segment; the owner folds all parts in rank order, piece by piece as they come, and
// sends each folded piece to everybody: 2 (n - 1) / n of the buffer per rank, as a ring would. Small buffers go whole
// to everybody and are folded by all, in the same order: one round, the same bits.
std::unique_ptr<Communicator> MakeDirectExchange(std::unique_ptr<Transport> transport, const ExchangeOptions& options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_DIRECT_EXCHANGE_H_
