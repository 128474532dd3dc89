// A waterfall: a first number, what is added and taken off, and the number that comes out.
'use strict';

const signed_seconds = (seconds) => `${seconds > 0 ? '+' : seconds < 0 ? '−' : ''}${words.seconds(Math.abs(seconds))}`;

const more_colour = '#d55e00';
const less_colour = '#009e73';

// `first` and `last` are {title, value, key}; a row {title, value, key} changes the sum by its value, and what all rows
// come to is what lies between first and last.
const waterfall = (first, rows, last, { label }) => {
  const bars_ = [];
  let sum = first.value;
  bars_.push({ ...first, from: 0, to: first.value, colour: 'var(--accent)', text: words.seconds(first.value) });
  rows.forEach((row) => {
    const colour = row.value > 0 ? more_colour : less_colour;
    bars_.push({ ...row, from: sum, to: sum + row.value, colour, text: signed_seconds(row.value) });
    sum += row.value;
  });
  bars_.push({ ...last, from: 0, to: last.value, colour: 'var(--accent)', text: words.seconds(last.value) });
  const ends = bars_.flatMap((bar) => (bar.from === 0 ? [bar.to] : [bar.from, bar.to]));
  const [least, most] = d3.extent(ends);
  // Where all of it happens at the end of long bars, the axis begins later.
  const begin = least > 0.7 * most ? Math.max(0, least - 0.35 * (most - least)) : 0;
  const draw = (width) => {
    const is_narrow = width < 620;
    const [row_height, bar_height] = is_narrow ? [40, 15] : [26, 17];
    const text_width = 84;
    const left = is_narrow ? 0 : Math.min(300, Math.floor(0.32 * width));
    const [right, bottom] = [width - text_width, 26];
    const height = bars_.length * row_height + bottom;
    const svg = svg_of(width, height, label);
    const x = d3.scaleLinear([begin, most > begin ? most : begin + 1], [left, right]);
    svg
      .append('g')
      .attr('transform', `translate(0,${height - bottom + 2})`)
      .call(
        d3
          .axisBottom(x)
          .ticks(Math.max(2, Math.floor((right - left) / 110)))
          .tickSizeOuter(0)
          .tickFormat(words.seconds),
      )
      .call((axis) => axis.selectAll('text').attr('text-anchor', (d) => (x(d) < 20 ? 'start' : 'middle')));
    bars_.forEach((bar, i) => {
      const top = i * row_height + (is_narrow ? 20 : 5);
      const [from, to] = d3.extent([bar.from, bar.to]).map((value) => x(Math.max(value, begin)));
      svg
        .append('text')
        .attr('x', is_narrow ? 0 : left - 10)
        .attr('y', is_narrow ? top - 5 : top + 13)
        .attr('text-anchor', is_narrow ? 'start' : 'end')
        .text(bar.title);
      svg
        .append('rect')
        .attr('x', from)
        .attr('y', top)
        .attr('width', Math.max(to - from, 1))
        .attr('height', bar_height)
        .attr('rx', 2)
        .attr('fill', bar.colour);
      if (i + 1 < bars_.length && !is_narrow) {
        svg
          .append('line')
          .attr('x1', x(bar.to))
          .attr('x2', x(bar.to))
          .attr('y1', top + bar_height)
          .attr('y2', top + row_height)
          .attr('stroke', 'var(--dim)')
          .attr('stroke-dasharray', '2 2');
      }
      const text = svg
        .append('text')
        .attr('x', to + 6)
        .attr('y', top + 13)
        .text(bar.text);
      if (bar.key) text.attr('class', 'value').attr('data-key', bar.key).attr('data-value', String(bar.value));
    });
    return svg;
  };
  return element(
    'div',
    {},
    picture(draw),
    legend([
      { name: 'more', colour: more_colour },
      { name: 'less', colour: less_colour },
    ]),
    begin > 0 ? element('p', { class: 'hint' }, `The axis begins at ${words.seconds(begin)}.`) : null,
  );
};
