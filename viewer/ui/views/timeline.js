// timeline.js - the views Stack and Groups: controls, legend and plot of what lives over time.
import { bytes, count } from '../../core/model/human.js';
import { button, choice, el, fill, setOptions } from '../draw/dom.js';
import { groupingsOf } from '../parts/panels.js';

function controls({ store, setAxis, capacityBox }) {
  const by = choice('by', [], 'category', (value) => store.jump({ by: value }));
  const axis = choice('x', [['events', 'events'], ['time', 'time']], 'events',
    setAxis);
  const cap = capacityBox();
  const told = el('span', { class: 'muted' });
  const only = button('only', () => store.jump({ only: !store.get().only }),
    { title: 'stack the matches alone' });
  const note = el('span', { class: 'note' });
  const node = el('div', { class: 'bar' }, by.node, axis.node,
    cap.node, told, only, note);
  return { node, by, axis, cap, told, only, note };
}

function headroom(cover, cap) {
  if (!cap) return '';
  const room = cap - cover.peak.bytes;
  return room >= 0 ? `${bytes(room)} free at the peak` : `${bytes(-room)} too little at the peak`;
}

/** `op`: raster or groups. */
export function createTimeline(host, { store, recording, setAxis, capacityBox, makeLegend,
  makePlot }, op) {
  const bar = controls({ store, setAxis, capacityBox });
  host.append(bar.node);
  const legend = makeLegend(host);
  const plot = makePlot(host, { op, churn: op === 'raster' });

  function drawBar() {
    const state = store.get();
    const cover = recording.cover();
    setOptions(bar.by.select, groupingsOf(cover).filter(([id]) => op === 'raster' ||
      id !== 'birth'), state.by);
    setOptions(bar.axis.select, [['events', 'events'], ['time', 'time', !cover.time]],
      state.x.mode);
    bar.axis.node.title = cover.time ? '' : 'no times were recorded';
    bar.cap.show(state.cap);
    fill(bar.told, headroom(cover, state.cap));
    bar.only.hidden = state.query === '' || op !== 'raster';
    bar.only.setAttribute('aria-pressed', state.only ? 'true' : 'false');
    const seen = plot.exact();
    const drawn = seen && op === 'raster' ?
      (seen.drawn < cover.allocations ? count(seen.drawn) + ' of ' : 'all ') +
      `${count(cover.allocations)} allocations are live in a drawn state` +
      (seen.drawn < cover.allocations ? '; zoom for the rest' : '') : '';
    fill(bar.note, state.only ? 'matches only \u00b7 ' + drawn : drawn);
  }

  return { plot, legend, update: () => { drawBar(); plot.update(); }, live: legend.update,
    pictured: drawBar, redraw: plot.redraw, forget: plot.forget };
}
