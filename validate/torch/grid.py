"""Settings of a single GPU that are measured one after the other by measure_step.py --grid."""


def single_gpu_grid():
    """Their command lines. Some need more memory than small GPUs have."""
    lines = []
    for model in ("gpt2", "gpt2-medium", "gpt2-large"):
        for batch in (2, 4, 8, 16):
            lines.append(["--model", model, "--micro-batch", str(batch), "--sequence", "1024"])
    for layers in (2, 4, 8):
        for batch, sequence in ((1, 4096), (4, 1024), (2, 2048)):
            lines.append(["--model", "llama2-7b", "--layers", str(layers), "--micro-batch", str(batch),
                          "--sequence", str(sequence)])
    for layers in (2, 4):
        lines.append(["--model", "llama3-8b", "--layers", str(layers), "--micro-batch", "1",
                      "--sequence", "4096"])
    for accumulation in (2, 4):
        lines.append(["--model", "gpt2-medium", "--micro-batch", "8", "--sequence", "1024",
                      "--accumulation", str(accumulation)])
    lines.append(["--model", "gpt3-1.3b", "--micro-batch", "4", "--sequence", "2048", "--recompute"])
    lines.append(["--model", "llama2-7b", "--layers", "8", "--micro-batch", "2", "--sequence", "4096",
                  "--recompute"])
    for batch in (32, 64, 128, 256):
        lines.append(["--model", "resnet50", "--micro-batch", str(batch), "--channels-last"])
    for batch in (64, 128):
        lines.append(["--model", "resnet50", "--micro-batch", str(batch), "--precision", "tf32"])
    for model in ("vit-b-16", "vit-l-16"):
        for batch in (32, 64, 128):
            lines.append(["--model", model, "--micro-batch", str(batch)])
    lines.append(["--model", "vit-h-14", "--micro-batch", "32"])
    for model, batch in (("gpt2", 8), ("gpt2-medium", 8)):
        lines.append(["--model", model, "--micro-batch", str(batch), "--sequence", "1024", "--compile"])
    return lines
