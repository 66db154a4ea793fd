/** The tests of commands and of clients, once more on compressed connections. */
import { after, before } from 'node:test';
import { clients } from './fixture.ts';

before(() => {
  clients.compress = true;
});
after(() => {
  clients.compress = false;
});
// Files that the same process has run before are evaluated again.
for (const name of ['commands', 'quirks'])
  await import(`./${name}.test.ts?of=${encodeURIComponent(import.meta.url)}`);
