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
    const text = element.textContent;
    const bytes = new Uint8Array(text.length * 4 / 5);
    /* Five characters are four bytes: ( to |, but } for < and ~ for @, as in tools/bundle. */
    for (let i = 0, at = 0; i < text.length; i += 5) {
      let number = 0;
      for (let k = i; k < i + 5; k++) {
        const c = k < text.length ? text.charCodeAt(k) : 124;
        number = number * 85 + (c === 125 ? 60 : c === 126 ? 64 : c) - 40;
      }
      for (let shift = 24; shift >= 0 && at < bytes.length; shift -= 8) {
        bytes[at++] = number / 2 ** shift & 255;
      }
    }
    const { readable, writable } = new DecompressionStream('deflate');
    const writer = writable.getWriter();
    for (const part of [writer.write(bytes), writer.close()]) part.catch(() => {});
    return new Response(readable).text();
  };
  /* The first worker, which starts while the page's half is compiled; null where there is none.
   * Tools that run a page on a clock of their own do not wait for workers. */
  const started = (text) => {
    if (/[#&]worker=0/.test(location.hash)) return null;
    const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    try {
      const one = new Worker(policy.createScriptURL(url));
      one.onerror = () => { one.failed = true; };
      return one;
    } catch {
      return null;
    }
  };
  const run = (all) => {
    const [text, style] = all.split("//! The page's style.\n");
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    document.adoptedStyleSheets = [sheet];
    /* What stands before the mark of tools/bundle is all that a worker runs. */
    const worker = text.slice(0, text.indexOf("//! The page's own.")) + '})();';
    globalThis.vramscope = { worker, started: started(worker), blocks };
    /* In a task of its own: what a worker needs to start is done between them. */
    setTimeout(() => {
      const script = document.createElement('script');
      script.textContent = policy.createScript(text);
      document.body.append(script);
      script.remove();
    }, 0);
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
