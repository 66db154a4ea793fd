/** Prints the lines of SMTP sessions. */
import { type ConversationLine, MARKS } from '../queue/conversation/lines.ts';
import { printable } from './table.ts';

/** Width of the times, for sessions of up to a thousand seconds. */
const TIME_WIDTH = 7;

/** Returns a line as text: the milliseconds since the dial, `>` for us, `<` for the server, and `*` for a note. */
export function lineText({ ms, direction, text }: ConversationLine): string {
  return `${String(ms).padStart(TIME_WIDTH)} ms ${MARKS[direction]} ${printable(text)}`;
}
