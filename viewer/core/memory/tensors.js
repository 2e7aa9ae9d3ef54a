// tensors.js - the tensor that the recorded process put into an allocation.

const KINDS = ['tensor', 'parameter', 'buffer', 'gradient', 'optimizer_state'];

// As people write the types of PyTorch, and src/render/answer/name_lines.c; others stay.
const SHORT = { bfloat16: 'bf16', float16: 'fp16', float32: 'fp32', float64: 'fp64' };

function shortType(dtype) {
  const plain = dtype.startsWith('torch.') ? dtype.slice(6) : dtype;
  return Object.hasOwn(SHORT, plain) ? SHORT[plain] : plain;
}

/** {name, kind, type, of, shared} of a row, or null where nothing named it. `type` is as
 * `bf16 4096 x 11008`; texts that are not known are empty, `kind` then null. */
export function tensorOf({ alloc, tensor, string }, row) {
  const n = alloc.tensor ? alloc.tensor[row] : 0;
  if (!n) return null;
  const text = (column) => (tensor[column] ? string[tensor[column][n]] : '');
  return { name: text('name'), kind: tensor.kind ? KINDS[tensor.kind[n]] ?? null : null,
    type: [shortType(text('dtype')), text('shape')].filter(Boolean).join(' '), of: text('of'),
    shared: text('shared') };
}

/** The name of a row's tensor; '' where it has none. */
export function tensorName(model, row) {
  return tensorOf(model, row)?.name ?? '';
}

/** A bitmap over the rows of `tensor`: those with one of these strings (a bitmap too) as a name. */
export function tensorsNamed({ tensor }, strings) {
  const { rows, name, others } = tensor;
  const found = new Uint8Array(rows);
  for (let n = 1; n < rows; n++) found[n] = strings[name[n]];
  for (const [n, ids] of others ?? []) if (ids.some((id) => strings[id])) found[n] = 1;
  return found;
}
