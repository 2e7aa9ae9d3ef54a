// derived.js - what is made again only when the values that it follows from differ.

/**
 * A function that gives what `make()` made of the values that `reads()` lists, which are compared
 * as JSON; `forget()` has it made again.  Where what is made is shown, its value is not needed.
 */
export function derived(reads, make) {
  let known = null;
  let value;
  const get = () => {
    const now = JSON.stringify(reads());
    if (now !== known) {
      // Before it is made, which may ask for it again.
      known = now;
      value = make();
    }
    return value;
  };
  get.forget = () => { known = null; };
  return get;
}

/** The same for what stands already as it follows from the values of now. */
export function following(reads, act) {
  let stands = true;
  const look = derived(reads, () => { if (!stands) act(); });
  look();
  stands = false;
  return look;
}
