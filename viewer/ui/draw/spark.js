// spark.js - a curve as small as a word.
import { spark } from '../../core/memory/many.js';
import { fitCanvas, pixelRatio } from './dom.js';
import { hatch } from './paint.js';

const cutWidth = 14;

/** Requested bytes as an area, reserved ones a line above; a cut file ends in a hatched field. */
export function drawCurve(canvas, width, height, cover, top, palette, cut) {
  const ratio = pixelRatio();
  fitCanvas(canvas, width, height);
  canvas.style.setProperty('width', width + 'px');
  canvas.style.setProperty('height', height + 'px');
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  const room = width - (cut ? cutWidth : 0);
  if (cut) hatch(g, room, 0, cutWidth, height, palette.hatch, 4);
  if (!cover) return;
  const { reserved, requested } = cover;
  for (const [values, colour] of [[reserved, palette.text], [requested, palette.muted]]) {
    if (!values) continue;
    g.fillStyle = colour;
    spark(values, room).forEach((v, i, all) => {
      const h = Math.min(height, Math.max(1, Math.round(v / top * height)));
      const [from, to] = [i, i + 1].map((c) => Math.round(c * room / all.length));
      g.fillRect(from, height - h, to - from, values === reserved ? 1 : h);
    });
  }
  g.fillStyle = palette.line;
  g.fillRect(0, height - 1, room, 1);
}
