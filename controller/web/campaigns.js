// campaigns.js - campaigns found, compared and submitted.
import { add, badge, bytes, campaignLink, confirm, count, duration, el, figure, fill, get, matches, number, post, table, time } from './tools.js';

const SHOWN = 200;

// ---- Finding ------------------------------------------------------------------

function campaignText(c) {
  return [c.number, c.name, c.who, c.state, c.verdict, c.submitted, c.error, ...(c.models || [])].join(' ');
}

export async function campaignsView(view) {
  const chosen = new Set();
  const search = el('input', { type: 'search', id: 'search', placeholder: 'name, date, drive model, verdict …', oninput: () => show() });
  const compare = el('button', { id: 'compare', disabled: true, onclick: () => { location.hash = `#/compare/${[...chosen].join('/')}`; } }, 'Compare');
  const list = el('div');
  let campaigns = [];

  function choose(event, c) {
    if (event.target.checked) chosen.add(c.number); else chosen.delete(c.number);
    compare.disabled = chosen.size < 2;
    compare.textContent = chosen.size < 2 ? 'Compare' : `Compare ${[...chosen].join(', ')}`;
  }

  const columns = [
    ['', (c) => el('input', { type: 'checkbox', 'aria-label': `compare campaign ${c.number}`, checked: chosen.has(c.number), onchange: (e) => choose(e, c) }), { text: true }],
    ['campaign', (c) => campaignLink(c.number, `${c.number} ${c.name}`), { head: true }],
    ['verdict', badge, { text: true }],
    ['submitted', (c) => time(c.submitted), { text: true }],
    ['runs', (c) => `${c.phases_done} of ${c.phases}`],
    ['took', (c) => (c.started && c.ended ? duration((new Date(c.ended) - new Date(c.started)) / 1000) : '–')],
    ['models', (c) => (c.models || []).join(', '), { text: true }],
    ['by', (c) => c.who, { text: true }],
  ];

  function show() {
    const found = campaigns.filter((c) => matches(campaignText(c), search.value)).reverse();
    list.replaceChildren(found.length || campaigns.length
      ? table(`${count(found.length, 'campaign')}${search.value ? ' found' : ''}, the newest first`, columns, found.slice(0, SHOWN), { id: 'campaigns' })
      : el('p', 'There is no campaign yet.'),
    found.length > SHOWN ? el('p.soft', `and ${number(found.length - SHOWN)} older ones; search to see them`) : '');
  }

  async function refresh() {
    const text = JSON.stringify(campaigns);
    campaigns = (await get('/api/v1/campaigns')).campaigns;
    if (JSON.stringify(campaigns) !== text) show();
  }
  view.append(el('h1', 'Campaigns'), el('p.buttons', el('span', el('label', { for: 'search' }, 'Find '), search), compare),
    el('p.soft', 'Choose two or more to compare: the first chosen is what the others are compared with.'), list);
  await refresh();
  return { every: 5000, refresh, on: (event) => { if (event.event !== 'interval') refresh(); } };
}

// ---- Comparing ----------------------------------------------------------------

const units = { iops: '', mib_s: ', MiB/s', errors: '' };
const verdictWords = { higher: '▲ higher', lower: '▼ lower' };

function matchSection(match) {
  const title = `${match.run}${match.for ? ` (${match.for})` : ''}, rate ${match.iorate_text}`;
  return el('section', el('h3', title, ' ', el('small', `${match.other} against ${match.base}`)),
    match.degraded ? el('p.warn', 'Degraded runs are among them.') : null,
    table(title, [
      ['figure', (c) => `${c.figure}${units[c.figure] ?? ', µs'}`, { head: true }],
      [`base: ${match.base}`, (c) => figure(c.base && c.base.mean, 3)],
      [match.other, (c) => figure(c.other && c.other.mean, 3)],
      ['change %', (c) => (typeof c.change_pct === 'number' ? el('data', { value: c.change_pct }, `${c.change_pct > 0 ? '+' : ''}${number(c.change_pct, 2)}`) : '–')],
      ['runs', (c) => `${c.base ? c.base.runs : 0} and ${c.other ? c.other.runs : 0}`],
      ['verdict', (c) => verdictWords[c.verdict] || c.verdict, { text: true }],
    ], match.changes));
}

function boundText(bound) {
  return el('li', { class: bound.outcome === 'kept' ? 'good' : 'bad' }, `${bound.bound}: ${bound.outcome} in ${count(bound.matches, 'matched run')}`);
}

export async function compareView(view, state, ...ids) {
  const sides = el('input', { id: 'sides', value: ids.join(' '), size: 24, placeholder: '1 2,3' });
  const bound = el('input', { id: 'bound', placeholder: 'p99 > +10%', size: 16 });
  const result = el('div', { 'aria-live': 'polite' });

  async function show() {
    const list = sides.value.trim().split(/\s+/).filter(Boolean);
    if (list.length < 2) { fill(result, el('p', 'Name two campaigns or more.')); return; }
    const query = new URLSearchParams([...list.map((s) => ['side', s]), ...(bound.value.trim() ? [['fail_if', bound.value.trim()]] : [])]);
    fill(result, el('p.soft', 'Comparing …'));
    try {
      const c = await get(`/api/v1/compare?${query}`);
      const left = [...c.unmatched.map((u) => `only in ${u.side}: ${u.run}${u.for ? ` (${u.for})` : ''} ${u.iorate_text}`),
        ...c.left_out.map((l) => `left out: ${l.run} of campaign ${l.campaign}: ${l.verdict}`)];
      result.replaceChildren(...[c.bounds.length ? el('ul.findings', c.bounds.map(boundText)) : null,
        c.matches.length ? null : el('p', 'No run of one matches one of the other, by name and values.'),
        ...c.matches.map(matchSection), left.length ? el('details', el('summary', count(left.length, 'run') + ' without a match'), el('ul', left.map((t) => el('li', t)))) : null,
        el('p.soft', c.method)].filter(Boolean));
    } catch (error) { fill(result, el('p.bad', error.message)); }
  }
  view.append(el('h1', 'Compare'), el('form', { onsubmit: (e) => { e.preventDefault(); show(); } },
    el('p', el('label', { for: 'sides' }, 'Campaigns '), sides, ' ', el('label', { for: 'bound' }, 'bound '), bound, ' ', el('button', 'Compare')),
    el('p.soft', 'The first is what the others are compared with. Commas join repeats of one side: 1,2,3 4,5,6.')), result);
  await show();
  return {};
}

// ---- Submitting ---------------------------------------------------------------

const SAMPLE = `* two drives, random 4k reads, a latency curve
sd=sd1,lun=/dev/nvme0n1,openflags=o_direct
sd=sd2,lun=/dev/nvme1n1,openflags=o_direct
wd=wd1,sd=sd*,xfersize=4k,rdpct=100,seekpct=random
rd=rd1,wd=wd1,iorate=curve,elapsed=60,interval=1
`;

function field(id, label, attributes) {
  return el('p', el('label', { for: id }, `${label} `), el('input', { id, ...attributes }));
}

export async function submitView(view, state) {
  if (!state.controller.may_change) {
    view.append(el('h1', 'Submit'), el('p', `Nothing can be submitted here: ${state.controller.why_not}.`),
      el('p', 'With the shell: ', el('code', 'lockstep submit --wait -f FILE')));
    return {};
  }
  const text = el('textarea', { id: 'text', rows: 14, spellcheck: 'false', 'aria-describedby': 'text-help' });
  const more = []; // files beside the first, for include=
  const names = el('span.soft');
  const answer = el('div', { role: 'status' });
  const value = (id) => document.getElementById(id).value.trim();

  async function load(event) {
    const files = [...event.target.files];
    const read = await Promise.all(files.map(async (f) => ({ name: f.name, text: await f.text() })));
    more.length = 0;
    if (!read.length) return;
    text.value = read[0].text;
    document.getElementById('file-name').value = read[0].name;
    more.push(...read.slice(1));
    names.textContent = more.length ? ` and ${more.map((f) => f.name).join(', ')}` : '';
  }

  function document_() {
    const made = { files: [{ name: value('file-name') || 'page.parm', text: text.value }, ...more],
      variables: value('variables').split(/\s+/).filter(Boolean) };
    if (value('name')) made.name = value('name');
    for (const id of ['elapsed_s', 'warmup_s', 'interval_s']) if (value(id)) made[id] = Number(value(id));
    return made;
  }

  function show(...content) {
    answer.replaceChildren();
    add(answer, ...content);
    answer.scrollIntoView({ block: 'nearest' });
  }

  /** What `more` asks for: yes, check. */
  async function send(event, more_ = {}) {
    event.preventDefault();
    show(el('p.soft', more_.check ? 'Checking …' : 'Submitting …'));
    try {
      const made = await post('/api/v1/campaigns', { ...document_(), ...more_ });
      show(more_.check ? el('p.good', 'This would run:') : el('p.good', 'It is ', campaignLink(made.campaign), '. ', el('a', { href: '#/' }, 'Watch it'), '.'),
        made.plan ? el('pre', made.plan) : null, made.text ? el('pre', made.text) : null);
    } catch (error) {
      const said = error.document || {};
      if (said.consent) askConsent(said.consent);
      else show(el('p.bad', error.message), said.text ? el('pre', said.text) : null);
    }
  }

  /** What would be destroyed, and the way to agree to exactly that. */
  function askConsent(consent) {
    const agree = async (event) => {
      if (await confirm(`Destroy what is on ${count(consent.drives.length, 'drive')}? It cannot be brought back.`, 'Destroy and run'))
        send(event, { yes: consent.hash });
    };
    show(el('p.bad', 'This campaign destroys what is on these drives. Nothing runs yet.'),
      table(count(consent.drives.length, 'drive'), [['host', (d) => d.host, { head: true }], ['sd', (d) => d.sd, { text: true }],
        ['path', (d) => d.path, { text: true }], ['identity', (d) => d.id || '–', { text: true }], ['size', (d) => bytes(d.size_bytes)],
        ['model', (d) => d.model || '–', { text: true }], ['what is on it', (d) => d.content, { text: true }]], consent.drives, { id: 'consent' }),
      el('p', el('button.danger', { type: 'button', onclick: agree }, 'Destroy it and run')));
  }
  view.append(el('h1', 'Submit a campaign'), el('form', { onsubmit: send },
    el('p', el('label', { for: 'file' }, 'Read from files '), el('input', { id: 'file', type: 'file', multiple: true, onchange: load }), names),
    el('p', el('label', { for: 'text' }, 'Parameter file'), text),
    el('p.soft', { id: 'text-help' }, 'vdbench’s language; what is wrong with it is said with line and column, and nothing runs then. ',
      el('button', { type: 'button', onclick: () => { text.value = SAMPLE; } }, 'Put in an example')),
    el('div.fields', field('file-name', 'File name', { value: 'page.parm' }), field('name', 'Campaign name', { placeholder: 'the file’s' }),
      field('variables', 'Variables', { placeholder: 'drive=/dev/nvme0n1 rate=500' }),
      field('elapsed_s', 'Elapsed s', { type: 'number', min: 0, step: 'any', placeholder: 'as in the file' }),
      field('warmup_s', 'Warm-up s', { type: 'number', min: 0, step: 'any', placeholder: 'as in the file' }),
      field('interval_s', 'Interval s', { type: 'number', min: 0.1, step: 'any', placeholder: 'as in the file' })),
    el('p.buttons', el('button.main', 'Submit'), el('button', { type: 'button', onclick: (e) => send(e, { check: true }) }, 'Check only'))), answer);
  return {};
}
