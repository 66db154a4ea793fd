/** A guard that allows everything: zones of tests name documentation addresses (RFC 5737), and a `dial` of the test leads them elsewhere. */
import { createTargetGuard } from '../../src/system/blocklist.ts';

export const ANY_TARGET = createTargetGuard({ allow: ['0.0.0.0/0', '::/0'], own: [] });
