// The page of `stepsim run`: the answer, where the step goes, and what would make it shorter.
'use strict';

const pages = {};

const verdict_of = (result) => element('div', { class: 'verdict' },
  element('p', { class: 'sentence' }, result.verdict?.sentence ?? 'Interrupted: there is no verdict.'),
  result.verdict?.next ? element('p', {}, `Next: ${result.verdict.next}`) : null);

const header_of = (command, result, subtitle) => element('header', {},
  element('div', { class: 'label' }, `stepsim ${command}`), element('h1', {}, result.scenario),
  element('p', { class: 'subtitle' }, subtitle));

const fit_of = (memory) => {
  const capacity = words.bytes(memory.capacity_bytes);
  if (!memory.fits) return `does not fit in ${capacity}`;
  return memory.peak_bytes > memory.capacity_bytes ? `fits in ${capacity} once cached fragments are given back`
    : `fits in ${capacity}`;
};

const figures_of = (r) => {
  const memory = r.memory;
  const optional = (value, made) => (value === null || value === undefined ? null : made(value));
  return element('div', { class: 'figures' },
    figure('step', 'step_time_s', r.step_time_s, words.seconds(r.step_time_s)),
    optional(r.tokens_per_s, (v) => figure('tokens a second', 'tokens_per_s', v, words.count(v),
      `${words.count(r.tokens_per_s_per_gpu)} a GPU`)),
    figure('samples a second', 'samples_per_s', r.samples_per_s, words.count(r.samples_per_s)),
    figure('model FLOP/s a GPU', 'model_tflops_per_gpu', r.model_tflops_per_gpu,
      `${words.digits(r.model_tflops_per_gpu)} T`),
    figure('MFU', 'mfu', r.mfu, words.percent(r.mfu), `HFU ${words.percent(r.hfu)}`),
    optional(memory, () => figure('memory of a GPU', 'memory.peak_bytes', memory.peak_bytes,
      words.bytes(memory.peak_bytes), fit_of(memory))),
    optional(r.cost, (c) => figure('a day', 'cost.per_day_dollars', c.per_day_dollars, words.dollars(c.per_day_dollars),
      `${words.percent(c.wasted_fraction)} of it waits`)),
    optional(r.energy, (e) => figure('energy a step', 'energy.per_step_kwh', e.per_step_kwh,
      e.per_step_kwh < 0.1 ? `${words.digits(1000 * e.per_step_kwh)} Wh` : `${words.digits(e.per_step_kwh)} kWh`)),
    optional(r.long_run, (l) => figure('goodput', 'long_run.goodput', l.goodput, words.percent(l.goodput),
      `of ${words.seconds(l.wall_s)}`)));
};

// The step with the range in which 80 % of such runs lie.
const error_of = (r) => {
  const error = r.expected_error;
  if (!error) return null;
  const band = error.step_time_80_percent_s;
  const sentences = [error.rows > 0
    ? element('p', {}, 'Of ', value_of('expected_error.rows', error.rows, words.whole(error.rows)), ' measured runs like it (',
      error.traits.join(', '), ') the median error is ',
      value_of('expected_error.median_ape', error.median_ape, words.percent(error.median_ape)),
      ', the 90th percentile ', value_of('expected_error.p90_ape', error.p90_ape, words.percent(error.p90_ape)),
      ', the bias ', value_of('expected_error.bias', error.bias, words.change(error.bias)), '.')
    : element('p', {}, 'No measured run is like this one.')];
  if (error.unseen.length > 0) sentences.push(element('p', {}, `No measured run had: ${error.unseen.join(', ')}.`));
  if (!band) return section('How sure', ...sentences);
  const most = band[1] * 1.15;
  const at = (value) => `${100 * value / most}%`;
  return section('How sure',
    element('p', {}, '80 % of such runs took ', value_of('expected_error.step_time_80_percent_s.0', band[0], words.seconds(band[0])),
      ' to ', value_of('expected_error.step_time_80_percent_s.1', band[1], words.seconds(band[1])),
      ` where ${words.seconds(r.step_time_s)} is predicted.`),
    element('div', { class: 'track', role: 'img', 'aria-label': 'the range of the step, and the prediction in it' },
      element('div', { class: 'fill', style: `position:absolute;left:${at(band[0])};width:${at(band[1] - band[0])};`
        + 'background:var(--accent);opacity:.45' }),
      element('div', { class: 'mark', style: `left:${at(r.step_time_s)}` })),
    ...sentences);
};

// Times by cause as parts of a bar, the longest first; `place` is where in the document they stand.
const cause_parts = (seconds, whole, place, titles) => Object.entries(seconds).filter(([, value]) => value > 0)
  .sort((a, b) => b[1] - a[1]).map(([cause, value]) => ({
    name: titles.get(cause) ?? words.key(cause), value, colour: colour_of(cause), key: `${place}.${cause}`,
    text: `${words.seconds(value)}, ${words.percent(value / whole)}`,
  }));

const breakdown_of = (r, titles) => {
  const parts = cause_parts(r.breakdown_s, r.step_time_s, 'breakdown_s', titles);
  return section('Where the step goes', stacked_bar(parts, { label: 'the step by cause' }),
    element('p', { class: 'hint' }, 'A mean step of the slowest stage.'));
};

const communication_of = (r) => {
  const groups = Object.entries(r.communication).filter(([, group]) => group.busy_s > 0);
  if (groups.length === 0) return null;
  const most = d3.max(groups, ([, group]) => group.busy_s);
  return section('Communication', bars(groups.map(([name, group]) => ({
    name: words.key(name), value: group.exposed_s, mark: group.busy_s, colour: colour_of(`exposed_${name}`),
    key: `communication.${name}.exposed_s`,
    text: `${words.seconds(group.exposed_s)} of ${words.seconds(group.busy_s)}`,
    title: `${words.bytes(group.bytes)} a step`,
  })), { most, label: 'exposed communication by group' }),
  element('p', { class: 'hint' }, 'Bars: time a step that GPUs wait for it. Lines: time in which it is in flight. '
    + `Bytes of a rank and step: ${groups.map(([name, group]) => `${words.key(name)} ${words.bytes(group.bytes)}`).join(', ')}.`));
};

// Bytes over the step, one line a rank.
const memory_line = (timeline, capacity) => {
  const ranks = timeline.ranks.filter((rank) => rank.memory.bytes.length > 1);
  if (ranks.length === 0) return null;
  const shown = ranks.slice(0, series.length);
  const most = Math.max(capacity, d3.max(ranks, (rank) => d3.max(rank.memory.bytes)));
  const draw = (width) => {
    const [height, left, right, bottom] = [240, 68, 24, 30];
    const x = d3.scaleLinear([0, timeline.step_time_ns], [left, width - right]);
    const y = d3.scaleLinear([0, most * 1.05], [height - bottom, 8]);
    const svg = svg_of(width, height, 'memory over the step');
    const gib = d3.tickStep(0, most / 2 ** 30, 5) * 2 ** 30;
    svg.append('g').attr('transform', `translate(${left},0)`)
      .call(d3.axisLeft(y).tickValues(d3.range(0, most * 1.05, gib)).tickFormat(words.bytes));
    svg.append('g').attr('transform', `translate(0,${height - bottom})`)
      .call(d3.axisBottom(x).ticks(Math.floor(width / 110)).tickFormat((time) => words.seconds(time / 1e9)));
    svg.append('line').attr('x1', left).attr('x2', width - right).attr('y1', y(capacity)).attr('y2', y(capacity))
      .attr('stroke', '#c62828').attr('stroke-dasharray', '5 4');
    svg.append('text').attr('x', width - right).attr('y', y(capacity) + 15).attr('text-anchor', 'end').text('capacity');
    shown.forEach((rank, i) => {
      const points = rank.memory.time_ns.map((time, k) => [time, rank.memory.bytes[k]]);
      points.push([timeline.step_time_ns, points[points.length - 1][1]]);
      svg.append('path').attr('fill', 'none').attr('stroke', series[i]).attr('stroke-width', 1.5)
        .attr('d', d3.line().x((p) => x(p[0])).y((p) => y(p[1])).curve(d3.curveStepAfter)(points));
    });
    return svg;
  };
  return element('div', {}, picture(draw),
    legend(shown.map((rank, i) => ({ name: `stage ${rank.stage}, rank ${rank.rank}`, colour: series[i] }))),
    ranks.length > shown.length ? element('p', { class: 'hint' }, `The first ${shown.length} of ${ranks.length} ranks.`) : null);
};

const memory_of = (r, timeline) => {
  if (!r.memory) return null;
  const names = Object.keys(r.memory.stages[0].categories_bytes)
    .filter((name) => r.memory.stages.some((stage) => stage.categories_bytes[name] > 0));
  const rows = r.memory.stages.map((stage, i) => ({ stage, i }));
  const whole = Math.max(r.memory.capacity_bytes, r.memory.peak_bytes);
  const palette = (k) => series[k % series.length];
  const stacks = rows.map(({ stage, i }) => element('div', { class: 'bar' },
    element('div', { class: 'name' }, `stage ${stage.stage}`),
    element('div', { class: 'track', style: 'display:flex' }, names.map((name, k) => element('div', {
      style: `width:${100 * stage.categories_bytes[name] / whole}%;background:${palette(k)}`,
      title: `${words.key(name)}: ${words.bytes(stage.categories_bytes[name])}`,
    }))),
    element('div', { class: 'text' }, value_of(`memory.stages.${i}.total_bytes`, stage.total_bytes,
      words.bytes(stage.total_bytes)), ` in ${stage.peak.pass} ${stage.peak.micro_batch}`)));
  return section('Memory', element('div', { class: 'bars' }, stacks),
    legend(names.map((name, k) => ({ name: words.key(name), colour: palette(k) }))),
    element('p', { class: 'hint' }, `The peak of each stage; the width is ${words.bytes(whole)}.`),
    timeline ? element('details', { open: true }, element('summary', {}, 'over the step'),
      memory_line(timeline, r.memory.capacity_bytes)) : null,
    element('details', {}, element('summary', {}, 'all sizes'), table([
      { title: 'stage', text: ({ stage }) => String(stage.stage), order: ({ stage }) => stage.stage },
      ...names.map((name) => ({
        title: words.key(name), order: ({ stage }) => stage.categories_bytes[name],
        text: ({ stage, i }) => value_of(`memory.stages.${i}.categories_bytes.${name}`, stage.categories_bytes[name],
          words.bytes(stage.categories_bytes[name])),
      }))], rows)));
};

const limits_of = (r) => {
  if (r.limits.length === 0) return null;
  return section('What would make it shorter', bars(r.limits.map((limit, i) => ({ ...limit, i }))
    .sort((a, b) => a.step_without_s - b.step_without_s).map((limit) => ({
      name: limit.world, value: limit.step_without_s, mark: r.step_time_s, colour: series[0], key: `limits.${limit.i}.step_without_s`,
      text: `${words.seconds(limit.step_without_s)}, ${words.change(limit.step_without_s / r.step_time_s - 1)}`,
    })), { label: 'the step without each limit' }),
  element('p', { class: 'hint' }, 'The step, simulated anew, if one thing took no time; the line is the step as it is. '
    + '`stepsim explain` tries settings, too.'));
};

const expectations_of = (r) => (r.expect.length === 0 ? null
  : section('Expectations', list_of(r.expect.map((e) => `${e.holds ? 'holds' : 'does not hold'}: ${e.text} (${e.actual})`))));

const assumed_of = (r) => (r.assumed.length === 0 ? null
  : section('Assumed, for nobody stated it', table([
    { title: 'key', text: (a) => element('code', {}, a.key), order: (a) => a.key },
    { title: 'value', text: (a) => a.value, order: (a) => a.value }], r.assumed)));

const appendix_of = (documents_) => section('All numbers', ...Object.entries(documents_)
  .filter(([name]) => name !== 'timeline').map(([name, document_]) => {
    const details = element('details', { id: `all-${name}` }, element('summary', {}, `${name}.json, key by key`));
    details.addEventListener('toggle', () => { if (details.children.length === 1) details.append(all_numbers(document_)); });
    return details;
  }));

// What was asked, in a line.
const subtitle_of = (r) => [r.model,
  `${words.whole(r.gpus)} x ${r.gpu} on ${words.whole(r.nodes)} node${r.nodes === 1 ? '' : 's'}`, r.split,
  r.attention ? `attention ${r.attention}` : null].filter(Boolean).join(' · ');

const section_of_timeline = (timeline) =>
  section(timeline.ranks.length > 1 ? 'The step across stages' : 'The step', timeline_of(timeline));

pages.run = (page, { result: r, timeline }) => {
  const titles = titles_of(timeline.causes);
  page.append(...[header_of('run', r, subtitle_of(r)), verdict_of(r), figures_of(r), breakdown_of(r, titles),
    section_of_timeline(timeline),
    limits_of(r), communication_of(r), memory_of(r, timeline), error_of(r), expectations_of(r), assumed_of(r),
    appendix_of({ result: r })].filter(Boolean));
};
