/** Sends the answers of a database thread. */
import type { MessagePort, Transferable } from 'node:worker_threads';
import { encodeError } from '../system/encoded-error.ts';
import type { Answer, ThreadReply } from './thread-messages.ts';

type Port = Pick<MessagePort, 'postMessage'>;

/**
 * Sends the answers of one database in one message. An answer that cannot be cloned becomes an error; the others are
 * not affected.
 */
export function sendAnswers(port: Port, database: number, answers: readonly Answer[]): void {
  try {
    port.postMessage({ kind: 'answers', database, answers } satisfies ThreadReply);
  } catch {
    for (const answer of answers) sendAlone(port, database, answer);
  }
}

/** Sends one answer. A result that cannot be cloned is a bug of its operation, and that operation alone fails. */
function sendAlone(port: Port, database: number, answer: Answer): void {
  try {
    port.postMessage({ kind: 'answers', database, answers: [answer] } satisfies ThreadReply);
  } catch (error) {
    const failed: Answer = { id: answer.id, error: encodeError(error) };
    port.postMessage({ kind: 'answers', database, answers: [failed] } satisfies ThreadReply);
  }
}

/** Sends one answer with memory that moves to the other thread. */
export function sendMoving(
  port: Pick<MessagePort, 'postMessage'>,
  { database, answer }: { database: number; answer: Answer },
  moved: Transferable[],
): void {
  port.postMessage({ kind: 'answers', database, answers: [answer] } satisfies ThreadReply, moved);
}

/** Returns the answers to a group of requests by the port that each request came from. Both lists have one order. */
export function groupByPort(
  group: readonly { port: MessagePort }[],
  answers: readonly Answer[],
): Map<MessagePort, Answer[]> {
  const byPort = new Map<MessagePort, Answer[]>();
  for (const [index, answer] of answers.entries()) {
    const port = group[index]?.port;
    if (!port) continue;
    const others = byPort.get(port);
    if (others) others.push(answer);
    else byPort.set(port, [answer]);
  }
  return byPort;
}

/** Runs `open` or `close` of a database, and sends what it returns or throws. */
export function answerWith(port: Port, to: { database: number; id: number }, run: () => unknown): void {
  try {
    sendAnswers(port, to.database, [{ id: to.id, value: run() }]);
  } catch (error) {
    sendAnswers(port, to.database, [{ id: to.id, error: encodeError(error) }]);
  }
}
