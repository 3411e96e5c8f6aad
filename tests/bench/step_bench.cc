// Time of a training step on one replica, without communication: medians over rounds.
//   step_bench [--json] [--rounds=5] [--threads=1] [NAME...]     names as printed; none: all
// With --json one line per row: {"name":…,"batch":…,"us_per_step":…,"examples_per_second":…}.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/models/training_program.h"
#include "runtime/base/status_macros.h"
#include "runtime/executor/step_executor.h"
#include "runtime/graph/gradients.h"
#include "runtime/graph/ops.h"
#include "runtime/variable/initializer.h"

namespace cohort {
namespace {

struct Options {
  bool json = false;
  int rounds = 5;
  int threads = 1;
  std::vector<std::string> names;
};

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Of this process: on a busy machine what the step itself takes.
double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Cost {
  double seconds = 0, cpu_seconds = 0;  // per step
};

// A function with its variables, and a batch to run it on.
struct Case {
  std::string name;
  int64_t batch = 0;
  int64_t ops = 0;  // > 0: time is also given per op
  std::vector<VariableDef> variables;
  Function function;
  Element element;
};

Tensor RandomFloats(Shape shape) {
  Tensor tensor(DType::kF32, shape);
  uint32_t state = 12345;
  for (float& x : tensor.mutable_values<float>()) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / 16777216.0f;
  }
  return tensor;
}

absl::StatusOr<Case> ModelCase(const std::string& model, const std::string& optimizer, int64_t batch) {
  TrainOptions options;
  options.model = model;
  options.dataset = "synthetic";
  options.optimizer = optimizer;
  options.batch_size = batch;
  COHORT_ASSIGN_OR_RETURN(Program program, MakeTrainingProgram(options));
  Case result{model, batch, 0, program.variables, program.functions.at(program.loop.train_function), {}};
  Tensor labels(DType::kI32, Shape{batch});
  for (int64_t i = 0; i < batch; ++i) labels.mutable_values<int32_t>()[i] = static_cast<int32_t>(i * 7 % 10);
  result.element = {RandomFloats({batch, 28, 28, 1}), labels};
  return result;
}

// Linear regression on 10 features.
absl::StatusOr<Case> LinearCase(int64_t batch) {
  FunctionBuilder builder("train");
  const Value x = builder.AddParameter("x", {DType::kF32, Shape{Shape::kUnknown, 10}});
  const Value y = builder.AddParameter("y", {DType::kF32, Shape{Shape::kUnknown, 1}});
  const TensorSpec weight{DType::kF32, Shape{10, 1}}, bias{DType::kF32, Shape{1}};
  const std::vector<Value> handles = {builder.Variable("w", weight), builder.Variable("b", bias)};
  const Value prediction = BiasAdd(MatMul(x, ReadVariable(handles[0])), ReadVariable(handles[1]));
  const Value loss = Sum(Square(Sub(prediction, y)));
  builder.AddResult("loss", loss, ResultRole::kLossSum);
  builder.AddResult("examples", Size(y, DType::kI64), ResultRole::kExamples);
  COHORT_ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(builder, loss, handles));
  for (size_t i = 0; i < handles.size(); ++i) {
    ApplyGradient(handles[i], gradients[i], {{"optimizer", std::string("sgd")}});
  }
  Case result{"linear10", batch, 0, {{"w", weight, {}, true}, {"b", bias, {}, true}}, {}, {}};
  COHORT_ASSIGN_OR_RETURN(result.function, builder.Finish());
  result.element = {RandomFloats({batch, 10}), RandomFloats({batch, 1})};
  return result;
}

// A chain of additions of 10 floats.
absl::StatusOr<Case> ChainCase(int64_t ops) {
  FunctionBuilder builder("chain");
  const Value x = builder.AddParameter("x", {DType::kF32, Shape{10}});
  Value sum = x;
  for (int64_t i = 0; i < ops; ++i) sum = Add(sum, x);
  builder.AddResult("sum", sum);
  Case result{"tiny_ops", 1, ops, {}, {}, {}};
  COHORT_ASSIGN_OR_RETURN(result.function, builder.Finish());
  result.element = {RandomFloats({10})};
  return result;
}

absl::Status Measure(const Case& c, const Options& options) {
  VariableStore store;
  for (const VariableDef& def : c.variables) {
    COHORT_ASSIGN_OR_RETURN(Variable * variable, store.Create({def.name, ""}, def.spec, def.trainable));
    COHORT_ASSIGN_OR_RETURN(const Tensor value, InitialValue(def, 0));
    COHORT_RETURN_IF_ERROR(variable->Assign(value));
  }
  TilePool tiles(options.threads);
  COHORT_ASSIGN_OR_RETURN(auto executor, StepExecutor::Create(c.function, {}, store, nullptr, nullptr, tiles));
  StepInputs inputs;
  inputs.learning_rate = 0.001;
  inputs.batch = &c.element;
  StepHeader header;
  const auto run_for = [&](double seconds) -> absl::StatusOr<Cost> {
    const double start = Seconds(), cpu_start = CpuSeconds();
    int64_t steps = 0;
    double end = start;
    for (int64_t block = 1; end - start < seconds; block = std::min<int64_t>(block * 2, 256)) {
      for (int64_t i = 0; i < block; ++i, ++steps) {
        ++inputs.step;
        COHORT_RETURN_IF_ERROR(executor->Run(inputs, header));
      }
      end = Seconds();
    }
    const double count = static_cast<double>(steps);
    return Cost{(end - start) / count, (CpuSeconds() - cpu_start) / count};
  };
  COHORT_RETURN_IF_ERROR(run_for(0.1).status());  // warm up
  std::vector<double> rounds, cpu;
  for (int round = 0; round < options.rounds; ++round) {
    COHORT_ASSIGN_OR_RETURN(const Cost cost, run_for(0.2));
    rounds.push_back(cost.seconds);
    cpu.push_back(cost.cpu_seconds);
  }
  std::sort(rounds.begin(), rounds.end());
  std::sort(cpu.begin(), cpu.end());
  const double median = rounds[rounds.size() / 2];
  const double rate = static_cast<double>(c.batch) / median;
  if (options.json) {
    std::printf(
        "{\"name\":\"%s\",\"batch\":%ld,\"threads\":%d,\"us_per_step\":%.4g,\"best_us_per_step\":%.4g,"
        "\"cpu_us_per_step\":%.4g,"
        "\"examples_per_second\":%.6g",
        c.name.c_str(), static_cast<long>(c.batch), options.threads, median * 1e6, rounds[0] * 1e6,
        cpu[cpu.size() / 2] * 1e6, rate);
    if (c.ops > 0) std::printf(",\"ns_per_op\":%.4g", median * 1e9 / static_cast<double>(c.ops));
    std::printf("}\n");
  } else {
    std::printf("%-10s batch %4ld: %10.2f us/step [best %.2f], cpu %.2f [best %.2f], %.0f examples/s", c.name.c_str(),
                static_cast<long>(c.batch), median * 1e6, rounds[0] * 1e6, cpu[cpu.size() / 2] * 1e6, cpu[0] * 1e6,
                rate);
    if (c.ops > 0) std::printf(", %.1f ns/op", median * 1e9 / static_cast<double>(c.ops));
    std::printf("\n");
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Bench(const Options& options) {
  const auto wanted = [&](const std::string& name) {
    return options.names.empty() || std::find(options.names.begin(), options.names.end(), name) != options.names.end();
  };
  const struct {
    const char* model;
    const char* optimizer;
  } kModels[] = {{"mlp", "sgd"}, {"cnn", "sgd"}, {"mlp512", "momentum"}, {"cnn32", "adam"}};
  for (const auto& [model, optimizer] : kModels) {
    for (const int64_t batch : {64, 256}) {
      if (!wanted(model)) continue;
      COHORT_ASSIGN_OR_RETURN(const Case c, ModelCase(model, optimizer, batch));
      COHORT_RETURN_IF_ERROR(Measure(c, options)) << model;
    }
  }
  if (wanted("linear10")) {
    COHORT_ASSIGN_OR_RETURN(const Case c, LinearCase(32));
    COHORT_RETURN_IF_ERROR(Measure(c, options)) << "linear10";
  }
  if (wanted("tiny_ops")) {
    COHORT_ASSIGN_OR_RETURN(const Case c, ChainCase(200));
    COHORT_RETURN_IF_ERROR(Measure(c, options)) << "tiny_ops";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  cohort::Options options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    if (arg == "--json") {
      options.json = true;
    } else if (absl::ConsumePrefix(&arg, "--rounds=")) {
      if (!absl::SimpleAtoi(arg, &options.rounds) || options.rounds < 1) return 2;
    } else if (absl::ConsumePrefix(&arg, "--threads=")) {
      if (!absl::SimpleAtoi(arg, &options.threads) || options.threads < 1) return 2;
    } else {
      options.names.emplace_back(arg);
    }
  }
  const absl::Status status = cohort::Bench(options);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
