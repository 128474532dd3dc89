// The page of `stepsim explain` of recordings: where recorded steps go, why GPUs are idle, and who is late.
'use strict';

const not_known_of = (sentences) => (sentences.length === 0 ? null : section('Not known', list_of(sentences)));

const share_text = (value, whole) => `${words.seconds(value)}, ${words.percent(whole > 0 ? value / whole : 0)}`;

const rank_name = (rank) => (rank.rank === null ? rank.file : `rank ${rank.rank}`);

const recording_subtitle = (r, pace) => {
  const several = r.ranks.length > 1;
  const who = [
    pace.device ?? 'a GPU that is not named',
    several ? `${r.ranks.length} ranks` : pace.rank === null ? null : `rank ${pace.rank}`,
  ]
    .filter(Boolean)
    .join(', ');
  const of_world = r.world_size !== null && (several || pace.rank !== null) ? ` of ${words.whole(r.world_size)}` : '';
  const steps = pace.steps.length === 0 ? 'no steps are marked' : counted(pace.steps.length, 'step');
  return [
    who + of_world,
    `recorded by ${r.format}`,
    r.backend,
    `${steps}, activities: ${words.whole(pace.activities)} in ${words.seconds(pace.window_s)}` +
      (several ? ` on ${rank_name(pace)}, which works longest` : ''),
  ]
    .filter(Boolean)
    .join(' · ');
};

const recording_verdict = (r) => {
  const box = verdict_of(r);
  if (r.verdict.gain) box.append(element('p', {}, `Gain: ${r.verdict.gain}.`));
  return box;
};

const recording_figures = (r, pace, p) =>
  element(
    'div',
    { class: 'figures' },
    r.step_time_s === null ? null : figure('step', 'step_time_s', r.step_time_s, words.seconds(r.step_time_s)),
    figure(
      pace.is_of_core ? 'core busy' : 'GPU busy',
      `${p}.busy_s`,
      pace.busy_s,
      words.seconds(pace.busy_s),
      `${words.percent(pace.busy_s / pace.window_s)} of ${words.seconds(pace.window_s)}`,
    ),
    figure(
      'computing',
      `${p}.compute_s`,
      pace.compute_s,
      words.seconds(pace.compute_s),
      words.percent(pace.compute_s / pace.window_s),
    ),
    figure(
      'communication',
      `${p}.communication_s`,
      pace.communication_s,
      words.seconds(pace.communication_s),
      `${words.seconds(pace.communication_and_compute_s)} beside computation`,
    ),
    pace.copies_s > 0 ? figure('copies', `${p}.copies_s`, pace.copies_s, words.seconds(pace.copies_s)) : null,
    pace.products.hfu === null
      ? null
      : figure(
          'HFU',
          `${p}.products.hfu`,
          pace.products.hfu,
          words.percent(pace.products.hfu),
          `of the peak of ${pace.products.profile}`,
        ),
    pace.memory
      ? figure(
          'tensors at most',
          `${p}.memory.allocated_bytes`,
          pace.memory.allocated_bytes,
          words.bytes(pace.memory.allocated_bytes),
          `${words.bytes(pace.memory.reserved_bytes)} reserved`,
        )
      : null,
  );

// Ranks beside each other, those that wait least first.
const ranks_of_recording = (r, titles) => {
  if (r.ranks.length < 2) return null;
  const ranks = r.ranks
    .map((rank, i) => ({ rank, i, whole: d3.sum(Object.values(rank.breakdown_s)) }))
    .sort((a, b) => a.rank.breakdown_s.sync_wait - b.rank.breakdown_s.sync_wait);
  const causes = Object.keys(r.ranks[0].breakdown_s).filter((cause) =>
    r.ranks.some((rank) => rank.breakdown_s[cause] > 0),
  );
  const most = d3.max(ranks, ({ whole }) => whole);
  const title = (cause) => titles.get(cause) ?? words.key(cause);
  return section(
    'Ranks side by side',
    element(
      'div',
      { class: 'bars' },
      ranks.map(({ rank, whole }) =>
        element(
          'div',
          { class: 'bar' },
          element('div', { class: 'name' }, rank_name(rank)),
          element(
            'div',
            { class: 'track', style: 'display:flex' },
            causes.map((cause) =>
              element('div', {
                style: `width:${(100 * rank.breakdown_s[cause]) / most}%;background:${colour_of(cause)}`,
                title: `${title(cause)}: ${words.seconds(rank.breakdown_s[cause])}`,
              }),
            ),
          ),
          element('div', { class: 'text' }, words.seconds(whole)),
        ),
      ),
    ),
    legend(causes.map((cause) => ({ name: title(cause), colour: colour_of(cause) }))),
    element(
      'details',
      {},
      element('summary', {}, 'as numbers, of a mean step'),
      table(
        [
          { title: 'rank', text: ({ rank }) => rank_name(rank), order: ({ rank }) => rank.rank ?? 0 },
          ...causes.map((cause) => ({
            title: title(cause),
            order: ({ rank }) => rank.breakdown_s[cause],
            text: ({ rank, i }) => time_of(`ranks.${i}.breakdown_s.${cause}`, rank.breakdown_s[cause]),
          })),
          {
            title: 'its clock was shifted by',
            order: ({ rank }) => rank.clock_shift_s,
            text: ({ rank }) => (rank.clock_shift_s === null ? '-' : words.seconds(rank.clock_shift_s)),
          },
        ],
        ranks,
      ),
    ),
    r.clocks.binding_collectives > 0
      ? element(
          'p',
          { class: 'hint' },
          `Clocks are aligned on the ends of ${words.whole(r.clocks.binding_collectives)} collectives, to `,
          time_of('clocks.residual_s', r.clocks.residual_s),
          '.',
        )
      : null,
  );
};

const late_ranks_of_recording = (r) =>
  r.stragglers.length === 0
    ? null
    : section(
        'Late ranks',
        element(
          'ul',
          {},
          r.stragglers.map((late, i) =>
            element(
              'li',
              {},
              element('strong', {}, `rank ${late.ranks.join(', ')} `),
              'comes last at ',
              value_of(`stragglers.${i}.last_at`, late.last_at, words.whole(late.last_at)),
              ` of ${words.whole(late.of_collectives)} collectives: a step, the others wait `,
              time_of(`stragglers.${i}.late_s`, late.late_s),
              ` for it; ${late.why}.`,
            ),
          ),
        ),
      );

const collectives_of_recording = (r) =>
  r.collectives.length === 0
    ? null
    : section(
        'Collectives, a mean rank',
        table(
          [
            {
              title: 'operation',
              order: ({ c }) => c.operation,
              text: ({ c }) =>
                c.operation + (c.group_size === null ? '' : ` of ${c.group_size}`) + (c.group ? `, ${c.group}` : ''),
            },
            { title: 'along', text: ({ c }) => c.axis, order: ({ c }) => c.axis },
            {
              title: 'calls',
              order: ({ c }) => c.calls,
              text: ({ c, i }) => value_of(`collectives.${i}.calls`, c.calls, words.count(c.calls)),
            },
            {
              title: 'size',
              text: ({ c }) => (c.bytes === null ? '-' : words.bytes(c.bytes / c.calls)),
              order: ({ c }) => (c.bytes === null ? null : c.bytes / c.calls),
            },
            ...[
              ['time', 'seconds'],
              ['exposed', 'exposed_s'],
              ['waits', 'waiting_s'],
            ].map(([title, name]) => ({
              title,
              order: ({ c }) => c[name],
              text: ({ c, i }) => (c[name] === null ? '-' : time_of(`collectives.${i}.${name}`, c[name])),
            })),
            {
              title: 'bus rate',
              order: ({ c }) => c.bus_bytes_per_s,
              text: ({ c, i }) =>
                c.bus_bytes_per_s === null
                  ? '-'
                  : element(
                      'span',
                      {},
                      c.is_lower_bound ? '>= ' : '',
                      value_of(`collectives.${i}.bus_bytes_per_s`, c.bus_bytes_per_s, words.count(c.bus_bytes_per_s)),
                      'B/s',
                    ),
            },
          ],
          r.collectives.map((c, i) => ({ c, i })),
          { id: 'collectives' },
        ),
      );

const what_if_of_recording = (r) => {
  if (!r.replay) return null;
  const worth = r.what_if
    .map((change, i) => ({ ...change, i }))
    .filter((change) => change.gain_s >= 0.005 * change.before_s);
  if (r.replay.is_explained && worth.length === 0) return null;
  return section(
    'What each change would give',
    r.replay.is_explained
      ? bars(
          worth.map((change) => ({
            name: change.sentence,
            value: change.step_time_s,
            mark: change.before_s,
            colour: series[0],
            text: [
              time_of(`what_if.${change.i}.step_time_s`, change.step_time_s),
              `, ${words.change(-change.gain_s / change.before_s)}`,
            ],
          })),
          { label: 'a step with each change', below: true },
        )
      : null,
    element(
      'p',
      { class: 'hint' },
      r.replay.is_explained
        ? `Bars: a step with the change. The line: a step of ${words.seconds(worth[0].before_s)} as it is, in a long run. ` +
            `${r.replay.remark[0].toUpperCase()}${r.replay.remark.slice(1)}.`
        : r.replay.remark,
    ),
  );
};

// What one rank shows by itself; of several the reader chooses.
const rank_details = (r, shown, titles) => {
  const parts = (i) => {
    const [rank, p] = [r.ranks[i], `ranks.${i}`];
    return [
      window_of_rank(rank, p),
      idle_of_rank(rank, p),
      sites_of_rank(rank, p),
      breakdown_of_rank(rank, p, titles),
      steps_of_rank(rank, p),
      kernels_of_rank(rank, p),
      products_of_rank(rank, p),
      copies_of_rank(rank, p),
      gaps_of_rank(rank, p),
    ].filter(Boolean);
  };
  const box = element('div', {}, ...parts(shown));
  if (r.ranks.length < 2) return [box];
  const show = (i) => {
    box.querySelectorAll('section').forEach((each) => sections.delete(each.id));
    box.replaceChildren(...parts(i));
  };
  const choice = element(
    'select',
    { id: 'rank', onchange: () => show(Number(choice.value)) },
    r.ranks.map((rank, i) => element('option', { value: String(i), selected: i === shown }, rank_name(rank))),
  );
  return [element('p', {}, element('label', { for: 'rank' }, 'Below, what one rank shows by itself: '), choice), box];
};

pages.recording = (page, { result: r, causes }) => {
  const titles = titles_of(causes);
  const shown = Math.max(
    0,
    r.ranks.findIndex((rank) => rank.rank === r.pace_rank),
  );
  const pace = r.ranks[shown];
  const head = [header_of('explain', { scenario: r.path }, recording_subtitle(r, pace)), recording_verdict(r)];
  const has_window = pace.window_s > 0;
  page.append(
    ...[
      ...head,
      has_window ? recording_figures(r, pace, `ranks.${shown}`) : null,
      not_known_of(r.not_known),
      ...(has_window
        ? [
            what_if_of_recording(r),
            ranks_of_recording(r, titles),
            late_ranks_of_recording(r),
            collectives_of_recording(r),
            ...rank_details(r, shown, titles),
          ]
        : []),
      appendix_of({ result: r }),
    ].filter(Boolean),
  );
};
