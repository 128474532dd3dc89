// The page of `stepsim sweep`: what the objective does along the axes, and every point.
'use strict';

const last_word = (key) => key.split('.').pop();

// What a sweep looks for, by its column: how it is written and titled.
const write_objective = (column) => (value) => words.of_key(column, value);

pages.sweep = (page, { result: r }) => {
  const column = r.objective_column;
  const write = write_objective(column);
  const title = words.key(r.objective);
  const heading = words.title(title);
  const settings = (point) => Object.values(point.settings);
  const axes = r.axes.map((axis, a) => ({
    ...axis,
    a,
    title: axis.keys.map(last_word).join(', '),
    texts: axis.values.map((value) => (Array.isArray(value) ? value.join(', ') : value)),
  }));
  const axis_text = (point, axis) => axis.keys.map((key) => point.settings[key]).join(', ');
  const settings_words = (point) =>
    axes
      .filter((axis) => axis.values.length > 1)
      .flatMap((axis) => axis.keys)
      .map((key) => `${last_word(key)} ${point.settings[key]}`)
      .join(', ');
  const has_value = (point) => point.state === 'ok' && point[column] !== null && point[column] !== undefined;
  const good = r.points.filter(has_value);
  const order = r.less_is_better ? d3.ascending : d3.descending;
  good.sort((a, b) => order(a[column], b[column]) || a.point - b.point);
  const best = good.find((point) => point.point === r.best_points[0]);
  const position = new Map(r.points.map((point, i) => [point, i]));
  const key_of = (point) => `points.${position.get(point)}.${column}`;
  const off = (point) => (best ? point[column] / best[column] - 1 : 0);
  const varied = axes.filter((axis) => axis.values.length > 1);
  const c = r.counts;
  const states = Object.entries(c).filter(
    ([name, n]) => !['grid', 'wanted', 'done', 'ok', 'alike', 'shard'].includes(name) && n > 0,
  );
  page.append(
    header_of(
      'sweep',
      r,
      `${words.whole(c.wanted)} point${c.wanted === 1 ? '' : 's'} over ${axes.map((axis) => axis.title).join(' and ')}: ` +
        [`${words.whole(c.ok)} ok`, ...states.map(([name, n]) => `${words.whole(n)} ${words.key(name)}`)].join(', '),
    ),
  );
  const missing =
    c.done < (c.shard ? c.shard.points : c.wanted)
      ? interrupted_words(
          `${words.whole(c.done)} of ${words.whole(c.shard ? c.shard.points : c.wanted)} points are done`,
        )
      : null;
  if (!best) {
    const example = r.points.find((point) => point.reason);
    page.append(
      element(
        'div',
        { class: 'verdict' },
        missing,
        element('p', { class: 'sentence' }, 'No point is ok.'),
        example ? element('p', {}, `As ${settings(example).join(', ')}: ${example.reason}`) : null,
      ),
    );
  } else {
    page.append(
      element(
        'div',
        { class: 'verdict' },
        missing,
        element(
          'p',
          { class: 'sentence' },
          `The best ${title} is `,
          value_of(key_of(best), best[column], write(best[column])),
          varied.length > 0 ? ' with ' : '',
          settings_words(best),
          '.',
        ),
        element('p', {}, to_copy(set_words(Object.entries(best.settings).map(([key, value]) => `${key}=${value}`)))),
        varied
          .filter((axis) => axis.flat && axis.flat.from !== axis.flat.to)
          .map((axis) =>
            element(
              'p',
              {},
              `Any ${axis.title} from ${axis.flat.from} to ${axis.flat.to} is within ${words.percent(axis.flat.within)} of that.`,
            ),
          ),
        r.unequal ? element('p', {}, r.unequal) : null,
      ),
    );
    page.append(
      element(
        'div',
        { class: 'figures' },
        figure(title, key_of(best), best[column], write(best[column])),
        ...['step_time_s', 'mfu', 'tokens_per_s', 'peak_memory_bytes', 'cost_dollars']
          .filter((name) => name !== column && best[name] !== null)
          .map((name) =>
            figure(words.key(name), `points.${position.get(best)}.${name}`, best[name], words.of_key(name, best[name])),
          ),
      ),
    );
  }
  const lines_of = (point) => [
    settings_words(point),
    has_value(point)
      ? `${write(point[column])}, ${off(point) === 0 ? 'best' : words.change(off(point))}`
      : `${point.state}${point.reason ? `: ${point.reason}` : ''}`,
  ];
  // The darkest are those further off than nine tenths of the points, or than the best is from nothing.
  const darkest = Math.max(
    0.02,
    Math.min(1, d3.quantile(good.map((each) => Math.abs(off(each))).sort(d3.ascending), 0.9) ?? 1),
  );
  const colour = (point) => viridis(Math.abs(off(point)) / darkest);
  const along = (axis, points) => {
    const of = points.map((point) => ({ point, text: axis_text(point, axis) }));
    const is_numeric = axis.keys.length === 1 && axis.texts.every((text) => !Number.isNaN(number_in(text)));
    if (!is_numeric) {
      return bars(
        of.map(({ point, text }) => ({
          name: text,
          value: point[column],
          text: `${write(point[column])}, ${off(point) === 0 ? 'best' : words.change(off(point))}`,
          colour: point === best ? series[3] : series[0],
        })),
        { label: `${title} by ${axis.title}` },
      );
    }
    const text_at = new Map(axis.texts.map((text) => [number_in(text), text]));
    return line_chart(
      of
        .map(({ point, text }) => ({
          x: number_in(text),
          y: point[column],
          best: point === best,
          key: point.point,
          lines: lines_of(point),
        }))
        .sort((a, b) => a.x - b.x),
      {
        label: `${title} over ${axis.title}`,
        x_title: axis.title,
        y_title: title,
        x_write: (value) => text_at.get(value) ?? '',
        y_write: write,
        flat: axis.flat ? [number_in(axis.flat.from), number_in(axis.flat.to)] : null,
      },
    );
  };

  const columns = [
    ...axes.map((axis) => ({
      title: axis.title,
      text: (point) => axis_text(point, axis),
      order: (point) => {
        const value = number_in(axis_text(point, axis));
        return Number.isNaN(value) ? axis_text(point, axis) : value;
      },
    })),
    ...['step_time_s', 'mfu', 'tokens_per_s', 'samples_per_s', 'peak_memory_bytes', 'cost_dollars']
      .filter((name) => r.points.some((point) => point[name] !== undefined && point[name] !== null))
      .map((name) => ({
        title: words.key(name),
        order: (point) => point[name] ?? null,
        text: (point) => (point[name] === undefined || point[name] === null ? '' : words.of_key(name, point[name])),
      })),
    {
      title: 'from the best',
      order: (point) => (has_value(point) ? off(point) : null),
      text: (point) => (!has_value(point) ? '' : point === best ? 'best' : words.change(off(point))),
    },
    {
      title: 'state',
      order: (point) => point.state,
      text: (point) => `${point.state}${point.reason ? `: ${point.reason}` : ''}`,
    },
  ];
  const numbers = [...new Set(r.points.flatMap((point) => Object.keys(point)))].filter(
    (name) => !['point', 'settings', 'state', 'reason', 'breakdown_s'].includes(name),
  );
  const keys = axes.flatMap((axis) => axis.keys);
  const all = filtered_table(columns, [...good, ...r.points.filter((point) => !has_value(point))], {
    id: 'points',
    csv: {
      head: ['point', ...keys, 'state', 'reason', ...numbers],
      row: (point) => [
        point.point,
        ...keys.map((key) => point.settings[key]),
        point.state,
        point.reason ?? '',
        ...numbers.map((name) => point[name] ?? ''),
      ],
    },
  });

  if (best && varied.length === 1) page.append(section(`${heading} over ${varied[0].title}`, along(varied[0], good)));
  if (best && varied.length === 2) {
    const [across, down] = varied[0].values.length >= varied[1].values.length ? varied : [varied[1], varied[0]];
    const at = new Map(r.points.map((point) => [`${axis_text(point, across)}\n${axis_text(point, down)}`, point]));
    page.append(
      section(
        `${heading} over ${across.title} and ${down.title}`,
        map_chart({
          label: `${title} by ${across.title} and ${down.title}`,
          columns: across.texts,
          rows: down.texts,
          x_title: across.title,
          y_title: down.title,
          cell: (i, k) => {
            const point = at.get(`${across.texts[i]}\n${down.texts[k]}`);
            if (!point) return null;
            const is_good = has_value(point);
            const shade = is_good ? colour(point) : 'var(--card)';
            return {
              colour: shade,
              text: is_good ? write(point[column]) : point.state,
              lines: lines_of(point),
              best: point === best,
              key: point.point,
              ink: is_good ? ink_on(shade) : undefined,
            };
          },
        }),
        element('p', { class: 'hint' }, 'Light is good; the frame is around the best.'),
      ),
    );
  }
  if (best && varied.length > 2) {
    page.append(
      section(
        `${heading} over all axes`,
        parallel_chart(
          [
            ...varied.map((axis) => ({
              title: axis.title,
              words: axis.texts,
              value: (point) => axis_text(point, axis),
            })),
            { title, value: (point) => point[column], write },
          ],
          good,
          { label: `${title} and the settings of each point`, colour, chosen: (points) => all.choose(points) },
        ),
        element(
          'p',
          { class: 'hint' },
          'A line is a point; light is good. Drag along an axis to keep what passes there, in the table as well.',
        ),
      ),
    );
    const through = (axis) =>
      good.filter((point) =>
        varied.every((other) => other === axis || axis_text(point, other) === axis_text(best, other)),
      );
    page.append(
      section(
        'Through the best point',
        varied.map((axis) => element('div', {}, element('h3', {}, axis.title), along(axis, through(axis)))),
      ),
    );
  }
  page.append(section('Points', all));
};
