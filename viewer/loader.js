// loader.js - unpacks the program of the page, which is deflated in it, and runs it.
(() => {
  'use strict';
  const blocks = [];
  const same = (text) => text;
  const rules = { createScript: same, createScriptURL: same };
  /* The page lets only this one make scripts, and none but those it has the hash of. */
  const { trustedTypes } = globalThis;
  const policy = trustedTypes ? trustedTypes.createPolicy('vramscope', rules) : rules;
  const read = async (element) => {
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).text();
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
