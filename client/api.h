#ifndef COHORT_CLIENT_API_H_
#define COHORT_CLIENT_API_H_

// What a program that trains on a cluster includes: connect, describe a model by tracing, train.
//
//   cohort::Cluster::Connect()            a cluster, or one worker in this process
//   cohort::FunctionBuilder, ops.h        tracing: values, variables, gradients
//   cohort::Program                       functions, variables, data and loop: what a job runs
//   cohort::MakeTrainingProgram           the built-in models
//   cohort::Session                       the workers in this process's own hands, step by step
//
// client/examples/ holds whole programs.

#include "client/cluster.h"                  // IWYU pragma: export
#include "client/models/training_program.h"  // IWYU pragma: export
#include "client/session.h"                  // IWYU pragma: export
#include "runtime/graph/builder.h"           // IWYU pragma: export
#include "runtime/graph/gradients.h"         // IWYU pragma: export
#include "runtime/graph/ops.h"               // IWYU pragma: export
#include "runtime/graph/program.h"           // IWYU pragma: export

#endif  // COHORT_CLIENT_API_H_
