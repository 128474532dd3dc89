// The page of `stepsim explain`: what each change of a step would save, and what its time hangs on.
'use strict';

// A smaller share prints as 0.0 %.
const small_share = 0.0005;

const saved_share = ({ saved_fraction: share }) => (share < 0 ? words.change(share) : words.percent(share));

const step_of_change = (change) =>
  [
    time_of(`changes.${change.i}.step_time_s`, change.step_time_s),
    ', saves ',
    value_of(`changes.${change.i}.saved_fraction`, change.saved_fraction, saved_share(change)),
    change.more_contention_s === null
      ? null
      : [
          ', compute slowed by collectives takes ',
          time_of(`changes.${change.i}.more_contention_s`, change.more_contention_s),
          ' more',
        ],
    change.fits ? null : element('span', { class: 'error' }, ', does not fit'),
  ]
    .flat()
    .filter(Boolean);

const bars_of_changes = (shown, most, colour, label, below) =>
  bars(
    shown.map((change) => ({
      name:
        change.set.length > 0
          ? [element('code', {}, set_words(change.set)), ' ', copy_button(set_words(change.set))]
          : change.change,
      value: change.saved_fraction,
      colour,
      text: step_of_change(change),
    })),
    { most, label, below },
  );

const table_of_changes = (changes) =>
  element(
    'div',
    {},
    table(
      [
        {
          title: 'change',
          text: (c) => (c.set.length > 0 ? element('code', {}, set_words(c.set)) : c.change),
          order: (c) => c.change,
        },
        { title: 'step', text: (c) => words.seconds(c.step_time_s), order: (c) => c.step_time_s },
        {
          title: 'saves',
          order: (c) => c.saved_s,
          text: (c) => value_of(`changes.${c.i}.saved_s`, c.saved_s, signed_seconds(c.saved_s).replace('+', '')),
        },
        { title: 'of the step', text: saved_share, order: (c) => c.saved_fraction },
        {
          title: 'memory of a GPU',
          order: (c) => c.peak_bytes,
          text: (c) => value_of(`changes.${c.i}.peak_bytes`, c.peak_bytes, words.bytes(c.peak_bytes)),
        },
        { title: 'fits', text: (c) => (c.fits ? 'yes' : 'no'), order: (c) => (c.fits ? 'yes' : 'no') },
      ],
      changes,
    ),
  );

const kinds_of_changes = [
  ['limit', 'At most: without one cost altogether', 'Nobody can buy these; they say how much there is to gain.'],
  ['hardware', 'Other hardware', null],
  ['setting', 'Other settings', 'Each is simulated by itself; after the best of them, ask again.'],
];

const in_vain = (rest, shown) =>
  rest === 0
    ? null
    : shown === 0
      ? 'None of them saves anything.'
      : rest === 1
        ? '1 other saves nothing.'
        : `${rest} others save nothing.`;

const changes_of_page = (e) => {
  const all = e.changes.map((change, i) => ({ ...change, i })).sort((a, b) => b.saved_fraction - a.saved_fraction);
  if (all.length === 0) return null;
  const most = d3.max(all, (change) => change.saved_fraction);
  const rescues = (change) => change.kind === 'setting' && change.fits && e.memory && !e.memory.fits;
  const parts = kinds_of_changes.flatMap(([kind, title, hint], k) => {
    const changes = all.filter((change) => change.kind === kind);
    const shown = changes.filter(
      (change) =>
        change.saved_fraction >= small_share ||
        rescues(change) ||
        (kind === 'hardware' && change.saved_fraction <= -small_share),
    );
    if (changes.length === 0) return [];
    const hints = [in_vain(changes.length - shown.length, shown.length), hint].filter(Boolean);
    return [
      element('h3', {}, title),
      shown.length > 0 ? bars_of_changes(shown, most, series[k], title, kind === 'setting') : null,
      hints.length > 0 ? element('p', { class: 'hint' }, hints.join(' ')) : null,
    ];
  });
  return section(
    'What each change would save',
    ...parts.filter(Boolean),
    element('details', {}, element('summary', {}, `all ${all.length} changes`), table_of_changes(all)),
  );
};

const pieces_of_path = (e, titles) => {
  const few = 12;
  const pieces = e.critical_path.pieces.map((piece, i) => ({ ...piece, i }));
  const made = table(
    [
      { title: 'rank', text: (p) => String(p.rank), order: (p) => p.rank },
      { title: 'stage', text: (p) => String(p.stage), order: (p) => p.stage },
      { title: 'cause', text: (p) => titles.get(p.cause), order: (p) => titles.get(p.cause) },
      { title: 'task', text: (p) => p.task, order: (p) => p.task },
      { title: 'times a step', text: (p) => words.digits(p.times / e.measured_steps), order: (p) => p.times },
      {
        title: 'a step',
        order: (p) => p.seconds,
        text: (p) => time_of(`critical_path.pieces.${p.i}.seconds`, p.seconds),
      },
      { title: 'of it', text: (p) => words.percent(p.seconds / e.step_time_s), order: (p) => p.seconds },
    ],
    pieces.slice(0, few),
    { id: 'pieces' },
  );
  if (pieces.length <= few) return made;
  const all = element(
    'button',
    {
      type: 'button',
      onclick: () => {
        made.show(pieces);
        all.remove();
      },
    },
    `all ${pieces.length} pieces`,
  );
  return element('div', {}, made, all);
};

const critical_path_of_page = (e, titles) =>
  section(
    'The critical path',
    stacked_bar(cause_parts(e.critical_path.causes_s, e.step_time_s, 'critical_path.causes_s', titles), {
      label: 'the critical path by cause',
    }),
    element(
      'p',
      { class: 'hint' },
      'From the end of a step back to whatever let each task start last, across ranks. ' +
        'What is not on it can be made faster without any effect.',
    ),
    e.critical_path.last_step.length > 0
      ? [element('h3', {}, 'The last step, across ranks'), lanes_of_path(e.critical_path.last_step, titles)]
      : null,
    element('h3', {}, 'Its longest pieces, in a mean step'),
    pieces_of_path(e, titles),
  );

const symptoms_of_page = (e) =>
  e.symptoms.length === 0
    ? null
    : section(
        'Symptoms',
        e.symptoms.map((symptom, i) =>
          element(
            'article',
            { class: 'card' },
            element('strong', {}, symptom.title),
            element(
              'p',
              {},
              symptom.evidence,
              symptom.per_month_dollars === null || !(symptom.seconds > 0)
                ? null
                : [
                    ', ',
                    value_of(
                      `symptoms.${i}.per_month_dollars`,
                      symptom.per_month_dollars,
                      words.dollars(symptom.per_month_dollars),
                    ),
                    ' a month',
                  ],
              '.',
            ),
            symptom.seconds > 0
              ? bars(
                  [
                    {
                      name: 'of a step',
                      value: symptom.seconds,
                      colour: series[3],
                      key: `symptoms.${i}.seconds`,
                      text: `${words.seconds(symptom.seconds)}, ${words.percent(symptom.seconds / e.step_time_s)}`,
                    },
                  ],
                  { most: e.step_time_s, label: 'its share of the step' },
                )
              : null,
            element('p', {}, `Suspect ${symptom.suspect}.`),
          ),
        ),
      );

const loader_of_page = (e) => {
  const need = e.loader;
  if (!need) return null;
  const rate = (value) => `${words.digits(value)} samples/s`;
  return section(
    'The loader of a replica',
    element(
      'div',
      { class: 'figures' },
      figure('workers', 'loader.workers', need.workers, words.whole(need.workers)),
      figure('they deliver', 'loader.delivered_per_s', need.delivered_per_s, rate(need.delivered_per_s)),
      figure('the GPUs would take', 'loader.taken_per_s', need.taken_per_s, rate(need.taken_per_s)),
      need.workers_enough === null
        ? null
        : figure(
            'workers that are enough',
            'loader.workers_enough',
            need.workers_enough,
            words.whole(need.workers_enough),
          ),
    ),
  );
};

const figures_of_explanation = (e) => {
  const best = (kind) =>
    e.changes
      .map((change, i) => ({ ...change, i }))
      .filter((c) => c.kind === kind && c.fits)
      .sort((a, b) => b.saved_fraction - a.saved_fraction)[0];
  const saving_of = (label, change) =>
    !change || change.saved_fraction < small_share
      ? null
      : figure(
          label,
          `changes.${change.i}.step_time_s`,
          change.step_time_s,
          words.seconds(change.step_time_s),
          `${change.change}: ${words.change(-change.saved_fraction)}`,
        );
  return element(
    'div',
    { class: 'figures' },
    figure('step', 'step_time_s', e.step_time_s, words.seconds(e.step_time_s)),
    saving_of('at most, without one cost', best('limit')),
    saving_of('with other hardware', best('hardware')),
    saving_of('with other settings', best('setting')),
    e.memory
      ? figure(
          'memory of a GPU',
          'memory.peak_bytes',
          e.memory.peak_bytes,
          words.bytes(e.memory.peak_bytes),
          fit_of(e.memory),
        )
      : null,
  );
};

pages.explain = (page, { result: e, timeline }) => {
  const titles = titles_of(timeline.causes);
  page.append(
    ...[
      header_of('explain', e, subtitle_of(e)),
      verdict_of(e),
      figures_of_explanation(e),
      changes_of_page(e),
      critical_path_of_page(e, titles),
      symptoms_of_page(e),
      loader_of_page(e),
      section_of_timeline(timeline),
      error_of(e),
      assumed_of(e),
      appendix_of({ result: e }),
    ].filter(Boolean),
  );
};
