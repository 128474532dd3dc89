// The page of `stepsim explain` of recordings: where recorded steps go, why GPUs are idle, and who is late.
'use strict';

const not_known_of = (sentences) => (sentences.length === 0 ? null : section('Not known', list_of(sentences)));

const share_text = (value, whole) => `${words.seconds(value)}, ${words.percent(whole > 0 ? value / whole : 0)}`;

const rank_name = (rank) => (rank.rank === null ? rank.file : `rank ${rank.rank}`);

const recording_subtitle = (r, pace) => {
  const several = r.ranks.length > 1;
  const who = [pace.device ?? 'a GPU that is not named',
    several ? `${r.ranks.length} ranks` : pace.rank === null ? null : `rank ${pace.rank}`].filter(Boolean).join(', ');
  const of_world = r.world_size !== null && (several || pace.rank !== null) ? ` of ${words.whole(r.world_size)}` : '';
  const steps = pace.steps.length === 0 ? 'no steps are marked' : counted(pace.steps.length, 'step');
  return [who + of_world, `recorded by ${r.format}`, r.backend,
    `${steps}, activities: ${words.whole(pace.activities)} in ${words.seconds(pace.window_s)}`
      + (several ? ` on ${rank_name(pace)}, which works longest` : '')].filter(Boolean).join(' · ');
};

const recording_verdict = (r) => {
  const box = verdict_of(r);
  if (r.verdict.gain) box.append(element('p', {}, `Gain: ${r.verdict.gain}.`));
  return box;
};

const recording_figures = (r, pace, p) => element('div', { class: 'figures' },
  r.step_time_s === null ? null : figure('step', 'step_time_s', r.step_time_s, words.seconds(r.step_time_s)),
  figure(pace.is_of_core ? 'core busy' : 'GPU busy', `${p}.busy_s`, pace.busy_s, words.seconds(pace.busy_s),
    `${words.percent(pace.busy_s / pace.window_s)} of ${words.seconds(pace.window_s)}`),
  figure('computing', `${p}.compute_s`, pace.compute_s, words.seconds(pace.compute_s),
    words.percent(pace.compute_s / pace.window_s)),
  figure('communication', `${p}.communication_s`, pace.communication_s, words.seconds(pace.communication_s),
    `${words.seconds(pace.communication_and_compute_s)} beside computation`),
  pace.copies_s > 0 ? figure('copies', `${p}.copies_s`, pace.copies_s, words.seconds(pace.copies_s)) : null,
  pace.products.hfu === null ? null : figure('HFU', `${p}.products.hfu`, pace.products.hfu,
    words.percent(pace.products.hfu), `of the peak of ${pace.products.profile}`),
  pace.memory ? figure('tensors at most', `${p}.memory.allocated_bytes`, pace.memory.allocated_bytes,
    words.bytes(pace.memory.allocated_bytes), `${words.bytes(pace.memory.reserved_bytes)} reserved`) : null);

const window_of_rank = (rank, p) => {
  const part = (name, value, colour, key) => ({ name, value, colour, key, text: share_text(value, rank.window_s) });
  return section('Where the time goes', stacked_bar([
    part('computing', rank.compute_s, colours.forward, `${p}.compute_s`),
    part('communication that nothing hides', rank.exposed_communication_s, colours.exposed_data,
      `${p}.exposed_communication_s`),
    part('copies while nothing else runs', Math.max(0, rank.busy_s - rank.compute_s - rank.exposed_communication_s),
      colours.h2d),
    part('idle', Math.max(0, rank.window_s - rank.busy_s), colours.launch_gap),
  ].filter((each) => each.value > 0), { label: 'the window by what the GPU does' }),
  element('p', { class: 'hint' }, rank.steps.length > 0 ? 'All recorded steps together.' : 'All that was recorded.'));
};

const breakdown_of_rank = (rank, p, titles) => {
  const whole = d3.sum(Object.values(rank.breakdown_s));
  return whole > 0 ? section(rank.steps?.length > 0 ? 'A mean step by cause' : 'The window by cause',
    stacked_bar(cause_parts(rank.breakdown_s, whole, `${p}.breakdown_s`, titles), { label: 'a step by cause' })) : null;
};

const idle_of_rank = (rank, p) => {
  const [idle, late, pauses] = [rank.idle_s, rank.late_host_s, rank.pauses_s];
  const collecting = pauses.garbage_collection + pauses.recompilation - pauses.in_operators;
  const rows = [
    ['late launch: the loader', late.loader, colours.batch_wait, 'late_host_s.loader'],
    ['late launch: a synchronising call', late.sync, colours.cpu_work, 'late_host_s.sync'],
    ['late launch: garbage collection', pauses.garbage_collection, colours.garbage_collection,
      'pauses_s.garbage_collection'],
    ['late launch: recompilation', pauses.recompilation, colours.recompilation, 'pauses_s.recompilation'],
    ['late launch: operators', late.operator - pauses.in_operators, colours.cpu_work,
      pauses.in_operators === 0 ? 'late_host_s.operator' : null],
    ['late launch: calls of the runtime', late.runtime, colours.cpu_work, 'late_host_s.runtime'],
    ['late launch: Python between them', late.python - collecting, colours.cpu_work,
      collecting === 0 ? 'late_host_s.python' : null],
    ['launch latency: from the call to the kernel', idle.launch_latency, colours.launch_gap, 'idle_s.launch_latency'],
    ['queued: launched before, waits in its stream', idle.queued, colours.sync_wait, 'idle_s.queued'],
    ['gaps below 2 us', idle.tiny, colours.launch_gap, 'idle_s.tiny'],
    ['not known: the launch was not recorded', idle.unmatched, colours.stall, 'idle_s.unmatched'],
    ['behind the last activity', idle.tail, colours.pipeline_bubble, 'idle_s.tail'],
  ].filter(([, value]) => value >= small_share * rank.window_s).sort((a, b) => b[1] - a[1]);
  if (rows.length === 0) return null;
  return section(`Why the ${rank.is_of_core ? 'core' : 'GPU'} is idle`, bars(rows.map(([name, value, colour, key]) => ({
    name, value, colour, key: key ? `${p}.${key}` : undefined, text: share_text(value, rank.window_s),
  })), { label: 'idle time by cause' }),
  rank.idle_not_known_s.graph_replays + rank.idle_not_known_s.long_waits > 0 ? element('p', { class: 'hint' },
    'Of it perhaps busy: in replays of CUDA graphs ',
    time_of(`${p}.idle_not_known_s.graph_replays`, rank.idle_not_known_s.graph_replays), ', in long waits ',
    time_of(`${p}.idle_not_known_s.long_waits`, rank.idle_not_known_s.long_waits), '.') : null);
};

const states = { sync: 'synchronises', loader: 'loader', runtime: 'runtime', operator: 'operator', python: 'Python' };

const sites_of_rank = (rank, p) => (rank.late_sites.length === 0 ? null : section('Where the host is late', table([
  { title: 'what', text: ({ s }) => states[s.state], order: ({ s }) => states[s.state] },
  { title: 'in', order: ({ s }) => s.operator ?? '',
    text: ({ s }) => [s.operator, s.call, s.operator || s.call ? null : s.annotation].filter(Boolean).join(', ')
      || (s.state === 'loader' ? '' : 'between operators') },
  { title: 'line', text: ({ s }) => s.line ?? '', order: ({ s }) => s.line },
  { title: 'times', text: ({ s }) => words.whole(s.times), order: ({ s }) => s.times },
  { title: 'idle', order: ({ s }) => s.seconds,
    text: ({ s, i }) => time_of(`${p}.late_sites.${i}.seconds`, s.seconds) },
  { title: 'of all', text: ({ s }) => words.percent(s.seconds / rank.window_s), order: ({ s }) => s.seconds },
], rank.late_sites.map((s, i) => ({ s, i })), { id: 'sites' })));

// A table of rows of a list: `columns` are [title, name of the key].
const numbers_table = (list, place, first, columns, id) => table([
  ...first, ...columns.filter(([, name]) => list.some((row) => row[name] !== null && row[name] !== undefined)).map(
    ([title, name]) => ({
      title, order: ({ row }) => row[name],
      text: ({ row, i }) => (row[name] === null || row[name] === undefined ? '-'
        : value_of(`${place}.${i}.${name}`, row[name], words.of_key(name, row[name]))),
    })),
], list.map((row, i) => ({ row, i })), { id });

const name_column = (title, name) => ({ title, text: ({ row }) => row[name] ?? '', order: ({ row }) => row[name] });

const steps_of_rank = (rank, p) => (rank.steps.length === 0 ? null : section('Steps', numbers_table(
  rank.steps, `${p}.steps`, [name_column('step', 'name')], [['takes', 'seconds'], ['busy', 'busy_s'],
    ['computes', 'compute_s'], ['communicates', 'communication_s'], ['exposed', 'exposed_communication_s'],
    ['launched', 'launched_busy_s']], 'steps')));

const kernels_of_rank = (rank, p) => {
  if (rank.kinds.length === 0) return null;
  const one = (list, name) => numbers_table(list, `${p}.${name}`,
    [name_column(name === 'kernels' ? 'kernel' : 'kind', name === 'kernels' ? 'name' : 'kind'),
      ...(name === 'kernels' ? [name_column('kind', 'kind')] : [])], [['calls', 'calls'], ['time', 'seconds']], name);
  return section('Kernels', bars(rank.kinds.map((kind, i) => ({
    name: kind.kind, value: kind.seconds, colour: series[0], key: `${p}.kinds.${i}.seconds`,
    text: `${share_text(kind.seconds, rank.window_s)}, ${words.whole(kind.calls)} x`,
  })), { label: 'kernels by kind' }),
  element('p', { class: 'hint' }, 'Sums: kernels that run beside each other count each.'),
  element('h3', {}, 'Those that take most'), one(rank.kernels, 'kernels'));
};

const products_of_rank = (rank, p) => {
  const all = rank.products;
  if (all.sizes.length === 0) return null;
  const rate = (flops, seconds) => (seconds > 0 ? `${words.digits(1e-12 * flops / seconds)} T` : '-');
  const sizes = all.sizes.map((row, i) => ({ row, i }));
  return section('Products by recorded size', table([
    { title: 'size', text: ({ row }) => row.size, order: ({ row }) => row.size },
    { title: 'type', text: ({ row }) => row.precision, order: ({ row }) => row.precision },
    { title: 'calls', text: ({ row }) => words.whole(row.calls), order: ({ row }) => row.calls },
    { title: 'time', order: ({ row }) => row.seconds,
      text: ({ row, i }) => time_of(`${p}.products.sizes.${i}.seconds`, row.seconds) },
    { title: 'FLOP/s', text: ({ row }) => rate(row.flops, row.seconds), order: ({ row }) => row.flops / row.seconds },
    { title: 'attainable', text: ({ row }) => (row.attainable_s === null ? '-' : rate(row.flops, row.attainable_s)),
      order: ({ row }) => (row.attainable_s === null ? null : row.flops / row.attainable_s) },
  ], sizes, { id: 'products' }),
  element('p', {}, 'All come to ', value_of(`${p}.products.flops`, all.flops, words.count(all.flops)), 'FLOP in ',
    time_of(`${p}.products.seconds`, all.seconds),
    `, ${rate(all.flops, all.seconds)}FLOP/s; over the whole window ${rate(all.flops, rank.window_s)}FLOP/s.`,
    all.seconds_of_unknown_size > 0 ? [' Kernels that multiply and whose size is not known: ',
      time_of(`${p}.products.seconds_of_unknown_size`, all.seconds_of_unknown_size),
      '.'] : null),
  element('p', { class: 'hint' }, all.profile === null ? 'No GPU profile is of this GPU.'
    : `Attainable is what the profile of ${all.profile} has for the size.`));
};

const copies_of_rank = (rank, p) => (rank.copies.length === 0 ? null : section('Copies', table([
  { title: 'copy', text: ({ row }) => row.name, order: ({ row }) => row.name },
  { title: 'calls', text: ({ row }) => words.whole(row.calls), order: ({ row }) => row.calls },
  { title: 'time', order: ({ row }) => row.seconds,
    text: ({ row, i }) => time_of(`${p}.copies.${i}.seconds`, row.seconds) },
  { title: 'bytes', order: ({ row }) => row.bytes, text: ({ row, i }) => (row.bytes === null ? '-'
    : value_of(`${p}.copies.${i}.bytes`, row.bytes, words.bytes(row.bytes))) },
  { title: 'rate', order: ({ row }) => (row.bytes === null ? null : row.bytes / row.seconds),
    text: ({ row }) => (row.bytes === null ? '-' : `${words.count(row.bytes / row.seconds)}B/s`) },
], rank.copies.map((row, i) => ({ row, i })))));

const gaps_of_rank = (rank, p) => (rank.longest_late_gaps.length === 0 ? null
  : section('Longest gaps in which the host was late', numbers_table(rank.longest_late_gaps, `${p}.longest_late_gaps`,
    [name_column('before', 'before')], [['at', 'at_s'], ['takes', 'seconds'], ['late', 'late_s']])));

// Ranks beside each other, those that wait least first.
const ranks_of_recording = (r, titles) => {
  if (r.ranks.length < 2) return null;
  const ranks = r.ranks.map((rank, i) => ({ rank, i, whole: d3.sum(Object.values(rank.breakdown_s)) }))
    .sort((a, b) => a.rank.breakdown_s.sync_wait - b.rank.breakdown_s.sync_wait);
  const causes = Object.keys(r.ranks[0].breakdown_s)
    .filter((cause) => r.ranks.some((rank) => rank.breakdown_s[cause] > 0));
  const most = d3.max(ranks, ({ whole }) => whole);
  const title = (cause) => titles.get(cause) ?? words.key(cause);
  return section('Ranks side by side', element('div', { class: 'bars' }, ranks.map(({ rank, whole }) =>
    element('div', { class: 'bar' }, element('div', { class: 'name' }, rank_name(rank)),
      element('div', { class: 'track', style: 'display:flex' }, causes.map((cause) => element('div', {
        style: `width:${100 * rank.breakdown_s[cause] / most}%;background:${colour_of(cause)}`,
        title: `${title(cause)}: ${words.seconds(rank.breakdown_s[cause])}`,
      }))),
      element('div', { class: 'text' }, words.seconds(whole))))),
  legend(causes.map((cause) => ({ name: title(cause), colour: colour_of(cause) }))),
  element('details', {}, element('summary', {}, 'as numbers, of a mean step'), table([
    { title: 'rank', text: ({ rank }) => rank_name(rank), order: ({ rank }) => rank.rank ?? 0 },
    ...causes.map((cause) => ({
      title: title(cause), order: ({ rank }) => rank.breakdown_s[cause],
      text: ({ rank, i }) => time_of(`ranks.${i}.breakdown_s.${cause}`, rank.breakdown_s[cause]),
    })),
    { title: 'its clock was shifted by', order: ({ rank }) => rank.clock_shift_s,
      text: ({ rank }) => (rank.clock_shift_s === null ? '-' : words.seconds(rank.clock_shift_s)) },
  ], ranks)),
  r.clocks.binding_collectives > 0 ? element('p', { class: 'hint' },
    `Clocks are aligned on the ends of ${words.whole(r.clocks.binding_collectives)} collectives, to `,
    time_of('clocks.residual_s', r.clocks.residual_s), '.') : null);
};

const late_ranks_of_recording = (r) => (r.stragglers.length === 0 ? null : section('Late ranks',
  element('ul', {}, r.stragglers.map((late, i) => element('li', {},
    element('strong', {}, `rank ${late.ranks.join(', ')} `),
    'comes last at ', value_of(`stragglers.${i}.last_at`, late.last_at, words.whole(late.last_at)),
    ` of ${words.whole(late.of_collectives)} collectives: a step, the others wait `,
    time_of(`stragglers.${i}.late_s`, late.late_s), ` for it; ${late.why}.`)))));

const collectives_of_recording = (r) => (r.collectives.length === 0 ? null : section('Collectives, a mean rank', table([
  { title: 'operation', order: ({ c }) => c.operation,
    text: ({ c }) =>
      c.operation + (c.group_size === null ? '' : ` of ${c.group_size}`) + (c.group ? `, ${c.group}` : '') },
  { title: 'along', text: ({ c }) => c.axis, order: ({ c }) => c.axis },
  { title: 'calls', order: ({ c }) => c.calls,
    text: ({ c, i }) => value_of(`collectives.${i}.calls`, c.calls, words.count(c.calls)) },
  { title: 'size', text: ({ c }) => (c.bytes === null ? '-' : words.bytes(c.bytes / c.calls)),
    order: ({ c }) => (c.bytes === null ? null : c.bytes / c.calls) },
  ...[['time', 'seconds'], ['exposed', 'exposed_s'], ['waits', 'waiting_s']].map(([title, name]) => ({
    title, order: ({ c }) => c[name],
    text: ({ c, i }) => (c[name] === null ? '-' : time_of(`collectives.${i}.${name}`, c[name])),
  })),
  { title: 'bus rate', order: ({ c }) => c.bus_bytes_per_s,
    text: ({ c, i }) => (c.bus_bytes_per_s === null ? '-' : element('span', {}, c.is_lower_bound ? '>= ' : '',
      value_of(`collectives.${i}.bus_bytes_per_s`, c.bus_bytes_per_s, words.count(c.bus_bytes_per_s)), 'B/s')) },
], r.collectives.map((c, i) => ({ c, i })), { id: 'collectives' })));

const what_if_of_recording = (r) => {
  if (!r.replay) return null;
  const worth = r.what_if.map((change, i) => ({ ...change, i }))
    .filter((change) => change.gain_s >= 0.005 * change.before_s);
  if (r.replay.is_explained && worth.length === 0) return null;
  return section('What each change would give', r.replay.is_explained ? bars(worth.map((change) => ({
    name: change.sentence, value: change.step_time_s, mark: change.before_s, colour: series[0],
    text: [time_of(`what_if.${change.i}.step_time_s`, change.step_time_s),
      `, ${words.change(-change.gain_s / change.before_s)}`],
  })), { label: 'a step with each change', below: true }) : null,
  element('p', { class: 'hint' }, r.replay.is_explained
    ? `Bars: a step with the change. The line: a step of ${words.seconds(worth[0].before_s)} as it is, in a long run. `
      + `${r.replay.remark[0].toUpperCase()}${r.replay.remark.slice(1)}.` : r.replay.remark));
};

// What one rank shows by itself; of several the reader chooses.
const rank_details = (r, shown, titles) => {
  const parts = (i) => {
    const [rank, p] = [r.ranks[i], `ranks.${i}`];
    return [window_of_rank(rank, p), idle_of_rank(rank, p), sites_of_rank(rank, p), breakdown_of_rank(rank, p, titles),
      steps_of_rank(rank, p), kernels_of_rank(rank, p), products_of_rank(rank, p), copies_of_rank(rank, p),
      gaps_of_rank(rank, p)].filter(Boolean);
  };
  const box = element('div', {}, ...parts(shown));
  if (r.ranks.length < 2) return [box];
  const choice = element('select', { id: 'rank', onchange: () => box.replaceChildren(...parts(Number(choice.value))) },
    r.ranks.map((rank, i) => element('option', { value: String(i), selected: i === shown }, rank_name(rank))));
  return [element('p', {}, element('label', { for: 'rank' }, 'Below, what one rank shows by itself: '), choice), box];
};

pages.recording = (page, { result: r, causes }) => {
  const titles = titles_of(causes);
  const shown = Math.max(0, r.ranks.findIndex((rank) => rank.rank === r.pace_rank));
  const pace = r.ranks[shown];
  const head = [header_of('explain', { scenario: r.path }, recording_subtitle(r, pace)), recording_verdict(r)];
  const has_window = pace.window_s > 0;
  page.append(...[...head, has_window ? recording_figures(r, pace, `ranks.${shown}`) : null, not_known_of(r.not_known),
    ...(has_window ? [what_if_of_recording(r), ranks_of_recording(r, titles), late_ranks_of_recording(r),
      collectives_of_recording(r), ...rank_details(r, shown, titles)] : []),
    appendix_of({ result: r })].filter(Boolean));
};
