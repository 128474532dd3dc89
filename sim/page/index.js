// The page of `stepsim report`: results of a folder one after another, and what leads to their pages.
'use strict';

// A path as a link to a file: whatever its name holds, it is no address of another kind.
const href_of = (path) => `./${path.split('/').map(encodeURIComponent).join('/')}`;

const counted_words = (count, one) => `${words.whole(count)} ${one}${count === 1 ? '' : 's'}`;

pages.index = (page, { result: r }) => {
  const entries = r.entries.map((entry, i) => ({ ...entry, i }));
  const key = (entry, name) => `entries.${entry.i}.${name}`;
  const scenarios = new Map(
    d3
      .nest()
      .key((entry) => entry.scenario)
      .entries(entries)
      .map((each) => [each.key, each.values]),
  );
  page.append(
    header_of(
      'report',
      { scenario: r.folder },
      [
        counted_words(entries.length, 'result'),
        r.pages.length > 0 ? counted_words(r.pages.length, 'more page') : null,
        r.baseline ? `against ${r.baseline}` : null,
      ]
        .filter(Boolean)
        .join(', '),
    ),
  );
  const worst = entries
    .filter((entry) => entry.change_fraction !== null)
    .sort((a, b) => b.change_fraction - a.change_fraction)[0];
  if (worst) {
    page.append(
      element(
        'div',
        { class: 'verdict' },
        element(
          'p',
          { class: 'sentence' },
          worst.change_fraction > 0
            ? `${worst.file} is the furthest behind the baseline: `
            : `None is slower than the baseline; the nearest is ${worst.file}: `,
          value_of(key(worst, 'step_time_s'), worst.step_time_s, words.seconds(worst.step_time_s)),
          ', ',
          value_of(key(worst, 'change_fraction'), worst.change_fraction, words.change(worst.change_fraction)),
          '.',
        ),
      ),
    );
  }
  for (const [scenario, of] of scenarios) {
    if (of.length < 2) continue;
    const names = of.map((entry) => entry.file.replace(/\.json$/, ''));
    const base = of[0].baseline_step_time_s;
    page.append(
      section(
        `${scenario}, result by result`,
        line_chart(
          of.map((entry, i) => ({
            x: i,
            y: entry.step_time_s,
            key: entry.i,
            best: entry.step_time_s === d3.min(of, (each) => each.step_time_s),
            lines: [
              names[i],
              words.seconds(entry.step_time_s),
              entry.change_fraction === null ? '' : words.change(entry.change_fraction),
            ].filter(Boolean),
          })),
          {
            label: `step time of ${scenario} in each result`,
            x_title: 'result',
            y_title: 'step time',
            x_write: (i) => names[i] ?? '',
            y_write: words.seconds,
            level: base,
          },
        ),
        base === null
          ? null
          : element('p', { class: 'hint' }, `The dashed line is the baseline, ${words.seconds(base)}.`),
      ),
    );
  }
  const optional = (name, title, write) =>
    entries.some((entry) => entry[name] !== null)
      ? [
          {
            title,
            order: (entry) => entry[name],
            text: (entry) => (entry[name] === null ? '' : value_of(key(entry, name), entry[name], write(entry[name]))),
          },
        ]
      : [];
  if (entries.length > 0) {
    page.append(
      section(
        'Results',
        filtered_table(
          [
            {
              title: 'file',
              order: (entry) => entry.file,
              text: (entry) => (entry.page ? element('a', { href: href_of(entry.page) }, entry.file) : entry.file),
            },
            { title: 'scenario', order: (entry) => entry.scenario, text: (entry) => entry.scenario },
            ...optional('gpus', 'GPUs', words.whole),
            ...optional('step_time_s', 'step', words.seconds),
            ...optional('change_fraction', 'from the baseline', words.change),
            ...optional('tokens_per_s', 'tokens a second', words.count),
            ...optional('mfu', 'MFU', words.percent),
            ...optional('peak_bytes', 'memory', words.bytes),
            {
              title: 'fits',
              order: (entry) => String(entry.fits),
              text: (entry) => (entry.fits === false ? 'does not fit' : ''),
            },
            { title: 'verdict', text: (entry) => entry.verdict ?? '' },
          ],
          entries,
          {
            id: 'results',
            csv: {
              head: [
                'file',
                'scenario',
                'gpus',
                'step_time_s',
                'baseline_step_time_s',
                'change_fraction',
                'tokens_per_s',
                'mfu',
                'peak_bytes',
              ],
              row: (entry) => [
                entry.file,
                entry.scenario,
                entry.gpus,
                entry.step_time_s,
                entry.baseline_step_time_s,
                entry.change_fraction,
                entry.tokens_per_s,
                entry.mfu,
                entry.peak_bytes,
              ],
            },
          },
        ),
      ),
    );
  }
  if (r.pages.length > 0) {
    page.append(
      section(
        'Pages',
        element(
          'ul',
          {},
          r.pages.map((each) =>
            element('li', {}, element('a', { href: href_of(each.page) }, each.page), ` ${each.title}`),
          ),
        ),
      ),
    );
  }
  if (r.skipped.length > 0) page.append(section('Left out', list_of(r.skipped)));
};
