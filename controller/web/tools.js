// tools.js - what all views stand on: asking the API, making elements, numbers
// as people read them.  No figure is computed here: numbers are the API's,
// rounded for the eye; the exact one is the element's value.

/** GETs a document; throws an Error with the controller's sentence. */
export async function get(path) {
  return take(await fetch(path, { headers: { Accept: 'application/json' } }));
}

/** POSTs a document; the same. The error has the answer as `document`. */
export async function post(path, document) {
  return take(await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  }));
}

async function take(response) {
  const document = await response.json();
  if (response.ok) return document;
  const error = new Error(document.error || response.statusText);
  error.document = document;
  throw error;
}

/**
 * An element: el('p.note', {id: 'x'}, 'text', child, ...).  Attributes that
 * begin with "on" are listeners; null children are left out.
 */
export function el(kind, ...rest) {
  const [name, ...classes] = kind.split('.');
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(' ');
  for (const item of rest.flat(Infinity)) {
    if (item === null || item === undefined || item === false) continue;
    if (item instanceof Node) element.append(item);
    else if (typeof item === 'object') attributes(element, item);
    else element.append(String(item));
  }
  return element;
}

function attributes(element, values) {
  for (const [name, value] of Object.entries(values)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
}

/** Appends what el() would. */
export function add(element, ...content) {
  element.append(...el('div', ...content).childNodes);
}

/** Puts other content into an element, unless it would be the same. */
export function fill(element, ...content) {
  const made = el('div', ...content);
  if (made.innerHTML !== element.innerHTML) element.replaceChildren(...made.childNodes);
}

const numbers = [0, 1, 2, 3].map((digits) => new Intl.NumberFormat('en-US', {
  minimumFractionDigits: digits, maximumFractionDigits: digits }));

/** A number with so many decimals; what is not known is a dash. */
export function number(value, digits = 0) {
  return typeof value === 'number' ? numbers[digits].format(value) : '–';
}

/** The number with its exact value beside it. */
export function figure(value, digits = 0, name = null) {
  if (typeof value !== 'number') return el('span.soft', { 'data-figure': name }, '–');
  return el('data', { value: String(value), 'data-figure': name }, number(value, digits));
}

/** Microseconds, shown as milliseconds. */
export function ms(us, name = null) {
  if (typeof us !== 'number') return el('span.soft', { 'data-figure': name }, '–');
  return el('data', { value: String(us), 'data-figure': name }, number(us / 1000, 3));
}

export function bytes(value) {
  if (typeof value !== 'number') return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  for (; value >= 1024 && unit < 5; unit++) value /= 1024;
  return `${Number(value.toPrecision(4))} ${units[unit]}`;
}

/** 3 s, 4 min 10 s, 2 h 5 min: whole seconds. */
export function duration(seconds) {
  if (typeof seconds !== 'number') return '–';
  const s = Math.max(0, Math.ceil(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
}

/** An age in us: 812 ms, 3.2 s, 4 min 10 s. */
export function age(us) {
  if (us < 1e6) return `${number(us / 1000)} ms`;
  return us < 60e6 ? `${number(us / 1e6, 1)} s` : duration(us / 1e6);
}

/** A time of the API in the reader's own zone. */
export function time(text) {
  if (!text) return '–';
  const d = new Date(text);
  const two = (n) => String(n).padStart(2, '0');
  const shown = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} `
    + `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  return el('time', { datetime: text, title: text }, shown);
}

export function badge(campaign) {
  const word = campaign.verdict || campaign.state;
  return el(`span.badge.${word}`, word);
}

export function campaignLink(campaignNumber, text = null) {
  return el('a', { href: `#/campaigns/${campaignNumber}` }, text || `campaign ${campaignNumber}`);
}

/**
 * A table.  Columns are [title, function of a row giving the cell, options]:
 * {text: true} to the left, {head: true} the row's name.
 */
export function table(caption, columns, rows, options = {}) {
  const head = columns.map(([title, , o]) =>
    el(o && (o.text || o.head) ? 'th.t' : 'th', { scope: 'col' }, title));
  const line = (row) => el('tr', options.row ? options.row(row) : null,
    columns.map(([, cell, o]) => el(o && o.head ? 'th.t' : o && o.text ? 'td.t' : 'td',
      o && o.head ? { scope: 'row' } : null, cell(row))));
  return el('div.wide', { tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', options.id ? { id: options.id } : null, el('caption', caption),
      el('thead', el('tr', head)), el('tbody', rows.map(line))));
}

export function tile(name, ...value) {
  return el('div', el('small', name), el('b', ...value));
}

/** "of 3 hosts": the plural where it is one. */
export function count(n, one, many = `${one}s`) {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** Whether a text has all words of a search. */
export function matches(text, search) {
  const low = text.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => low.includes(word));
}

/** Asks before something is done that cannot be undone. */
export function confirm(question, action) {
  return new Promise((resolve) => {
    const close = (answer) => () => { dialog.close(); dialog.remove(); resolve(answer); };
    const dialog = el('dialog', { oncancel: close(false) }, el('p', question),
      el('p.buttons', el('button', { onclick: close(false), autofocus: true }, 'Cancel'),
        el('button.danger', { onclick: close(true) }, action)));
    document.body.append(dialog);
    dialog.showModal();
  });
}
