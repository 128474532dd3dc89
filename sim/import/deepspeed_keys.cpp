// DeepSpeed's keys that cost nothing, and those that a scenario cannot say.
#include "sim/import/deepspeed.hpp"

namespace stepsim {

namespace {

const KnownKeys kKnown{
    .harmless =
        paths_of({{"",
                   "autotuning checkpoint comms_logger csv_monitor dump_state elasticity "
                   "flops_profiler gradient_predivide_factor hybrid_engine memory_breakdown "
                   "monitor_config prescale_gradients scheduler seed steps_per_print "
                   "tensorboard use_data_before_expert_parallel_ wall_clock_breakdown wandb "
                   "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer"},
                  {"activation_checkpointing", "profile"},
                  {"bf16", "immediate_grad_update"},
                  {"fp16",
                   "auto_cast hysteresis initial_scale_power loss_scale loss_scale_window "
                   "min_loss_scale"},
                  {"optimizer", "params"},
                  {"zero_optimization",
                   "contiguous_gradients elastic_checkpoint "
                   "gather_16bit_weights_on_model_save model_persistence_threshold "
                   "ignore_unused_parameters load_from_fp32_weights log_trace_cache_warnings "
                   "memory_efficient_linear override_module_apply "
                   "stage3_gather_16bit_weights_on_model_save "
                   "stage3_gather_fp16_weights_on_model_save "
                   "stage3_model_persistence_threshold sub_group_size"},
                  {"zero_optimization.offload_optimizer",
                   "buffer_count buffer_size device fast_init nvme_path pin_memory "
                   "pipeline_read pipeline_write ratio"}}),
    .unsaid = {
        {"activation_checkpointing", {"the model decides: training.recompute", ""}},
        {"amp", {"training.precision", ""}},
        {"compression_training", {"nothing is compressed", ""}},
        {"curriculum_learning", {"sequences have one length", ""}},
        {"data_efficiency", {"sequences have one length", ""}},
        {"pipeline", {"there is one stage", ""}},
        {"sparse_attention", {"attention is dense", ""}},
        {"sparse_gradients", {"gradients are dense", ""}},
        {"zero_optimization.allgather_bucket_size",
         {"updated parameters are gathered at once", ""}},
        {"zero_optimization.allgather_partitions",
         {"updated parameters are gathered at once", "true"}},
        {"zero_optimization.mics_hierarchical_params_gather",
         {"parameters are gathered in one step", ""}},
        {"compile", {"kernels are those of training.fusion", ""}},
        {"zero_optimization.max_live_parameters", {"two blocks are gathered at a time", ""}},
        {"zero_optimization.max_reuse_distance", {"each block is gathered for each pass", ""}},
        {"zero_optimization.offload_param", {"parameters stay on the GPU", ""}},
        {"zero_optimization.reduce_scatter", {"gradients that are sharded are scattered", "true"}},
        {"zero_optimization.round_robin_gradients", {"gradients are reduced in their order", ""}},
        {"zero_optimization.stage3_max_live_parameters", {"two blocks are gathered at a time", ""}},
        {"zero_optimization.stage3_max_reuse_distance",
         {"each block is gathered for each pass", ""}},
        {"zero_optimization.zero_hpz_partition_size",
         {"parameters are gathered from all ranks", "1"}},
        {"zero_optimization.zero_quantized_gradients", {"gradients are reduced as they are", ""}},
        {"zero_optimization.zero_quantized_weights", {"parameters are gathered as they are", ""}},
    }};

}  // namespace

const KnownKeys& deepspeed_keys() { return kKnown; }

}  // namespace stepsim
