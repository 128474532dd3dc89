#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
TP=${TP:-2}
MODEL="--num-layers 24 --hidden-size 2048 --num-attention-heads 32"
ARGS=(--seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 --vocab-size 50257)
if [ $TP -gt 1 ]; then ARGS+=(--tensor-model-parallel-size $TP --sequence-parallel); fi
srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES pretrain_gpt.py $MODEL "${ARGS[@]}" --bf16
