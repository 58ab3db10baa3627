// result.js - what one campaign came to: verdict, what is to be looked at, its
// runs, latency curves, each run in full, and what it ran on.
import { add, age, badge, bytes, campaignLink, confirm, count, duration, el, figure, fill, get, ms, number, post, table, tile, time } from './tools.js';
import { chart, join } from './charts.js';

const ITEMS = 60; // drives of a run at first
const latencies = ['mean', 'min', 'p50', 'p90', 'p99', 'p999', 'p9999', 'max', 'stddev'];
const names = { p999: 'p99.9', p9999: 'p99.99' };

// ---- The front --------------------------------------------------------------

/** Sentences about what went wrong, or may have. */
function findings(campaign) {
  const found = [];
  if (campaign.error) found.push(['bad', campaign.error]);
  for (const p of campaign.phases) {
    const run = `${p.run} (${p.phase})`;
    if (p.verdict && p.verdict !== 'complete' && p.error && p.error !== campaign.error) found.push(['bad', `${run}: ${p.verdict}: ${p.error}`]);
    for (const lost of p.lost) found.push(['bad', `${run}: ${lost.host} was lost from interval ${lost.from_interval}: ${lost.reason || 'no reason was given'}`]);
    for (const stuck of p.stuck) found.push(['bad', `${run}: a ${stuck.op} of ${stuck.length} bytes at ${stuck.offset} on ${stuck.name} did not come back in ${age(stuck.age_us)}`]);
    if (p.overlap_low) found.push(['warn', `${run}: all hosts measured together for ${p.overlap_pct} % of the time only`]);
    if (p.total && p.total.errors) found.push(['bad', `${run}: ${count(p.total.errors, 'I/O error')}`]);
    if (p.total && p.total.unissued) found.push(['warn', `${run}: ${count(p.total.unissued, 'arrival')} were due and not issued; response times are at least what is shown`]);
  }
  return found;
}

const total = (p) => p.total || {};
const latency = (p, family, key) => (p.total && p.total[family] ? p.total[family][key] : null);
const runColumns = (number_, phases) => [
  ['run', (p) => el('a', { href: `#/campaigns/${number_}/runs/${p.phase}` }, `${p.phase} ${p.run}`), { head: true }],
  ...(phases.some((p) => p.for) ? [['for', (p) => p.for, { text: true }]] : []),
  ['asked', (p) => p.iorate_text, { text: true }],
  ['IOPS', (p) => figure(total(p).iops, 1, 'iops')],
  ['MiB/s', (p) => figure(total(p).mib_s, 2, 'mib_s')],
  ['read %', (p) => figure(total(p).read_pct, 1, 'read_pct')],
  ['mean ms', (p) => ms(latency(p, 'service_us', 'mean'), 'service_us.mean')],
  ['p99', (p) => ms(latency(p, 'service_us', 'p99'), 'service_us.p99')],
  ['p99.9', (p) => ms(latency(p, 'service_us', 'p999'), 'service_us.p999')],
  ['max', (p) => ms(latency(p, 'service_us', 'max'), 'service_us.max')],
  ['response p99', (p) => ms(latency(p, 'response_us', 'p99'), 'response_us.p99')],
  ['errors', (p) => figure(total(p).errors, 0, 'errors')],
  ['verdict', (p) => badge(p), { text: true }],
];

/** Runs that differ in their rate only, three of them or more, are a curve. */
export function curves(phases) {
  const groups = new Map();
  for (const p of phases) {
    if (p.kind !== 'measure' || !p.total || !(p.total.iops > 0)) continue;
    const base = p.run.replace(/_\([\d.]+%\)$/, ''); // a curve's point
    const key = [base, p.for, p.xfersize, p.threads, p.rdpct, p.seekpct].join('\n');
    if (!groups.has(key)) groups.set(key, { name: p.for ? `${base} ${p.for}` : base, points: [] });
    groups.get(key).points.push(p);
  }
  return [...groups.values()].filter((g) => g.points.length >= 3);
}

function curveFigure(phases) {
  const list = curves(phases).slice(0, 6);
  if (!list.length) return null;
  const pick = el('select', { id: 'curve-y', onchange: () => draw() },
    ['service mean', 'service p99', 'service p99.9', 'response mean', 'response p99', 'response p99.9'].map((n) => el('option', n)));
  const box = el('div');
  function draw() {
    const [family, word] = pick.value.split(' ');
    const key = word.replace('.', '');
    const lines = list.map((c) => c.points.map((p) => [p.total.iops, latency(p, `${family}_us`, key)])
      .filter(([, y]) => typeof y === 'number').map(([x, y]) => [x, y / 1000]).sort((a, b) => a[0] - b[0]));
    box.replaceChildren(chart({ title: `${pick.value} over the load`, x: 'IOPS', y: 'ms', points: true,
      lines: list.map((c) => ({ name: c.name })), data: join(lines),
      words: `Latency curves of ${list.map((c) => c.name).join(', ')}; the table of runs has the figures` }).element);
  }
  draw();
  return el('section', el('h2', 'Latency curves'), el('p', el('label', { for: 'curve-y' }, 'Show '), pick), box);
}

function tiles(campaign) {
  const done = campaign.phases.filter((p) => p.kind === 'measure' && p.total);
  const best = done.reduce((a, b) => (!a || (b.total.iops || 0) > (a.total.iops || 0) ? b : a), null);
  return el('div.tiles',
    tile('runs', number(campaign.phases_done), ' of ', number(campaign.phases.length)),
    tile('hosts', number(campaign.hosts.length)),
    tile('drives', number(campaign.drives.length)),
    best ? tile(`most IOPS, in ${best.run}`, figure(best.total.iops, 0)) : null,
    best ? tile('its MiB/s', figure(best.total.mib_s, 1)) : null,
    best ? tile('its p99 ms', ms(latency(best, 'service_us', 'p99'))) : null);
}

// ---- One run ----------------------------------------------------------------

function latencyTable(f) {
  const rows = [];
  const add = (name, of) => { if (of) rows.push([name, of]); };
  add('service', f.service_us);
  add(`response${f.response_lower_bound ? ', at least' : ''}`, f.response_us);
  for (const op of ['read', 'write']) {
    if (!f[op].ios || !f[op === 'read' ? 'write' : 'read'].ios) continue;
    add(`${op} service`, f[op].service_us);
    add(`${op} response`, f[op].response_us);
  }
  return table('Latency in ms', [['', (r) => r[0], { head: true }],
    ...latencies.map((key) => [names[key] || key, (r) => ms(r[1][key])])], rows);
}

function timeCharts(run) {
  const rows = run.intervals.filter((r) => r.kind !== 'drain' && r.spans > 0);
  const xs = rows.map((r) => r.interval * run.interval_s);
  const at = (family, key) => rows.map((r) => (r.figures[family] && r.figures[family][key] !== null ? r.figures[family][key] / 1000 : null));
  return [
    chart({ title: `I/Os a second${run.warmup_s ? `; the first ${run.warmup_s} s are warm-up` : ''}`, x: 'seconds', y: 'IOPS', lines: [{ name: 'IOPS' }], data: [xs, rows.map((r) => r.figures.iops)] }),
    chart({ title: 'Latency', x: 'seconds', y: 'ms', lines: [{ name: 'service mean' }, { name: 'service p99' }, { name: 'response p99', dash: true }],
      data: [xs, at('service_us', 'mean'), at('service_us', 'p99'), at('response_us', 'p99')] }),
  ];
}

/** How many I/Os took so long: pairs of a bucket's upper edge and its count. */
function distribution(run) {
  const families = ['service_us', 'response_us'].filter((f) => run.distribution[f].all.length);
  if (!families.length) return null;
  const data = join(families.map((f) => run.distribution[f].all.map(([edge, n]) => [edge / 1000, n])));
  return chart({ title: 'Latency distribution: I/Os by how long they took', x: 'ms', y: 'I/Os', logX: true,
    lines: families.map((f) => ({ name: f.replace('_us', '') })), data });
}

function bar(share) {
  return el('meter', { min: 0, max: 1, value: Math.max(0, Math.min(1, share || 0)), 'aria-hidden': 'true' });
}

function parts(caption, items, id) {
  const most = Math.max(...items.map((i) => i.service_us.p99 ?? i.service_us.max ?? 0));
  const sorted = [...items].sort((a, b) => (b.service_us.p99 ?? b.service_us.max ?? 0) - (a.service_us.p99 ?? a.service_us.max ?? 0));
  return [table(`${caption}, the slowest first`, [
    ['', (i) => i.name, { head: true }],
    ['IOPS', (i) => figure(i.iops, 1)], ['MiB/s', (i) => figure(i.mib_s, 2)],
    ['mean ms', (i) => ms(i.service_us.mean)], ['p99', (i) => ms(i.service_us.p99)],
    ['', (i) => bar((i.service_us.p99 ?? i.service_us.max) / most)],
    ['p99.9', (i) => ms(i.service_us.p999)], ['max', (i) => ms(i.service_us.max)],
    ['response p99', (i) => ms(i.response_us ? i.response_us.p99 : null)],
    ['errors', (i) => figure(i.errors)],
  ], sorted.slice(0, ITEMS), { id }),
  sorted.length > ITEMS ? el('p.soft', `and ${sorted.length - ITEMS} more, in the report and the exports`) : null];
}

function started(run) {
  if (typeof run.start_spread_us !== 'number') return null;
  return el('p.soft', `Started within ${number(run.start_spread_us, 0)} µs on all hosts, clocks known to ${number(run.start_uncertainty_us, 0)} µs; `
    + `${count(run.measured_intervals, 'interval')} measured in ${number(run.window_s, 3)} s.`);
}

export async function runView(view, state, campaign, phase) {
  const run = await get(`/api/v1/campaigns/${campaign}/runs/${phase}?brief=1`);
  let next = run.next_interval;
  while (next) { // a long run comes in pages
    const page = await get(`/api/v1/campaigns/${campaign}/runs/${phase}?brief=1&interval=${next}`);
    run.intervals.push(...page.intervals);
    next = page.next_interval;
  }
  add(view, el('p.buttons', campaignLink(campaign, `← campaign ${campaign}`),
    run.phase > 1 ? el('a', { href: `#/campaigns/${campaign}/runs/${run.phase - 1}` }, 'previous run') : null,
    run.phase < run.phases ? el('a', { href: `#/campaigns/${campaign}/runs/${run.phase + 1}` }, 'next run') : null),
  el('h1', run.run, ' ', el('small', `run ${run.phase} of ${run.phases}`), ' ', badge(run)),
  el('p.lead', `rate ${run.iorate_text}`, ...['xfersize', 'threads', 'rdpct', 'seekpct'].map((key) => (run[key] ? `, ${key} ${run[key]}` : '')), run.for ? `; ${run.for}` : ''),
  run.error ? el('p.bad', run.error) : null, started(run));
  if (!run.total) { add(view, el('p', 'Nothing was measured.')); return {}; }
  const f = run.total;
  add(view, el('div.tiles', tile('IOPS', figure(f.iops, 1, 'iops')), tile('MiB/s', figure(f.mib_s, 2, 'mib_s')),
    tile('reads %', figure(f.read_pct, 1)), tile('I/Os', figure(f.ios)), tile('errors', figure(f.errors)),
    tile('queue depth', figure(f.queue_depth, 1)), tile('host CPU %', figure(f.host_cpu_pct, 1))), latencyTable(f));
  const spread = distribution(run);
  add(view, el('div.figures', timeCharts(run).map((c) => c.element), spread ? spread.element : null));
  add(view, el('h2', 'Drives'), ...parts(count(run.drives.length, 'drive'), run.drives, 'run-drives'));
  if (run.hosts.length > 1) add(view, el('h2', 'Hosts'), ...parts(count(run.hosts.length, 'host'), run.hosts, 'run-hosts'));
  if (run.workloads.length > 1) add(view, el('h2', 'Workloads'), ...parts(count(run.workloads.length, 'workload'), run.workloads, 'run-workloads'));
  if (run.idle_drives.length) add(view, el('p.bad', `These drives did nothing: ${run.idle_drives.join(', ')}`));
  return {};
}

// ---- What it ran on -----------------------------------------------------------

function origin(campaign) {
  const fact = (of, key) => (of.facts && of.facts[key]) || '–';
  return el('details', el('summary', `What it ran on: ${count(campaign.hosts.length, 'host')}, ${count(campaign.drives.length, 'drive')}`),
    table('Hosts', [['host', (h) => h.name, { head: true }], ['agent', (h) => `${h.agent || '–'} ${h.version || ''}`, { text: true }],
      ['address', (h) => h.address || '–', { text: true }], ['kernel', (h) => fact(h, 'kernel'), { text: true }],
      ['CPUs', (h) => fact(h, 'cpus')], ['CPU', (h) => fact(h, 'cpu_model'), { text: true }]], campaign.hosts),
    table('Drives', [['drive', (d) => `${d.host}:${d.sd}`, { head: true }], ['lun', (d) => d.lun, { text: true }],
      ['model', (d) => d.model || '–', { text: true }], ['serial', (d) => d.serial || '–', { text: true }],
      ['firmware', (d) => fact(d, 'firmware'), { text: true }], ['used', (d) => bytes(d.size_bytes)],
      ['written', (d) => (d.written ? 'yes' : 'no'), { text: true }]], campaign.drives));
}

function papers(campaign) {
  const id = `/api/v1/campaigns/${campaign.number}`;
  return el('p.buttons', el('a.button', { href: `${id}/report`, target: '_blank', rel: 'noopener' }, 'Report'),
    el('a.button', { href: `${id}/export.csv`, download: '' }, 'CSV'),
    el('a.button', { href: `${id}/export.json`, download: '' }, 'JSON'),
    el('a.button', { href: `#/compare/${campaign.number}` }, 'Compare'));
}

/** A campaign; one that is not over is shown again at each of its ends. */
export async function resultView(view, state, id) {
  async function show() {
    const campaign = await get(`/api/v1/campaigns/${id}/runs`);
    const found = findings(campaign);
    const open = campaign.state !== 'done';
    const left = campaign.phases.length - campaign.phases_done;
    const note = el('div');
    const stop = async () => {
      if (await confirm(`Stop '${campaign.name}' on all hosts? It ends as interrupted.`, 'Stop it'))
        await post(`/api/v1/campaigns/${campaign.number}/stop`, {}).catch((error) => fill(note, el('p.bad', error.message)));
    };
    const content = [el('h1', campaign.name, ' ', el('small', `campaign ${campaign.number}`), ' ', badge(campaign)),
      el('p.soft', `by ${campaign.who}, `, time(campaign.started || campaign.submitted), ' to ', time(campaign.ended), `, ${campaign.files.join(', ')}, controller ${campaign.version}`),
      open ? el('p.buttons', el('a.button', { href: '#/' }, 'Watch it live'), state.controller.may_change ? el('button.danger', { onclick: stop }, 'Stop') : null) : null,
      note, papers(campaign),
      found.length ? el('ul.findings', found.slice(0, 40).map(([kind, text]) => el(`li.${kind}`, text))) : null,
      tiles(campaign), curveFigure(campaign.phases), el('h2', 'Runs'),
      table(`${count(campaign.phases.length, 'run')}${left ? `, ${number(left)} to come or left out` : ''}`, runColumns(campaign.number, campaign.phases), campaign.phases, { id: 'runs' }),
      el('p.soft', `Latencies are ms. Rates are ${campaign.rates}.`), origin(campaign)];
    view.replaceChildren(...content.filter(Boolean));
    return open;
  }
  let open = await show();
  return { on: async (event) => {
    if (open && event.campaign === Number(id) && event.event !== 'interval') open = await show();
  } };
}
