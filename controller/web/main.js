// main.js - which view is shown, what happens in it, and whether the controller
// is there.
import { el, fill, get } from './tools.js';
import { forget } from './charts.js';
import { fleetView } from './fleet.js';
import { liveView } from './live.js';
import { resultView, runView } from './result.js';
import { campaignsView, compareView, submitView } from './campaigns.js';

// The address behind '#': view, title, and which link of the top it is.
const routes = [
  [/^\/$/, 'now', 'Now', liveView],
  [/^\/fleet$/, 'fleet', 'Fleet', fleetView],
  [/^\/campaigns$/, 'campaigns', 'Campaigns', campaignsView],
  [/^\/campaigns\/([0-9a-f-]+)$/, 'campaigns', 'Campaign', resultView],
  [/^\/campaigns\/([0-9a-f-]+)\/runs\/(\d+)$/, 'campaigns', 'Run', runView],
  [/^\/compare(?:\/([^/]+))?(?:\/([^/]+))?(?:\/([^/]+))?(?:\/([^/]+))?$/, 'campaigns', 'Compare', compareView],
  [/^\/submit$/, 'submit', 'Submit', submitView],
];

const state = { controller: null };
const main = document.getElementById('view');
let shown = {}; // of the view: every, refresh(), on(event), tick()
let turn = 0; // a view that comes late is not shown
let timer = null;

function say(text, kind = '') {
  fill(document.getElementById('link'), text ? el(`span${kind}`, text) : '');
}

function trouble(error) {
  fill(main, el('h1', 'That did not work'), el('p.bad', error.message));
}

async function show() {
  const path = location.hash.slice(1) || '/';
  const route = routes.find(([pattern]) => pattern.test(path));
  const mine = ++turn;
  const view = el('div');
  clearInterval(timer);
  shown = {};
  forget();
  main.replaceChildren(view);
  if (!route) { trouble(new Error(`there is no view '${path}'`)); return; }
  const [pattern, name, title, make] = route;
  document.title = `${title} – Lockstep`;
  for (const link of document.querySelectorAll('nav a'))
    link.toggleAttribute('aria-current', link.dataset.view === name);
  if (mine > 1) { // the first one comes with the page itself
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  try {
    const made = await make(view, state, ...pattern.exec(path).slice(1).filter(Boolean));
    if (mine !== turn) return;
    shown = made;
    document.body.dataset.ready = path; // for those who test
    if (made.every) timer = setInterval(() => made.refresh().catch(lost), made.every);
  } catch (error) {
    if (mine === turn) trouble(error);
  }
}

function lost() {
  say('the controller does not answer', '.bad');
}

function listen() {
  const events = new EventSource('/api/v1/events');
  events.onopen = () => say('live', '.good');
  events.onerror = lost; // it comes back by itself
  events.onmessage = (message) => { if (shown.on) shown.on(JSON.parse(message.data)); };
}

async function start() {
  try {
    state.controller = await get('/api/v1/controller');
  } catch (error) { trouble(error); return; }
  const who = state.controller.user ? `, as ${state.controller.user}` : '';
  fill(document.getElementById('foot'), `Lockstep ${state.controller.version}, controller ${state.controller.controller.slice(0, 8)}${who}. `,
    el('a', { href: '/api/v1/openapi.json' }, 'API'), ', ', el('a', { href: '/metrics' }, 'metrics'),
    state.controller.may_change ? '' : ', for looking only');
  addEventListener('hashchange', show);
  setInterval(() => { if (shown.tick) shown.tick(); }, 1000);
  listen();
  show();
}
start();
