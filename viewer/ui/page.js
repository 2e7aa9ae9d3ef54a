// page.js - starts the page: makes its parts, each of what it needs, and redraws them when the
// state changes.
import { byId } from './draw/dom.js';
import { ofAll } from './state/catalogue.js';
import { createAsker } from './state/asker.js';
import { createCompared } from './state/compared.js';
import { following } from './state/derived.js';
import { createHolders } from './state/holders.js';
import { createLook } from './state/look.js';
import { createOpening, limitsOf } from './state/opening.js';
import { createPlace } from './state/place.js';
import { createPointer } from './state/pointer.js';
import { createRecording, noCover } from './state/recording.js';
import { createSettings } from './state/settings.js';
import { createStage } from './state/stage.js';
import { createStatus } from './state/status.js';
import { createStore, firstState } from './state/store.js';
import { createTravel } from './state/travel.js';
import { hearKeys } from './parts/actions.js';
import { createCard } from './parts/card.js';
import { createDetails } from './parts/details.js';
import { createExport } from './parts/export.js';
import { createFilm } from './parts/film.js';
import { createHeader } from './parts/header.js';
import { createHelp } from './parts/help.js';
import { createOom } from './parts/oom.js';
import { createOverview } from './parts/overview.js';
import { createPeel } from './parts/peel.js';
import { createPrinting } from './parts/print.js';
import { createRange } from './parts/range.js';
import { createReadout } from './parts/readout.js';
import { createSearch } from './parts/search.js';
import { createShare } from './parts/share.js';
import { setSplitters } from './parts/splitters.js';
import { drawTabs } from './parts/tabs.js';
import { createWho } from './parts/who.js';
import { createViews } from './views/views.js';

/** Keys that do nothing by themselves. */
const modifiers = new Set(['Shift', 'Control', 'Alt', 'Meta']);

/**
 * Where the page stands.  Much of it is drawn by parts and views, which are made of it: `later` has
 * them when they are there.
 */
function createState(head, engine, link, later) {
  const limits = limitsOf(noCover);
  const store = createStore(firstState(limits), limits);
  const recording = createRecording(head, store);
  // Of a device that is no longer open nobody wants an answer: null, as of what was superseded.
  const ask = async (op, args) => {
    const { file, dev } = store.get();
    const got = await engine(op, { file, dev, ...args });
    const open = store.get();
    return args.file !== undefined || (open.file === file && open.dev === dev) ? got : null;
  };
  const look = createLook();
  const status = createStatus({ store, recording, look, holding: () => holders.live(),
    hovering: () => pointer.hovering(), happened: () => later.film.sentenceAtCursor() });
  const stage = createStage({ store, recording, note: status.note, drawTabs,
    make: (id, host) => later.views.make(id, host),
    pictured: () => {
      if (store.get().x.mode === 'time') later.overview.draw();
      status.draw();
    } });
  const holders = createHolders({ store, ask, recording, look, status, stage,
    list: (live) => {
      later.who.update(live);
      later.peel.held();
    } });
  const pointer = createPointer({ store, ask, recording, look, stage, status,
    tell: (d) => later.readout.show(d), peek: holders.peek });
  return { store, recording, ask, look, status, stage, holders, pointer,
    newAsker: () => createAsker({ ask, failed: status.failed }),
    travel: createTravel({ store, ask, recording, stage, note: status.note }),
    place: createPlace({ store, link, recording, note: status.note }),
    settings: createSettings(head.options, { store, look }),
    compared: createCompared({ store, head, ask }) };
}

/** What stands around the picture, and the views; `covers()`: those of all devices. */
function createParts(page, covers) {
  const { store, recording, ask, newAsker, look, status, stage, holders, pointer, travel, place,
    settings, compared } = page;
  const { goTo, zoomToLife, zoomToSelection } = travel;
  const search = createSearch({ store, ask, recording, goTo, pin: pointer.pin, status });
  const { find } = search;
  const overview = createOverview(byId('overview'), { store, recording, look, stage, travel });
  const details = createDetails(byId('details'), { store, newAsker, recording, look, settings,
    place, find, zoomToLife, selected: pointer.selected });
  const peel = createPeel(byId('who'), { store, newAsker, recording, place, status,
    holding: holders.live, redraw: () => {
      overview.draw();
      stage.redraw();
      status.draw();
    } });
  const who = createWho(byId('who'), { store, newAsker, recording, look, find, peel, place, goTo,
    pin: pointer.pin });
  const range = createRange(byId('range'), { store, newAsker, recording, find, zoomToSelection });
  const oom = createOom(byId('oom'), { store, recording, find, goTo });
  const film = createFilm(byId('film'), { store, newAsker, recording, travel, list: oom.list });
  const { failed } = status;
  const card = createCard(byId('card'), { store, recording, find, follow: travel.follow,
    copy: place.copy });
  const { print } = createPrinting({ place, settings, stage, holders, overview, who, range, card,
    details, failed });
  return { search, overview, details, who, range, oom, peel, film, print, card,
    readout: createReadout(byId('readout'), recording.sourceOf),
    header: createHeader({ store, head: recording.head }),
    help: createHelp({ settings, store, recording, linksChanged: details.update }),
    exporting: createExport({ store, recording, look, stage, overview, who, range, status,
      print, atRest: () => holders.peek(null) }),
    share: createShare({ place, recording }),
    views: createViews({ store, ask, newAsker, covers, recording, look, compared, stage, pointer,
      travel, settings, status, find }) };
}

/** All of the page, known as a whole to this module alone. */
function createPage(head, engine, link) {
  const page = {};
  let covers = null;
  Object.assign(page, createState(head, engine, link, page));
  Object.assign(page, createParts(page, () => (covers ??= engine('covers', {}))));
  const { store, ask, recording, look, status, stage, holders, place, overview } = page;
  page.opening = createOpening({ store, ask, recording, look, status, stage, holders, place,
    overview, drawTop: (state) => {
      page.header.draw(state);
      page.card.update();
    }, updateSide: () => {
      page.card.update();
      page.details.update();
      page.range.update();
      page.oom.update();
      page.peel.update(false);
      page.film.update();
      page.search.update();
    }, updateFilm: () => page.film.update(), forgetParts: () => {
      // Their answers of another device came to nothing.
      for (const part of [page.peel, page.search, page.details, page.range]) part.forget();
    } });
  return page;
}

/** What is of the whole page, each with what of the state it follows from, in the order in which it
 * is done. */
function createFollowers({ store, settings, header, stage, status, holders, who, details }) {
  const of = (...names) => () => names.map((name) => store.get()[name]);
  return [
    following(() => [store.get().theme, settings.preferred()], settings.setTheme),
    following(of('view', 'without'), () => {
      const { view, without } = store.get();
      // Those that are of what is left say more themselves.
      status.remark(without && ofAll.has(view) ? 'of all, with what is taken out' : '');
    }),
    following(of('view'), () => {
      header.draw(store.get());
      stage.open(store.get().view);
    }),
    following(of('by'), () => holders.askSlots().catch(status.failed)),
    following(of('at', 'by', 'without', 'query', 'only'), holders.ask),
    following(() => [settings.preferred(), ...of('view', 'wide', 'theme', 'patterns', 'list',
      'sel')()], () => {
      if (holders.live()) who.update(holders.live());
    }),
    following(() => [settings.preferred(), ...of('theme', 'patterns')()], () => {
      stage.redraw();
      details.redraw();
    }),
  ];
}

/** Hears every change of the state; `kind` is move, jump or undo, or link where none is made. */
function changed(page, state, before, kind) {
  const { place, opening, stage, status } = page;
  if (kind === 'jump' && state.view !== before.view) opening.chose();
  if (state.file !== before.file || state.dev !== before.dev) {
    const given = kind === 'undo' ? state : place.takeGiven();
    if (kind === 'undo') place.arrive();
    else place.leave();
    place.write(kind);
    opening.openDevice(state, given);
    return;
  }
  for (const look of page.followers) look();
  page.overview.draw();
  page.card.update();
  page.details.update();
  page.range.update();
  page.oom.update();
  page.peel.update(kind === 'jump' || kind === 'undo');
  page.film.update();
  page.search.update();
  stage.update(state, before);
  status.draw();
  if (kind !== 'link') place.write(kind);
}

function listen(page) {
  const { store, place, help, exporting, share, status } = page;
  const report = byId('report');
  page.followers = createFollowers(page);
  store.listen((state, before, kind) => changed(page, state, before, kind));
  hearKeys(page);
  for (const media of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(media).addEventListener('change', () =>
      changed(page, store.get(), store.get(), 'link'));
  }
  // Before what is done now, which may note something itself.
  for (const type of ['pointerdown', 'keydown', 'wheel']) {
    addEventListener(type, ({ key }) => {
      if (!modifiers.has(key)) status.forgetNote();
    }, { capture: true, passive: true });
  }
  addEventListener('popstate', place.follow);
  addEventListener('pagehide', place.flush);
  byId('show-help').addEventListener('click', help.open);
  byId('show-export').addEventListener('click', exporting.open);
  byId('show-share').addEventListener('click', share.open);
  byId('show-report').addEventListener('click', () => {
    report.hidden = !report.hidden;
    if (!report.hidden) report.focus();
  });
}

/**
 * Starts the page.  `head`: the head JSON; `engine(op, args)`: the engine; `link`: { write(state),
 * read(fragment) } of state/link.js, or null.
 */
export async function start(head, engine, link) {
  byId('page').hidden = false;
  byId('report').hidden = true;
  byId('report').classList.add('aside');
  byId('report').tabIndex = 0;
  const page = createPage(head, engine, link);
  const { store, place, settings, opening } = page;
  const { theme = null, file, dev, ...rest } = place.read();
  setSplitters(page.overview.draw);
  listen(page);
  place.leave();
  if (theme) store.move({ theme });
  settings.setTheme();
  if (file || dev) place.openAs({ file, dev }, rest);
  else await opening.openDevice(store.get(), rest);
}
