// The critical path of a step in lanes, one a rank: who keeps the others waiting, and when.
'use strict';

// Segments are {rank, cause, start_s, seconds}, in order of time.
const lanes_of_path = (segments, titles) => {
  const ranks = [...new Set(segments.map((segment) => segment.rank))].sort((a, b) => a - b);
  const begin = segments[0].start_s;
  const last = segments[segments.length - 1];
  const lane_height = Math.max(8, Math.min(22, Math.floor(420 / ranks.length)));
  const every = Math.ceil(14 / lane_height); // lanes with a label
  const draw = (width) => {
    const [left, right, top] = [18 + 7 * `rank ${ranks[ranks.length - 1]}`.length, 24, 26];
    const height = top + ranks.length * lane_height + 6;
    const svg = svg_of(width, height, `the critical path over ${ranks.length} rank${ranks.length === 1 ? '' : 's'}`);
    const x = d3.scaleLinear([0, last.start_s + last.seconds - begin], [left, width - right]);
    const y = (rank) => top + ranks.indexOf(rank) * lane_height;
    svg
      .append('g')
      .attr('transform', `translate(0,${top - 4})`)
      .call(
        d3
          .axisTop(x)
          .ticks(Math.max(2, Math.floor(width / 120)))
          .tickSizeOuter(0)
          .tickFormat(words.seconds),
      );
    ranks.forEach((rank, i) => {
      svg
        .append('line')
        .attr('x1', left)
        .attr('x2', width - right)
        .attr('y1', y(rank) + lane_height / 2)
        .attr('y2', y(rank) + lane_height / 2)
        .attr('stroke', 'var(--line)');
      if (i % every === 0) {
        svg
          .append('text')
          .attr('x', left - 8)
          .attr('y', y(rank) + lane_height / 2 + 4)
          .attr('text-anchor', 'end')
          .text(`rank ${rank}`);
      }
    });
    let before = null;
    let drawn = { until: -1 };
    segments.forEach((segment) => {
      const from = x(segment.start_s - begin);
      const to = x(segment.start_s - begin + segment.seconds);
      if (before !== null && before.rank !== segment.rank && from - (before.line ?? -9) > 1) {
        svg
          .append('line')
          .attr('x1', from)
          .attr('x2', from)
          .attr('y1', y(before.rank) + lane_height / 2)
          .attr('y2', y(segment.rank) + lane_height / 2)
          .attr('stroke', 'var(--dim)')
          .attr('stroke-width', 1);
        before.line = from;
      }
      before = { rank: segment.rank, line: before?.line };
      // What adds less than a pixel of the same colour in the same lane is not seen.
      const same = drawn.rank === segment.rank && drawn.cause === segment.cause;
      if (same && Math.floor(to) === Math.floor(drawn.until)) return;
      drawn = { rank: segment.rank, cause: segment.cause, until: to };
      svg
        .append('rect')
        .attr('x', from)
        .attr('y', y(segment.rank) + 2)
        .attr('width', Math.max(to - from, 0.7))
        .attr('height', lane_height - 4)
        .attr('fill', colour_of(segment.cause))
        .append('title')
        .text(`rank ${segment.rank}, ${titles.get(segment.cause)}: ${words.seconds(segment.seconds)}`);
    });
    return svg;
  };
  return picture(draw);
};
