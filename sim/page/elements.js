// Pieces of pages: elements, sections, figures, tables and bars.
'use strict';

// An element with attributes and children; texts are escaped by being texts.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
};

const sections = new Set();
const section = (title, ...children) => {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  // Headings may be equal, ids may not.
  let id = name;
  for (let i = 2; sections.has(id); ++i) id = `${name}-${i}`;
  sections.add(id);
  return element(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title),
    ...children,
  );
};

// A number of a document: `key` is its place in it, by which it can be found.
const value_of = (key, value, text) =>
  element('span', { class: 'value', 'data-key': key, 'data-value': value === null ? '' : String(value) }, text);

const time_of = (key, seconds) => value_of(key, seconds, words.seconds(seconds));

// "1 step", "2 steps".
const counted = (count, word) => `${words.whole(count)} ${word}${count === 1 ? '' : 's'}`;

const figure = (label, key, value, text, more) =>
  element(
    'div',
    { class: 'figure' },
    element('div', { class: 'label' }, label),
    value_of(key, value, text),
    more ? element('div', { class: 'more' }, more) : null,
  );

// A column is {title, text(row), order(row), number}; a click on its head sorts by it where it has an order.
const table = (columns, rows, attributes = {}) => {
  const body = element('tbody');
  const head = element('tr');
  let is_number = [];
  let sorted = { column: -1, rising: true };
  const fill = () => {
    const column = columns[sorted.column];
    const order = (a, b) => {
      const x = column.order(a);
      const y = column.order(b);
      const way = sorted.rising ? 1 : -1;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return x < y ? -way : x > y ? way : 0;
    };
    const shown = column ? [...rows].sort(order) : rows;
    is_number = columns.map((each) => each.number ?? rows.some((row) => typeof each.order?.(row) === 'number'));
    [...head.children].forEach((cell, i) => {
      cell.className = is_number[i] ? 'number' : '';
    });
    body.replaceChildren(
      ...shown.map((row) =>
        element(
          'tr',
          {},
          columns.map((each, i) => element('td', { class: is_number[i] ? 'number' : null }, each.text(row))),
        ),
      ),
    );
  };
  columns.forEach((column, i) => {
    const sort = () => {
      sorted = { column: i, rising: sorted.column === i ? !sorted.rising : true };
      [...head.children].forEach((cell, k) =>
        cell.setAttribute('aria-sort', k !== i ? 'none' : sorted.rising ? 'ascending' : 'descending'),
      );
      fill();
    };
    head.append(
      element(
        'th',
        { scope: 'col' },
        column.order ? element('button', { type: 'button', onclick: sort }, column.title) : column.title,
      ),
    );
  });
  fill();
  const made = element(
    'div',
    { class: 'scroll' },
    element('table', { id: attributes.id }, element('thead', {}, head), body),
  );
  made.show = (others) => {
    rows = others;
    fill();
  };
  return made;
};

// Bars beside names, or below long ones. A row is {name, value, text, colour, mark, title}; `mark` is a value that a
// line stands at.
const bars = (rows, { most, label, below }) => {
  const end = most ?? d3.max(rows, (row) => Math.max(row.value, row.mark ?? 0));
  const share = (value) => `${end > 0 ? Math.max(0, Math.min(100, (100 * value) / end)) : 0}%`;
  return element(
    'div',
    { class: below ? 'bars below' : 'bars', role: 'list', 'aria-label': label },
    rows.map((row) =>
      element(
        'div',
        { class: 'bar', role: 'listitem', title: row.title },
        element('div', { class: 'name' }, row.name),
        element(
          'div',
          { class: 'track' },
          element('div', { class: 'fill', style: `width:${share(row.value)};background:${row.colour}` }),
          row.mark === undefined ? null : element('div', { class: 'mark', style: `left:${share(row.mark)}` }),
        ),
        element('div', { class: 'text' }, row.key ? value_of(row.key, row.value, row.text) : row.text),
      ),
    ),
  );
};

// One bar of parts. A part is {name, value, colour, text, key}.
const stacked_bar = (parts, { label }) => {
  const all = d3.sum(parts, (part) => part.value);
  return element(
    'div',
    {},
    element(
      'div',
      { class: 'stack', role: 'img', 'aria-label': label },
      parts.map((part) =>
        element('div', {
          style: `flex:${part.value / all} 1 0;background:${part.colour}`,
          title: `${part.name}: ${part.text}`,
        }),
      ),
    ),
    element(
      'ul',
      { class: 'legend' },
      parts.map((part) =>
        element(
          'li',
          {},
          element('span', { class: 'swatch', style: `background:${part.colour}` }),
          `${part.name} `,
          value_of(part.key, part.value, part.text),
        ),
      ),
    ),
  );
};

// Okabe and Ito's colours (jfly.uni-koeln.de/color), which the colour-blind can tell apart, for what most steps are
// made of; shades of them for the rest, which legends and tips name.
const colours = {
  forward: '#0072b2',
  recompute: '#56b4e9',
  backward: '#009e73',
  optimizer: '#cc79a7',
  contention: '#8c564b',
  stall: '#5c5c5c',
  exposed_tensor: '#e69f00',
  exposed_context: '#f2c14e',
  exposed_expert: '#d55e00',
  exposed_expert_tensor: '#f28e5c',
  exposed_tables: '#b8860b',
  exposed_data: '#ff7f50',
  exposed_pipeline: '#a0522d',
  pipeline_bubble: '#c3c7cc',
  sync_wait: '#949ba3',
  batch_wait: '#7b5ea7',
  h2d: '#a993d6',
  cpu_work: '#5b4b8a',
  recompilation: '#b5a642',
  garbage_collection: '#857b3c',
  offload: '#4e9a9a',
  checkpoint: '#2f6f6f',
  launch_gap: '#d9b3a7',
};
const colour_of = (cause) => colours[cause] ?? '#888888';
// Colours of what has no meaning of its own.
const series = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#d55e00',
  '#cc79a7',
  '#56b4e9',
  '#8c564b',
  '#949ba3',
  '#f2c14e',
  '#5b4b8a',
  '#4e9a9a',
  '#b5a642',
  '#f28e5c',
  '#2f6f6f',
];

const legend = (items) =>
  element(
    'ul',
    { class: 'legend' },
    items.map((item) =>
      element('li', {}, element('span', { class: 'swatch', style: `background:${item.colour}` }), item.name),
    ),
  );

// A picture (SVG) that `draw` makes anew for each width.
const picture = (draw) => {
  const box = element('div', { class: 'picture' });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(box.clientWidth);
    if (width === drawn || width === 0) return;
    drawn = width;
    box.replaceChildren(draw(width).node());
  }).observe(box);
  return box;
};

const svg_of = (width, height, label) =>
  d3
    .create('svg')
    .attr('width', width)
    .attr('height', height)
    .attr('viewBox', `0 0 ${width} ${height}`)
    .attr('role', 'img')
    .attr('aria-label', label);

// Copies a text; where the browser does not let it, the text beside the button is selected.
const copy_button = (text) => {
  const button = element(
    'button',
    {
      type: 'button',
      title: `copy ${text}`,
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = 'copied';
        } catch {
          getSelection().selectAllChildren(button.parentElement.querySelector('code'));
        }
      },
    },
    'copy',
  );
  return button;
};

// The words for causes, by their names.
const titles_of = (causes) => new Map(causes.map(({ cause, title }) => [cause, title]));

// Black or white, whichever is easier to read on that colour.
const ink_on = (colour) => (d3.lab(colour).l > 50 ? '#111' : '#fff');

// Words of a command line as a shell takes them for one each.
const shell_word = (text) => (/^[\w.,:=\/+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
const set_words = (settings) => settings.map((setting) => `--set ${shell_word(setting)}`).join(' ');

// What a page says above all else where its command did not come to its end.
const interrupted_words = (what) => element('p', { class: 'error' }, `Interrupted: ${what}.`);

const list_of = (texts) =>
  element(
    'ul',
    {},
    texts.map((text) => element('li', {}, text)),
  );

// Every number of a document, by its place in it.
const all_numbers = (document_) => {
  const rows = [];
  const visit = (value, place) => {
    if (value !== null && typeof value === 'object') {
      Object.entries(value).forEach(([key, inner]) => visit(inner, place === '' ? key : `${place}.${key}`));
    } else {
      rows.push({ place, value });
    }
  };
  visit(document_, '');
  return table(
    [
      { title: 'key', text: (row) => element('code', {}, row.place), order: (row) => row.place },
      { title: 'value', text: (row) => (row.value === null ? 'null' : String(row.value)) },
    ],
    rows,
    { id: 'all-numbers-table' },
  );
};
