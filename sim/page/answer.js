// What pages of several commands say of an answer: verdict, figures, causes, how sure it is.
'use strict';

const pages = {};

const verdict_of = (result) =>
  element(
    'div',
    { class: 'verdict' },
    result.interrupted && result.replicas
      ? interrupted_words(
          `${words.whole(result.replicas.count)} of ${words.whole(result.replicas.asked)} replicas are done`,
        )
      : null,
    result.memory && !result.memory.fits
      ? element(
          'p',
          { class: 'error' },
          `It does not fit in memory: a GPU needs ` +
            `${words.bytes(result.memory.peak_bytes)} of ${words.bytes(result.memory.capacity_bytes)}. ` +
            'What follows is what the step would be if it did.',
        )
      : null,
    element('p', { class: 'sentence' }, result.verdict?.sentence ?? 'Interrupted: there is no verdict.'),
    result.verdict?.next ? element('p', {}, `Next: ${result.verdict.next}`) : null,
  );

const header_of = (command, result, subtitle) =>
  element(
    'header',
    {},
    element('div', { class: 'label' }, `stepsim ${command}`),
    element('h1', {}, result.scenario),
    element('p', { class: 'subtitle' }, subtitle),
  );

const fit_of = (memory) => {
  const capacity = words.bytes(memory.capacity_bytes);
  if (!memory.fits) return `does not fit in ${capacity}`;
  return memory.peak_bytes > memory.capacity_bytes
    ? `fits in ${capacity} once cached fragments are given back`
    : `fits in ${capacity}`;
};

const figures_of = (r) => {
  const memory = r.memory;
  const optional = (value, made) => (value === null || value === undefined ? null : made(value));
  return element(
    'div',
    { class: 'figures' },
    figure('step', 'step_time_s', r.step_time_s, words.seconds(r.step_time_s)),
    optional(r.tokens_per_s, (v) =>
      figure('tokens a second', 'tokens_per_s', v, words.count(v), `${words.count(r.tokens_per_s_per_gpu)} a GPU`),
    ),
    figure('samples a second', 'samples_per_s', r.samples_per_s, words.count(r.samples_per_s)),
    figure(
      'model FLOP/s a GPU',
      'model_tflops_per_gpu',
      r.model_tflops_per_gpu,
      `${words.digits(r.model_tflops_per_gpu)} T`,
    ),
    figure('MFU', 'mfu', r.mfu, words.percent(r.mfu), `HFU ${words.percent(r.hfu)}`),
    optional(memory, () =>
      figure('memory of a GPU', 'memory.peak_bytes', memory.peak_bytes, words.bytes(memory.peak_bytes), fit_of(memory)),
    ),
    optional(r.cost, (c) =>
      figure(
        'a day',
        'cost.per_day_dollars',
        c.per_day_dollars,
        words.dollars(c.per_day_dollars),
        `${words.percent(c.wasted_fraction)} of it waits`,
      ),
    ),
    optional(r.energy, (e) =>
      figure(
        'energy a step',
        'energy.per_step_kwh',
        e.per_step_kwh,
        e.per_step_kwh < 0.1 ? `${words.digits(1000 * e.per_step_kwh)} Wh` : `${words.digits(e.per_step_kwh)} kWh`,
      ),
    ),
    optional(r.long_run, (l) =>
      figure('goodput', 'long_run.goodput', l.goodput, words.percent(l.goodput), `of ${words.seconds(l.wall_s)}`),
    ),
  );
};

// The step with the range in which 80 % of such runs lie.
const error_of = (r) => {
  const error = r.expected_error;
  if (!error) return null;
  const band = error.step_time_80_percent_s;
  const sentences = [
    error.rows > 0
      ? element(
          'p',
          {},
          'Of ',
          value_of('expected_error.rows', error.rows, words.whole(error.rows)),
          ' measured runs like it (',
          error.traits.join(', '),
          ') the median error is ',
          value_of('expected_error.median_ape', error.median_ape, words.percent(error.median_ape)),
          ', the 90th percentile ',
          value_of('expected_error.p90_ape', error.p90_ape, words.percent(error.p90_ape)),
          ', the bias ',
          value_of('expected_error.bias', error.bias, words.change(error.bias)),
          error.bias < 0 ? ' (predicted too fast).' : ' (predicted too slow).',
        )
      : element('p', {}, 'No measured run is like this one.'),
  ];
  if (error.known_rows > 0) {
    sentences.push(element('p', {}, `${words.whole(error.known_rows)} more are known to be off, and not counted.`));
  }
  if (error.worst_suite) {
    sentences.push(
      element(
        'p',
        {},
        `The worst suite of them, ${error.worst_suite}, is ` +
          `${words.percent(error.worst_suite_mape)} off in the mean.`,
      ),
    );
  }
  if (error.unseen.length > 0) sentences.push(element('p', {}, `No measured run had: ${error.unseen.join(', ')}.`));
  if (!band) return section('How sure', ...sentences);
  const most = band[1] * 1.15;
  const at = (value) => `${(100 * value) / most}%`;
  return section(
    'How sure',
    element(
      'p',
      {},
      '80 % of such runs took ',
      value_of('expected_error.step_time_80_percent_s.0', band[0], words.seconds(band[0])),
      ' to ',
      value_of('expected_error.step_time_80_percent_s.1', band[1], words.seconds(band[1])),
      ` where ${words.seconds(r.step_time_s)} is predicted.`,
    ),
    element(
      'div',
      { class: 'track', role: 'img', 'aria-label': 'the range of the step, and the prediction in it' },
      element('div', {
        class: 'fill',
        style:
          `position:absolute;left:${at(band[0])};width:${at(band[1] - band[0])};` +
          'background:var(--accent);opacity:.45',
      }),
      element('div', { class: 'mark', style: `left:${at(r.step_time_s)}` }),
    ),
    ...sentences,
  );
};

// Times by cause as parts of a bar, the longest first; `place` is where in the document they stand.
const cause_parts = (seconds, whole, place, titles) =>
  Object.entries(seconds)
    .filter(([, value]) => value > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([cause, value]) => ({
      name: titles.get(cause) ?? words.key(cause),
      value,
      colour: colour_of(cause),
      key: `${place}.${cause}`,
      text: `${words.seconds(value)}, ${words.percent(value / whole)}`,
    }));

const breakdown_of = (r, titles) => {
  const parts = cause_parts(r.breakdown_s, r.step_time_s, 'breakdown_s', titles);
  return section(
    'Where the step goes',
    stacked_bar(parts, { label: 'the step by cause' }),
    element('p', { class: 'hint' }, 'A mean step of the slowest stage.'),
  );
};
