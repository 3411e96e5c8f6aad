#ifndef COHORT_RUNTIME_DISTRIBUTE_ROUND_ROBIN_H_
#define COHORT_RUNTIME_DISTRIBUTE_ROUND_ROBIN_H_

#include <cstdint>

namespace cohort {

// Deals variables to parameter servers in the order of their creation: the k-th variable or shard, from 0, to ps k mod
// P. Variables a, b, c, d, e on two ps: a, c, e on ps 0 and b, d on ps 1. A slot lives with its variable and does not
// count.
class RoundRobin {
 public:
  explicit RoundRobin(int64_t num_ps) : num_ps_(num_ps) {}

  // Index of the ps for the next variable or shard. A variable in n shards asks n times.
  int64_t Next() { return next_++ % num_ps_; }

 private:
  const int64_t num_ps_;
  int64_t next_ = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_ROUND_ROBIN_H_
