// Inputs that no launcher would write: each is an error or a config, quickly, and never a crash.

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cluster/json_value.h"
#include "runtime/cluster/tf_config.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kValid[] =
    R"({"cluster":{"chief":["h\u00300:2222"],"worker":["h1:2222","[::1]:65535"],"ps":{"0":"p0:1","12":"p12:1"},)"
    R"("evaluator":["127.0.0.1:7"]},"task":{"type":"worker","index":"1"},"rpc_layer":"grpc","session_master":"",)"
    R"("environment":"cloud","x":[1,-2,3.5e2,true,null,{"y":"\ud83d\ude00 \"\\"}]})";

// Either answer is right; a third is not.
void ExpectConfigOrInvalid(const std::string& text) {
  const absl::StatusOr<TfConfig> config = ParseTfConfig(text);
  if (!config.ok()) {
    EXPECT_EQ(config.status().code(), kInvalid) << text;
    EXPECT_LT(config.status().message().size(), 1500u) << text;
  } else {
    EXPECT_THAT(ParseTfConfig(ToText(*config)), IsOk()) << text;
  }
}

// Every hostile text is judged within this time; the product promises 2 s to its users.
class Within2Seconds {
 public:
  ~Within2Seconds() { EXPECT_LT(std::chrono::steady_clock::now() - start_, std::chrono::seconds(2)); }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST(DamagedTfConfigTest, ValidTextIsValid) { EXPECT_THAT(ParseTfConfig(kValid), IsOk()); }

TEST(DamagedTfConfigTest, CutAtEveryByteGivesTheByte) {
  const std::string text = kValid;
  for (size_t n = 1; n < text.size(); ++n) {
    EXPECT_THAT(ParseTfConfig(text.substr(0, n)), StatusIs(kInvalid, HasSubstr("not valid JSON at byte "))) << n;
  }
}

TEST(DamagedTfConfigTest, EveryByteTakenAwayDoubledOrChanged) {
  const std::string text = kValid;
  for (size_t n = 0; n < text.size(); ++n) {
    std::string without = text;
    ExpectConfigOrInvalid(without.erase(n, 1));
    std::string twice = text;
    ExpectConfigOrInvalid(twice.insert(n, 1, text[n]));
    for (const char byte :
         {'\0', '\x01', '"', '\\', '{', '}', '[', ']', ':', ',', '0', '-', ' ', '\x7f', '\x80', '\xff'}) {
      std::string changed = text;
      changed[n] = byte;
      ExpectConfigOrInvalid(changed);
    }
  }
}

TEST(DamagedTfConfigTest, DuplicateKeysNameTheirPath) {
  const struct {
    const char *text, *path;
  } rows[] = {
      {R"({"cluster":{},"cluster":{}})", "cluster: the key appears twice"},
      {R"({"cluster":{"worker":["a:1"],"worker":["b:1"]}})", "cluster.worker: the key appears twice"},
      {R"({"cluster":{"worker":{"0":"a:1","0":"b:1"}}})", "cluster.worker.0: the key appears twice"},
      {R"({"task":{"type":"worker","index":0,"index":1}})", "task.index: the key appears twice"},
      {R"({"x":[[],{"a":1,"b":{},"a":2}]})", "x[1].a: the key appears twice"},
      {R"({"task":{"index":0,"\u0069ndex":1}})", "task.index: the key appears twice"},
  };
  for (const auto& row : rows)
    EXPECT_THAT(ParseTfConfig(row.text), StatusIs(kInvalid, HasSubstr(row.path))) << row.text;
}

TEST(DamagedTfConfigTest, NulBytesAreNoText) {
  EXPECT_THAT(ParseTfConfig(std::string("{}\0", 3)), StatusIs(kInvalid, HasSubstr("at byte 3")));
  EXPECT_THAT(ParseTfConfig(std::string("\0{}", 3)), StatusIs(kInvalid, HasSubstr("at byte 1")));
  EXPECT_THAT(ParseTfConfig(std::string("{\"a\0\":1}", 8)), StatusIs(kInvalid, HasSubstr("at byte 4")));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"worker":["h\u0000:1"]}})"),
              StatusIs(kInvalid, AllOf(HasSubstr("/job:worker/task:0"), HasSubstr("h\\x00:1"))));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"worker\u0000":["h:1"]}})"), StatusIs(kInvalid, HasSubstr("'worker\\x00'")));
  EXPECT_THAT(ParseTfConfig(R"({"cluster":{"worker":["h:1"]},"task":{"type":"worker\u0000","index":0}})"),
              StatusIs(kInvalid, HasSubstr("'worker\\x00'")));
}

TEST(DamagedTfConfigTest, MegabyteOfGarbageIsRefusedAtOnce) {
  std::string noise(1 << 20, '\0');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const Within2Seconds timer;
  EXPECT_THAT(ParseTfConfig(noise), StatusIs(kInvalid, HasSubstr("at byte 1")));
  for (const char c : {'a', '1', '"', '-', ',', '\\'}) {
    const absl::StatusOr<TfConfig> config = ParseTfConfig(std::string(1 << 20, c));
    EXPECT_THAT(config, HasCode(kInvalid)) << c;
    EXPECT_LT(config.status().message().size(), 1500u);
  }
  EXPECT_THAT(ParseTfConfig(std::string(1 << 20, ' ')), StatusIs(kInvalid, HasSubstr("empty")));
  EXPECT_THAT(ParseTfConfig("{} " + std::string(17 << 20, ' ')), StatusIs(kInvalid, HasSubstr("more than")));
}

TEST(DamagedTfConfigTest, DeepNestingNamesThePath) {
  const Within2Seconds timer;
  EXPECT_THAT(ParseTfConfig(std::string(1 << 20, '[')), StatusIs(kInvalid, HasSubstr("nested deeper than 32")));
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += R"({"a":)";
  EXPECT_THAT(ParseTfConfig(objects), StatusIs(kInvalid, AllOf(HasSubstr("a.a.a"), HasSubstr("nested deeper"))));
  EXPECT_THAT(ParseTfConfig(absl::StrCat(R"({"cluster":)", std::string(100'000, '{'))), HasCode(kInvalid));
  EXPECT_THAT(ParseTfConfig(absl::StrCat(R"({"x":)", std::string(31, '['), std::string(31, ']'), "}")), IsOk());
}

TEST(DamagedTfConfigTest, HugeButRegularTextsStayQuick) {
  const Within2Seconds timer;
  std::string keys = "{\"k\":0";
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&keys, ",\"", i, "\":0");
  EXPECT_THAT(ParseTfConfig(keys + "}"), IsOk());
  EXPECT_THAT(ParseTfConfig(keys + ",\"99999\":1}"), StatusIs(kInvalid, HasSubstr("99999: the key appears twice")));
  std::string workers = R"({"cluster":{"worker":["w:1")";
  for (int i = 0; i < 50'000; ++i) absl::StrAppend(&workers, ",\"w", i, ":1\"");
  const absl::StatusOr<TfConfig> config = ParseTfConfig(workers + "]}}");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->cluster.count("worker"), 50'001);
  EXPECT_THAT(ParseTfConfig(workers + ",\"w7:1\"]}}"), StatusIs(kInvalid, HasSubstr("/job:worker/task:8 and ")));
}

TEST(DamagedTfConfigTest, LongTextsAreCutInMessages) {
  const std::string text(1 << 20, 'x');
  for (const char* form :
       {R"({"cluster":{"$":["h:1"]}})", R"({"cluster":{"worker":["$"]}})", R"({"cluster":{"worker":{"$":"h:1"}}})",
        R"({"task":{"type":"$"}})", R"({"task":{"type":"worker","index":"$"}})", R"({"$":1,"$":2})", R"({"$":tru)"}) {
    const absl::StatusOr<TfConfig> config = ParseTfConfig(absl::StrReplaceAll(form, {{"$", text}}));
    EXPECT_THAT(config, HasCode(kInvalid)) << form;
    EXPECT_LT(config.status().message().size(), 1500u) << form;
  }
}

TEST(DamagedTfConfigTest, NumbersBeyondAllRangesAreErrorsOnlyWhereTheyCount) {
  EXPECT_THAT(ParseTfConfig(R"({"x":1e999})"), StatusIs(kInvalid, HasSubstr("out of range")));
  EXPECT_THAT(ParseTfConfig(R"({"x":123456789012345678901234567890})"), IsOk());
  EXPECT_THAT(ParseTfConfig(R"({"task":{"type":1e2}})"), HasCode(kInvalid));
}

TEST(DamagedTfConfigTest, TextAfterTheObjectIsAnError) {
  EXPECT_THAT(ParseTfConfig("{} {}"), StatusIs(kInvalid, HasSubstr("at byte 4")));
  EXPECT_THAT(ParseTfConfig("{}x"), StatusIs(kInvalid, HasSubstr("at byte 3")));
  EXPECT_THAT(ParseTfConfig(" {} \n"), IsOk());
}

}  // namespace
}  // namespace cohort
