import { test } from 'node:test';
import { pauseAtRandom } from './random-control.ts';

/** The fault suite makes a thousand (test/faults/broadcast/pauses.ts). */
const PAUSES = 200;
const SEED = 20_260_301;

test('after many pauses and resumes at random, each contact has got the broadcast once', () =>
  pauseAtRandom({ pauses: PAUSES, seed: SEED }));
