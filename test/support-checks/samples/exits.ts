/** The process ends by itself, as if all were well, before its second test. */
import { test } from 'node:test';

test('one that passes', () => {});
test('one that exits', () => process.exit(0));
test('one that is never begun', () => {});
