/** Runs the tests of the guards of the HTTP transport once more, with every connection over TLS. */
import { useTls } from '../connection.ts';

useTls();

/** Tests of guards that need a connection. The others do not depend on it. */
const GUARDS = [
  './address-limit.test.ts',
  './body-pace.test.ts',
  './body.test.ts',
  './client-disconnect.test.ts',
  './malformed.test.ts',
  './metrics.test.ts',
  './pipeline.test.ts',
  './response-budget.test.ts',
  './shed.test.ts',
];
// The query makes each a module of its own: this process may have run the file before, and would run nothing of it again.
for (const file of GUARDS) await import(`${file}?over=tls`);
