// What one recorded rank shows: its window, why it is idle, its kernels, products, copies and gaps.
'use strict';

const window_of_rank = (rank, p) => {
  const part = (name, value, colour, key) => ({ name, value, colour, key, text: share_text(value, rank.window_s) });
  return section(
    'Where the time goes',
    stacked_bar(
      [
        part('computing', rank.compute_s, colours.forward, `${p}.compute_s`),
        part(
          'communication that nothing hides',
          rank.exposed_communication_s,
          colours.exposed_data,
          `${p}.exposed_communication_s`,
        ),
        part(
          'copies while nothing else runs',
          Math.max(0, rank.busy_s - rank.compute_s - rank.exposed_communication_s),
          colours.h2d,
        ),
        part('idle', Math.max(0, rank.window_s - rank.busy_s), colours.launch_gap),
      ].filter((each) => each.value > 0),
      { label: 'the window by what the GPU does' },
    ),
    element('p', { class: 'hint' }, rank.steps.length > 0 ? 'All recorded steps together.' : 'All that was recorded.'),
  );
};

const breakdown_of_rank = (rank, p, titles) => {
  const whole = d3.sum(Object.values(rank.breakdown_s));
  return whole > 0
    ? section(
        rank.steps?.length > 0 ? 'A mean step by cause' : 'The window by cause',
        stacked_bar(cause_parts(rank.breakdown_s, whole, `${p}.breakdown_s`, titles), { label: 'a step by cause' }),
      )
    : null;
};

const idle_of_rank = (rank, p) => {
  const [idle, late, pauses] = [rank.idle_s, rank.late_host_s, rank.pauses_s];
  const collecting = pauses.garbage_collection + pauses.recompilation - pauses.in_operators;
  const rows = [
    ['late launch: the loader', late.loader, colours.batch_wait, 'late_host_s.loader'],
    ['late launch: a synchronising call', late.sync, colours.cpu_work, 'late_host_s.sync'],
    [
      'late launch: garbage collection',
      pauses.garbage_collection,
      colours.garbage_collection,
      'pauses_s.garbage_collection',
    ],
    ['late launch: recompilation', pauses.recompilation, colours.recompilation, 'pauses_s.recompilation'],
    [
      'late launch: operators',
      late.operator - pauses.in_operators,
      colours.cpu_work,
      pauses.in_operators === 0 ? 'late_host_s.operator' : null,
    ],
    ['late launch: calls of the runtime', late.runtime, colours.cpu_work, 'late_host_s.runtime'],
    [
      'late launch: Python between them',
      late.python - collecting,
      colours.cpu_work,
      collecting === 0 ? 'late_host_s.python' : null,
    ],
    ['launch latency: from the call to the kernel', idle.launch_latency, colours.launch_gap, 'idle_s.launch_latency'],
    ['queued: launched before, waits in its stream', idle.queued, colours.sync_wait, 'idle_s.queued'],
    ['gaps below 2 us', idle.tiny, colours.launch_gap, 'idle_s.tiny'],
    ['not known: the launch was not recorded', idle.unmatched, colours.stall, 'idle_s.unmatched'],
    ['behind the last activity', idle.tail, colours.pipeline_bubble, 'idle_s.tail'],
  ]
    .filter(([, value]) => value >= small_share * rank.window_s)
    .sort((a, b) => b[1] - a[1]);
  if (rows.length === 0) return null;
  return section(
    `Why the ${rank.is_of_core ? 'core' : 'GPU'} is idle`,
    bars(
      rows.map(([name, value, colour, key]) => ({
        name,
        value,
        colour,
        key: key ? `${p}.${key}` : undefined,
        text: share_text(value, rank.window_s),
      })),
      { label: 'idle time by cause' },
    ),
    rank.idle_not_known_s.graph_replays + rank.idle_not_known_s.long_waits > 0
      ? element(
          'p',
          { class: 'hint' },
          'Of it perhaps busy: in replays of CUDA graphs ',
          time_of(`${p}.idle_not_known_s.graph_replays`, rank.idle_not_known_s.graph_replays),
          ', in long waits ',
          time_of(`${p}.idle_not_known_s.long_waits`, rank.idle_not_known_s.long_waits),
          '.',
        )
      : null,
  );
};

const states = { sync: 'synchronises', loader: 'loader', runtime: 'runtime', operator: 'operator', python: 'Python' };

const sites_of_rank = (rank, p) =>
  rank.late_sites.length === 0
    ? null
    : section(
        'Where the host is late',
        table(
          [
            { title: 'what', text: ({ s }) => states[s.state], order: ({ s }) => states[s.state] },
            {
              title: 'in',
              order: ({ s }) => s.operator ?? '',
              text: ({ s }) =>
                [s.operator, s.call, s.operator || s.call ? null : s.annotation].filter(Boolean).join(', ') ||
                (s.state === 'loader' ? '' : 'between operators'),
            },
            { title: 'line', text: ({ s }) => s.line ?? '', order: ({ s }) => s.line },
            { title: 'times', text: ({ s }) => words.whole(s.times), order: ({ s }) => s.times },
            {
              title: 'idle',
              order: ({ s }) => s.seconds,
              text: ({ s, i }) => time_of(`${p}.late_sites.${i}.seconds`, s.seconds),
            },
            { title: 'of all', text: ({ s }) => words.percent(s.seconds / rank.window_s), order: ({ s }) => s.seconds },
          ],
          rank.late_sites.map((s, i) => ({ s, i })),
          { id: 'sites' },
        ),
      );

// A table of rows of a list: `columns` are [title, name of the key].
const numbers_table = (list, place, first, columns, id) =>
  table(
    [
      ...first,
      ...columns
        .filter(([, name]) => list.some((row) => row[name] !== null && row[name] !== undefined))
        .map(([title, name]) => ({
          title,
          order: ({ row }) => row[name],
          text: ({ row, i }) =>
            row[name] === null || row[name] === undefined
              ? '-'
              : value_of(`${place}.${i}.${name}`, row[name], words.of_key(name, row[name])),
        })),
    ],
    list.map((row, i) => ({ row, i })),
    { id },
  );

const name_column = (title, name) => ({ title, text: ({ row }) => row[name] ?? '', order: ({ row }) => row[name] });

const steps_of_rank = (rank, p) =>
  rank.steps.length === 0
    ? null
    : section(
        'Steps',
        numbers_table(
          rank.steps,
          `${p}.steps`,
          [name_column('step', 'name')],
          [
            ['takes', 'seconds'],
            ['busy', 'busy_s'],
            ['computes', 'compute_s'],
            ['communicates', 'communication_s'],
            ['exposed', 'exposed_communication_s'],
            ['launched', 'launched_busy_s'],
          ],
          'steps',
        ),
      );

const kernels_of_rank = (rank, p) => {
  if (rank.kinds.length === 0) return null;
  const one = (list, name) =>
    numbers_table(
      list,
      `${p}.${name}`,
      [
        name_column(name === 'kernels' ? 'kernel' : 'kind', name === 'kernels' ? 'name' : 'kind'),
        ...(name === 'kernels' ? [name_column('kind', 'kind')] : []),
      ],
      [
        ['calls', 'calls'],
        ['time', 'seconds'],
      ],
      name,
    );
  return section(
    'Kernels',
    bars(
      rank.kinds.map((kind, i) => ({
        name: kind.kind,
        value: kind.seconds,
        colour: series[0],
        key: `${p}.kinds.${i}.seconds`,
        text: `${share_text(kind.seconds, rank.window_s)}, ${words.whole(kind.calls)} x`,
      })),
      { label: 'kernels by kind' },
    ),
    element('p', { class: 'hint' }, 'Sums: kernels that run beside each other count each.'),
    element('h3', {}, 'Those that take most'),
    one(rank.kernels, 'kernels'),
  );
};

const products_of_rank = (rank, p) => {
  const all = rank.products;
  if (all.sizes.length === 0) return null;
  const rate = (flops, seconds) => (seconds > 0 ? `${words.digits((1e-12 * flops) / seconds)} T` : '-');
  const sizes = all.sizes.map((row, i) => ({ row, i }));
  return section(
    'Products by recorded size',
    table(
      [
        { title: 'size', text: ({ row }) => row.size, order: ({ row }) => row.size },
        { title: 'type', text: ({ row }) => row.precision, order: ({ row }) => row.precision },
        { title: 'calls', text: ({ row }) => words.whole(row.calls), order: ({ row }) => row.calls },
        {
          title: 'time',
          order: ({ row }) => row.seconds,
          text: ({ row, i }) => time_of(`${p}.products.sizes.${i}.seconds`, row.seconds),
        },
        {
          title: 'FLOP/s',
          text: ({ row }) => rate(row.flops, row.seconds),
          order: ({ row }) => row.flops / row.seconds,
        },
        {
          title: 'attainable',
          text: ({ row }) => (row.attainable_s === null ? '-' : rate(row.flops, row.attainable_s)),
          order: ({ row }) => (row.attainable_s === null ? null : row.flops / row.attainable_s),
        },
      ],
      sizes,
      { id: 'products' },
    ),
    element(
      'p',
      {},
      'All come to ',
      value_of(`${p}.products.flops`, all.flops, words.count(all.flops)),
      'FLOP in ',
      time_of(`${p}.products.seconds`, all.seconds),
      `, ${rate(all.flops, all.seconds)}FLOP/s; over the whole window ${rate(all.flops, rank.window_s)}FLOP/s.`,
      all.seconds_of_unknown_size > 0
        ? [
            ' Kernels that multiply and whose size is not known: ',
            time_of(`${p}.products.seconds_of_unknown_size`, all.seconds_of_unknown_size),
            '.',
          ]
        : null,
    ),
    element(
      'p',
      { class: 'hint' },
      all.profile === null
        ? 'No GPU profile is of this GPU.'
        : `Attainable is what the profile of ${all.profile} has for the size.`,
    ),
  );
};

const copies_of_rank = (rank, p) =>
  rank.copies.length === 0
    ? null
    : section(
        'Copies',
        table(
          [
            { title: 'copy', text: ({ row }) => row.name, order: ({ row }) => row.name },
            { title: 'calls', text: ({ row }) => words.whole(row.calls), order: ({ row }) => row.calls },
            {
              title: 'time',
              order: ({ row }) => row.seconds,
              text: ({ row, i }) => time_of(`${p}.copies.${i}.seconds`, row.seconds),
            },
            {
              title: 'bytes',
              order: ({ row }) => row.bytes,
              text: ({ row, i }) =>
                row.bytes === null ? '-' : value_of(`${p}.copies.${i}.bytes`, row.bytes, words.bytes(row.bytes)),
            },
            {
              title: 'rate',
              order: ({ row }) => (row.bytes === null ? null : row.bytes / row.seconds),
              text: ({ row }) => (row.bytes === null ? '-' : `${words.count(row.bytes / row.seconds)}B/s`),
            },
          ],
          rank.copies.map((row, i) => ({ row, i })),
        ),
      );

const gaps_of_rank = (rank, p) =>
  rank.longest_late_gaps.length === 0
    ? null
    : section(
        'Longest gaps in which the host was late',
        numbers_table(
          rank.longest_late_gaps,
          `${p}.longest_late_gaps`,
          [name_column('before', 'before')],
          [
            ['at', 'at_s'],
            ['takes', 'seconds'],
            ['late', 'late_s'],
          ],
        ),
      );
