// The memory of a run: what fills it at its peak, stage by stage, and how it goes over the step.
'use strict';

// Bytes over the step, one line a rank.
const memory_line = (timeline, capacity) => {
  const ranks = timeline.ranks.filter((rank) => rank.memory.bytes.length > 1);
  if (ranks.length === 0) return null;
  const shown = ranks.slice(0, series.length);
  const most = Math.max(
    capacity,
    d3.max(ranks, (rank) => d3.max(rank.memory.bytes)),
  );
  const draw = (width) => {
    const [height, left, right, bottom] = [240, 68, 24, 30];
    const x = d3.scaleLinear([0, timeline.step_time_ns], [left, width - right]);
    const y = d3.scaleLinear([0, most * 1.05], [height - bottom, 8]);
    const svg = svg_of(width, height, 'memory over the step');
    const gib = d3.tickStep(0, most / 2 ** 30, 5) * 2 ** 30;
    svg
      .append('g')
      .attr('transform', `translate(${left},0)`)
      .call(
        d3
          .axisLeft(y)
          .tickValues(d3.range(0, most * 1.05, gib))
          .tickFormat(words.bytes),
      );
    svg
      .append('g')
      .attr('transform', `translate(0,${height - bottom})`)
      .call(
        d3
          .axisBottom(x)
          .ticks(Math.floor(width / 110))
          .tickFormat((time) => words.seconds(time / 1e9)),
      );
    dashed_line(svg, left, width - right, y(capacity), '#c62828');
    svg
      .append('text')
      .attr('x', width - right)
      .attr('y', y(capacity) + 15)
      .attr('text-anchor', 'end')
      .text('capacity');
    shown.forEach((rank, i) => {
      const points = rank.memory.time_ns.map((time, k) => [time, rank.memory.bytes[k]]);
      points.push([timeline.step_time_ns, points[points.length - 1][1]]);
      svg
        .append('path')
        .attr('fill', 'none')
        .attr('stroke', series[i])
        .attr('stroke-width', 1.5)
        .attr(
          'd',
          d3
            .line()
            .x((p) => x(p[0]))
            .y((p) => y(p[1]))
            .curve(d3.curveStepAfter)(points),
        );
    });
    return svg;
  };
  return element(
    'div',
    {},
    picture(draw),
    legend(shown.map((rank, i) => ({ name: `stage ${rank.stage}, rank ${rank.rank}`, colour: series[i] }))),
    ranks.length > shown.length
      ? element('p', { class: 'hint' }, `The first ${shown.length} of ${ranks.length} ranks.`)
      : null,
  );
};

const memory_of = (r, timeline) => {
  if (!r.memory) return null;
  const names = Object.keys(r.memory.stages[0].categories_bytes).filter((name) =>
    r.memory.stages.some((stage) => stage.categories_bytes[name] > 0),
  );
  const rows = r.memory.stages.map((stage, i) => ({ stage, i }));
  const over_step = timeline ? memory_line(timeline, r.memory.capacity_bytes) : null;
  const whole = Math.max(r.memory.capacity_bytes, r.memory.peak_bytes);
  const palette = (k) => series[k % series.length];
  const stacks = rows.map(({ stage, i }) =>
    element(
      'div',
      { class: 'bar' },
      element('div', { class: 'name' }, `stage ${stage.stage}`),
      element(
        'div',
        { class: 'track', style: 'display:flex' },
        names.map((name, k) =>
          element('div', {
            style: `width:${(100 * stage.categories_bytes[name]) / whole}%;background:${palette(k)}`,
            title: `${words.key(name)}: ${words.bytes(stage.categories_bytes[name])}`,
          }),
        ),
      ),
      element(
        'div',
        { class: 'text' },
        value_of(`memory.stages.${i}.total_bytes`, stage.total_bytes, words.bytes(stage.total_bytes)),
        ` in ${stage.peak.pass} ${stage.peak.micro_batch}`,
      ),
    ),
  );
  return section(
    'Memory',
    element('div', { class: 'bars' }, stacks),
    legend(names.map((name, k) => ({ name: words.key(name), colour: palette(k) }))),
    element('p', { class: 'hint' }, `The peak of each stage; the width is ${words.bytes(whole)}.`),
    over_step ? element('details', { open: true }, element('summary', {}, 'over the step'), over_step) : null,
    element(
      'details',
      {},
      element('summary', {}, 'all sizes'),
      table(
        [
          { title: 'stage', text: ({ stage }) => String(stage.stage), order: ({ stage }) => stage.stage },
          ...names.map((name) => ({
            title: words.key(name),
            order: ({ stage }) => stage.categories_bytes[name],
            text: ({ stage, i }) =>
              value_of(
                `memory.stages.${i}.categories_bytes.${name}`,
                stage.categories_bytes[name],
                words.bytes(stage.categories_bytes[name]),
              ),
          })),
        ],
        rows,
      ),
    ),
  );
};
