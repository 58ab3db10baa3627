// charts.js - lines over time, latency curves, distributions (by uPlot), and a
// map of drives.  Each chart says in words what it shows; where uPlot was not
// built in, the words and the tables around them are all there is.
import { el, number } from './tools.js';

const SERIES = ['--a', '--b', '--c', '--d', '--e', '--f'];
const HEIGHT = 230;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function axis(label, size, values) {
  return {
    label, values, size, stroke: colour('--soft'), font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif', labelSize: 18,
    grid: { stroke: colour('--rule'), width: 1 }, ticks: { stroke: colour('--rule'), width: 1 },
  };
}

/** 1500 -> 1.5k */
export function short(value) {
  if (value === null || value === undefined) return '';
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(4)));
}

function series(lines, points) {
  return lines.map((line, i) => ({
    label: line.name, stroke: colour(SERIES[i % SERIES.length]), width: 2,
    dash: line.dash ? [6, 4] : undefined, spanGaps: false,
    points: { show: points, size: 7 },
    value: (_, v) => (v === null || v === undefined ? '–' : number(v, Math.abs(v) < 100 ? 3 : 0)),
  }));
}

const drawn = new Set(); // charts that are in the page

/** One colour scheme to the other, and other widths: they are drawn anew. */
export function redraw() {
  for (const chart of [...drawn]) {
    if (chart.box.isConnected) chart.draw();
    else { chart.destroy(); drawn.delete(chart); }
  }
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
let resizing = null;
addEventListener('resize', () => { clearTimeout(resizing); resizing = setTimeout(redraw, 100); });

/** Charts of the view that was left. */
export function forget() {
  for (const chart of drawn) chart.destroy();
  drawn.clear();
}

/**
 * A figure with a chart in it.  `spec`: title, x (label), y (label), lines
 * ([{name, dash}]), data ([xs, ys, ys...]; null is a gap), and maybe points,
 * logY, logX, bars, words (what it shows, for those who do not see it).
 * set(data) shows other data.
 */
export function chart(spec) {
  const box = el('div.plot', { role: 'img', 'aria-label': spec.words || spec.title });
  const whole = el('figure', el('figcaption', spec.title), box);
  const self = { box, element: whole, plot: null, data: spec.data };
  const range = (log) => (log ? { distr: 3 } : { range: zeroBased });

  self.destroy = () => { if (self.plot) self.plot.destroy(); self.plot = null; };
  self.draw = () => {
    self.destroy();
    box.replaceChildren();
    if (typeof uPlot === 'undefined') { box.append(el('p.soft', 'charts were not built in')); return; }
    const short_ = (_, ticks) => ticks.map(short);
    self.plot = new uPlot({
      width: Math.max(260, box.clientWidth || 480), height: HEIGHT,
      scales: { x: { time: false, ...(spec.logX ? { distr: 3 } : { range: spec.zeroX === false ? undefined : fromZero }) }, y: range(spec.logY) },
      axes: [axis(spec.x, 34, short_), axis(spec.y, 52, short_)],
      series: [{ label: spec.x, value: (_, v) => (v === null ? '–' : short(v)) },
        ...series(spec.lines, spec.points)],
      legend: { live: true },
      cursor: { y: false, points: { size: 8 } },
    }, self.data, box);
  };
  self.set = (data) => {
    self.data = data;
    if (self.plot) self.plot.setData(data);
  };
  drawn.add(self);
  requestAnimationFrame(() => { if (box.isConnected) self.draw(); });
  return self;
}

function fromZero(_, low, high) {
  return [0, high > 0 ? high : 1];
}

/** Heights are seen against zero. */
function zeroBased(_, low, high) {
  if (high === null || high === undefined) return [0, 1];
  return [0, high > 0 ? high * 1.08 : 1];
}

/** Points of several lines over their own x, on one list of x. */
export function join(lines) {
  const xs = [...new Set(lines.flatMap((line) => line.map(([x]) => x)))].sort((a, b) => a - b);
  const at = new Map(xs.map((x, i) => [x, i]));
  return [xs, ...lines.map((line) => {
    const ys = xs.map(() => undefined); // no gap: the line goes on
    for (const [x, y] of line) ys[at.get(x)] = y;
    return ys;
  })];
}

const LEVELS = 9;

/**
 * Drives as a map: one square each, the stronger the larger its value, on a
 * logarithmic scale from the least to the most, or to twice the least, so that
 * drives that are alike look alike.  Those of a host stand together.
 * update([{name, host, value, hung, text}]).
 */
export function heatMap(title) {
  const legend = el('span.legend');
  const map = el('div.map', { role: 'img' });
  const squares = new Map();
  let shape = '';

  function build(drives) {
    const hosts = new Map();
    for (const drive of drives) {
      if (!hosts.has(drive.host)) hosts.set(drive.host, []);
      hosts.get(drive.host).push(drive);
    }
    squares.clear();
    map.replaceChildren(...[...hosts].map(([host, list]) => el('div.host',
      el('small', host), el('div.squares', list.map((drive) => {
        const square = el('i');
        squares.set(drive.name, square);
        return square;
      })))));
  }

  function update(drives, unit, format) {
    const names = drives.map((d) => d.name).join('\n');
    if (names !== shape) { build(drives); shape = names; }
    const values = drives.map((d) => d.value).filter((v) => v > 0);
    const low = Math.min(...values), high = Math.max(...values, 2 * low);
    for (const drive of drives) {
      const square = squares.get(drive.name);
      const name = `${level(drive.value, low, high)}${drive.hung ? ' hung' : ''}`;
      if (square.className !== name) square.className = name;
      square.title = `${drive.name}: ${drive.text}`;
    }
    const span = values.length ? `${format(low)} to ${format(high)} ${unit}` : 'nothing measured yet';
    legend.replaceChildren(el('span', values.length ? `${format(low)} ` : ''),
      ...Array.from({ length: LEVELS + 1 }, (_, i) => el(`i.l${i}`)),
      el('span', values.length ? ` ${format(high)} ${unit}` : span));
    map.setAttribute('aria-label', `${drives.length} drives, ${span}; the table below has the slowest`);
  }
  return { element: el('figure.heat', el('figcaption', title, ' ', legend), map), update };
}

function level(value, low, high) {
  if (!(value > 0)) return 'none';
  if (high <= low) return 'l4';
  return `l${Math.round((Math.log(value / low) / Math.log(high / low)) * LEVELS)}`;
}
