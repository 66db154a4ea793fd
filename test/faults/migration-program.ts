/** Opens the app of a data directory, which migrates its database, and closes it again. Prints `done` at its end. */
import { openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';

const app = await openApp(loadConfig({ env: process.env }));
await app[Symbol.asyncDispose]();
console.log('done');
