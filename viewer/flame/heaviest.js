// heaviest.js - the frames of a tree as a table, by name: for who wants a list, or sees no picture.
import { count } from '../core/model/human.js';
import { button, el, fill } from '../ui/draw/dom.js';
import { shortened } from '../ui/draw/text.js';
import { byName } from './core/paths.js';
import { amount, shareOf } from './core/texts.js';

const rowsMost = 30;
const nameMost = 200;
const orders = ['self', 'total', 'calls'];

function heads(order, choose) {
  return el('tr', null, el('th', { scope: 'col' }, 'frame'), orders.map((one) => [
    el('th', { scope: 'col', class: 'number', 'aria-sort': one === order ? 'descending' : null },
      button(one, () => choose(one))),
    one === 'calls' ? null : el('th', { scope: 'col', class: 'number share' }, 'share'),
  ]));
}

function rowOf(row, { names, weight, all, find }) {
  const name = names[row.name];
  const figure = (value) => [el('td', { class: 'number' }, amount(weight, value)),
    el('td', { class: 'number share' }, shareOf(value, all))];
  return el('tr', null,
    el('td', null, button(shortened(name, nameMost), () => find(name), { class: 'link' })),
    figure(row.self), figure(row.total), el('td', { class: 'number' }, count(row.calls)));
}

/** Fills `host` with the table of one weight; `find` is called with the name that is chosen. */
export function fillHeaviest(host, { paths, weight, self, total, all, find }) {
  const rows = byName(paths, self, total);
  const show = (order) => {
    rows.sort((a, b) => b[order] - a[order] || b.total - a.total || a.name - b.name);
    const most = rows.length > rowsMost ? `The first ${rowsMost} of ${count(rows.length)} names. ` :
      '';
    const words = 'Self: by itself; total: with all that it called. A name is searched for.';
    fill(host, el('table', null, el('caption', null, most + words),
      el('thead', null, heads(order, (one) => {
        show(one);
        host.querySelector('[aria-sort] button').focus();
      })),
      el('tbody', null, rows.slice(0, rowsMost).map((row) =>
        rowOf(row, { names: paths.names, weight, all, find })))));
  };
  show('self');
}
