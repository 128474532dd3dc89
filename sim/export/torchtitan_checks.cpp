// Rules of torchtitan (pytorch/torchtitan 238fa9953: torchtitan/models/*/infra/parallelize.py,
// torchtitan/models/gpt_oss/model/args.py and torchtitan/components/quantization/mx.py).
#include <fmt/format.h>

#include "sim/export/checks.hpp"

namespace stepsim {

void refuse_what_torchtitan_checks(const Scenario& scenario, const std::string& model) {
  const Parallelism& p = scenario.parallelism;
  const Training& t = scenario.training;
  const bool is_fp8 = t.precision == Precision::fp8, is_mx = t.fp8_scaling == Fp8Scaling::mxfp8;
  const bool shards = p.data.sharding.shards_optimizer || p.context.degree > 1;
  const int pieces = 2 * p.tensor * p.context.degree;
  throw_refusals(
      {{!shards && scenario.data_parallel() > 1 && (p.tensor > 1 || p.pipeline.stages > 1),
        "parallelism.data.sharding: ddp: torchtitan replicates a model that is not split "
        "otherwise"},
       {t.sequence_length % pieces != 0,
        fmt::format("training.sequence_length: {}: torchtitan cuts it into {} pieces",
                    t.sequence_length, pieces)},
       {t.precision == Precision::nvfp4,
        "training.precision: nvfp4: torchtitan has bf16, fp16, fp32, float8 and mxfp8"},
       {is_fp8 && !is_mx && p.tensor > 1 && model == "deepseek_v3",
        "training.precision: fp8: torchtitan has no tensor parallelism in float8 for deepseek_v3"},
       {is_fp8 && is_mx && p.tensor > 1 && t.fusion == "compiled",
        "training.fusion: compiled: torchtitan has no tensor parallelism in compiled mxfp8"}});
}

}  // namespace stepsim
