// stage.js - the views of the open device: which one is open, and what it shows.
import { byId } from '../draw/dom.js';
import { closedReason, ofMany } from './catalogue.js';

/** Opens the view with `id`, or the first there is; it is made when it is first wanted. */
function open(stage, id) {
  const { store, recording } = stage;
  const views = recording.views();
  const view = views.find((one) => one.id === id) || views[0];
  if (!view) return;
  byId('work').classList.toggle('many', ofMany.has(view.id));
  for (const node of byId('view').children) node.hidden = true;
  if (!stage.views.has(view.id)) {
    const host = document.createElement('div');
    host.className = 'pane';
    byId('view').append(host);
    stage.views.set(view.id, { host, id: view.id, ...stage.make(view.id, host) });
  }
  stage.view = stage.views.get(view.id);
  stage.view.host.hidden = false;
  stage.picture = stage.view.plot ? stage.view.plot.exact() : null;
  stage.drawTabs(views, recording.cover(), view.id, (next) => store.jump({ view: next }));
}

function openByKey({ store, recording, note }, key) {
  const view = recording.views().find((one) => one.key === key);
  if (view && !closedReason(view, recording.cover())) store.jump({ view: view.id });
  else note('this recording has no such view');
}

/** The exact picture of the open view is there. */
function setPicture(stage, picture) {
  stage.picture = picture;
  if (stage.view && stage.view.pictured) stage.view.pictured();
  stage.pictured();
}

function forget(stage) {
  for (const view of stage.views.values()) if (view.forget) view.forget();
  stage.picture = null;
}

/**
 * A view is { update(state, before) } and what it has of plot, table(), drawing(), pictured(),
 * redraw() and forget().  `make(id, host)` makes one, `drawTabs` shows which there are and
 * `pictured()` draws what follows from the exact picture of the open one.
 */
export function createStage({ store, recording, note, make, drawTabs, pictured }) {
  const stage = { store, recording, note, make, drawTabs, pictured,
    views: new Map(),   // those that were opened, by id
    view: null,         // the open one,
    picture: null };    // and its exact picture
  const plot = () => (stage.view && stage.view.plot) || null;
  return {
    current: () => stage.view,
    plot,
    picture: () => stage.picture,
    /** The states in sight; null while that is not known. */
    span: () => (stage.picture ?
      { from: stage.picture.span[0], to: stage.picture.span[1] } : null),
    table: () => stage.view && stage.view.table && stage.view.table(),
    open: (id) => open(stage, id),
    openByKey: (key) => openByKey(stage, key),
    setPicture: (picture) => setPicture(stage, picture),
    update: (state, before) => { if (stage.view) stage.view.update(state, before); },
    redraw: () => { if (stage.view && stage.view.redraw) stage.view.redraw(); },
    forget: () => forget(stage),
  };
}
