// link.js - where the page stands, as the fragment of its address: `#v=1&weight=device&q=conv`.

const words = {
  weight: ['host', 'device', 'bytes', 'calls'],
  first: ['outermost', 'innermost'],
  shape: ['icicle', 'flame'],
};
const textMost = 1000;

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The place that a fragment names; what is not known or makes no sense is as in `usual`. */
export function readLink(fragment, usual) {
  const place = { ...usual, at: '', q: '' };
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const [key, value = ''] = part.split('=', 2);
    if (Object.hasOwn(words, key) && words[key].includes(value)) place[key] = value;
    else if (key === 'at' && /^\d{1,10}(\.\d{1,5})?$/.test(value)) place.at = value;
    else if (key === 'q') place.q = decoded(value).slice(0, textMost);
  }
  return place;
}

/** The fragment of a place: what is not as in `usual`. */
export function writeLink(place, usual) {
  const parts = ['v=1'];
  for (const key of Object.keys(words)) {
    if (place[key] !== usual[key]) parts.push(`${key}=${place[key]}`);
  }
  if (place.at) parts.push(`at=${place.at}`);
  if (place.q) parts.push(`q=${encodeURIComponent(place.q)}`);
  return parts.length > 1 ? '#' + parts.join('&') : '';
}
