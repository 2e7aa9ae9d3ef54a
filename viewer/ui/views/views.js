// views.js - how each view is made: what of the page it is given.
import { createCapacity } from '../parts/capacity.js';
import { createAllocator } from './allocator.js';
import { createDiff } from './diff.js';
import { createFlame } from './flame.js';
import { createLeaks } from './leaks.js';
import { createAll, createDevices } from './many.js';
import { createMap } from './map.js';
import { createPlot } from './plot.js';
import { createSteps } from './steps.js';
import { createTimeline } from './timeline.js';

/** Makers by the ids of the catalogue: `make(id, host)`.  `covers()`: those of all devices. */
export function createViews({ store, ask, newAsker, covers, recording, look, compared, stage,
  pointer, travel, settings, status, find }) {
  const { head } = recording;
  const { failed, say } = status;
  const subject = { of: 'cursor' };
  const showFlame = (of) => {
    subject.of = of;
    store.jump({ view: 'flame' });
  };
  const capacityBox = () => createCapacity(store, status.note);
  const makePlot = (host, options) => createPlot(host, { store, ask, recording, look, stage,
    pointer, travel, settings, status }, options);
  const timeline = (op) => (host) => createTimeline(host, { store, recording,
    setAxis: travel.setAxis, capacityBox, remark: status.remark, makePlot }, op);
  const makers = {
    stack: timeline('raster'),
    groups: timeline('groups'),
    map: (host) => createMap(host, { store, recording, stage, newAsker, makePlot }),
    state: (host) => createAllocator(host, { store, recording, look, pointer, travel, say,
      newAsker }),
    flame: (host) => createFlame(host, { store, recording, look, compared, status, newAsker,
      subject, find, passing: pointer.passing }),
    leaks: (host) => createLeaks(host, { store, recording, look, newAsker, showFlame }),
    diff: (host) => createDiff(host, { store, ask, covers, recording, look, compared, status,
      showFlame }),
    steps: (host) => createSteps(host, { store, recording, look, status, newAsker,
      setAxis: travel.setAxis }),
    all: (host) => createAll(host, { store, head, look, covers, failed, capacityBox }),
    devices: (host) => createDevices(host, { store, head, look, covers, failed }),
  };
  return { make: (id, host) => makers[id](host) };
}
