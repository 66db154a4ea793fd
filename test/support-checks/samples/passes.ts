import { test } from 'node:test';

test('one that passes', () => {});
test('one that is skipped', { skip: true }, () => {});
