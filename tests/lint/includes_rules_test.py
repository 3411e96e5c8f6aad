#!/usr/bin/python3 -B
"""The include lint finds what it is for."""

import includes_test
import source_tree


def expect(got, want):
    return [] if bool(got) == want else ["got %r" % (got,)]


cases = {
    "down_is_allowed": expect(includes_test.arrow_problem("runtime/graph/a.cc", "runtime/tensor/b.h"), False),
    "up_is_found": expect(includes_test.arrow_problem("runtime/tensor/a.cc", "runtime/graph/b.h"), True),
    "sideways_is_found": expect(includes_test.arrow_problem("runtime/driver/a.h", "runtime/dataset/b.h"), True),
    "worker_and_ps_are_strangers": expect(includes_test.arrow_problem("ps/a.cc", "worker/b.h"), True),
    "client_does_not_include_worker": expect(includes_test.arrow_problem("client/api.cc", "worker/b.h"), True),
    "client_embedded_does": expect(includes_test.arrow_problem("client/embedded/a.cc", "worker/b.h"), False),
    "code_does_not_include_tests": expect(includes_test.arrow_problem("ps/a.cc", "tests/testing/b.h"), True),
    "grpc_in_a_service": expect(includes_test.guarded_problems("ps/ps_service.cc", ["grpcpp/grpcpp.h"]), False),
    "grpc_elsewhere": expect(includes_test.guarded_problems("ps/shard.cc", ["grpcpp/grpcpp.h"]), True),
    "messages_in_rpc": expect(includes_test.guarded_problems("runtime/rpc/a.cc", ["proto/worker.pb.h"]), True),
    "formats_in_remote": expect(includes_test.guarded_problems("runtime/remote/a.cc", ["proto/formats/example.pb.h"]), True),
    "json_in_a_header": expect(includes_test.guarded_problems("client/a.h", ["nlohmann/json.hpp"]), True),
    "json_in_a_source": expect(includes_test.guarded_problems("client/a.cc", ["nlohmann/json.hpp"]), False),
    "std_mutex": expect(includes_test.guarded_problems("client/a.cc", ["mutex"]), True),
    "guard_is_right": expect(
        includes_test.guard_problems("ps/a.h", "#ifndef COHORT_PS_A_H_\n#define COHORT_PS_A_H_\nint a;\n#endif  // COHORT_PS_A_H_\n"),
        False),
    "guard_of_another_file": expect(
        includes_test.guard_problems("ps/b.h", "#ifndef COHORT_PS_A_H_\n#define COHORT_PS_A_H_\nint a;\n#endif  // COHORT_PS_A_H_\n"),
        True),
}
source_tree.report("includes_rules", cases)
