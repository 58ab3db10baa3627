// fleet.js - hosts and drives: what there is, who holds it, what is wrong.
import { bytes, campaignLink, count, el, fill, get, matches, number, table, time } from './tools.js';

const SHOWN = 250; // drives in the table at once
const CLOCK_US = 5000; // the usual start_tolerance

function hostState(host) {
  return el(`span.badge.${host.state}`, host.state);
}

const hostColumns = [
  ['host', (h) => h.name, { head: true }],
  ['state', hostState, { text: true }],
  ['held by', (h) => (h.campaign ? campaignLink(h.campaign) : ''), { text: true }],
  ['drives', (h) => number(h.drives)],
  ['clock ± µs', (h) => number(h.clock_uncertainty_us, 0)],
  ['agent', (h) => h.version || '–', { text: true }],
  ['address', (h) => h.address || '–', { text: true }],
  ['labels', (h) => h.labels.join(' '), { text: true }],
  ['CPUs', (h) => number(h.cpus)],
  ['memory', (h) => bytes(h.memory_bytes)],
  ['kernel', (h) => h.kernel || '–', { text: true }],
  ['since', (h) => time(h.since), { text: true }],
];

const driveColumns = [
  ['drive', (d) => `${d.host}:${d.name}`, { head: true }],
  ['held by', (d) => (d.campaign ? campaignLink(d.campaign) : ''), { text: true }],
  ['model', (d) => d.model || '–', { text: true }],
  ['serial', (d) => d.serial || '–', { text: true }],
  ['firmware', (d) => d.firmware || '–', { text: true }],
  ['size', (d) => bytes(d.size_bytes)],
  ['block', (d) => number(d.logical_block)],
  ['may write', (d) => (d.offered ? 'yes' : 'no'), { text: true }],
  ['in use', (d) => d.used_by.join(', '), { text: true }],
  ['link', (d) => (d.link_speed ? `${d.link_speed} x${d.link_width || '?'}` : ''), { text: true }],
];

/** What somebody should know, in sentences. */
function trouble(hosts, version) {
  const found = [];
  for (const host of hosts) {
    if (host.state !== 'connected')
      found.push(['bad', `${host.name} is gone: ${host.reason || 'no reason was given'}. Its agent is to be started again, or its host looked at.`]);
    else if (host.version !== version)
      found.push(['warn', `${host.name} runs agent ${host.version}, the controller is ${version}.`]);
    if (host.state === 'connected' && host.clock_uncertainty_us > CLOCK_US)
      found.push(['warn', `${host.name}'s clock is known to ${number(host.clock_uncertainty_us / 1000, 1)} ms only; phases wait for 5 ms.`]);
    if (host.engine && host.engine !== 'io_uring')
      found.push(['bad', `${host.name} cannot do I/O: ${host.engine}.`]);
  }
  return found;
}

function troubleList(found) {
  if (!found.length) return el('p.good', 'No trouble.');
  return el('ul.findings', found.map(([kind, text]) => el(`li.${kind}`, text)));
}

function driveText(d) {
  return [d.host, d.name, d.model, d.serial, d.firmware, d.path,
    d.campaign ? `campaign ${d.campaign}` : '', d.offered ? 'offered' : '',
    d.used_by.join(' ')].join(' ');
}

export async function fleetView(view, state) {
  const summary = el('p.lead');
  const troubles = el('div', { id: 'trouble' });
  const hostBox = el('div'), driveBox = el('div');
  const search = el('input', { type: 'search', id: 'drive-search',
    placeholder: 'host, model, serial, campaign …', oninput: () => showDrives() });
  let drives = [];

  view.append(el('h1', 'Fleet'), summary, troubles, el('h2', 'Hosts'), hostBox,
    el('h2', 'Drives'), el('p', el('label', { for: 'drive-search' }, 'Find drives '), search), driveBox);

  function showDrives() {
    const found = drives.filter((d) => matches(driveText(d), search.value));
    fill(driveBox, table(`${count(found.length, 'drive')}${search.value ? ' found' : ''}`,
      driveColumns, found.slice(0, SHOWN), { id: 'drives' }),
    found.length > SHOWN ? el('p.soft', `and ${number(found.length - SHOWN)} more; search to see them`) : null);
  }

  async function refresh() {
    const [hosts, list] = await Promise.all([get('/api/v1/hosts'), get('/api/v1/drives')]);
    const up = hosts.hosts.filter((h) => h.state === 'connected').length;
    drives = list.drives;
    fill(summary, `${number(up)} of ${count(hosts.hosts.length, 'host')} connected, ${count(drives.length, 'drive')}`);
    fill(troubles, troubleList(trouble(hosts.hosts, state.controller.version)));
    fill(hostBox, hosts.hosts.length ? table('Hosts', hostColumns, hosts.hosts, { id: 'hosts' })
      : el('p', 'No agent has connected yet. On a test host: ', el('code', 'lockstep-agent --controller HOST:PORT')));
    showDrives();
  }
  await refresh();
  return { every: 5000, refresh };
}
