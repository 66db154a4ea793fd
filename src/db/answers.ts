/** Sends the answers of a database thread to the main thread. */
import type { MessagePort } from 'node:worker_threads';
import { type Answer, encodeError } from './thread-messages.ts';

/**
 * Sends the answers in one message. An answer that cannot be cloned becomes an error; the others are not affected.
 */
export function sendAnswers(port: Pick<MessagePort, 'postMessage'>, answers: readonly Answer[]): void {
  try {
    port.postMessage(answers);
  } catch {
    for (const answer of answers) sendAlone(port, answer);
  }
}

/** Sends one answer. A result that cannot be cloned is a bug of its operation, and that operation alone fails. */
function sendAlone(port: Pick<MessagePort, 'postMessage'>, answer: Answer): void {
  try {
    port.postMessage([answer]);
  } catch (error) {
    port.postMessage([{ id: answer.id, error: encodeError(error) } satisfies Answer]);
  }
}
