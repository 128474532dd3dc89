// Reads the documents of the page and lets the script of its kind draw them.
'use strict';

const documents = {};

const inflated = async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
};

const save = (name, text) => {
  const link = element('a', {
    href: URL.createObjectURL(new Blob([text], { type: 'application/json' })),
    download: `${name}.json`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
};

const theme_button = () =>
  element(
    'button',
    {
      type: 'button',
      onclick: () => {
        const dark = getComputedStyle(document.documentElement).getPropertyValue('color-scheme').trim() === 'dark';
        document.documentElement.dataset.theme = dark ? 'light' : 'dark';
        dispatchEvent(new Event('resize')); // canvases are drawn anew
      },
    },
    'light or dark',
  );

const begin = async () => {
  const page = document.getElementById('page');
  const texts = {};
  for (const script of document.querySelectorAll('script[data-document]')) {
    const name = script.dataset.document;
    texts[name] = await inflated(script.textContent);
    documents[name] = JSON.parse(texts[name]);
  }
  page.replaceChildren();
  pages[document.body.dataset.kind](page, documents);
  page.append(
    element(
      'footer',
      {},
      `${document.querySelector('meta[name=generator]').content}. `,
      Object.keys(texts)
        .filter((name) => name !== 'causes')
        .map((name) =>
          element('button', { type: 'button', onclick: () => save(name, texts[name]) }, `save ${name}.json`),
        ),
      theme_button(),
    ),
  );
  document.body.dataset.ready = 'yes';
};

begin().catch((error) => {
  document
    .getElementById('page')
    .replaceChildren(
      element(
        'p',
        { class: 'error' },
        typeof DecompressionStream === 'undefined'
          ? 'This browser cannot unpack the page. Firefox 113, Chrome 80, Safari 16.4 and later can.'
          : `The page could not be drawn: ${error.message}`,
      ),
    );
  throw error;
});
