// main.js - what runs first where there is no page: a worker is run of the bundle up to here.
import { runWorker } from './serving.js';
import { workersOf } from './spawn.js';

if (typeof document === 'undefined') runWorker(globalThis, workersOf);
