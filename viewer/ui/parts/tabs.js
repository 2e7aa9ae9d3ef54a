// tabs.js - a tab for each view of the recording, in a list where there is no room for them.
import { button, byId, el, fill, setOptions } from '../draw/dom.js';
import { closedReason } from '../state/catalogue.js';

export function drawTabs(all, cover, current, choose) {
  // The chip beside the devices is the way to all of them.
  const views = all.filter((view) => view.id !== 'devices' || view.id === current);
  const closed = views.map((view) => closedReason(view, cover));
  fill(byId('tabs'), views.map((view, i) => button([el('kbd', { text: view.key }), view.title],
    () => choose(view.id), { role: 'tab', 'aria-selected': view.id === current ? 'true' : 'false',
      tabindex: view.id === current ? '0' : '-1', disabled: closed[i] !== null,
        title: closed[i] })));
  const list = byId('tab-list');
  setOptions(list, views.map((view, i) => [view.id, view.title, closed[i] !== null]), current);
  list.onchange = () => choose(list.value);
  byId('tabs').onkeydown = (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const open = views.filter((_, i) => closed[i] === null);
    const at = open.findIndex((view) => view.id === current);
    choose(open[(at + step + open.length) % open.length].id);
    byId('tabs').querySelector('[aria-selected="true"]').focus();
  };
}
