// loader.js - unpacks the page's program, which is deflated in the page, and runs it.
(() => {
  'use strict';
  const blocks = [];
  const same = (text) => text;
  const rules = { createScript: same, createScriptURL: same };
  /* The page's policy lets only this one make scripts, and none but those it has the hash of. */
  const { trustedTypes } = globalThis;
  const policy = trustedTypes ? trustedTypes.createPolicy('vramscope', rules) : rules;
  /* No function is called for each byte, no Blob made: either takes longer than to unpack. */
  const read = async (element) => {
    const text = atob(element.textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const { readable, writable } = new DecompressionStream('deflate');
    const writer = writable.getWriter();
    for (const part of [writer.write(bytes), writer.close()]) part.catch(() => {});
    return new Response(readable).text();
  };
  const run = (text) => {
    globalThis.vramscope = { text, policy, blocks };
    const script = document.createElement('script');
    script.textContent = policy.createScript(text);
    document.body.append(script);
    script.remove();
  };
  /* Until the program runs, blocks wait for it. */
  globalThis.vrs_block = () => blocks.push(document.currentScript.previousElementSibling);
  read(document.getElementById('app')).then(run).catch((error) => {
    const note = document.createElement('p');
    note.id = 'unpacked';
    note.setAttribute('role', 'alert');
    note.textContent = 'No picture: the program of this page could not be unpacked (' +
      error.message + '). This is its report.';
    document.body.prepend(note);
  });
})();
