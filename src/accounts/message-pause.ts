/** Lets other accounts of the thread go on while a long transaction of one account is open. */
import { nextSlice } from '../system/slices.ts';

/** Number of messages that are worked on before others go on: about 5 ms. */
const MESSAGES_PER_SLICE = 500;
/** Number of messages that take as long as one statement by itself. */
export const MESSAGES_PER_STATEMENT = 10;

/**
 * Returns a function that is called after each statement with the number of its messages. It waits for the next slice once there are
 * enough of both: clients may name thousands of ranges with one message each.
 */
export function createMessagePause(): (messages: number) => Promise<void> {
  let sinceSlice = 0;
  return async (messages) => {
    sinceSlice += messages + MESSAGES_PER_STATEMENT;
    if (sinceSlice < MESSAGES_PER_SLICE) return;
    sinceSlice = 0;
    await nextSlice();
  };
}
