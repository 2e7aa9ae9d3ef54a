// main.js - the headings of the table of units: buttons that sort by their column.

const table = document.querySelector('table');
const heads = [...table.tHead.rows[0].cells];
const { compare } = new Intl.Collator('en', { numeric: true });

/** What a row is sorted by: the number of a cell that has one (none is not known), else its text,
 * in which numbers count as such; null where that is not known. */
function valueOf(row, column) {
  const cell = row.cells[column];
  if (!cell || cell.colSpan > 1) return null;
  const { v } = cell.dataset;
  if (v === undefined) return cell.textContent.replace(/^-$/, '') || null;
  return v === '' ? null : Number(v);
}

/** What is not known comes last. */
function sortBy(column, down) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, v: valueOf(row, column) }));
  rows.sort((a, b) => {
    if (a.v === null || b.v === null) return (a.v === null) - (b.v === null);
    return (down ? -1 : 1) * (typeof a.v === 'number' ? a.v - b.v : compare(a.v, b.v));
  });
  body.append(...rows.map(({ row }) => row));
  for (const head of heads) head.removeAttribute('aria-sort');
  heads[column].setAttribute('aria-sort', down ? 'descending' : 'ascending');
}

heads.forEach((head, column) => {
  if (head.className === 'c') return;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = head.textContent;
  button.onclick = () => {
    const now = head.getAttribute('aria-sort');
    sortBy(column, now ? now === 'ascending' : head.className === 'n');
  };
  head.replaceChildren(button);
});
