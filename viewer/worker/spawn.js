// spawn.js - makes more workers of the text of a worker's script.

/* A worker is under the page's policy too: only this one makes the address of a script. */
function ownPolicy() {
  return globalThis.trustedTypes?.createPolicy('vramscope', { createScriptURL: (url) => url });
}

/** What makes workers of a script, or null where the browser has none here. */
export function workersOf(text) {
  const policy = ownPolicy();
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  return () => {
    try {
      return new Worker(policy ? policy.createScriptURL(url) : url);
    } catch {
      return null;
    }
  };
}
