// card.js - the answer beside the picture: what happened, which line, how many bytes, what to do.
import { bytes } from '../../core/model/human.js';
import { button, byId, el, fill } from '../draw/dom.js';
import { shown, withEvents, words } from '../draw/text.js';
import { derived } from '../state/derived.js';
import { lacksOf } from '../state/lacks.js';
import { answerOf, findingsOf } from '../state/report.js';
import { lineTerm } from '../state/terms.js';

const marks = { problem: '\u25bc', advice: '\u25b8', note: '\u00b7' };

/** The line that the answer's detail names: that which is wrong, or that which asked in vain. */
function lineIn({ detail, line }, oom) {
  return [line, oom?.site].find((one) => one && detail.includes(shown(one)));
}

/** A text in which the name of a line finds what the line allocated; in sentences of the report
 * names are escaped. */
function withLine(text, line, sourceOf, find) {
  const name = shown(line ?? '');
  const at = name ? text.indexOf(name) : -1;
  if (at < 0) return withEvents(text);
  return [withEvents(text.slice(0, at)), button(name, () => find(lineTerm(line), false),
    { class: 'plain line', title: [sourceOf(line), 'show what this line allocated']
      .filter(Boolean).join(' \u2013 ') }), withEvents(text.slice(at + name.length))];
}

/** What a click on a thing to do does: copies the setting, or shows where its finding is, or else
 * its line. */
function actOf({ line, text }, finding, { follow, find, copy }) {
  const [setting] = /\bPYTORCH_\w+=[\w.:,-]*\w/.exec(text) ?? [];
  if (setting) return () => copy(setting, setting);
  if (finding) return () => follow(finding);
  return line ? () => find(lineTerm(line), false) : null;
}

/** A sentence of the report.  The name of a setting may break behind its `=`, so that neither half
 * is cut. */
function sentence(text) {
  const [first, ...rest] = withEvents(text).split(/(?<=\bPYTORCH_\w+=)/);
  return el('span', { class: 'what' }, first, rest.map((part) => [el('wbr'), part]));
}

/** The first thing to do stands out; its row is a button where there is something to show. */
function doNode(item, finding, card) {
  const act = actOf(item, finding, card);
  const text = [sentence(item.text),
    el('span', { class: 'frees', text: item.frees })];
  return act ? button(text, act, { class: 'plain finding do' }) : el('p', { class: 'do' }, text);
}

function findingNode(finding, { follow }) {
  const severity = marks[finding.severity] ? finding.severity : 'note';
  return button([el('span', { class: 'tag ' + (severity === 'note' ? 'muted' : severity),
    text: `${marks[severity]} ${words(finding.id)}` }), ' ',
  sentence(finding.text)], () => follow(finding),
  { class: 'plain finding', title: shown(finding.text) });
}

/** What the headline tells of. */
function toldBy(answer, findings) {
  return answer?.wrong ? findings.find(({ id }) => ['oom', 'leak', 'suspect'].includes(id)) : null;
}

/** Things to do with their findings and what they save together, then what else was found. */
function rowsOf(answer, findings, card) {
  const left = new Set(findings);
  left.delete(toldBy(answer, findings));
  const rows = (answer?.to_do ?? []).map((item) => {
    const finding = findings.find((one) => shown(one.text) === shown(item.text));
    left.delete(finding);
    return doNode(item, finding, card);
  });
  if (answer?.together) {
    rows.push(el('p', { class: 'together', text: `Together: ${withEvents(answer.together)}.` }));
  }
  return [...rows, ...[...left].map((finding) => findingNode(finding, card))];
}

/** The headline is the way to what it tells of, where a finding knows that. */
function headline(answer, findings, { follow }) {
  const finding = toldBy(answer, findings);
  const act = () => {
    follow(finding);
    byId('why').open = true;
  };
  return el('h2', { class: answer.wrong ? 'wrong' : null }, finding ?
    button(withEvents(answer.headline), act, { class: 'plain' }) : withEvents(answer.headline));
}

/** How much room a capacity that was typed leaves. */
function roomText({ cap }, { peak }) {
  if (!cap || !peak) return null;
  const room = cap - peak.bytes;
  return el('p', { class: room < 0 ? 'problem' : 'muted', text: room >= 0 ?
    `capacity ${bytes(cap)}, ${bytes(room)} free at the peak` :
    `capacity ${bytes(cap)}, ${bytes(-room)} too little at the peak` });
}

function moreText(n, shownAlready) {
  return `${n}${shownAlready ? ' more' : ''} finding${n === 1 ? '' : 's'}`;
}

/** `follow(finding)` goes to where a finding can be seen; `copy(what, text)`: to the clipboard. */
export function createCard(host, { store, recording, find, follow, copy }) {
  const card = { find, follow, copy };
  let open = false;
  let whole = false;
  let isTold = false;    // whether a person has asked for all of the explanation

  /** The explanation is cut to some lines, so that what to do is in sight; the rest at a click. */
  const rest = button('whole text', () => {
    isTold = !isTold;
    measure();
  }, { class: 'link', hidden: true });
  function measure() {
    const text = host.querySelector('.detail');
    if (!text) return;
    text.classList.toggle('short', !isTold && !open && !whole);
    rest.hidden = open || whole || !(isTold || text.scrollHeight > text.clientHeight + 1);
    rest.setAttribute('aria-expanded', String(isTold));
    fill(rest, isTold ? 'shorter text' : 'whole text');
  }
  new ResizeObserver(measure).observe(host);

  function draw() {
    const state = store.get();
    const { head } = recording;
    const answer = answerOf(head, state);
    const findings = findingsOf(head, state);
    const rows = rowsOf(answer, findings, card);
    const first = answer?.to_do.length ? 1 : 0;
    const more = rows.length - first - (answer?.together ? 1 : 0);
    const lacks = lacksOf(head, state);
    host.hidden = !answer && !rows.length && !lacks;
    fill(host, answer ? [headline(answer, findings, card),
      el('p', { class: 'detail' }, withLine(answer.detail, lineIn(answer, recording.device().oom),
        recording.sourceOf, find))] : null,
    roomText(state, recording.cover()),
    el('div', { id: 'verdicts' }, rows.slice(0, open || whole ? rows.length : first)),
    more > 0 ? button(open ? 'fewer' : moreText(more, first), () => {
      open = !open;
      draw();
    }, { class: 'link', 'aria-expanded': String(open) }) : null, answer ? rest : null,
    lacks ? el('p', { class: 'muted lacks', text: lacks }) : null);
    measure();
  }

  return { update: derived(() => {
    const { file, dev, cap } = store.get();
    return [file, dev, cap, recording.cover().peak?.bytes];
  }, draw),
  /** On paper nothing can be opened. */
  showAll: (all) => {
    whole = all;
    draw();
  } };
}
