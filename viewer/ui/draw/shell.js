// shell.js - words of a command as a shell reads them.  No DOM.

/** The name of a file in a command, which is no option whatever it begins with. */
export function quotedFile(name) {
  return quoted(name.startsWith('-') ? './' + name : name);
}

/** A word of a command as a shell reads it. */
export function quoted(text) {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}
