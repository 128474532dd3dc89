// Kinds of storage by name, and where their numbers stand.
//
// A scenario may start from one, and state what is different.
#pragma once

#include "sim/scenario/input.hpp"

namespace stepsim {

/// What a tier's limits are where the scenario does not say.
constexpr Storage storage_of(StorageTier tier) {
  Storage s{.tier = tier};
  // Cached bytes are read, and written with their line fetched first: a third of the bandwidth of
  // 16 channels of DDR4-3200 (two EPYC 7742, DGX A100 user guide).
  s.page_cache_bandwidth = 409.6_GBps / 3.0;
  switch (tier) {
    case StorageTier::custom:
      return s;
    case StorageTier::object_store:
      // Amazon S3 user guide, "Best practices design patterns: optimizing Amazon S3 performance":
      // first byte after 100 to 200 ms, 85 to 90 MB/s a connection, 5,500 GET requests a second
      // for each prefix, up to 100 Gbit/s for one instance.
      s.bandwidth = 12.5_GBps;
      s.stream_bandwidth = 0.0875_GBps;
      s.latency = Seconds{0.15};
      s.shared_iops = 5500;
      return s;
    case StorageTier::shared_filesystem:
      // Amazon FSx for Lustre user guide, "Performance characteristics of SSD and HDD storage
      // classes" and "Throughput to individual client instances": below 1 ms, 1000 MB/s of disk a
      // TiB (PERSISTENT-1000; here 12 TiB), 100 Gbit/s for a client.
      s.bandwidth = 12.5_GBps;
      s.shared_bandwidth = 12_GBps;
      s.latency = Seconds{1e-3};
      return s;
    case StorageTier::local_nvme:
      // 16 GB/s from eight drives (AWS, "Amazon EC2 P4d instances deep dive"); a drive of that time
      // reads 4 KiB 15,000 times a second one by one, 370,000 times together (Samsung 970 PRO).
      s.bandwidth = 16_GBps;
      s.latency = Seconds{1.0 / 15'000};
      s.iops = 8 * 370'000;
      return s;
    case StorageTier::page_cache:
      s.bandwidth = s.page_cache_bandwidth;
      return s;
  }
  return s;
}

}  // namespace stepsim
