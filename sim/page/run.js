// The page of `stepsim run`: the answer, where the step goes, and what would make it shorter.
'use strict';

const communication_of = (r) => {
  const groups = Object.entries(r.communication).filter(([, group]) => group.busy_s > 0);
  if (groups.length === 0) return null;
  const most = d3.max(groups, ([, group]) => group.busy_s);
  return section(
    'Communication',
    bars(
      groups.map(([name, group]) => ({
        name: words.key(name),
        value: group.exposed_s,
        mark: group.busy_s,
        colour: colour_of(`exposed_${name}`),
        key: `communication.${name}.exposed_s`,
        text: `${words.seconds(group.exposed_s)} of ${words.seconds(group.busy_s)}`,
        title: `${words.bytes(group.bytes)} a step`,
      })),
      { most, label: 'exposed communication by group' },
    ),
    element(
      'p',
      { class: 'hint' },
      'Bars: time a step that GPUs wait for it. Lines: time in which it is in flight. ' +
        `Bytes of a rank and step: ${groups.map(([name, group]) => `${words.key(name)} ${words.bytes(group.bytes)}`).join(', ')}.`,
    ),
  );
};

const limits_of = (r) => {
  if (r.limits.length === 0) return null;
  return section(
    'What would make it shorter',
    bars(
      r.limits
        .map((limit, i) => ({ ...limit, i }))
        .sort((a, b) => a.step_without_s - b.step_without_s)
        .map((limit) => ({
          name: limit.change,
          value: limit.step_without_s,
          mark: r.step_time_s,
          colour: series[0],
          key: `limits.${limit.i}.step_without_s`,
          text: `${words.seconds(limit.step_without_s)}, ${words.change(limit.step_without_s / r.step_time_s - 1)}`,
        })),
      { label: 'the step without each limit' },
    ),
    element(
      'p',
      { class: 'hint' },
      'The step, simulated anew, if one thing took no time; the line is the step as it is. ' +
        '`stepsim explain` tries settings, too.',
    ),
  );
};

// Steps of runs that differ in what is random.
const replicas_of = (r) => {
  if (!r.replicas) return null;
  const time = (name) => value_of(`replicas.${name}`, r.replicas[name], words.seconds(r.replicas[name]));
  return section(
    'Replicas',
    element(
      'p',
      {},
      value_of('replicas.count', r.replicas.count, words.whole(r.replicas.count)),
      ' runs that differ in what is random: mean ',
      time('mean_s'),
      ' ± ',
      time('confidence_95_s'),
      ', standard deviation ',
      time('sigma_s'),
      ', median ',
      time('median_s'),
      ', 95th percentile ',
      time('p95_s'),
      ', from ',
      time('least_s'),
      ' to ',
      time('most_s'),
      '. The rest of the page is of the one in the middle.',
    ),
  );
};

// Every number of a part of the answer that has no picture: its keys as words.
const numbers_of = (title, part, place) => {
  if (!part) return null;
  const rows = [];
  const visit = (value, key, label) => {
    if (value !== null && typeof value === 'object') {
      Object.entries(value).forEach(([name, inner]) => visit(inner, `${key}.${name}`, [...label, words.key(name)]));
    } else if (value !== null) {
      rows.push({ label: label.join(', '), key, name: key.split('.').pop(), value });
    }
  };
  visit(part, place, []);
  return section(
    title,
    table(
      [
        { title: '', text: (row) => row.label },
        {
          title: '',
          text: (row) =>
            typeof row.value === 'number'
              ? value_of(row.key, row.value, words.of_key(row.name, row.value))
              : String(row.value),
        },
      ],
      rows,
    ),
  );
};

const outside_of = (r) =>
  r.outside_calibrated_range.length === 0
    ? null
    : section(
        'Outside of what was measured',
        list_of(
          r.outside_calibrated_range.map(
            (side) => `${side.side}: ${words.seconds(side.time_s)}, ${words.percent(side.fraction)} of the step`,
          ),
        ),
      );

// The scenario with every default, as the program takes it.
const asked_of = (r) =>
  r.provenance?.scenario
    ? section(
        'What was asked',
        element(
          'details',
          {},
          element('summary', {}, 'the scenario, with every default'),
          element('pre', {}, r.provenance.scenario),
        ),
      )
    : null;

const expectations_of = (r) =>
  r.expect.length === 0
    ? null
    : section(
        'Expectations',
        list_of(r.expect.map((e) => `${e.holds ? 'holds' : 'does not hold'}: ${e.text} (${e.actual})`)),
      );

const assumed_of = (r) =>
  r.assumed.length === 0
    ? null
    : section(
        'Assumed, for nobody stated it',
        table(
          [
            { title: 'key', text: (a) => element('code', {}, a.key), order: (a) => a.key },
            { title: 'value', text: (a) => a.value, order: (a) => a.value },
          ],
          r.assumed,
        ),
      );

const appendix_of = (documents_) =>
  section(
    'All numbers',
    ...Object.entries(documents_)
      .filter(([name]) => name !== 'timeline')
      .map(([name, document_]) => {
        const details = element('details', { id: `all-${name}` }, element('summary', {}, `${name}.json, key by key`));
        details.addEventListener('toggle', () => {
          if (details.children.length === 1) details.append(all_numbers(document_));
        });
        return details;
      }),
  );

// What was asked, in a line.
const subtitle_of = (r) =>
  [
    r.model,
    `${words.whole(r.gpus)} x ${r.gpu} on ${words.whole(r.nodes)} node${r.nodes === 1 ? '' : 's'}`,
    r.split,
    r.attention ? `attention ${r.attention}` : null,
  ]
    .filter(Boolean)
    .join(' · ');

// What each rank of the timeline waits for: a row a rank, a column a cause that some wait a thousandth of the step for.
const waits_by_rank = (timeline) => {
  const rows = timeline.ranks.map((rank) => {
    const seconds = new Map();
    rank.waits.cause.forEach((cause, i) => {
      seconds.set(cause, (seconds.get(cause) ?? 0) + rank.waits.duration_ns[i] / 1e9);
    });
    return { rank, seconds, all: d3.sum([...seconds.values()]) };
  });
  const least = timeline.step_time_ns / 1e12;
  const causes = timeline.causes.filter((_, c) => rows.some((row) => (row.seconds.get(c) ?? 0) >= least));
  if (rows.length < 2 || causes.length === 0) return null;
  const column = (cause) => {
    const number = timeline.causes.indexOf(cause);
    return {
      title: cause.title,
      order: (row) => row.seconds.get(number) ?? 0,
      text: (row) => ((row.seconds.get(number) ?? 0) >= least ? words.seconds(row.seconds.get(number)) : ''),
    };
  };
  const step = timeline.step_time_ns / 1e9;
  return section(
    'Who waits, and for what',
    table(
      [
        { title: 'stage', order: (row) => row.rank.stage, text: (row) => String(row.rank.stage) },
        { title: 'rank', order: (row) => row.rank.rank, text: (row) => String(row.rank.rank) },
        { title: 'waits', order: (row) => row.all, text: (row) => words.seconds(row.all) },
        { title: 'of the step', order: (row) => row.all, text: (row) => words.percent(row.all / step) },
        ...causes.map(column),
      ],
      rows,
      { id: 'waits' },
    ),
    element('p', { class: 'hint' }, 'Of the step that the timeline shows.'),
  );
};

const section_of_timeline = (timeline) =>
  section(timeline.ranks.length > 1 ? 'The step across stages' : 'The step', timeline_of(timeline));

pages.run = (page, { result: r, timeline }) => {
  const titles = titles_of(timeline.causes);
  page.append(
    ...[
      header_of('run', r, subtitle_of(r)),
      verdict_of(r),
      figures_of(r),
      breakdown_of(r, titles),
      section_of_timeline(timeline),
      waits_by_rank(timeline),
      limits_of(r),
      communication_of(r),
      memory_of(r, timeline),
      replicas_of(r),
      numbers_of('Checkpoints', r.checkpoint, 'checkpoint'),
      numbers_of('The long run', r.long_run, 'long_run'),
      error_of(r),
      outside_of(r),
      expectations_of(r),
      assumed_of(r),
      asked_of(r),
      appendix_of({ result: r }),
    ].filter(Boolean),
  );
};
