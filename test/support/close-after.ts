/** Closes what the tests of a file have opened. */
import { after } from 'node:test';

/** Returns a function that takes what the tests of the calling file open, and closes it after them, the last first. */
export function closeAfterTests(): <Opened extends { close(): unknown }>(one: Opened) => Opened {
  const opened: { close(): unknown }[] = [];
  after(async () => {
    for (const one of opened.reverse()) await one.close();
  });
  return (one) => {
    opened.push(one);
    return one;
  };
}
