// The page of `stepsim search`: strategies of one size, of several sizes, or of several clusters.
'use strict';

const strategy_words = (s) =>
  [
    ...['tensor', 'context', 'expert', 'pipeline', 'data']
      .filter((axis) => s[axis] > 1)
      .map((axis) => `${axis} ${s[axis]}`),
    s.pipeline > 1 ? `${s.schedule}${s.chunks > 1 ? ` of ${s.chunks} chunks` : ''}` : null,
    `micro-batch ${s.micro_batch}`,
    s.sequence ? 'sequence' : null,
    s.recompute === 'none' ? 'no recompute' : `recompute ${s.recompute}`,
    s.recompute_layers ? `of ${s.recompute_layers} layer${s.recompute_layers === 1 ? '' : 's'} a chunk` : null,
    s.data > 1 ? s.sharding : null,
    s.bucket_bytes ? `buckets of ${words.bytes(s.bucket_bytes)}` : null,
  ]
    .filter(Boolean)
    .join(', ');

const strategies_of = (search, place) => {
  const at = (i, key) => `${place}strategies.${i}.${key}`;
  const rows = search.strategies.map((each, i) => ({ ...each, i }));
  const first = rows[0]?.step_time_s;
  const chart =
    rows.length > 1
      ? points_chart(
          rows.map((row) => ({
            x: row.peak_bytes / 2 ** 30,
            y: row.step_time_s,
            colour: row.is_own ? series[3] : series[0],
            key: row.rank,
            lines: [
              `${row.rank}: ${strategy_words(row.strategy)}`,
              `${words.seconds(row.step_time_s)}, ${words.bytes(row.peak_bytes)}`,
            ],
          })),
          {
            label: 'step time against memory',
            x_title: 'memory of a GPU, GiB',
            y_title: 'step time',
            x_write: (value) => words.digits(value),
            y_write: words.seconds,
            height: 300,
          },
        )
      : null;
  return element(
    'div',
    {},
    chart,
    rows.length > 1
      ? element(
          'p',
          { class: 'hint' },
          `A point is a strategy that was simulated and listed${rows.some((row) => row.is_own) ? '; orange is that of the scenario' : ''}. ` +
            'Of those within 1 % of the fastest the first leaves the most memory.',
        )
      : null,
    table(
      [
        { title: '', order: (row) => row.rank, text: (row) => String(row.rank) },
        {
          title: 'strategy',
          order: (row) => strategy_words(row.strategy),
          text: (row) => strategy_words(row.strategy) + (row.is_own ? ' (its own)' : ''),
        },
        {
          title: 'step',
          order: (row) => row.step_time_s,
          text: (row) => value_of(at(row.i, 'step_time_s'), row.step_time_s, words.seconds(row.step_time_s)),
        },
        {
          title: 'from the first',
          order: (row) => row.step_time_s,
          text: (row) => (row.i === 0 ? '' : words.change(row.step_time_s / first - 1)),
        },
        {
          title: 'MFU',
          order: (row) => row.mfu,
          text: (row) => value_of(at(row.i, 'mfu'), row.mfu, words.percent(row.mfu)),
        },
        {
          title: 'memory',
          order: (row) => row.peak_bytes,
          text: (row) => value_of(at(row.i, 'peak_bytes'), row.peak_bytes, words.bytes(row.peak_bytes)),
        },
        { title: 'command', text: (row) => to_copy(row.command) },
      ],
      rows,
    ),
  );
};

const counts_of = (search) => {
  const c = search.counts;
  return element(
    'p',
    {},
    `${words.whole(c.considered)} strategies: ${words.whole(c.refused)} refused, ${words.whole(c.too_large + c.no_memory)} too large, ` +
      `${words.whole(c.pruned)} ruled out by bounds, ${words.whole(c.simulated)} simulated, ${words.whole(c.left)} left. ` +
      (search.interrupted ? 'Interrupted. ' : '') +
      (search.proven
        ? 'Nothing better is left.'
        : search.least_bound_left_s
          ? `Not proven: what is left may be as fast as ${words.seconds(search.least_bound_left_s)}.`
          : ''),
  );
};

const best_of = (search, place = '') => {
  const best = search.strategies[0];
  if (!best)
    return element('div', { class: 'verdict' }, element('p', { class: 'sentence' }, 'No strategy fits in memory.'));
  return element(
    'div',
    { class: 'verdict' },
    element(
      'p',
      { class: 'sentence' },
      `${strategy_words(best.strategy)}: `,
      value_of(`${place}strategies.0.step_time_s`, best.step_time_s, words.seconds(best.step_time_s)),
      ' a step, MFU ',
      value_of(`${place}strategies.0.mfu`, best.mfu, words.percent(best.mfu)),
      search.own ? `, ${words.change(best.step_time_s / search.own.step_time_s - 1)} from the scenario's own` : '',
      '.',
    ),
    element('p', {}, to_copy(best.command)),
  );
};

const frameworks_of = (search) =>
  search.frameworks.length === 0
    ? null
    : section(
        'Frameworks that can run it',
        table(
          [
            { title: 'framework', text: (row) => row.name, order: (row) => row.name },
            {
              title: 'lacks',
              text: (row) => (row.lacks.length === 0 ? 'nothing' : row.lacks.join('; ')),
              order: (row) => row.lacks.length,
            },
          ],
          search.frameworks,
        ),
      );

const training_of = (search) =>
  search.training_s === null
    ? null
    : element(
        'div',
        { class: 'figures' },
        figure('training', 'training_s', search.training_s, words.seconds(search.training_s)),
        search.goodput === null ? null : figure('goodput', 'goodput', search.goodput, words.percent(search.goodput)),
        search.energy_kwh === null
          ? null
          : figure('energy', 'energy_kwh', search.energy_kwh, `${words.count(search.energy_kwh)} kWh`),
      );

pages.search = (page, { result: r }) => {
  page.append(
    ...[
      header_of('search', r, `${r.model} · ${words.whole(r.gpus)} x ${r.gpu}`),
      best_of(r),
      training_of(r),
      section('Strategies', counts_of(r), strategies_of(r, '')),
      frameworks_of(r),
    ].filter(Boolean),
  );
};

// Sizes or clusters, each with its search: cost against days, a table, and what each search found.
const searches_page = (page, r, { command, entries, list, name, title, subtitle, verdict }) => {
  const searched = entries.filter((each) => each.search);
  const has_time = searched.every((each) => each.search.training_s !== null);
  const best_step = (each) => each.search?.strategies[0]?.step_time_s ?? null;
  const time = (each) => (has_time ? (each.search?.training_s ?? null) : best_step(each));
  const cost = (each) => each.dollars ?? each.gpu_hours ?? null;
  const shown = entries.filter((each) => time(each) !== null);
  page.append(header_of(command, r, subtitle), verdict);
  const by_cost = shown.length > 0 && shown.every((each) => cost(each) !== null);
  if (shown.length > 1) {
    const x_of = (each) => (by_cost ? cost(each) : (each.gpus ?? each.search.gpus));
    const points = shown.map((each) => ({
      x: x_of(each),
      y: time(each),
      colour: each.on_front === false ? series[7] : series[0],
      key: name(each),
      lines: [
        name(each),
        strategy_words(each.search.strategies[0].strategy),
        words.seconds(time(each)),
        by_cost ? (each.dollars ? words.dollars(each.dollars) : `${words.count(each.gpu_hours)} GPU-hours`) : '',
      ].filter(Boolean),
    }));
    const front = shown.filter((each) => each.on_front).sort((a, b) => x_of(a) - x_of(b));
    page.append(
      section(
        by_cost ? 'Time against cost' : 'Time against size',
        points_chart(points, {
          label: `${title}: time against cost`,
          x_title: by_cost ? (shown[0].dollars ? 'dollars' : 'GPU-hours') : 'GPUs',
          y_title: has_time ? 'training' : 'step time',
          x_write: by_cost && shown[0].dollars ? words.dollars : words.count,
          y_write: words.seconds,
          is_log_x: spans_decades(points.map((point) => point.x)),
          is_log_y: spans_decades(points.map((point) => point.y)),
          lines:
            front.length > 1
              ? [{ points: (x, y) => front.map((each) => [x(x_of(each)), y(time(each))]), colour: series[0] }]
              : [],
        }),
        element(
          'p',
          { class: 'hint' },
          'Lower and further left is better' +
            (front.length > 1 ? '; the line joins what nothing else beats in both.' : '.'),
        ),
      ),
    );
  }
  const at = (each, key) => `${list}.${entries.indexOf(each)}.${key}`;
  const number = (heading, key, write) => ({
    title: heading,
    order: (each) => each[key] ?? null,
    text: (each) =>
      each[key] === null || each[key] === undefined ? '' : value_of(at(each, key), each[key], write(each[key])),
  });
  const of_search = (heading, key, write) => ({
    title: heading,
    order: (each) => each.search?.strategies[0]?.[key] ?? null,
    text: (each) => {
      const value = each.search?.strategies[0]?.[key];
      return value === undefined ? '' : value_of(at(each, `search.strategies.0.${key}`), value, write(value));
    },
  });
  page.append(
    section(
      title,
      table(
        [
          { title: '', order: (each) => each.gpus ?? name(each), text: name },
          of_search('step', 'step_time_s', words.seconds),
          of_search('MFU', 'mfu', words.percent),
          of_search('memory', 'peak_bytes', words.bytes),
          ...(has_time
            ? [
                {
                  title: 'training',
                  order: time,
                  text: (each) =>
                    each.search
                      ? value_of(
                          at(each, 'search.training_s'),
                          each.search.training_s,
                          words.seconds(each.search.training_s),
                        )
                      : '',
                },
              ]
            : []),
          ...(entries.some((each) => each.gpu_hours !== null) ? [number('GPU-hours', 'gpu_hours', words.count)] : []),
          ...(entries.some((each) => each.dollars !== null) ? [number('dollars', 'dollars', words.dollars)] : []),
          {
            title: 'best strategy',
            text: (each) =>
              each.search?.strategies[0]
                ? strategy_words(each.search.strategies[0].strategy)
                : (each.reason ?? 'none fits'),
          },
        ],
        entries,
        { id: 'entries' },
      ),
    ),
  );
  entries.forEach((each, i) => {
    if (!each.search) return;
    const details = element('details', {}, element('summary', {}, name(each)));
    details.addEventListener('toggle', () => {
      if (details.children.length === 1)
        details.append(counts_of(each.search), strategies_of(each.search, `${list}.${i}.search.`));
    });
    page.append(details);
  });
};

pages.capacity = (page, { result: r }) => {
  const best = r.sizes.find((size) => size.gpus === r.best_gpus);
  const title = words.key(r.objective);
  const meets = r.deadline_s === null ? '' : ` The deadline is ${words.seconds(r.deadline_s)}.`;
  searches_page(page, r, {
    command: 'search',
    entries: r.sizes,
    list: 'sizes',
    name: (size) => `${words.whole(size.gpus)} GPUs`,
    title: 'Sizes',
    subtitle: `${r.model} on ${r.gpu}`,
    verdict: element(
      'div',
      { class: 'verdict' },
      best
        ? element(
            'p',
            { class: 'sentence' },
            `${words.whole(best.gpus)} GPUs are best by ${title}: `,
            strategy_words(best.search.strategies[0].strategy),
            ', ',
            value_of(
              `sizes.${r.sizes.indexOf(best)}.search.strategies.0.step_time_s`,
              best.search.strategies[0].step_time_s,
              words.seconds(best.search.strategies[0].step_time_s),
            ),
            ' a step.',
            meets,
          )
        : element(
            'p',
            { class: 'sentence' },
            r.sizes.some((size) => !size.search.proven)
              ? `No size is known to be good; some searches did not come to their end.${meets}`
              : `No size is good.${meets}`,
          ),
      best ? element('p', {}, to_copy(best.search.strategies[0].command)) : null,
    ),
  });
};

pages.clusters = (page, { result: r }) => {
  const ranked = r.clusters.map((each, i) => ({ ...each, i, on_front: undefined }));
  const fitting = ranked.filter((each) => each.search?.strategies?.length > 0);
  const fastest = fitting.sort((a, b) => a.search.strategies[0].step_time_s - b.search.strategies[0].step_time_s)[0];
  searches_page(page, r, {
    command: 'search',
    entries: r.clusters,
    list: 'clusters',
    name: (each) => each.cluster,
    title: 'Clusters',
    subtitle: `${r.model} on ${words.whole(r.gpus)} GPUs`,
    verdict: element(
      'div',
      { class: 'verdict' },
      fastest
        ? element(
            'p',
            { class: 'sentence' },
            `${fastest.cluster} is the fastest: `,
            value_of(
              `clusters.${fastest.i}.search.strategies.0.step_time_s`,
              fastest.search.strategies[0].step_time_s,
              words.seconds(fastest.search.strategies[0].step_time_s),
            ),
            ' a step.',
          )
        : element('p', { class: 'sentence' }, 'It fits on no cluster.'),
    ),
  });
};
