// Tables of many rows, with a filter and their CSV, and words to copy.
'use strict';

// A field that keeps the rows that have all of its words, the rows in a table of at most `most`, and their CSV.
const filtered_table = (columns, rows, { most = 200, csv, id }) => {
  const count = element('span', { class: 'hint' });
  const shown = table(columns, [], { id });
  let chosen = rows;
  const field = element('input', {
    type: 'search',
    placeholder: 'filter',
    'aria-label': 'words that a row has to have',
  });
  const texts = new Map();
  const text_of = (row) => {
    if (!texts.has(row)) texts.set(row, csv.row(row).join(' ').toLowerCase());
    return texts.get(row);
  };
  const matching = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    return chosen.filter((row) => wanted.every((word) => text_of(row).includes(word)));
  };
  const fill = () => {
    const found = matching();
    shown.show(found.slice(0, most));
    count.textContent =
      found.length > most
        ? ` the first ${most} of ${words.whole(found.length)} rows`
        : ` ${words.whole(found.length)} row${found.length === 1 ? '' : 's'}`;
  };
  field.addEventListener('input', fill);
  const cell = (value) =>
    /[",\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value ?? '');
  const copy = element('button', { type: 'button' }, 'copy as CSV');
  const field_for_copy = () => [csv.head, ...matching().map(csv.row)].map((row) => row.map(cell).join(',')).join('\n');
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(field_for_copy());
      copy.textContent = 'copied';
    } catch {
      // A page from a file may not write to the clipboard in every browser: the text is shown to be taken by hand.
      copy.after(element('textarea', { rows: 8, style: 'width:100%' }, field_for_copy()));
    }
  });
  fill();
  const made = element('div', {}, field, copy, count, shown);
  made.choose = (others) => {
    chosen = others;
    fill();
  };
  made.csv = field_for_copy;
  return made;
};

// Words of a command line with a button that copies them.
const to_copy = (text) => {
  const button = element('button', { type: 'button' }, 'copy');
  button.addEventListener('click', () =>
    navigator.clipboard.writeText(text).then(
      () => {
        button.textContent = 'copied';
      },
      () => {
        button.textContent = 'select it by hand';
      },
    ),
  );
  return element('span', {}, element('code', {}, text), ' ', button);
};
