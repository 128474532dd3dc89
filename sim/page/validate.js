// The page of `stepsim validate`: predicted against measured, suite by suite and row by row.
'use strict';

pages.validate = (page, { result: r }) => {
  const rows = r.rows.map((row, i) => ({ ...row, i }));
  const predicted = rows.filter((row) => row.predicted_s !== null && row.measured_s !== null);
  const suites = [...new Set(rows.map((row) => row.suite))];
  const one = suites.length === 1;
  const first_group = one ? Object.keys(rows[0]?.groups ?? {})[0] : null;
  const kind_of = (row) => (first_group ? row.groups[first_group] : row.suite);
  const kinds = [...new Set(rows.map(kind_of))];
  const colour = (kind) => series[kinds.indexOf(kind) % series.length];
  const counted = r.without_known;
  const known = r.count - counted.count;
  const title = one && r.suites[0] ? r.suites[0].title : `${r.suites.length} suites`;
  page.append(
    header_of('validate', { scenario: one ? (suites[0] ?? 'no rows') : 'Predicted against measured' }, title),
  );
  page.append(
    element(
      'div',
      { class: 'verdict' },
      r.interrupted ? interrupted_words('rows are missing') : null,
      element(
        'p',
        { class: 'sentence' },
        value_of('without_known.count', counted.count, words.whole(counted.count)),
        counted.count === 1 ? ' row is ' : ' rows are ',
        value_of('without_known.mape', counted.mape, words.percent(counted.mape)),
        ' off in the mean, with a median of ',
        value_of('without_known.median_ape', counted.median_ape, words.percent(counted.median_ape)),
        ', a 90th percentile of ',
        value_of('without_known.p90_ape', counted.p90_ape, words.percent(counted.p90_ape)),
        ' and a bias of ',
        value_of('without_known.bias', counted.bias, words.change(counted.bias)),
        '.',
      ),
      known > 0
        ? element(
            'p',
            {},
            `${words.whole(known)} more rows are known to be off; with them the mean is `,
            value_of('mape', r.mape, words.percent(r.mape)),
            '.',
          )
        : null,
      r.breaches?.length > 0
        ? element(
            'p',
            { class: 'error' },
            `Broken: ${r.breaches
              .map((breach) => (typeof breach === 'string' ? breach : Object.values(breach).join(' ')))
              .join('; ')}`,
          )
        : null,
    ),
  );

  const box = element(
    'div',
    { class: 'chosen', 'aria-live': 'polite' },
    element('span', { class: 'hint' }, 'Click a point to see its row.'),
  );
  const describe = (row) => {
    const place = `rows.${row.i}.breakdown_s`;
    const causes = row.breakdown_s ? cause_parts(row.breakdown_s, row.predicted_s, place, new Map()) : [];
    const facts = [
      ['suite', row.suite],
      ['where', `${row.file}:${row.line}`],
      ['measured', words.seconds(row.measured_s)],
      ['predicted', words.seconds(row.predicted_s)],
      ['error', words.change(row.error)],
      ['unseen', row.error_unseen === null ? null : words.change(row.error_unseen)],
      ...Object.entries(row.groups),
      ['known', row.known],
      ['memory', row.memory_fraction ? words.percent(row.memory_fraction) : null],
    ].filter(([, text]) => text);
    box.replaceChildren(
      element('strong', {}, row.label),
      element(
        'dl',
        {},
        facts.flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, String(text))]),
      ),
      causes.length > 0 ? stacked_bar(causes, { label: 'the predicted step by cause' }) : '',
    );
  };
  // From edge to edge of the frame, whose axes have one range.
  const at_share = (share) => (x, y) => x.domain().map((time) => [x(time), y(time * share)]);
  if (predicted.length > 0) {
    const is_log = spans_decades(predicted.map((row) => row.measured_s));
    page.append(
      section(
        'Predicted against measured',
        points_chart(
          predicted.map((row) => ({
            x: row.measured_s,
            y: row.predicted_s,
            colour: colour(kind_of(row)),
            hollow: row.known !== null,
            key: row.i,
            row,
            lines: [
              `${row.suite}: ${row.label}`,
              `${words.seconds(row.measured_s)} measured, ${words.seconds(row.predicted_s)} predicted, ${words.change(row.error)}`,
            ],
          })),
          {
            label: 'predicted over measured step times',
            x_title: 'measured',
            y_title: 'predicted',
            x_write: words.seconds,
            y_write: words.seconds,
            is_log_x: is_log,
            is_log_y: is_log,
            height: 460,
            is_square: true,
            act: (point) => describe(point.row),
            lines: [
              { points: at_share(1) },
              { points: at_share(1.1), dash: '4 4' },
              { points: at_share(0.9), dash: '4 4' },
            ],
          },
        ),
        kinds.length <= series.length ? legend(kinds.map((kind) => ({ name: kind, colour: colour(kind) }))) : null,
        element(
          'p',
          { class: 'hint' },
          'Lines: as measured, and 10 % on both sides. Hollow points are known to be off.',
        ),
        box,
      ),
    );
  }
  const percent = (heading, key) => ({
    title: heading,
    order: (suite) => suite.without_known[key] ?? null,
    text: (suite) => {
      const value = suite.without_known[key];
      if (suite.without_known.count === 0) return '';
      return value_of(
        `suites.${r.suites.indexOf(suite)}.without_known.${key}`,
        value,
        key === 'count' ? words.whole(value) : key === 'bias' ? words.change(value) : words.percent(value),
      );
    },
  });
  page.append(
    section(
      'Suites',
      table(
        [
          {
            title: 'suite',
            order: (suite) => suite.suite,
            text: (suite) => element('span', { title: suite.title }, suite.suite),
          },
          percent('rows', 'count'),
          percent('mean', 'mape'),
          percent('median', 'median_ape'),
          percent('90th', 'p90_ape'),
          percent('bias', 'bias'),
          {
            title: 'limits',
            order: (suite) => suite.limits.filter((limit) => !limit.holds).length,
            text: (suite) =>
              suite.count === 0
                ? ''
                : suite.limits.every((limit) => limit.holds) && suite.not_predicted === 0
                  ? 'hold'
                  : 'broken',
          },
        ],
        r.suites,
        { id: 'suites-table' },
      ),
      element('p', { class: 'hint' }, 'Without rows that are known to be off.'),
    ),
  );
  page.append(
    section(
      'Rows',
      filtered_table(
        [
          { title: 'suite', order: (row) => row.suite, text: (row) => row.suite },
          {
            title: 'row',
            order: (row) => row.label,
            text: (row) =>
              element(
                'button',
                {
                  type: 'button',
                  class: 'plain',
                  onclick: () => {
                    describe(row);
                    box.scrollIntoView({ block: 'center' });
                  },
                },
                row.label,
              ),
          },
          { title: 'measured', order: (row) => row.measured_s, text: (row) => words.seconds(row.measured_s) },
          {
            title: 'predicted',
            order: (row) => row.predicted_s,
            text: (row) => (row.predicted_s === null ? '' : words.seconds(row.predicted_s)),
          },
          {
            title: 'error',
            order: (row) => (row.error === null ? null : Math.abs(row.error)),
            text: (row) => (row.error === null ? '' : words.change(row.error)),
          },
          {
            title: 'known',
            order: (row) => row.known ?? '',
            text: (row) => (row.known ? 'known' : (row.reason ?? '')),
          },
        ],
        rows.sort((a, b) => Math.abs(b.error ?? 0) - Math.abs(a.error ?? 0)),
        {
          id: 'rows',
          csv: {
            head: ['suite', 'label', 'measured_s', 'predicted_s', 'error', 'known'],
            row: (row) => [row.suite, row.label, row.measured_s, row.predicted_s, row.error, row.known ?? ''],
          },
        },
      ),
    ),
  );
};
