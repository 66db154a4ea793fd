/**
 * Validates text that a message carries: it is well-formed Unicode without NUL. A single line also has no control
 * characters.
 */
import { invalid } from '../../system/errors.ts';
import { MAX_BODY_BYTES } from '../schemas.ts';
import { CONTROL_CHARACTERS } from './line.ts';

/**
 * Returns the text if it is a valid line.
 * @throws AppError validation_error naming `path`, also for a line of white space only
 */
export function readLine(path: string, text: string): string {
  if (text.search(CONTROL_CHARACTERS) >= 0)
    throw invalid(path, `\`${path}\` must not contain line breaks or control characters`);
  if (text.trim() === '') throw invalid(path, `\`${path}\` must not be empty`);
  return wellFormed(path, text);
}

/**
 * Returns the text if it is valid and within the size limit.
 * @throws AppError validation_error naming `path`
 */
export function readText(path: string, text: string): string {
  if (text.includes('\0')) throw invalid(path, `\`${path}\` must not contain NUL`);
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw invalid(path, `\`${path}\` must be at most 2 MiB`);
  return wellFormed(path, text);
}

/**
 * Returns the text if it is well-formed Unicode.
 * @throws AppError validation_error naming `path`
 */
export function wellFormed(path: string, text: string): string {
  if (!text.isWellFormed()) throw invalid(path, `\`${path}\` must be well-formed Unicode`);
  return text;
}
