"""The keys of a result and their types, for editors and type checkers.

While a program runs each of these is a Record. tests/python/result_keys.py has made this file; to
renew it: STEPSIM_UPDATE=1 tests/python/python.sh build/stepsim
"""
from __future__ import annotations

from typing import Any

from .record import Record


class Chaos(Record):
    least_s: float
    most_s: float
    runs: int


class Breakdown(Record):
    forward: float
    recompute: float
    backward: float
    optimizer: float
    contention: float
    stall: float
    exposed_tensor: float
    exposed_context: float
    exposed_expert: float
    exposed_expert_tensor: float
    exposed_tables: float
    exposed_data: float
    exposed_pipeline: float
    pipeline_bubble: float
    sync_wait: float
    batch_wait: float
    h2d: float
    cpu_work: float
    recompilation: float
    garbage_collection: float
    offload: float
    checkpoint: float
    launch_gap: float


class Communication(Record):
    bytes: int
    busy_s: float
    exposed_s: float


class Peak(Record):
    # ["pass"]: str
    micro_batch: int
    chunk: int
    block: str
    op: str


class Stage(Record):
    stage: int
    total_bytes: int
    allocated_bytes: int
    peak: Peak
    categories_bytes: dict[str, int]


class Memory(Record):
    peak_bytes: int
    allocated_bytes: int
    peak_time_s: float
    capacity_bytes: int
    fits: bool
    worst_stage: int
    stages: list[Stage]


class Replicas(Record):
    count: int
    asked: int
    mean_s: float
    confidence_95_s: float
    sigma_s: float
    median_s: float
    p95_s: float
    least_s: float
    most_s: float
    median_replica: int
    steps_s: list[float]


class Checkpoint(Record):
    every_steps: int
    mode: str
    bytes: int
    blocking_s: float
    slowdown_s: float
    durable_s: float
    step_without_s: float
    step_with_share_s: float
    fraction: float


class Shares(Record):
    useful: float
    checkpoints: float
    lost: float
    detection: float
    restart: float
    reload: float


class Best(Record):
    every_steps: int
    expected_goodput: float
    young_s: float
    daly_s: float


class LongRun(Record):
    wall_s: float
    steps: float
    tokens: float | None
    goodput: float
    least_goodput: float
    most_goodput: float
    expected_goodput: float | None
    shares: Shares
    failures: float
    mtbf_s: float
    histories: int
    sampled_steps: int
    step_p50_s: float
    step_p95_s: float
    step_p99_s: float
    step_max_s: float
    best: Best | None
    cost_dollars: float | None
    energy_kwh: float


class OutsideCalibratedRange(Record):
    side: str
    time_s: float
    fraction: float


class Straggler(Record):
    ranks: list[int]
    stage: int
    late_s: float
    stall_s: float
    factor: float


class Faults(Record):
    step_without_s: dict[str, float]
    stragglers: list[Straggler]
    step_without_stragglers_s: float | None


class Cost(Record):
    per_hour_dollars: float
    per_step_dollars: float
    per_day_dollars: float
    per_million_tokens_dollars: float | None
    per_million_samples_dollars: float
    wasted_fraction: float
    wasted_per_month_dollars: float


class Energy(Record):
    board_w: float
    host_w: float
    pue: float
    carbon_g_per_kwh: float
    facility_w_per_gpu: float
    least_facility_w_per_gpu: float
    most_facility_w_per_gpu: float
    per_step_kwh: float
    per_step_kg_co2e: float


class Verdict(Record):
    sentence: str
    next: str


class Limit(Record):
    limit: str
    change: str
    step_without_s: float


class ExpectedError(Record):
    rows: int
    known_rows: int
    median_ape: float | None
    p90_ape: float | None
    bias: float | None
    step_time_80_percent_s: list[float]
    unseen: list[str]
    traits: list[str]
    suites: list[str]
    worst_suite: str | None
    worst_suite_mape: float | None


class Expect(Record):
    text: str
    actual: str
    holds: bool


class Assumed(Record):
    key: str
    value: str


class Engine(Record):
    ranks_total: int
    ranks_simulated: int
    events: int
    kernels: int
    transfers: int


class Provenance(Record):
    version: str
    hashes: dict[str, str]
    scenario: str


class ResultKeys(Record):
    schema: str
    scenario: str
    model: str
    gpu: str
    gpus: int
    nodes: int
    split: str
    attention: str | None
    interrupted: bool
    step_time_s: float
    steps_s: list[float]
    chaos: Chaos | None
    tokens_per_s: float | None
    samples_per_s: float
    tokens_per_s_per_gpu: float | None
    model_tflops_per_gpu: float
    mfu: float
    hfu: float
    flop_convention: str
    breakdown_s: Breakdown
    critical_path_s: Breakdown
    bubble_fraction: float
    data_stall_fraction: float
    communication: dict[str, Communication]
    overlap_efficiency: float
    memory: Memory
    replicas: Replicas | None
    checkpoint: Checkpoint | None
    long_run: LongRun | None
    outside_calibrated_range: list[OutsideCalibratedRange]
    faults: Faults
    cost: Cost | None
    energy: Energy | None
    verdict: Verdict
    limits: list[Limit]
    expected_error: ExpectedError | None
    expect: list[Expect]
    assumed: list[Assumed]
    engine: Engine
    provenance: Provenance
