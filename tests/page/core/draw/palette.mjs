// palette.mjs - the colours of the stylesheet in a theme, as the page reads them in a browser.
import { readFileSync } from 'node:fs';

export function paletteOf(theme) {
  const css = readFileSync(new URL('../../../../viewer/style.css', import.meta.url), 'utf8');
  const start = theme === 'dark' ? css.indexOf(':root[data-theme="dark"]') : css.indexOf(':root {');
  const rule = css.slice(start, css.indexOf('}', start));
  const of = (name) => rule.match(new RegExp(`--${name}: (#[0-9a-f]{6})`))[1];
  const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const slots = ['parameter', 'gradient', 'optimizer-state', 'optimizer-temp', 'activation',
    'input', 'temporary', 'autograd-detail', 'workspace', 'persistent', 'unknown'].map((name) => rgb(of(name)));
  return { dark: theme === 'dark', slots, groundRgb: rgb(of('ground')), matchRgb: rgb(of('match')), free: of('free'),
    hatch: of('hatch'), ground: of('ground') };
}
