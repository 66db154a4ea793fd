/**
 * A target guard that allows every address. The zones of tests use documentation addresses (RFC 5737), and the `dial`
 * of a test redirects them.
 */
import { createTargetGuard } from '../../src/system/blocklist.ts';

export const ANY_TARGET = createTargetGuard({ allow: ['0.0.0.0/0', '::/0'], own: [] });
