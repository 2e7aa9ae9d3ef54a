// settings.js - what a person chooses of the page itself: keys, wheel, editor, light or dark.
import { readPalette } from '../draw/colours.js';

/** What the browser prefers: { dark, forced }. */
function preferred() {
  const is = (media) => matchMedia(`(${media})`).matches;
  return { dark: is('prefers-color-scheme: dark'), forced: is('forced-colors: active') };
}

/** The theme of the state, or else what the browser prefers, and its colours; paper is light. */
function setTheme({ printing }, { store, look }) {
  const { theme } = store.get();
  const { dark, forced } = preferred();
  const isDark = theme ? theme === 'dark' : dark;
  document.documentElement.dataset.theme = isDark && !printing ? 'dark' : 'light';
  look.setPalette({ ...readPalette(), patterned: printing || forced });
}

/** Values that others read and the `?` dialog writes; `given` are the options of the head. */
export function createSettings(given, { store, look }) {
  const { editor = null, editor_path: editorPath = null } = given || {};
  const settings = {
    single: true,       // keys of one letter
    wheelPans: false,
    editor, editorPath,
    printing: false,
    preferred,
    setTheme: () => setTheme(settings, { store, look }),
    toggleTheme: () => {
      const dark = document.documentElement.dataset.theme === 'dark';
      store.move({ theme: dark ? 'light' : 'dark' });
    },
  };
  return settings;
}
