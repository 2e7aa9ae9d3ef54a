// rows.js - the rows of a table as text to be saved or copied: CSV, JSON, or with tabs.

/** A value as text; what a spreadsheet would take for a formula gets an apostrophe. */
function csvText(value) {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' && /^[=+\-@\t\r\n]/.test(value) ? "'" + value : String(value);
}

function csvCell(value) {
  const text = csvText(value);
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** The name of a column with its unit: `count`, `bytes`, `largest_bytes`. */
function memberOf({ id, unit }) {
  return !unit || id === unit ? id : `${id}_${unit}`;
}

/** RFC 4180. */
export function toCsv(columns, rows) {
  const heading = columns.map((c) => csvCell(memberOf(c))).join(',');
  return [heading, ...rows.map((row) => columns.map((c) => csvCell(c.value(row))).join(','))]
    .join('\r\n') + '\r\n';
}

export function toJson(columns, rows) {
  return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((c) =>
    [memberOf(c), c.value(row) ?? null]))), null, 1) + '\n';
}

/** For the clipboard, from which spreadsheets take cells: blanks for tabs and ends of lines. */
export function toTabbed(columns, rows) {
  const cell = (value) => csvText(value).replace(/[\t\r\n]+/g, ' ');
  return [columns.map(memberOf), ...rows.map((row) => columns.map((c) => cell(c.value(row))))]
    .map((cells) => cells.join('\t')).join('\n') + '\n';
}
