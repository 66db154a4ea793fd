/** Messages between the main thread and the database threads. */
import type { CrashPointName } from '../system/crash-point.ts';
import { AppError, type AppErrorOptions, type ErrorCode, errorCode, errorMessage } from '../system/errors.ts';
import type { Synchronous } from './connection.ts';

export type WriterOptions = {
  file: string;
  synchronous: Synchronous;
  /** URL of the module whose import defines every operation. */
  operationsModule: string;
  nowMs: number;
  /** True when the operator wants a new database where there is none (db/installation/judge.ts). */
  newDatabase: boolean;
  crashAt: CrashPointName | undefined;
};

export type ReaderOptions = Pick<WriterOptions, 'file' | 'operationsModule'>;

/** One operation to run. `sizeBytes` is the size of its input, as db/input-bytes.ts counts it. */
export type Request = { id: number; operation: string; input: unknown; sizeBytes: number };

export type Answer = { id: number; value: unknown } | { id: number; error: EncodedError };

export type EncodedError =
  | { kind: 'refusal'; code: ErrorCode; message: string; options: AppErrorOptions }
  | { kind: 'bug'; message: string; stack: string | undefined; code: string | undefined };

/** Returns an error as plain data. Structured clone would drop the class and the code of an `AppError`. */
export function encodeError(error: unknown): EncodedError {
  if (error instanceof AppError) {
    const { cause: _, ...options } = error.options;
    return { kind: 'refusal', code: error.code, message: error.message, options };
  }
  return {
    kind: 'bug',
    message: errorMessage(error),
    stack: error instanceof Error ? error.stack : undefined,
    code: errorCode(error),
  };
}

/** Returns the error that `encodeError` encoded. */
export function decodeError(encoded: EncodedError): Error {
  if (encoded.kind === 'refusal') return new AppError(encoded.code, encoded.message, encoded.options);
  const error = new Error(encoded.message);
  if (encoded.stack !== undefined) error.stack = encoded.stack;
  return encoded.code === undefined ? error : Object.assign(error, { code: encoded.code });
}
