// The page of `stepsim compare` of a scenario and a recording: predicted beside recorded.
'use strict';

const both_of = (c, title, name, write) =>
  ['predicted', 'recorded'].map((side) =>
    figure(`${title}, ${side}`, `${side}.${name}`, c[side][name], write(c[side][name])),
  );

const pairs_table = (rows, name, id) =>
  table(
    [
      { title: name, text: (row) => row.title, order: (row) => row.title },
      ...['predicted', 'recorded'].map((side) => ({
        title: side,
        order: (row) => row[side],
        text: (row) => value_of(`${side}.${row.key}`, row[side], row.write(row[side])),
      })),
      {
        title: 'difference',
        order: (row) => row.recorded - row.predicted,
        text: (row) =>
          row.write === words.seconds
            ? signed_seconds(row.recorded - row.predicted)
            : words.count(row.recorded - row.predicted),
      },
    ],
    rows,
    { id },
  );

const differences_of_page = (c) => {
  const whole = c.recorded.step_time_s;
  const all = c.differences.map((d, i) => ({ ...d, i }));
  const large = all.filter((d) => Math.abs(d.difference_s) >= small_share * whole);
  const rest = d3.sum(
    all.filter((d) => !large.includes(d)),
    (d) => d.difference_s,
  );
  const rows = large.map((d) => ({ title: d.title, value: d.difference_s, key: `differences.${d.i}.difference_s` }));
  if (Math.abs(rest) > 1e-9 * whole) rows.push({ title: 'all others', value: rest });
  const remarks = large.filter((d) => d.remark);
  return section(
    'From the prediction to the recording',
    waterfall(
      { title: 'predicted', value: c.predicted.step_time_s, key: 'predicted.step_time_s' },
      rows,
      { title: 'recorded', value: whole, key: 'recorded.step_time_s' },
      { label: 'from the predicted step to the recorded one' },
    ),
    remarks.length > 0
      ? [
          element('h3', {}, 'What would explain it'),
          element(
            'ul',
            {},
            remarks.map((d) => element('li', {}, element('strong', {}, `${d.title}: `), d.remark)),
          ),
        ]
      : null,
  );
};

const launches_of_page = (c) => {
  const a_layer = (side) => (c.layers ? ` (${words.digits(c[side].launches / c.layers)} a layer)` : '');
  const of = (side) => value_of(`${side}.launches`, c[side].launches, words.whole(Math.round(c[side].launches)));
  return c.recorded.launches > 0
    ? element(
        'p',
        {},
        'A step launches ',
        of('recorded'),
        ` kernels${a_layer('recorded')}, the prediction has `,
        of('predicted'),
        `${a_layer('predicted')}.`,
      )
    : null;
};

pages.against = (page, { result: c, causes, timeline }) => {
  const titles = titles_of(causes);
  const [before, now] = [c.predicted.step_time_s, c.recorded.step_time_s];
  const used = Object.keys(c.recorded.breakdown_s).filter(
    (cause) => c.recorded.breakdown_s[cause] > 0 || c.predicted.breakdown_s[cause] > 0,
  );
  const sides = { runs: ['predicted', 'recorded'].map((side) => ({ ...c[side], label: side })) };
  const off = now / before - 1;
  const how =
    Math.abs(off) < small_share
      ? 'as predicted'
      : `${words.percent(Math.abs(off))} ${off > 0 ? 'longer' : 'shorter'} than predicted (${words.seconds(before)})`;
  page.append(
    ...[
      header_of('compare', { scenario: c.scenario }, `against ${c.recording}`),
      element(
        'div',
        { class: 'verdict' },
        element('p', { class: 'sentence' }, `A step takes ${words.seconds(now)}, ${how}.`),
        launches_of_page(c),
      ),
      element(
        'div',
        { class: 'figures' },
        ...both_of(c, 'step', 'step_time_s', words.seconds),
        ...(c.recorded.mfu > 0 ? both_of(c, 'MFU', 'mfu', words.percent) : []),
      ),
      not_known_of(c.not_known),
      differences_of_page(c),
      section(
        'By cause',
        steps_of_page(sides, new Map([...titles, ['not_known', 'not known']])),
        element('p'),
        pairs_table(
          used.map((cause) => ({
            title: titles.get(cause) ?? words.key(cause),
            key: `breakdown_s.${cause}`,
            write: words.seconds,
            predicted: c.predicted.breakdown_s[cause],
            recorded: c.recorded.breakdown_s[cause],
          })),
          'cause',
          'causes',
        ),
      ),
      section(
        'Kernels by family',
        pairs_table(
          Object.keys(c.recorded.kernels)
            .filter((family) => c.recorded.kernels[family].seconds > 0 || c.predicted.kernels[family].seconds > 0)
            .map((family) => ({
              title: words.key(family),
              key: `kernels.${family}.seconds`,
              write: words.seconds,
              predicted: c.predicted.kernels[family].seconds,
              recorded: c.recorded.kernels[family].seconds,
            })),
          'family',
          'families',
        ),
        element('p', { class: 'hint' }, 'Sums: kernels that run beside each other count each.'),
      ),
      section('The predicted step', timeline_of(timeline)),
      appendix_of({ result: c }),
    ].filter(Boolean),
  );
};
