/** Text as a message can carry it: well-formed Unicode without NUL; a line besides holds no control characters. */
import { invalid } from '../../system/errors.ts';
import { MAX_BODY_BYTES } from '../schemas.ts';

/** C0 but for the tab, and DEL. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t\u0080-\u009f]+/gu;

/** @throws AppError validation_error naming `path`, also for one that is nothing but white space */
export function readLine(path: string, text: string): string {
  if (text.search(CONTROL_CHARACTERS) >= 0)
    throw invalid(path, `\`${path}\` must not contain line breaks or control characters`);
  if (text.trim() === '') throw invalid(path, `\`${path}\` must not be empty`);
  return wellFormed(path, text);
}

/** One line of what may be several: each run of control characters becomes a space. */
export function asLine(text: string): string {
  return text.replace(CONTROL_CHARACTERS, ' ');
}

/** @throws AppError validation_error naming `path` */
export function readText(path: string, text: string): string {
  if (text.includes('\0')) throw invalid(path, `\`${path}\` must not contain NUL`);
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw invalid(path, `\`${path}\` must be at most 2 MiB`);
  return wellFormed(path, text);
}

/** @throws AppError validation_error naming `path` */
export function wellFormed(path: string, text: string): string {
  if (!text.isWellFormed()) throw invalid(path, `\`${path}\` must be well-formed Unicode`);
  return text;
}
