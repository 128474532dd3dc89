// Charts that several pages share: a line, a map, points and parallel axes; each is drawn anew for its width.
'use strict';

const viridis = (share) => d3.interpolateViridis(1 - Math.max(0, Math.min(1, share)));

// Numbers with units as scenarios spell them: "16 MiB", "2k", "8"; NaN for words.
const number_in = (text) => {
  const found = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*([A-Za-z/%]*)$/.exec(String(text).trim());
  if (!found) return Number.NaN;
  const prefixes = { '': 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, m: 1e-3, u: 1e-6, n: 1e-9 };
  const binary = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
  const unit = found[2];
  if (binary[unit]) return Number(found[1]) * binary[unit];
  const scaled = /^([kMGTmun]?)(s|B\/s|bit\/s|W)$/.exec(unit);
  if (scaled) return Number(found[1]) * prefixes[scaled[1]];
  if (unit === 'min') return Number(found[1]) * 60;
  if (unit === 'h') return Number(found[1]) * 3600;
  if (unit === 'd') return Number(found[1]) * 86400;
  return prefixes[unit] === undefined ? Number(found[1]) : Number(found[1]) * prefixes[unit];
};

const tip_for = (box) => {
  const tip = element('div', { class: 'tip' });
  box.append(tip);
  return {
    show: (lines, x, y) => {
      tip.replaceChildren(...lines.flatMap((line, i) => (i === 0 ? [line] : [element('br'), line])));
      tip.style.display = 'block';
      tip.style.left = `${Math.max(0, Math.min(x + 12, box.clientWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${y + 14}px`;
    },
    hide: () => {
      tip.style.display = 'none';
    },
  };
};

// A picture with a tip that follows the pointer: draw(width, tip) returns an SVG.
const picture_with_tip = (draw) => {
  const box = element('div', { class: 'with-tip' });
  const tip = tip_for(box);
  box.prepend(picture((width) => draw(width, tip)));
  return box;
};

const scale_for = (values, range, is_log) => {
  const [least, most] = d3.extent(values);
  if (is_log && least > 0 && most > least) return d3.scaleLog([least / 1.15, most * 1.15], range);
  const pad = (most - least) * 0.06 || Math.abs(most) * 0.1 || 1;
  return d3.scaleLinear([Math.max(least >= 0 ? 0 : -Infinity, least - pad), most + pad], range);
};
const spans_decades = (values) => {
  const [least, most] = d3.extent(values);
  return least > 0 && most / least > 20;
};
const axis_of = (axis, scale, count, write) => {
  axis.scale(scale).ticks(count).tickFormat(write);
  if (!scale.base && write !== words.seconds) return axis;
  if (!scale.base) {
    // Round numbers of the unit that they are written in.
    const [least, most] = scale.domain();
    const unit = most >= 86400 ? 86400 : most >= 3600 ? 3600 : 1;
    return axis.tickValues(d3.ticks(least / unit, most / unit, count).map((tick) => tick * unit));
  }
  // Powers of the base and, where there are few, their halves.
  const [least, most] = scale.domain();
  const ticks = d3
    .range(Math.floor(Math.log10(least)), Math.ceil(Math.log10(most)) + 1)
    .flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power))
    .filter((tick) => tick >= least && tick <= most);
  const every = Math.ceil(ticks.length / Math.max(count, 2));
  return axis.tickValues(ticks.filter((_, i) => i % every === 0));
};

// Room for what stands beside a vertical axis: its numbers and its title.
const room_beside = (values, write) => 38 + 7 * d3.max(values, (value) => write(value).length);

// The titles of both axes of a chart in a frame of these edges.
const title_axes = (svg, { left, right, bottom, width, height }, x_title, y_title) => {
  svg
    .append('text')
    .attr('x', (left + width - right) / 2)
    .attr('y', height - 8)
    .attr('text-anchor', 'middle')
    .text(x_title);
  svg
    .append('text')
    .attr('transform', `translate(13,${(height - bottom) / 2}) rotate(-90)`)
    .attr('text-anchor', 'middle')
    .text(y_title);
};

// A value to compare with, across a chart.
const dashed_line = (svg, from, to, height, colour) =>
  svg
    .append('line')
    .attr('x1', from)
    .attr('x2', to)
    .attr('y1', height)
    .attr('y2', height)
    .attr('stroke', colour)
    .attr('stroke-dasharray', '5 4');

let frames = 0; // each has an id of its own

// Points at places: {x, y, colour, hollow, lines, key}; `act` is called with the one that is clicked.
const points_chart = (
  points,
  { label, x_title, y_title, x_write, y_write, is_log_x, is_log_y, height = 380, lines = [], act, is_square },
) =>
  picture_with_tip((width, tip) => {
    const [left, right, top, bottom] = [
      room_beside(
        points.map((point) => point.y),
        y_write,
      ),
      16,
      10,
      46,
    ];
    const both = is_square ? points.flatMap((point) => [point.x, point.y]) : null;
    const x = scale_for(both ?? points.map((point) => point.x), [left, width - right], is_log_x);
    const y = scale_for(both ?? points.map((point) => point.y), [height - bottom, top], is_log_y);
    const svg = svg_of(width, height, label);
    const frame = `frame-${(frames += 1)}`;
    svg
      .append('clipPath')
      .attr('id', frame)
      .append('rect')
      .attr('x', left)
      .attr('y', top)
      .attr('width', width - right - left)
      .attr('height', height - bottom - top);
    svg
      .append('g')
      .attr('transform', `translate(0,${height - bottom})`)
      .call(axis_of(d3.axisBottom(x), x, Math.max(2, Math.floor(width / 110)), x_write));
    svg
      .append('g')
      .attr('transform', `translate(${left},0)`)
      .call(axis_of(d3.axisLeft(y), y, 6, y_write));
    title_axes(svg, { left, right, bottom, width, height }, x_title, y_title);
    lines.forEach((line) =>
      svg
        .append('path')
        .attr('clip-path', `url(#${frame})`)
        .attr('fill', 'none')
        .attr('stroke', line.colour ?? 'var(--dim)')
        .attr('stroke-dasharray', line.dash ?? null)
        .attr('d', d3.line()(line.points(x, y))),
    );
    svg
      .append('g')
      .selectAll('circle')
      .data(points)
      .join('circle')
      .attr('cx', (p) => x(p.x))
      .attr('cy', (p) => y(p.y))
      .attr('r', points.length > 500 ? 3 : 5)
      .attr('fill', (p) => (p.hollow ? 'var(--back)' : p.colour))
      .attr('stroke', (p) => p.colour)
      .attr('stroke-width', 1.5)
      .attr('fill-opacity', 0.85)
      .attr('data-point', (p) => p.key)
      .style('cursor', act ? 'pointer' : null)
      .on('mousemove', (p) => tip.show(p.lines, x(p.x), y(p.y)))
      .on('mouseleave', tip.hide)
      .on('click', (p) => act && act(p));
    return svg;
  });

// A line over numbers; `flat` are the places between which it hardly matters, `level` is a value to compare with.
const line_chart = (points, { label, x_title, y_title, x_write, y_write, flat, level, height = 300 }) =>
  picture_with_tip((width, tip) => {
    const [left, right, top, bottom] = [
      room_beside(
        points.map((point) => point.y),
        y_write,
      ),
      24,
      10,
      46,
    ];
    const xs = points.map((point) => point.x);
    const x = scale_for(xs, [left, width - right], spans_decades(xs));
    const has_level = level !== null && level !== undefined;
    const y = scale_for(
      [...points.map((point) => point.y), ...(has_level ? [level] : [])],
      [height - bottom, top],
      false,
    );
    const svg = svg_of(width, height, label);
    if (has_level) dashed_line(svg, left, width - right, y(level), 'var(--dim)');
    if (flat) {
      const [from, to] = [Math.max(x(flat[0]) - 4, left), Math.min(x(flat[1]) + 4, width - right)];
      svg
        .append('rect')
        .attr('x', from)
        .attr('width', to - from)
        .attr('y', top)
        .attr('height', height - bottom - top)
        .attr('fill', 'var(--accent)')
        .attr('opacity', 0.13);
    }
    // The values themselves, where they have room beside the one before.
    const ticks = [];
    xs.forEach((value) => {
      const last = ticks[ticks.length - 1];
      if (last === undefined || x(value) - x(last) > 4 + 7 * x_write(value).length) ticks.push(value);
    });
    svg
      .append('g')
      .attr('transform', `translate(0,${height - bottom})`)
      .call(
        d3
          .axisBottom(x)
          .tickValues(ticks)
          .tickFormat((value) => x_write(value)),
      );
    svg
      .append('g')
      .attr('transform', `translate(${left},0)`)
      .call(axis_of(d3.axisLeft(y), y, 5, y_write));
    title_axes(svg, { left, right, bottom, width, height }, x_title, y_title);
    svg
      .append('path')
      .attr('fill', 'none')
      .attr('stroke', series[0])
      .attr('stroke-width', 2)
      .attr(
        'd',
        d3
          .line()
          .x((p) => x(p.x))
          .y((p) => y(p.y))(points),
      );
    svg
      .append('g')
      .selectAll('circle')
      .data(points)
      .join('circle')
      .attr('cx', (p) => x(p.x))
      .attr('cy', (p) => y(p.y))
      .attr('r', (p) => (p.best ? 7 : 4.5))
      .attr('fill', (p) => (p.best ? series[3] : series[0]))
      .attr('data-point', (p) => p.key)
      .on('mousemove', (p) => tip.show(p.lines, x(p.x), y(p.y)))
      .on('mouseleave', tip.hide);
    return svg;
  });

// Cells over two lists of words: cell(column, row) returns {colour, ink, text, lines, best} or nothing.
const map_chart = ({ label, columns, rows, x_title, y_title, cell }) =>
  picture_with_tip((width, tip) => {
    const left = Math.min(width * 0.34, 24 + 7.4 * d3.max(rows, (row) => row.length));
    const [top, cell_height] = [8, Math.max(20, Math.min(34, 480 / rows.length))];
    const turned = columns.length * 7.4 * d3.max(columns, (column) => column.length) > width - left;
    const bottom = (turned ? 12 + 5.4 * d3.max(columns, (column) => column.length) : 22) + 22;
    const height = top + rows.length * cell_height + bottom;
    const cell_width = (width - left - 8) / columns.length;
    const svg = svg_of(width, height, label);
    rows.forEach((row, r) => {
      svg
        .append('text')
        .attr('x', left - 6)
        .attr('y', top + (r + 0.5) * cell_height + 4)
        .attr('text-anchor', 'end')
        .text(row);
      columns.forEach((column, c) => {
        const made = cell(c, r);
        if (!made) return;
        const [x, y] = [left + c * cell_width, top + r * cell_height];
        svg
          .append('rect')
          .attr('x', x + 0.5)
          .attr('y', y + 0.5)
          .attr('width', Math.max(cell_width - 1, 0.5))
          .attr('height', cell_height - 1)
          .attr('fill', made.colour)
          .attr('stroke', made.best ? 'var(--text)' : null)
          .attr('stroke-width', 2.5)
          .attr('data-point', made.key)
          .on('mousemove', () => tip.show(made.lines, x, y))
          .on('mouseleave', tip.hide);
        if (made.text.length * 7.2 < cell_width && cell_height >= 18) {
          svg
            .append('text')
            .attr('x', x + cell_width / 2)
            .attr('y', y + cell_height / 2 + 4)
            .attr('text-anchor', 'middle')
            .attr('pointer-events', 'none')
            .style('fill', made.ink ?? 'var(--text)')
            .text(made.text);
        }
      });
    });
    columns.forEach((column, c) => {
      const every = turned ? Math.ceil(14 / cell_width) : 1;
      if (c % every !== 0) return;
      const [x, y] = [left + (c + 0.5) * cell_width, top + rows.length * cell_height + 16];
      svg
        .append('text')
        .attr('transform', turned ? `translate(${x + 4},${y - 4}) rotate(-45)` : `translate(${x},${y})`)
        .attr('text-anchor', turned ? 'end' : 'middle')
        .text(column);
    });
    svg
      .append('text')
      .attr('x', left + (width - left) / 2)
      .attr('y', height - 4)
      .attr('text-anchor', 'middle')
      .style('fill', 'var(--dim)')
      .text(`${x_title} across, ${y_title} down`);
    return svg;
  });

// One vertical axis a column of numbers or words, one line a row. Dragging along an axis keeps the rows that pass
// there; `chosen` is told which. Lines are on a canvas: ten thousand of them stay quick.
const parallel_chart = (axes, rows, { label, colour, chosen }) => {
  const box = element('div', { class: 'with-tip' });
  const kept = axes.map(() => null);
  const passes = (row) =>
    axes.every((axis, a) => {
      if (!kept[a]) return true;
      const y = axis.scale(axis.value(row));
      return y >= kept[a][0] && y <= kept[a][1];
    });
  box.append(
    picture((width) => {
      const [height, top, bottom, side] = [360, 34, 24, Math.min(60, width / (axes.length + 1))];
      const x = d3.scalePoint(d3.range(axes.length), [side, width - side]);
      axes.forEach((axis) => {
        const values = rows.map(axis.value).filter((value) => value !== null && value !== undefined);
        const range = [height - bottom, top];
        axis.scale = axis.words
          ? d3.scalePoint(axis.words, range).padding(0.2)
          : scale_for(values, range, spans_decades(values));
      });
      const density = window.devicePixelRatio || 1;
      const canvas = element('canvas', {
        width: Math.round(width * density),
        height: Math.round(height * density),
        style: `width:${width}px;height:${height}px`,
      });
      const context = canvas.getContext('2d');
      context.scale(density, density);
      const line = (row) => {
        context.beginPath();
        axes.forEach((axis, a) => {
          const value = axis.value(row);
          if (value === null || value === undefined) return;
          context.lineTo(x(a), axis.scale(value));
        });
        context.stroke();
      };
      const draw = () => {
        const shown = rows.filter(passes);
        context.clearRect(0, 0, width, height);
        context.lineWidth = 1;
        context.globalAlpha = 0.07;
        context.strokeStyle = '#888';
        if (shown.length < rows.length && rows.length < 3000) rows.forEach(line);
        context.globalAlpha = Math.max(0.12, Math.min(0.8, 120 / shown.length));
        // The best lie on top: they are drawn last.
        for (let i = shown.length; i-- > 0;) {
          context.strokeStyle = colour(shown[i]);
          line(shown[i]);
        }
        chosen(shown);
      };
      const svg = svg_of(width, height, label).style('position', 'absolute').style('inset', '0');
      axes.forEach((axis, a) => {
        const every = axis.words ? Math.ceil(axis.words.length / 20) : 1;
        const ticks = axis.words
          ? d3.axisLeft(axis.scale).tickValues(axis.words.filter((_, i) => i % every === 0))
          : axis_of(d3.axisLeft(axis.scale), axis.scale, 5, axis.write);
        const group = svg
          .append('g')
          .attr('transform', `translate(${x(a)},0)`)
          .call(ticks);
        group
          .append('text')
          .attr('y', a % 2 ? 12 : 24)
          .attr('text-anchor', a === 0 ? 'start' : a === axes.length - 1 ? 'end' : 'middle')
          .attr('x', a === 0 ? -side + 4 : a === axes.length - 1 ? side - 4 : 0)
          .style('fill', 'var(--text)')
          .style('font-weight', 600)
          .text(axis.title);
        group
          .append('g')
          .attr('class', 'brush')
          .call(
            d3
              .brushY()
              .extent([
                [-12, top - 6],
                [12, height - bottom + 6],
              ])
              .on('brush end', () => {
                kept[a] = d3.event.selection;
                draw();
              }),
          );
      });
      const both = element('div', { style: `position:relative;height:${height}px` }, canvas, svg.node());
      draw();
      return { node: () => both };
    }),
  );
  return box;
};
