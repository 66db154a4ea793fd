/** Lets other accounts of the thread go on while a long transaction of one account is open. */
import { nextTurn } from '../system/next-turn.ts';

/** Number of messages that are worked on before others go on: about 5 ms. */
const MESSAGES_PER_TURN = 500;
/** Number of messages that take as long as one statement by itself. */
export const MESSAGES_PER_STATEMENT = 10;

/**
 * Returns a function that is called after each statement with the number of its messages. It waits for the next turn once there are
 * enough of both: clients may name thousands of ranges with one message each.
 */
export function createMessagePause(): (messages: number) => Promise<void> {
  let sinceTurn = 0;
  return async (messages) => {
    sinceTurn += messages + MESSAGES_PER_STATEMENT;
    if (sinceTurn < MESSAGES_PER_TURN) return;
    sinceTurn = 0;
    await nextTurn();
  };
}
