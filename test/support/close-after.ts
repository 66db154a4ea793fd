/** Closes what tests have opened. */
import { after, afterEach } from 'node:test';

type Closing = <Opened extends { close(): unknown }>(one: Opened) => Opened;

/** Returns a function that takes what the tests of the calling file open, and closes it after them, the last first. */
export function closeAfterTests(): Closing {
  const { closing, close } = createClosing();
  after(close);
  return closing;
}

/**
 * Returns a function that takes what a test of the calling file opens, and closes it after that test, the last first, so
 * that the next test gets the same threads.
 */
export function closeAfterEach(): Closing {
  const { closing, close } = createClosing();
  afterEach(close);
  return closing;
}

function createClosing(): { closing: Closing; close(): Promise<void> } {
  const opened: { close(): unknown }[] = [];
  return {
    closing(one) {
      opened.push(one);
      return one;
    },
    async close() {
      for (const one of opened.splice(0).reverse()) await one.close();
    },
  };
}
