// help.js - the `?` dialog: the table of keys, and below it the settings.
import { button, byId, choice, el, fill } from '../draw/dom.js';
import { keyNames, table } from '../state/keys.js';
import { editors } from './editor.js';

const mouse = [
  ['click', 'pin; again or Esc unpins'],
  ['drag', 'select a range'],
  ['Shift-drag, middle-drag', 'pan'],
  ['wheel', 'zoom at the pointer; Alt-wheel zooms memory; Shift-wheel pans'],
  ['double-click', 'zoom to the life of the band; on an axis: fit'],
  ['click two steps', 'what changed between their peaks; a double-click zooms to one'],
  ['drag on the overview', 'move, resize or draw the brush'],
  ['one finger, two, long press', 'pan, zoom, select a range'],
];

const finding = [
  [['model.py:22'], 'in the line, a function, file, annotation or name; "in quotes" with blanks'],
  [['line:', 'owner:', 'module:', 'name:', 'path:'],
    'part of what a group is called; /re/ is an expression'],
  [['line=', 'site=', 'file=', 'function='], 'the one group that is called so'],
  [['fn:', 'file:', 'op:', 'line:22'], 'any function, file, operator or line of the stack'],
  [['size>1MiB', 'life<100'], 'with >, <, >=, <= or =, and spans: size=1MiB..2MiB'],
  [['cat:', 'phase:', 'step:', 'stream:', 'pool:'], 'what it is, and where or when it was made'],
  [['pool:default', 'pool:3'], 'a pool as it is called, or its number'],
  [['alive:peak', 'flag:end'], 'there at the peak; never freed'],
  [['a b', 'a | b', '-a'], 'both, one of them, not this'],
];

function rows(list) {
  return list.map(([keys, what]) => el('tr', null,
    el('td', null, keys.map((key) => [el('kbd', { text: key }), ' '])), el('td', { text: what })));
}

/** A setting: a box to tick, one of some values, or a text. */
function settingNode({ name, on, values, value, set }) {
  if (values) return choice(name, values.map((one) => [one, one || 'nothing']), value, set).node;
  const text = value !== undefined;
  const input = el('input', { type: text ? 'text' : 'checkbox', value, checked: on,
    spellcheck: 'false', on: { change: () => set(text ? input.value.trim() : input.checked) } });
  return el('label', null, text ? [name, ' ', input] : [input, ' ', name]);
}

/** Fills and opens the dialog. */
function open(settings, views) {
  const dialog = byId('help');
  const shownRows = table.filter(([action]) => action !== 'view')
    .map(([, keys, what]) => [keyNames(keys), what]);
  shownRows.splice(4, 0, ...views.map((view) => [[view.key], 'view ' + view.title]));
  fill(dialog,
    el('h2', null, 'Keys', button('close', () => dialog.close(), { autofocus: true })),
    el('div', { class: 'columns' },
      el('table', null, el('caption', { text: 'Keyboard' }), el('tbody', null, rows(shownRows))),
      el('table', null, el('caption', { text: 'Mouse and touch' }),
        el('tbody', null, rows(mouse.map(([key, what]) => [[key], what])))),
      el('table', null, el('caption', { text: 'Words of find' }),
        el('tbody', null, rows(finding)))),
    el('h2', { text: 'Settings' }),
    settings.map((one) => el('p', null, settingNode(one))));
  dialog.showModal();
}

/**
 * { name, set } of each setting, with { on } of what is on or off, { value } of texts, { values,
 * value } of choices.
 */
function listOf({ settings, store, linksChanged }) {
  const field = (name, id, values) => ({ name, values, value: settings[id] || '', set: (value) => {
    settings[id] = value || null;
    linksChanged();
  } });
  const setting = (name, id) => ({ name, on: settings[id], set: (on) => { settings[id] = on; } });
  return [
    setting('keys of one letter', 'single'),
    setting('the plain wheel pans', 'wheelPans'),
    { name: 'patterns as well as colours', on: store.get().patterns,
      set: (on) => store.move({ patterns: on }) },
    field('frames open in', 'editor', ['', ...editors]),
    field('there, FROM=TO for the beginning of paths', 'editorPath'),
  ];
}

/** `linksChanged()`: frames open in another editor. */
export function createHelp({ settings, store, recording, linksChanged }) {
  return { open: () => open(listOf({ settings, store, linksChanged }), recording.views()) };
}
