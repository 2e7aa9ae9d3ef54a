// main.js - what runs when the page, or the worker, reads the bundle.
