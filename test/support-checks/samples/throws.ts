import { test } from 'node:test';

test('one whose timer throws', async () => {
  setTimeout(() => {
    throw new Error('thrown by a timer');
  });
  await new Promise((resolve) => setTimeout(resolve, 30_000));
});
