// settings.js - what a person chooses of the page itself: keys, wheel, patterns, light or dark.
import { editors } from '../parts/editor.js';
import { openHelp } from './keys.js';
import { readPalette } from '../draw/colours.js';
import { viewsOf } from '../views/views.js';

/** The table of keys, and below it the settings. */
function help(ctx) {
  const { settings, store } = ctx;
  const field = (name, id, values) => ({ name, values, value: settings[id] || '', set: (value) => {
    settings[id] = value || null;
    ctx.parts.details.update();
  } });
  const setting = (name, id) => ({ name, on: settings[id], set: (on) => { settings[id] = on; } });
  openHelp([
    setting('keys of one letter', 'single'),
    setting('the plain wheel pans', 'wheelPans'),
    { name: 'patterns as well as colours', on: store.get().patterns,
      set: (on) => store.move({ patterns: on }) },
    field('frames open in', 'editor', ['', ...editors]),
    field('there, FROM=TO for the beginning of paths', 'editorPath'),
  ], viewsOf(ctx.now.cover, ctx.head()));
}

/** The theme of the state, or else what the browser prefers, and its colours; paper is light. */
function setTheme(ctx) {
  const { now } = ctx;
  const { theme } = ctx.store.get();
  const is = (media) => matchMedia(`(${media})`).matches;
  const dark = theme ? theme === 'dark' : is('prefers-color-scheme: dark');
  document.documentElement.dataset.theme = dark && !now.printing ? 'dark' : 'light';
  now.palette = { ...readPalette(), patterned: now.printing || is('forced-colors: active') };
}

function toggleTheme(ctx) {
  const dark = document.documentElement.dataset.theme === 'dark';
  ctx.store.move({ theme: dark ? 'light' : 'dark' });
}

/** Methods of the context. */
export const choices = { help, setTheme, toggleTheme };
