// live.js - the campaign that runs: where it is, what it measures, which drives
// are slow, what hangs.
import { age, badge, campaignLink, confirm, count, duration, el, figure, fill, get, ms, number, post, table, tile } from './tools.js';
import { chart, heatMap } from './charts.js';

const SLOWEST = 15;
const HUNG_US = 1e6; // an I/O in flight for so long hangs

const measures = {
  'service mean': ['ms', (d) => d.service_us.mean / 1000],
  'service p99': ['ms', (d) => d.service_us.p99 / 1000],
  'service max': ['ms', (d) => d.service_us.max / 1000],
  'response mean': ['ms', (d) => (d.response_us ? d.response_us.mean / 1000 : 0)],
  IOPS: ['', (d) => d.iops],
};

function format(value) {
  return number(value, value < 100 ? 3 : 0);
}

function tiles(f) {
  const r = f.response_us;
  return [
    tile('IOPS', figure(f.iops, 0, 'iops')),
    tile('MiB/s', figure(f.mib_s, 1, 'mib_s')),
    tile('reads %', figure(f.read_pct, 1)),
    tile('service mean ms', ms(f.service_us.mean, 'service mean')),
    tile('service p50', ms(f.service_us.p50)),
    tile('service p99', ms(f.service_us.p99, 'service p99')),
    tile('service p99.9', ms(f.service_us.p999)),
    tile('service max', ms(f.service_us.max)),
    r ? tile(`response p50${f.response_lower_bound ? ', at least' : ''}`, ms(r.p50)) : null,
    r ? tile(`response p99${f.response_lower_bound ? ', at least' : ''}`, ms(r.p99, 'response p99')) : null,
    tile('in flight', figure(f.in_flight)),
    f.unissued ? tile('due, not issued', figure(f.unissued)) : null,
    f.errors ? tile('errors', el('span.bad', figure(f.errors))) : null,
  ];
}

function asked(run) {
  const words = [`rate ${run.iorate_text}`];
  for (const key of ['xfersize', 'threads', 'rdpct', 'seekpct'])
    if (run[key]) words.push(`${key} ${run[key]}`);
  return `${words.join(', ')}${run.for ? `; ${run.for}` : ''}`;
}

/** One campaign's live view; events come by on(). */
function campaignPanel(campaign, state) {
  const id = `/api/v1/campaigns/${campaign.number}`;
  const progress = el('progress', { max: 1, value: 0, 'aria-label': 'phases done' });
  const where = el('p.lead', { 'aria-live': 'polite' });
  const note = el('div');
  const figures = el('div.tiles', { 'aria-label': 'The newest interval' });
  const hung = el('div', { 'aria-live': 'assertive' });
  const slow = el('div');
  const heat = heatMap('Drives');
  const pick = el('select', { id: `measure-${campaign.number}`, onchange: () => showDrives() },
    Object.keys(measures).map((name) => el('option', name)));
  const lines = {
    rate: chart({ title: 'I/Os a second', x: 'seconds', y: 'IOPS', lines: [{ name: 'IOPS' }], data: [[], []] }),
    latency: chart({ title: 'Latency', x: 'seconds', y: 'ms', data: [[], [], [], []],
      lines: [{ name: 'service mean' }, { name: 'service p99' }, { name: 'response p99', dash: true }] }),
  };
  const stop = state.controller.may_change ? el('button.danger', { onclick: askStop }, 'Stop') : null;
  const element = el('section', { 'aria-label': `campaign ${campaign.number}` },
    el('h1', campaign.name, ' ', el('small', campaignLink(campaign.number)), ' ', stop),
    where, progress, note, figures, hung,
    el('div.figures', lines.rate.element, lines.latency.element),
    el('p', el('label', { for: pick.id }, 'Show drives by '), pick), heat.element, slow);
  let rows = [], drives = [], phase = 0, interval_s = 1, over_ms = 0, status = campaign, busy = false;

  async function askStop() {
    if (await confirm(`Stop '${campaign.name}' on all hosts? It ends as interrupted.`, 'Stop it'))
      await post(`${id}/stop`, {}).catch((error) => fill(note, el('p.bad', error.message)));
  }

  function showWhere() {
    const left = (over_ms - performance.now()) / 1000;
    const words = status.state === 'queued' ? `waits${status.note ? `: ${status.note}` : ''}`
      : `phase ${status.phase || 1} of ${status.phases}${status.run ? `, ${status.run}` : ''}`;
    const hosts = status.live ? status.live.hosts : [];
    fill(where, badge(status), ` ${words}, ${duration(left)} ${status.state === 'queued' ? 'long' : 'left'}`,
      hosts.length ? `, ${count(hosts.length, 'host')}, ${status.live.state}` : '');
    progress.max = status.phases || 1;
    progress.value = status.phases_done;
  }

  function showRows() {
    const xs = rows.map((r) => r.interval * interval_s);
    const at = (r, family, key) => (r.figures[family] && r.figures[family][key] !== null ? r.figures[family][key] / 1000 : null);
    lines.rate.set([xs, rows.map((r) => r.figures.iops)]);
    lines.latency.set([xs, rows.map((r) => at(r, 'service_us', 'mean')),
      rows.map((r) => at(r, 'service_us', 'p99')), rows.map((r) => at(r, 'response_us', 'p99'))]);
    const last = rows[rows.length - 1];
    if (last) fill(figures, tiles(last.figures));
  }

  function showDrives() {
    const [unit, value] = measures[pick.value];
    const stuck = drives.filter((d) => d.in_flight > 0 && d.oldest_us >= HUNG_US);
    const sorted = [...drives].sort((a, b) => (b.oldest_us >= HUNG_US) - (a.oldest_us >= HUNG_US)
      || (b.service_us.p99 ?? b.service_us.max ?? 0) - (a.service_us.p99 ?? a.service_us.max ?? 0));
    heat.update(drives.map((d) => ({ name: d.name, host: d.host, value: value(d),
      hung: stuck.includes(d), text: `${format(value(d))} ${unit} ${pick.value}` })), unit, format);
    fill(hung, stuck.map((d) => el('p.bad', el('b', 'Hung: '),
      `${d.name} (${d.lun}) has ${count(d.in_flight, 'I/O')} in flight, the oldest for ${age(d.oldest_us)}`)));
    fill(slow, table(`The slowest of ${count(drives.length, 'drive')}`, slowColumns, sorted.slice(0, SLOWEST),
      { id: 'slowest', row: (d) => (stuck.includes(d) ? { class: 'odd' } : null) }));
  }

  async function refreshLive() {
    if (busy) return; // the answer on its way is as good
    busy = true;
    try {
      const live = await get(`${id}/live`);
      if (live.interval) { drives = live.drives; showDrives(); }
    } finally { busy = false; }
  }

  async function refresh() {
    status = await get(`${id}/status`);
    over_ms = performance.now() + (status.remaining_s || 0) * 1000;
    showWhere();
    if (status.phase && status.phase !== phase) await begin(status.phase);
  }

  async function begin(number_) {
    const run = await get(`${id}/runs/${number_}?brief=1`);
    for (let next = run.next_interval; next;) {
      const more = await get(`${id}/runs/${number_}?brief=1&interval=${next}`);
      run.intervals.push(...more.intervals);
      next = more.next_interval;
    }
    phase = number_;
    interval_s = run.interval_s;
    rows = run.intervals.filter((r) => r.kind !== 'drain' && r.spans > 0);
    fill(note, el('p.soft', `${run.run}: ${asked(run)}`));
    showRows();
    await refreshLive();
  }

  function on(event) {
    if (event.event === 'interval' && event.phase === phase && event.kind !== 'drain' && event.spans > 0) {
      rows = rows.filter((r) => r.interval !== event.interval);
      rows.push(event);
      showRows();
      refreshLive();
      if (status.live && status.live.state !== 'running') refresh();
    } else if (event.event !== 'interval') refresh();
  }
  return { element, refresh, on, showWhere, lines };
}

const slowColumns = [
  ['drive', (d) => d.name, { head: true }],
  ['lun', (d) => d.lun, { text: true }],
  ['IOPS', (d) => figure(d.iops, 0)],
  ['MiB/s', (d) => figure(d.mib_s, 1)],
  ['mean ms', (d) => ms(d.service_us.mean)],
  ['p99', (d) => ms(d.service_us.p99)],
  ['max', (d) => ms(d.service_us.max)],
  ['in flight', (d) => figure(d.in_flight)],
  ['oldest', (d) => (typeof d.oldest_us === 'number' ? age(d.oldest_us) : '–')],
  ['errors', (d) => figure(d.errors)],
];

function idle(view, campaigns) {
  const last = campaigns[campaigns.length - 1];
  view.append(el('h1', 'Nothing runs'),
    last ? el('p.lead', 'The last campaign was ', campaignLink(last.number, last.name), ' ', badge(last))
      : el('p.lead', 'There is no campaign yet. ', el('a', { href: '#/submit' }, 'Submit one'), ', or use ', el('code', 'lockstep submit'), '.'));
}

/** All campaigns that are not over. */
export async function liveView(view, state) {
  const panels = new Map();

  async function refresh() {
    const { campaigns } = await get('/api/v1/campaigns');
    const open = campaigns.filter((c) => c.state !== 'done');
    const same = panels.size === open.length && open.every((c) => panels.has(c.number));
    if (!same || !open.length) {
      panels.clear();
      view.replaceChildren();
      for (const campaign of open) {
        const panel = campaignPanel(campaign, state);
        panels.set(campaign.number, panel);
        view.append(panel.element);
      }
      if (!open.length) idle(view, campaigns);
    }
    await Promise.all([...panels.values()].map((panel) => panel.refresh()));
  }

  function on(event) {
    const panel = panels.get(event.campaign);
    if (event.event === 'end' || !panel) refresh();
    else panel.on(event);
  }
  await refresh();
  return { every: 5000, refresh, on, tick: () => panels.forEach((panel) => panel.showWhere()) };
}
