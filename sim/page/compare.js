// The page of `stepsim compare`: from one step to the other, cause by cause; and the two side by side.
'use strict';

const remarks_of_page = (c) =>
  element(
    'div',
    { class: 'verdict' },
    c.differences.map((d) => element('p', { class: 'sentence' }, d.sentence)),
    c.remarks
      .filter((remark) => !c.differences.some((d) => d.sentence === remark.text))
      .map((remark) => element('p', {}, `${remark.about}: ${remark.text}.`)),
  );

const runs_of_page = (c) =>
  element(
    'span',
    {},
    c.runs.flatMap((run, i) => [i > 0 ? element('br') : null, element('strong', {}, run.label), ` ${run.origin}`]),
  );

// The numbers of a row of answers, one a run.
const cells_of = (c, read) =>
  c.runs.map((run, i) => {
    const found = read(run, `runs.${i}`);
    return found === null ? '' : value_of(found[0], found[1], found[2]);
  });

const answers_of_page = (c) => {
  const of = (name, write) => (run, place) =>
    run[name] === null ? null : [`${place}.${name}`, run[name], write(run[name])];
  const of_part = (part, name, write) => (run, place) =>
    !run[part] || run[part][name] === null
      ? null
      : [`${place}.${part}.${name}`, run[part][name], write(run[part][name])];
  const per_gpu = c.runs.some((run) => run.gpus !== c.runs[0].gpus);
  const rows = [
    ['step', of('step_time_s', words.seconds)],
    c.runs.some((run) => run.replicas > 1) ? ['mean step of replicas', of('mean_step_s', words.seconds)] : null,
    c.runs.some((run) => run.replicas > 1) ? ['replicas', of('replicas', words.whole)] : null,
    ['tokens a second', of('tokens_per_s', words.count)],
    ['samples a second', of('samples_per_s', words.count)],
    per_gpu ? ['GPUs', of('gpus', words.whole)] : null,
    ['model FLOP/s a GPU', of('model_tflops_per_gpu', (value) => `${words.digits(value)} T`)],
    ['MFU', of('mfu', words.percent)],
    ['HFU', of('hfu', words.percent)],
    ['memory of a GPU', of_part('memory', 'peak_bytes', words.bytes)],
    ['capacity of a GPU', of_part('memory', 'capacity_bytes', words.bytes)],
    ['a million tokens', of_part('cost', 'per_million_tokens_dollars', words.dollars)],
    ['a million samples', of_part('cost', 'per_million_samples_dollars', words.dollars)],
    ['median error of such runs', of('median_ape', words.percent)],
  ].filter((row) => row !== null && c.runs.some((run, i) => row[1](run, `runs.${i}`) !== null));
  const change = (row) => {
    const [a, b] = c.runs.map((run, i) => row[1](run, `runs.${i}`)?.[1]);
    return a > 0 && b !== undefined ? words.change(b / a - 1) : '';
  };
  return section(
    'Side by side',
    table(
      [
        { title: '', text: (row) => row[0] },
        ...c.runs.map((run, i) => ({ title: run.label, text: (row) => cells_of(c, row[1])[i], number: true })),
        ...(c.runs.length === 2 ? [{ title: 'change from A', text: change, number: true }] : []),
      ],
      rows,
      { id: 'answers' },
    ),
    element(
      'ul',
      {},
      c.runs.map((run) =>
        element(
          'li',
          {},
          element('strong', {}, `${run.label} `),
          run.verdict,
          run.memory && !run.memory.fits ? element('span', { class: 'error' }, ' (does not fit in memory)') : null,
        ),
      ),
    ),
  );
};

// Inputs that differ. Of models or clusters of different names the names say it; all keys stand below.
const inputs_of_page = (c) => {
  const rows = c.inputs.concat(
    c.hashes.map((hash) => ({
      key: hash.key === 'stepsim' ? 'version of stepsim' : `hash of ${hash.key}`,
      values: hash.values,
    })),
  );
  if (rows.length === 0) return null;
  const named = ['model', 'cluster'].filter((part) => c.inputs.some((input) => input.key === `${part}.name`));
  const is_detail = (row) => named.some((part) => row.key.startsWith(`${part}.`)) && !/\.(name|nodes)$/.test(row.key);
  const shown = (some) =>
    table(
      [
        { title: 'key', text: (row) => element('code', {}, row.key), order: (row) => row.key },
        ...c.runs.map((run, i) => ({ title: run.label, text: (row) => row.values[i] ?? '-' })),
      ],
      some,
    );
  const details = rows.filter(is_detail);
  return section(
    'What was asked',
    shown(rows.filter((row) => !is_detail(row))),
    details.length > 0
      ? element(
          'details',
          {},
          element('summary', {}, `${details.length} keys of ${named.join(' and ')}`),
          shown(details),
        )
      : null,
  );
};

// Steps as bars of causes, with one scale.
const steps_of_page = (c, titles) => {
  const most = d3.max(c.runs, (run) => d3.sum(Object.values(run.breakdown_s)));
  const causes = [...titles.keys()].filter((cause) => c.runs.some((run) => run.breakdown_s[cause] > 0));
  return element(
    'div',
    {},
    element(
      'div',
      { class: 'bars' },
      c.runs.map((run) =>
        element(
          'div',
          { class: 'bar' },
          element('div', { class: 'name' }, run.label),
          element(
            'div',
            { class: 'track', style: 'display:flex' },
            causes.map((cause) =>
              element('div', {
                style: `width:${(100 * (run.breakdown_s[cause] ?? 0)) / most}%;background:${colour_of(cause)}`,
                title: `${titles.get(cause)}: ${words.seconds(run.breakdown_s[cause] ?? 0)}`,
              }),
            ),
          ),
          element('div', { class: 'text' }, words.seconds(run.step_time_s)),
        ),
      ),
    ),
    legend(causes.map((cause) => ({ name: titles.get(cause), colour: colour_of(cause) }))),
  );
};

const waterfall_of_difference = (c, i, titles) => {
  const d = c.differences[i];
  const whole = c.runs[0].step_time_s;
  const rows = Object.entries(d.causes_s).map(([cause, value]) => ({
    title: titles.get(cause) ?? cause,
    value,
    key: `differences.${i}.causes_s.${cause}`,
  }));
  const large = rows.filter((row) => Math.abs(row.value) >= small_share * whole);
  const rest = d3.sum(
    rows.filter((row) => !large.includes(row)),
    (row) => row.value,
  );
  if (large.length === 0) return element('p', {}, 'No cause differs by as much as 0.05 % of a step.');
  const shown =
    Math.abs(rest) > 1e-9 * whole
      ? [...large, { title: `${rows.length - large.length} others together`, value: rest }]
      : large;
  return waterfall(
    { title: `a step of ${d.reference}`, value: whole, key: 'runs.0.step_time_s' },
    shown,
    { title: d.scale === 1 ? `a step of ${d.label}` : `${d.label}, as much work`, value: whole + d.causes_sum_s },
    { label: `from the step of ${d.reference} to that of ${d.label}` },
  );
};

const causes_of_page = (c, titles) => {
  const causes = [...titles.keys()].filter((cause) => c.runs.some((run) => run.breakdown_s[cause] > 0));
  return element(
    'details',
    {},
    element('summary', {}, 'all causes, of a step of each'),
    table(
      [
        { title: 'cause', text: (cause) => titles.get(cause), order: (cause) => titles.get(cause) },
        ...c.runs.map((run, i) => ({
          title: run.label,
          order: (cause) => run.breakdown_s[cause] ?? 0,
          text: (cause) =>
            cause in run.breakdown_s ? time_of(`runs.${i}.breakdown_s.${cause}`, run.breakdown_s[cause]) : '',
        })),
        ...c.differences.map((d, i) => ({
          title: `${d.label} − ${d.reference}`,
          order: (cause) => d.causes_s[cause] ?? 0,
          text: (cause) =>
            cause in d.causes_s
              ? value_of(`differences.${i}.causes_s.${cause}`, d.causes_s[cause], signed_seconds(d.causes_s[cause]))
              : '',
        })),
      ],
      causes,
    ),
  );
};

// Replicas: how sure a difference is.
const certainty_of_page = (c) => {
  const tested = c.differences.map((d, i) => ({ ...d, i })).filter((d) => d.test);
  const sentence = ({ label, test, i }) => {
    const of = (name) =>
      value_of(
        `differences.${i}.test.${name}`,
        test[name],
        /_s$/.test(name) ? words.seconds(test[name]) : words.digits(test[name]),
      );
    return element(
      'p',
      {},
      `${label}: the difference is ${test.significant ? '' : 'not '}significant, `,
      test.p_value < 1e-4 ? 'p < 0.0001' : ['p = ', of('p_value')],
      ', standard error ',
      of('standard_error_s'),
      `; ${test.replicas[1]} replicas show `,
      of('visible_s'),
      ' four times in five.',
    );
  };
  return tested.length > 0 ? section('How sure', ...tested.map(sentence)) : null;
};

// Timelines under each other, of one length, so that what stands below each other happens at the same time.
const timelines_of_page = (c, documents_) => {
  const shown = c.runs.map((run, i) => ({ run, data: documents_[`timeline_${i}`] })).filter(({ data }) => data);
  if (shown.length === 0) return null;
  const end_ns = d3.max(shown, ({ data }) => data.step_time_ns);
  const timelines = shown.map(({ data }) => timeline_of(data, { end_ns }));
  timelines.forEach((timeline) => {
    timeline.together = timelines.filter((other) => other !== timeline);
  });
  return section(
    shown.length > 1 ? 'Their steps, on one axis' : `The step of ${shown[0].run.label}`,
    ...shown.flatMap(({ run }, i) => [element('h3', {}, `${run.label}: ${run.origin}`), timelines[i]]),
  );
};

pages.compare = (page, documents_) => {
  const c = documents_.result;
  const titles = titles_of(documents_.causes);
  page.append(
    ...[
      header_of('compare', { scenario: [...new Set(c.runs.map((run) => run.scenario))].join(', ') }, runs_of_page(c)),
      remarks_of_page(c),
      ...c.differences.map((d, i) =>
        section(`Where the difference of ${d.label} comes from`, waterfall_of_difference(c, i, titles)),
      ),
      section('Where the steps go', steps_of_page(c, titles), causes_of_page(c, titles)),
      answers_of_page(c),
      inputs_of_page(c),
      timelines_of_page(c, documents_),
      certainty_of_page(c),
      appendix_of({ result: c }),
    ].filter(Boolean),
  );
};
