// rows.js - the rows of a table as text to be saved: CSV or JSON.

function csvCell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) ? "'" + value : String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** `largest_bytes`, and of bytes alone `bytes`. */
function headingOf({ id, unit }) {
  return unit && unit !== id ? `${id}_${unit}` : id;
}

/** RFC 4180; text that a spreadsheet would take for a formula gets an apostrophe. */
export function toCsv(columns, rows) {
  const heading = columns.map((c) => csvCell(headingOf(c))).join(',');
  return [heading, ...rows.map((row) => columns.map((c) => csvCell(c.value(row))).join(','))]
    .join('\r\n') + '\r\n';
}

export function toJson(columns, rows) {
  return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((c) =>
    [headingOf(c), c.value(row) ?? null]))), null, 1) + '\n';
}
