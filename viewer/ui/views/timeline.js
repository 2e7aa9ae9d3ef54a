// timeline.js - the views Stack and Groups: controls and plot of what lives over time.
import { count } from '../../core/model/human.js';
import { choice, el, setOptions } from '../draw/dom.js';

function controls({ setAxis, capacityBox }) {
  const axis = choice('', [['events', 'events'], ['time', 'time']], 'events',
    setAxis);
  axis.select.setAttribute('aria-label', 'x');
  const cap = capacityBox();
  return { node: el('div', { class: 'bar tools' }, axis.node, cap.node), axis, cap };
}

/** `op`: raster or groups. */
export function createTimeline(host, { store, recording, setAxis, capacityBox, remark,
  makePlot }, op) {
  const bar = controls({ store, setAxis, capacityBox });
  host.append(bar.node);
  const plot = makePlot(host, { op, churn: op === 'raster' });

  function drawBar() {
    const state = store.get();
    const cover = recording.cover();
    setOptions(bar.axis.select, [['events', 'events'], ['time', 'time', !cover.time]],
      state.x.mode);
    bar.axis.node.title = cover.time ? '' : 'no times were recorded';
    bar.cap.show(state.cap);
    const seen = plot.exact();
    const drawn = seen && op === 'raster' && seen.drawn < cover.allocations ?
      `${count(seen.drawn)} of ${count(cover.allocations)} drawn; zoom for the rest` : '';
    remark(state.only ? 'matches only' : drawn);
  }

  return { plot, update: () => { drawBar(); plot.update(); },
    pictured: drawBar, redraw: plot.redraw, forget: plot.forget };
}
