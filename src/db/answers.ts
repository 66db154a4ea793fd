/** A database thread's answers on their way to the main thread. */
import type { MessagePort } from 'node:worker_threads';
import { type Answer, encodeError } from './thread-messages.ts';

export function sendAnswers(port: Pick<MessagePort, 'postMessage'>, answers: readonly Answer[]): void {
  try {
    port.postMessage(answers);
  } catch {
    for (const answer of answers) sendAlone(port, answer);
  }
}

/** A result that cannot be cloned is the bug of one operation, and keeps no other from its answer. */
function sendAlone(port: Pick<MessagePort, 'postMessage'>, answer: Answer): void {
  try {
    port.postMessage([answer]);
  } catch (error) {
    port.postMessage([{ id: answer.id, error: encodeError(error) } satisfies Answer]);
  }
}
