/** The response to an error of the session. */
import { AppError } from '../../system/errors.ts';
import type { Refusal } from './session.ts';

/** Maximum length of the text: a response has at most 512 octets with its code (RFC 2449 section 4). */
const MAX_TEXT_CHARACTERS = 400;

/** Returns the response to a command that failed. An error that is no refusal says nothing about itself; the caller logs it. */
export function refusalFor(error: unknown): Refusal {
  if (!(error instanceof AppError))
    return { refused: true, code: 'SYS/PERM', text: 'The server failed to process the request' };
  const text = error.message.replace(/[^ -~]+/g, '?').slice(0, MAX_TEXT_CHARACTERS);
  return { refused: true, code: 'SYS/TEMP', text };
}
